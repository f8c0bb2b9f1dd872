// A system for tests: its time is the test's, its memory is counted, and its observer writes
// everything down. It is a jzx::Loop, or the simulator behind the same functions if the test is run
// on that; see support/any_driver.hpp.
//
// When it goes away it checks what must hold after every run: the ledger balances, and every byte
// went back to the allocator.
//
// Threads: as jzx::Loop.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <jzx/jzx.hpp>
#include <optional>

#include "cpp/recorder.hpp"
#include "runtime/loop_system.hpp"
#include "runtime/port.hpp"
#include "support/any_driver.hpp"
#include "support/counting_allocator.hpp"

namespace jzx::testing {

using namespace std::chrono_literals;

enum class Time {
  manual,  // stands still until advance()
  jumping  // run() jumps to the next timer
};

// What must be there before the loop, and is looked at when it is gone.
class LoopParts {
 public:
  [[nodiscard]] CountingAllocator& allocator() { return allocator_; }
  [[nodiscard]] Recorder& seen() { return recorder_; }

 protected:
  explicit LoopParts(Time time) : clock_(time == Time::jumping) {}
  ~LoopParts() {
    EXPECT_EQ(allocator_.live_blocks(), 0) << "everything goes back to the allocator";
    EXPECT_EQ(allocator_.live_bytes(), 0);
  }

  detail::Port* open(const LoopOptions& options) {
    runtime::LoopOptions wanted;
    const jzx_allocator allocator = allocator_.c_allocator();
    wanted.allocator = {allocator.alloc, allocator.free, allocator.ctx};
    wanted.max_actors = options.max_actors;
    wanted.default_mailbox_cap = options.default_mailbox_cap;
    wanted.max_msgs_per_actor = options.max_msgs_per_actor;
    wanted.detect_deadlocks = options.detect_deadlocks;
    wanted.backend = static_cast<io::Backend>(options.reactor);
    wanted.clock = &clock_;
    runtime::LoopSystem* system = runtime::LoopSystem::create(wanted);
    if (system == nullptr) {
      ADD_FAILURE() << "the loop could not be created";
      std::abort();
    }
    system->system.set_observer(&recorder_);
    return system;
  }

  CountingAllocator allocator_;
  base::ManualClock clock_;
  Recorder recorder_;
};

class ClockedLoop : public LoopParts, public SystemFace {
 public:
  explicit ClockedLoop(Time time = Time::manual, const LoopOptions& options = {})
      : ClockedLoop(chosen_driver(), time, options) {}
  ClockedLoop(const std::string& driver, Time time, const LoopOptions& options = {})
      : LoopParts(time), SystemFace(nullptr), time_(time) {
    if (is_simulated(driver)) {
      sim_.emplace(driver,
                   SimEngineOptions{.max_actors = options.max_actors,
                                    .default_mailbox_cap = options.default_mailbox_cap,
                                    .detect_deadlocks = options.detect_deadlocks},
                   allocator_.c_allocator(), &recorder_);
      port_ = sim_->port();
    } else {
      port_ = open(options);
      loop_.emplace(port_);
    }
  }
  ~ClockedLoop() {
    if (!checks_ledger_) return;
    const core::Ledger ledger = port_->ledger();
    EXPECT_EQ(ledger.accepted, ledger.handled + ledger.dead_lettered + ledger.queued)
        << "handled " << ledger.handled << ", dead-lettered " << ledger.dead_lettered << ", queued "
        << ledger.queued;
  }
  [[nodiscard]] explicit operator bool() const noexcept { return port_ != nullptr; }

  // ---- as jzx::Loop ----

  // unknown: somebody waits for what will never come, which a loop would wait for, too.
  Errc run() {
    if (loop_) return loop_->run();
    return sim_->run(sim_time()) ? Errc::ok : Errc::unknown;
  }
  bool run_once(std::chrono::milliseconds max_wait) {
    if (loop_) return loop_->run_once(max_wait);
    return sim_->tick(time_ == Time::manual ? 0 : nanos_of(max_wait));
  }
  void request_stop() noexcept {
    if (loop_) return loop_->request_stop();
    port_->request_stop();
  }
  template <class T>
  Result<T> run_until(Future<T> future) {
    if (loop_) return loop_->run_until(std::move(future));
    if (sim_->run_until([&] { return future.is_ready(); }, sim_time())) return future.get();
    return Error(Errc::loop_closed, "nothing is left to do", "run_until");
  }
  template <class T>
  Result<T> run_until(Task<T> task) {
    return run_until(spawn_async(std::move(task)));
  }
  // For tests that are about a loop.
  [[nodiscard]] Loop& loop() { return *loop_; }

  // ---- for tests ----

  // For tests in which others still send at the end: the ledger is for quiet moments.
  void skip_ledger() { checks_ledger_ = false; }

  [[nodiscard]] core::Ledger ledger() { return port_->ledger(); }
  [[nodiscard]] uint64_t now_ms() {
    return (loop_ ? clock_.now_ns() : sim_->now_ns()) / base::kNanosPerMilli;
  }

  // Runs without waiting until there is nothing left to do now.
  void settle() {
    if (sim_) return sim_->settle();
    for (int tick = 0; tick < 1'000'000; ++tick) {
      if (!run_once(0ms)) return;
      drivers::Worker& worker = static_cast<runtime::LoopSystem&>(*port_).worker;
      if (!worker.has_work() && worker.next_deadline_ns() > worker.now_ns()) return;
    }
    ADD_FAILURE() << "the loop never came to rest";
  }

  // Settles, moves the time, settles.
  void advance(std::chrono::milliseconds time) {
    settle();
    move_time(time);
    settle();
  }
  void move_time(std::chrono::milliseconds time) {
    if (sim_) return sim_->move_time(nanos_of(time));
    clock_.advance_ms(static_cast<uint64_t>(time.count()));
  }

 private:
  struct OwnedLoop : Loop {
    explicit OwnedLoop(detail::Port* port) : Loop(port) {}
  };

  [[nodiscard]] static uint64_t nanos_of(std::chrono::milliseconds time) {
    return static_cast<uint64_t>(time.count()) * base::kNanosPerMilli;
  }
  [[nodiscard]] SimEngine::Time sim_time() const {
    return time_ == Time::manual ? SimEngine::Time::stands_still : SimEngine::Time::may_jump;
  }

  const Time time_;
  bool checks_ledger_ = true;
  // One of them.
  std::optional<OwnedLoop> loop_;
  std::optional<SimEngine> sim_;
};

}  // namespace jzx::testing
