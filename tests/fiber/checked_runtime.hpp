// A jzx::Runtime for tests of fibers on workers. When it is closed, everybody is asked to end, and
// what must hold after every run is checked: all have ended, the ledger balances, nothing is
// queued, and every stack is back in some pool.
//
// Threads: as jzx::Runtime; close() and the destructor the test's.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <jzx/jzx.hpp>

#include "kinds/fiber/host_stacks.hpp"
#include "runtime/runtime_system.hpp"

namespace jzx::testing {

class CheckedRuntime : public Runtime {
 public:
  explicit CheckedRuntime(const RuntimeOptions& options) : Runtime(options) {}
  explicit CheckedRuntime(uint32_t workers) : Runtime(RuntimeOptions{.workers = workers}) {}
  ~CheckedRuntime() { close(); }

  void close() {
    if (std::exchange(is_closed_, true) || !*this) return;
    for (const StillAlive& one : shutdown(std::chrono::minutes(1))) {
      ADD_FAILURE() << one.name << " is still alive: " << one.why;
    }
    system().pause();
    const core::Ledger ledger = system().ledger();
    EXPECT_TRUE(ledger.balanced()) << "accepted " << ledger.accepted << ", handled "
                                   << ledger.handled << ", dead-lettered " << ledger.dead_lettered;
    EXPECT_EQ(ledger.queued, 0u);
    EXPECT_EQ(stacks_lost(), 0u);
    uint32_t timers = 0;
    system().system.for_each_host([&](core::Host& host) { timers += host.timers.in_use(); });
    EXPECT_EQ(timers, 0u) << "records of timers that were never given back";
  }

  // nullptr: there was no fiber yet.
  [[nodiscard]] kinds::StackMemory* stack_memory() {
    kinds::SystemStacks* stacks = kinds::stacks_of(system().system);
    return stacks != nullptr ? &stacks->memory : nullptr;
  }

 private:
  [[nodiscard]] runtime::RuntimeSystem& system() {
    return static_cast<runtime::RuntimeSystem&>(*port_);
  }

  // Stacks that are neither free nor in a pool.
  [[nodiscard]] uint64_t stacks_lost() {
    kinds::StackMemory* memory = stack_memory();
    if (memory == nullptr) return 0;
    uint64_t idle = 0;
    system().system.for_each_host([&](core::Host& host) {
      if (host.store == nullptr) return;
      for (uint8_t i = 0; i < kinds::kStackClasses; ++i) {
        idle += kinds::stacks_of(host)->pool.idle(kinds::StackClass{i});
      }
    });
    return memory->counts().in_use - idle;
  }

  bool is_closed_ = false;
};

}  // namespace jzx::testing
