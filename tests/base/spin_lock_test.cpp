#include "base/spin_lock.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "support/scale.hpp"

namespace jzx::base {
namespace {

TEST(SpinLock, CanBeTakenAgainAfterItWasLeft) {
  SpinLock lock;
  lock.lock();
  lock.unlock();
  lock.lock();
  lock.unlock();
}

TEST(SpinLock, LetsOneThreadInAtATime) {
  constexpr uint64_t kThreads = 3;
  const uint64_t rounds = testing::scaled(50'000);
  SpinLock lock;
  // Two plain words that only ever change together, inside the lock.
  uint64_t first = 0;
  uint64_t second = 0;
  uint64_t torn = 0;
  std::latch all_began(kThreads);  // or the first would be done before the last begins
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      all_began.arrive_and_wait();
      for (uint64_t round = 0; round < rounds; ++round) {
        const std::lock_guard<SpinLock> inside(lock);
        if (first != second) ++torn;
        ++first;
        if (round % 64 == 0) std::this_thread::yield();  // lets the others come to the door
        ++second;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, kThreads * rounds);
  EXPECT_EQ(second, kThreads * rounds);
  EXPECT_EQ(torn, 0u);
}

}  // namespace
}  // namespace jzx::base
