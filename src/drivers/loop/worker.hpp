// The worker: one thread's run queue, timer wheel, reactor and wake-up. The one-thread loop is one
// of these; the multi-core driver is several that share a System.
//
// Sleeping without losing a wake-up: the worker announces that it sleeps (asleep_), then looks once
// more at what others may have left (injected_, stop_requested_), and only then waits. A producer
// leaves its work first and then looks at the announcement. Both pairs are sequentially consistent,
// so at least one of the two sees the other: the worker finds the work, or the producer finds it
// asleep and wakes it. The producer that takes the announcement away is the only one that makes the
// system call.
//
// While it is busy, it looks at two things after every turn: has another thread left something
// (news.hpp), and is it time for a look at the clock (pace.hpp)? What came from outside is queued
// at once, behind what is ready. So it waits for one round of the others, and not for the end of
// the tick.
//
// Where several share a system, the wheel is under the lock of the timers, and any thread may arm
// and disarm: who arms from outside leaves the timer to be stamped and wakes the worker as others
// who leave work do. A timer that is due is taken out under the lock and fired outside it; a
// disarm that comes too late waits until that has returned.
//
// Threads: post(), request_stop() and, in a shared system, arm() and disarm() by anybody; the rest
// by the worker's thread.
#pragma once

#include "base/atomic.hpp"
#include "base/mpsc_stack.hpp"
#include "base/prng.hpp"
#include "base/time/clock.hpp"
#include "base/time/timer_wheel.hpp"
#include "core/host.hpp"
#include "drivers/loop/call_list.hpp"
#include "drivers/loop/fd_watches.hpp"
#include "drivers/loop/news.hpp"
#include "drivers/loop/pace.hpp"
#include "io/contract.hpp"

namespace jzx::drivers {

struct WorkerOptions {
  uint8_t index = 0;
  uint32_t messages_per_turn = 64;
  uint32_t turns_per_tick = 1024;
  uint32_t max_watches = 1024;
  uint64_t longest_wait_ns = base::kNever;
  uint64_t seed = 0;
  WatchLimit* watch_limit = nullptr;  // shared with siblings; nullptr: max_watches
};

// Where work may block without holding up a worker.
class BlockingPlace {
 public:
  // False: there is no thread for it.
  [[nodiscard]] virtual bool post(base::Runnable& work) noexcept = 0;

 protected:
  ~BlockingPlace() = default;
};

// Told of all that a worker does, in that order: for a record of it. A worker that has none pays
// for it once per tick and once per timer.
//
// Threads: armed() by whoever arms, the rest by the worker's own.
class WorkWitness {
 public:
  // It runs this next: the turn of an actor, or another piece of work.
  virtual void begin_work(base::Runnable& work) noexcept = 0;
  virtual void begin_timer(base::Timer& timer) noexcept = 0;
  // What began last is done.
  virtual void end_work() noexcept = 0;
  // Before it can fire.
  virtual void armed(base::Timer& timer) noexcept = 0;
  virtual void chose(uint32_t count, uint32_t taken) noexcept = 0;

 protected:
  ~WorkWitness() = default;
};

class Worker : public core::Host {
 public:
  Worker(core::System& the_system, base::Clock& clock, io::ReactorPtr reactor,
         const WorkerOptions& options) noexcept;
  ~Worker() override;

  // Lets the reactor tell what it knows, without waiting. 0 or -errno.
  [[nodiscard]] int poll() { return poll_io(0); }

  // One round: what others left, I/O, timers, ready actors. Waits at most `max_wait_ns` if there
  // is nothing to do. 0 or -errno.
  [[nodiscard]] int tick(uint64_t max_wait_ns);

  // Asks for the end of the run; remembered until take_stop_request(). Any thread.
  void request_stop() noexcept;
  // True once per request.
  [[nodiscard]] bool take_stop_request() noexcept;

  // ---- Executor ----
  void post(base::Runnable& work) override;
  uint64_t now_ns() override { return clock_.now_ns(); }
  void arm(base::Timer& timer, uint64_t delay_ms) override;
  bool disarm(base::Timer& timer) override;
  void fired_for_good(base::Timer&) noexcept override {
    // relaxed: who disarms another timer at that address needs nothing of this one.
    firing_.store(nullptr, std::memory_order_relaxed);
  }
  bool may_use_here() const noexcept override {
    // relaxed: a loop that nobody runs is its user's, one thread at a time.
    return has_siblings || is_own_thread() || !is_run_.load(std::memory_order_relaxed);
  }
  uint32_t choose(uint32_t count, base::ChoiceSite site) override;
  bool post_blocking(base::Runnable& work) override {
    return blocking_ != nullptr && blocking_->post(work);
  }
  io::Reactor& io() override { return *reactor_; }
  void look_outside() noexcept override { (void)reactor_->wait(0); }
  bool has_run_long_enough() noexcept final;

  // ---- Host ----
  void release_watches(core::Actor& actor) noexcept override {
    FdWatches::release_all(system, actor);
  }
  void submit_last(base::Runnable& work, bool) noexcept override { submit_elsewhere(work); }
  void call(core::Actor& actor) noexcept override;
  bool unlink_timer(base::Timer& timer) noexcept override;

  [[nodiscard]] FdWatches& watches() noexcept { return watches_; }

  // ---- for those who drive it from outside ----

  // Must be told while this thread is inside its run: Executor::current() answers this worker then.
  void enter_thread() noexcept {
    set_current(this);
    is_run_.store(true, std::memory_order_relaxed);  // a flag on its own
  }
  void leave_thread(base::Executor* outer) noexcept {
    set_current(outer);
    is_run_.store(false, std::memory_order_relaxed);  // a flag on its own
  }

