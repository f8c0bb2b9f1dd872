// base/spin_lock.hpp and base/call_gate.hpp.
#include <gtest/gtest.h>

#include <memory>
#include <mutex>

#include "base/call_gate.hpp"
#include "base/spin_lock.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

void count_under_lock(const char* name, uint32_t bound, int threads, int times) {
  expect_always({.name = name, .preemptions = bound}, [=](Scene& scene) {
    auto& lock = scene.make<SpinLock>();
    auto& count = scene.make<base::Shared<int>>(0);
    for (int i = 0; i < threads; ++i) {
      scene.thread([&] {
        for (int round = 0; round < times; ++round) {
          std::lock_guard hold(lock);
          ++count;
        }
      });
    }
    scene.join();
    MODEL_ASSERT(count == threads * times);
  });
}

TEST(SpinLock, KeepsTwoThreadsApart) { count_under_lock("spin_lock, 2 threads twice", 4, 2, 2); }
TEST(SpinLock, KeepsThreeThreadsApart) { count_under_lock("spin_lock, 3 threads", 3, 3, 1); }

TEST(SpinLock, TryLockEntersOnlyAFreeLockAndSeesWhatItsHolderDid) {
  int entered = 0, refused = 0;
  expect_always({.name = "spin_lock, try_lock", .preemptions = kUnbounded}, [&](Scene& scene) {
    auto& lock = scene.make<SpinLock>();
    auto& count = scene.make<base::Shared<int>>(0);
    scene.thread([&] {
      std::lock_guard hold(lock);
      ++count;
    });
    scene.thread([&] {
      const bool has_it = lock.try_lock();
      ++(has_it ? entered : refused);
      if (!has_it) return;
      ++count;
      lock.unlock();
    });
    scene.join();
  });
  EXPECT_GT(entered, 0);
  EXPECT_GT(refused, 0);
}

// Callers use what is behind the gate; the closer takes it away, and the gate itself, once all are
// out.
void close_under_calls(const char* name, uint32_t bound, int callers, int times) {
  int admitted = 0, refused = 0;
  expect_always({.name = name, .preemptions = bound}, [&](Scene& scene) {
    auto& gate = scene.make<CallGate>();
    auto& ended = scene.make<base::Shared<bool>>(false);
    auto& calls = scene.make<base::Atomic<int>>(0);
    for (int i = 0; i < callers; ++i) {
      scene.thread([&] {
        for (int round = 0; round < times; ++round) {
          if (!gate.enter()) {
            ++refused;
            continue;
          }
          ++admitted;
          MODEL_ASSERT(!ended);
          calls.fetch_add(1, std::memory_order_relaxed);
          gate.leave();
        }
      });
    }
    scene.thread([&] {
      MODEL_ASSERT(gate.close());
      gate.wait_until_empty();
      ended = true;
    });
    scene.join();
    MODEL_ASSERT(gate.is_closed());
    MODEL_ASSERT(!gate.close());
  });
  EXPECT_GT(admitted, 0);
  EXPECT_GT(refused, 0);
}

TEST(CallGate, TheCloserWaitsForOneCallerThatComesTwice) {
  close_under_calls("call_gate, 1 caller twice", kUnbounded, 1, 2);
}
TEST(CallGate, TheCloserWaitsForTwoCallers) { close_under_calls("call_gate, 2 callers", 4, 2, 1); }

}  // namespace
}  // namespace jzx::base::model
