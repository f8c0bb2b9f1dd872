// A jzx_loop for tests: its time is the test's, its memory is counted, its observer
// writes everything down, and its actors are probes whose reactions are lambdas.
//
// When a TestLoop goes away it checks what must hold after every run: the library's
// ledger balances; every message that was accepted was handled, cancelled or handed
// to on_dead_letter, exactly once; and every byte went back to the allocator. For the
// second, tests send through the TestLoop's own send functions.
//
// Threads: as jzx_loop; send_async may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <vector>

#include "base/time/clock.hpp"
#include "jzx/jzx.h"
#include "support/counting_allocator.hpp"
#include "support/event_log.hpp"

namespace jzx::testing {

class TestLoop;

// What probes answer to unless their reaction says otherwise.
inline constexpr uint32_t kTagStop = 901;
inline constexpr uint32_t kTagFail = 902;
// Any other tag.
inline constexpr uint32_t kTag = 7;

[[nodiscard]] inline void* as_data(uint64_t value) { return reinterpret_cast<void*>(value); }
[[nodiscard]] inline uint64_t as_value(const void* data) {
  return reinterpret_cast<uint64_t>(data);
}

[[nodiscard]] jzx_config default_config();

// A message as a behaviour saw it; system payloads are copied, as they do not last.
struct Received {
  uint32_t tag = 0;
  uint64_t value = 0;  // the data pointer, as a number
  size_t len = 0;
  jzx_actor_id sender = 0;
  jzx_actor_id self = 0;
  jzx_io_event io{};
  jzx_child_exit child_exit{};
  jzx_down down{};
  jzx_exit_signal exit{};

  [[nodiscard]] bool is_system() const { return tag >= JZX_TAG_SYS_BASE; }
};

// The state of a test's actor: it logs what it gets, then reacts.
struct Probe {
  using Reaction = std::function<jzx_behavior_result(jzx_context*, const Received&)>;

  explicit Probe(TestLoop& owner) : loop(owner) {}

  [[nodiscard]] std::vector<Received> received(uint32_t tag) const;
  [[nodiscard]] size_t count(uint32_t tag) const { return received(tag).size(); }
  // The payloads of the user messages.
  [[nodiscard]] std::vector<uint64_t> values() const;

  static jzx_behavior_result behave(jzx_context* ctx, const jzx_message* msg);

  TestLoop& loop;
  Reaction on;  // empty: kTagStop stops, kTagFail fails, the rest is only logged
  std::vector<Received> log;
};

class TestLoop {
 public:
  enum class Time {
    manual,   // stands still until advance()
    jumping,  // run() jumps to the next timer
    real
  };

  // The config's allocator is replaced by the counting one.
  explicit TestLoop(Time time = Time::manual, const jzx_config& config = default_config());
  ~TestLoop();
  TestLoop(const TestLoop&) = delete;
  TestLoop& operator=(const TestLoop&) = delete;

  // Destroys the loop and makes the checks; the destructor does it otherwise.
  void close();

  [[nodiscard]] jzx_loop* get() const { return loop_; }
  operator jzx_loop*() const { return loop_; }  // NOLINT: so that calls read as a user's
  [[nodiscard]] CountingAllocator& allocator() { return allocator_; }
  [[nodiscard]] base::ManualClock& clock() { return clock_; }

  // ---- actors ----
  Probe& probe(Probe::Reaction reaction = {});
  jzx_actor_id spawn(Probe& probe, uint32_t mailbox_cap = 0, jzx_actor_id supervisor = 0);
  // A probe of its own that nobody looks at.
  jzx_actor_id spawn_quiet(jzx_actor_id supervisor = 0);
  jzx_actor_id spawn_supervisor(const jzx_supervisor_init& init, jzx_actor_id parent = 0);
  // 0 while it is down.
  [[nodiscard]] jzx_actor_id child(jzx_actor_id supervisor, size_t index) const;
  // As the observer was told: started and not yet ended.
  [[nodiscard]] bool is_alive(jzx_actor_id id) const { return alive_.count(id) != 0; }
  [[nodiscard]] size_t alive_count() const { return alive_.size(); }

  // ---- messages; counted, see above ----
  jzx_err send(jzx_actor_id target, uint32_t tag = kTag, uint64_t value = 0);
  jzx_err send_async(jzx_actor_id target, uint32_t tag = kTag, uint64_t value = 0);
  jzx_err send_after(jzx_actor_id target, uint32_t ms, uint32_t tag = kTag, uint64_t value = 0,
                     jzx_timer_id* out = nullptr);
  jzx_err cancel(jzx_timer_id timer);
  // For tests whose messages pass by the functions above or by the observer.
  void skip_message_accounting() { accounting_ = false; }

  // ---- running ----
  // Ticks without waiting until several ticks in a row did nothing.
  void settle();
  // Settles, moves the time, settles. Timers are stamped by the tick after the call
  // that arms them, so time must not move in between.
  void advance(uint64_t ms);
  int run() { return jzx_loop_run(loop_); }
  // For real I/O: ticks, waiting a little each time, until it holds. False: it never did.
  [[nodiscard]] bool run_until(const std::function<bool()>& holds);

  [[nodiscard]] EventLog& events() { return events_; }
  // Runs inside every observer callback, after it was logged.
  std::function<void(const Event&)> on_event;

 private:
  friend struct Probe;

  void install_observer();
  void note(Event event);
  void note_handled() { handled_.fetch_add(1); }
  void expect_ledger_balances() const;

  CountingAllocator allocator_;
  base::ManualClock clock_;
  std::deque<Probe> probes_;
  EventLog events_;
  std::set<jzx_actor_id> alive_;
  uint64_t activity_ = 0;  // behaviours and callbacks that ran; settle() watches it
  bool accounting_ = true;
  std::atomic<uint64_t> accepted_{0};
  std::atomic<uint64_t> handled_{0};
  std::atomic<uint64_t> dead_{0};
  std::atomic<uint64_t> cancelled_{0};
  jzx_loop* loop_ = nullptr;
};

// ---- supervision ----

[[nodiscard]] jzx_child_spec child_spec(Probe& probe, jzx_child_mode mode = JZX_CHILD_PERMANENT,
                                        const jzx_backoff_spec* backoff = nullptr);
[[nodiscard]] jzx_child_spec nested_spec(const jzx_supervisor_init& init,
                                         jzx_child_mode mode = JZX_CHILD_PERMANENT);
// Points into `children`, which must outlive the call it is used in.
[[nodiscard]] jzx_supervisor_init family(const std::vector<jzx_child_spec>& children,
                                         jzx_supervisor_strategy strategy = JZX_SUP_ONE_FOR_ONE,
                                         uint32_t intensity = 1000, uint32_t period_ms = 1000);

// Whether poll() calls it readable now.
[[nodiscard]] bool is_readable(int fd);

}  // namespace jzx::testing