  // Is there anything that a tick would do without waiting?
  [[nodiscard]] bool has_work() noexcept;
  // That, or will a timer or an operation bring some?
  [[nodiscard]] bool expects_something() noexcept;
  // When the next timer is due: a time of the clock, or kNever. Exact.
  [[nodiscard]] uint64_t next_deadline_ns();
  // From now on, and until the next tick, foreign work makes the reactor's fd readable. False if
  // some came before: then there is work.
  [[nodiscard]] bool announce_sleep() noexcept;

  // From now on post_blocking() goes there; nullptr: nowhere.
  void set_blocking_place(BlockingPlace* place) noexcept { blocking_ = place; }

  // There is something for this worker. Any thread.
  void wake_up() noexcept;
  // The same for one that is awake: it looks after the turn that it is in.
  void tell_news() noexcept { news_.tell(); }

  // Before it runs for the first time.
  void set_witness(WorkWitness* witness) noexcept { witness_ = witness; }

 protected:
  // Runs one piece of work. `kWatched`: there is a witness, which is told.
  template <bool kWatched>
  void run_work(base::Runnable& work) {
    if constexpr (kWatched) witness_->begin_work(work);
    work.run(*this);
    if constexpr (kWatched) witness_->end_work();
  }
  [[nodiscard]] bool is_watched() const noexcept { return witness_ != nullptr; }

  // ---- what a worker with siblings does otherwise ----

  // Runs what is ready, for a tick's worth of turns.
  virtual void run_ready();
  // Work that others left for this worker.
  virtual void ready_from_outside(base::Runnable& work) noexcept { ready.push(work); }
  // Is there something to run now?
  [[nodiscard]] virtual bool has_ready() noexcept { return !ready.empty(); }
  // Just before it waits, after it announced that: for how long it may, at most `wait_ns`. 0: there
  // is something to do after all.
  [[nodiscard]] virtual uint64_t allowed_sleep_ns(uint64_t wait_ns) noexcept { return wait_ns; }
  virtual void woke_up() noexcept {}
  // A timer is about to fire, or who waited for I/O to go on; perhaps before woke_up().
  virtual void about_to_call_back() noexcept {}
  // So many calls have just been taken, all that there were.
  virtual void took_calls(uint64_t /*count*/) noexcept {}

  // After each turn. True: there is something to see to, by goes_on(), before the next one.
  [[nodiscard]] bool must_look_up() noexcept { return --turns_to_look_ == 0 || news_.is_there(); }
  // False: the tick is over. `turns_in_a_row`: so many were as good as one, of actors that wake one
  // another while others wait.
  [[nodiscard]] bool goes_on(uint32_t turns_in_a_row = 0) noexcept;
  // Of the turn that is about to end: because its time is up?
  [[nodiscard]] bool is_cut_short() const noexcept { return cut_at_step_ == steps(); }
  // By the last look: has a turn, or a row of them, had its time?
  [[nodiscard]] bool is_slice_over() const noexcept { return pace_.is_slice_over(); }
  [[nodiscard]] bool stop_was_requested() const noexcept {
    // relaxed: sooner or later is soon enough; the run looks again after the tick.
    return stop_requested_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool others_left_something() noexcept;
  [[nodiscard]] bool is_own_thread() const noexcept { return current() == this; }
  [[nodiscard]] const CallList& calls() const noexcept { return called_; }

  base::Prng prng_;

 private:
  template <bool kWatched>
  void run_all_ready();
  void take_injected() noexcept;
  void take_news() noexcept;
  void begin_tick() noexcept;
  void look_at_clock(bool is_same_slice) noexcept;
  [[nodiscard]] uint32_t turns_since_look() const noexcept { return turns_given_ - turns_to_look_; }
  void look_again_later() noexcept;
  [[nodiscard]] int poll_io(uint64_t max_wait_ns);
  [[nodiscard]] int sleep(uint64_t wait_ns);
  [[nodiscard]] uint64_t time_to_wait(uint64_t max_wait_ns);
  void stamp_armed_timers() noexcept;
  void fire_timers();
  void fire_due();
  void none_is_firing() noexcept;

  // ---- how far a tick has come ----
  uint32_t turns_to_look_ = 1;  // until the next look at the clock
  uint32_t turns_given_ = 1;    // what that was after the last look
  uint32_t turns_left_ = 1;     // of the tick, at the last look
  uint32_t turns_per_tick_;
  uint64_t steps_at_look_ = 0;
  bool looked_in_turn_ = false;     // the last look was in the middle of a turn
  uint64_t cut_at_step_ = kNoLook;  // where the last turn was that had its time
  Pace pace_;

  base::Clock& clock_;
  io::ReactorPtr reactor_;
  base::TimerWheel wheel_;
  static constexpr uint32_t kMostUnstamped = 64;
  base::List<base::Timer, base::InTimerList> armed_;  // not yet stamped with a clock read
  uint32_t unstamped_ = 0;                            // of those, by this thread
  base::Atomic<base::Timer*> firing_{nullptr};
  FdWatches watches_;
  BlockingPlace* blocking_ = nullptr;
  WorkWitness* witness_ = nullptr;
  uint64_t longest_wait_ns_;
  bool may_be_woken_ = false;  // since the last wait it was announced that we sleep

  // What other threads write.
  alignas(64) base::MpscStack<base::Runnable, &base::Runnable::next_runnable> injected_;
  CallList called_;
  News news_;
  base::Atomic<bool> asleep_{false};
  base::Atomic<bool> is_run_{false};
  base::Atomic<bool> stop_requested_{false};
  base::Atomic<bool> armed_from_outside_{false};
};

}  // namespace jzx::drivers
