#include "base/time/clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/scale.hpp"

namespace jzx::base {
namespace {

TEST(ManualClock, StandsStillUntilMoved) {
  ManualClock clock(false);
  const uint64_t start = clock.now_ns();
  EXPECT_NE(start, 0u);
  EXPECT_EQ(clock.now_ns(), start);
  clock.advance_ns(7);
  EXPECT_EQ(clock.now_ns(), start + 7);
  clock.advance_ms(3);
  EXPECT_EQ(clock.now_ns(), start + 7 + 3'000'000);
}

TEST(ManualClock, JumpsToTheDeadlineOfAnIdleLoop) {
  ManualClock clock(true);
  const uint64_t deadline = clock.now_ns() + 5'000'000'000;
  EXPECT_EQ(clock.allowed_wait_ns(deadline), 0u);
  EXPECT_EQ(clock.now_ns(), deadline);
}

TEST(ManualClock, DoesNotJumpUnlessAskedTo) {
  ManualClock clock(false);
  const uint64_t start = clock.now_ns();
  EXPECT_EQ(clock.allowed_wait_ns(start + 250), 250u);
  EXPECT_EQ(clock.now_ns(), start);
}

TEST(ManualClock, AllowsNoWaitForAPastDeadlineAndNeverGoesBack) {
  for (const bool jumps : {false, true}) {
    ManualClock clock(jumps);
    const uint64_t start = clock.now_ns();
    EXPECT_EQ(clock.allowed_wait_ns(start), 0u);
    EXPECT_EQ(clock.allowed_wait_ns(start - 1), 0u);
    EXPECT_EQ(clock.now_ns(), start);
  }
}

TEST(ManualClock, AllowsAnEndlessWaitWithoutADeadline) {
  for (const bool jumps : {false, true}) {
    ManualClock clock(jumps);
    const uint64_t start = clock.now_ns();
    EXPECT_EQ(clock.allowed_wait_ns(kNever), kNever);
    EXPECT_EQ(clock.now_ns(), start);
  }
}

TEST(ManualClock, LosesNoMoveOfAnotherThreadWhenItJumps) {
  const uint64_t moves = testing::scaled(100'000);
  ManualClock clock(true);
  const uint64_t start = clock.now_ns();
  std::atomic<bool> began{false};
  std::atomic<bool> done{false};
  std::thread idle_loop([&] {
    uint64_t latest = 0;
    while (!done.load()) {
      const uint64_t now = clock.now_ns();
      EXPECT_GE(now, latest);
      latest = now;
      EXPECT_EQ(clock.allowed_wait_ns(now + 1), 0u);
      began.store(true);
    }
  });
  while (!began.load()) std::this_thread::yield();
  for (uint64_t i = 0; i < moves; ++i) clock.advance_ns(1'000);
  done.store(true);
  idle_loop.join();
  EXPECT_GE(clock.now_ns(), start + moves * 1'000);
}

TEST(SteadyClock, NeverGoesBack) {
  SteadyClock clock;
  uint64_t latest = clock.now_ns();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = clock.now_ns();
    EXPECT_GE(now, latest);
    latest = now;
  }
}

TEST(SteadyClock, AllowsAWaitUntilTheDeadlineAndNoLonger) {
  SteadyClock clock;
  const uint64_t hour_ns = uint64_t{3'600} * 1'000'000'000;
  const uint64_t before = clock.now_ns();
  const uint64_t wait = clock.allowed_wait_ns(before + hour_ns);
  const uint64_t after = clock.now_ns();
  EXPECT_LE(wait, hour_ns);
  EXPECT_GE(wait + (after - before), hour_ns);
  EXPECT_EQ(clock.allowed_wait_ns(before), 0u);
  EXPECT_EQ(clock.allowed_wait_ns(kNever), kNever);
}

}  // namespace
}  // namespace jzx::base
