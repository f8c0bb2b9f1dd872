// A jzx::Loop for tests: its time is the test's, its memory is counted, and its observer writes
// everything down.
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

#include "cpp/recorder.hpp"
#include "runtime/loop_system.hpp"
#include "runtime/port.hpp"
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

class ClockedLoop : public LoopParts, public Loop {
 public:
  explicit ClockedLoop(Time time = Time::manual, const LoopOptions& options = {})
      : LoopParts(time), Loop(open(options)) {}
  ~ClockedLoop() {
    if (!checks_ledger_) return;
    const core::Ledger ledger = system().ledger();
    EXPECT_EQ(ledger.accepted, ledger.handled + ledger.dead_lettered + ledger.queued)
        << "handled " << ledger.handled << ", dead-lettered " << ledger.dead_lettered << ", queued "
        << ledger.queued;
  }

  // For tests in which others still send at the end: the ledger is for quiet moments.
  void skip_ledger() { checks_ledger_ = false; }

  [[nodiscard]] core::Ledger ledger() { return system().ledger(); }
  [[nodiscard]] uint64_t now_ms() { return clock_.now_ns() / base::kNanosPerMilli; }

  // Ticks without waiting until there is nothing left to do now.
  void settle() {
    for (int tick = 0; tick < 1'000'000; ++tick) {
      if (!run_once(0ms)) return;
      drivers::Worker& worker = system().worker;
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
    clock_.advance_ms(static_cast<uint64_t>(time.count()));
  }

 private:
  [[nodiscard]] runtime::LoopSystem& system() { return static_cast<runtime::LoopSystem&>(*port_); }

  bool checks_ledger_ = true;
};

}  // namespace jzx::testing
