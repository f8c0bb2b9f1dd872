#include "base/time/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <vector>

#include "base/time/clock.hpp"

namespace jzx::base {
namespace {

using Fired = std::vector<Timer*>;

// A tick in the middle of every digit, so that nothing is aligned by luck.
constexpr uint64_t kStart = 0x0123'4567'89ab'cdefu;

// Delays on both sides of each level's edge.
constexpr uint64_t kDelays[] = {1,
                                2,
                                255,
                                256,
                                257,
                                16'383,
                                16'384,
                                16'385,
                                1'048'575,
                                1'048'576,
                                1'048'577,
                                uint64_t{1} << 26,
                                uint64_t{1} << 32,
                                (uint64_t{1} << 32) + 1,
                                uint64_t{1} << 44,
                                uint64_t{1} << 62};

struct IdleTimer : Timer {
  IdleTimer() : Timer([](Timer&, Executor&) {}) {}
};

class TimerWheelTest : public ::testing::Test {
 protected:
  ~TimerWheelTest() override {
    wheel_.clear([](Timer&) {});
  }

  Fired advance(uint64_t now_ms) {
    Fired fired;
    latest_ms_ = std::max(latest_ms_, now_ms);
    wheel_.advance(now_ms, [&](Timer& timer) {
      EXPECT_FALSE(timer.is_armed());
      EXPECT_LE(timer.deadline_ms, latest_ms_) << "fired early";
      fired.push_back(&timer);
    });
    return fired;
  }

  std::deque<IdleTimer> timers_{std::size(kDelays)};
  TimerWheel wheel_{kStart};
  uint64_t latest_ms_ = kStart;
};

TEST_F(TimerWheelTest, HasNothingToWaitForWhenEmpty) {
  EXPECT_TRUE(wheel_.empty());
  EXPECT_EQ(wheel_.size(), 0u);
  EXPECT_EQ(wheel_.next_wake_ms(), kNever);
  EXPECT_EQ(wheel_.next_deadline_ms(), kNever);
  EXPECT_EQ(advance(kStart + 1'000'000), Fired{});
}

TEST_F(TimerWheelTest, FiresATimerAtItsDeadlineAndNotAMillisecondEarlier) {
  for (const uint64_t delay : kDelays) {
    SCOPED_TRACE(::testing::Message() << "delay " << delay);
    TimerWheel wheel(kStart);
    IdleTimer timer;
    wheel.insert(timer, kStart + delay);
    EXPECT_TRUE(timer.is_armed());
    EXPECT_EQ(timer.deadline_ms, kStart + delay);
    EXPECT_EQ(wheel.next_deadline_ms(), kStart + delay);
    int fired = 0;
    wheel.advance(kStart + delay - 1, [&](Timer&) { ++fired; });
    EXPECT_EQ(fired, 0);
    EXPECT_EQ(wheel.next_deadline_ms(), kStart + delay);
    wheel.advance(kStart + delay, [&](Timer&) { ++fired; });
    EXPECT_EQ(fired, 1);
    EXPECT_TRUE(wheel.empty());
  }
}

TEST_F(TimerWheelTest, FiresInTheOrderOfDeadlinesOverAJumpOfAllTime) {
  Fired expected;
  for (size_t i = std::size(kDelays); i-- > 0;) {
    wheel_.insert(timers_[i], kStart + kDelays[i]);
    expected.insert(expected.begin(), &timers_[i]);
  }
  EXPECT_EQ(wheel_.size(), std::size(kDelays));
  EXPECT_EQ(advance(kNever), expected);
  EXPECT_TRUE(wheel_.empty());
}

TEST_F(TimerWheelTest, FiresEqualDeadlinesInTheOrderOfInsertionThroughEveryCascade) {
  constexpr uint64_t kDeadline = kStart + (uint64_t{1} << 32);
  // Each is inserted from a tick closer to the deadline, so on a lower level at first.
  constexpr uint64_t kDistances[] = {
      uint64_t{1} << 32, uint64_t{1} << 27, 1'048'577, 1'048'575, 16'385, 16'383, 300, 255, 2, 1};
  Fired expected;
  for (size_t i = 0; i < std::size(kDistances); ++i) {
    EXPECT_EQ(advance(kDeadline - kDistances[i]), Fired{});
    wheel_.insert(timers_[i], kDeadline);
    expected.push_back(&timers_[i]);
  }
  EXPECT_EQ(advance(kDeadline), expected);
}

TEST_F(TimerWheelTest, TreatsAPastDeadlineAsTheCurrentTick) {
  wheel_.insert(timers_[0], kStart - 5);
  wheel_.insert(timers_[1], kStart);
  wheel_.insert(timers_[2], 0);
  EXPECT_EQ(timers_[0].deadline_ms, kStart);
  EXPECT_EQ(wheel_.next_deadline_ms(), kStart);
  EXPECT_EQ(wheel_.next_wake_ms(), kStart);
  EXPECT_EQ(advance(kStart), (Fired{&timers_[0], &timers_[1], &timers_[2]}));
}

TEST_F(TimerWheelTest, TakesAnOlderTimeAsTheCurrentTick) {
  wheel_.insert(timers_[0], kStart);
  wheel_.insert(timers_[1], kStart + 1);
  EXPECT_EQ(advance(kStart - 1000), (Fired{&timers_[0]})) << "it was due already";
  EXPECT_EQ(advance(kStart), Fired{});
  EXPECT_EQ(advance(kStart + 1), (Fired{&timers_[1]}));
}

TEST_F(TimerWheelTest, ForgetsARemovedTimerAtOnce) {
  for (const uint64_t delay : kDelays) {
    SCOPED_TRACE(::testing::Message() << "delay " << delay);
    wheel_.insert(timers_[0], kStart + delay);
    wheel_.insert(timers_[1], kStart + delay);
    EXPECT_LE(wheel_.next_wake_ms(), kStart + delay);
    wheel_.remove(timers_[0]);
    EXPECT_FALSE(timers_[0].is_armed());
    EXPECT_LE(wheel_.next_wake_ms(), kStart + delay);
    wheel_.remove(timers_[1]);
    EXPECT_EQ(wheel_.next_wake_ms(), kNever) << "no wake-up is left behind";
    EXPECT_EQ(wheel_.next_deadline_ms(), kNever);
    EXPECT_TRUE(wheel_.empty());
  }
  EXPECT_EQ(advance(kNever), Fired{});
}

TEST_F(TimerWheelTest, NeedsAtMostOneWakeUpPerLevelToReachADeadline) {
  constexpr int kLevels = 11;
  for (const uint64_t delay : kDelays) {
    SCOPED_TRACE(::testing::Message() << "delay " << delay);
    TimerWheel wheel(kStart);
    IdleTimer timer;
    wheel.insert(timer, kStart + delay);
    uint64_t now = kStart;
    int wakes = 0;
    while (!wheel.empty()) {
      ASSERT_LT(wakes, kLevels);
      ASSERT_LE(wheel.next_wake_ms(), kStart + delay);
      ASSERT_GT(wheel.next_wake_ms(), now);
      now = wheel.next_wake_ms();
      ++wakes;
      wheel.advance(now, [](Timer&) {});
    }
    EXPECT_EQ(now, kStart + delay);
  }
}

TEST_F(TimerWheelTest, LeavesATimerThatRearmsItselfToALaterAdvance) {
  wheel_.insert(timers_[0], kStart + 1);
  int fires = 0;
  const auto rearm_at_once = [&](Timer& timer) {
    ASSERT_LT(++fires, 100) << "advance() is held for ever";
    wheel_.insert(timer, timer.deadline_ms);
  };
  wheel_.advance(kStart + 10, rearm_at_once);
  EXPECT_EQ(fires, 1);
  EXPECT_EQ(timers_[0].deadline_ms, kStart + 10);
  wheel_.advance(kStart + 10, rearm_at_once);
  EXPECT_EQ(fires, 2);
  wheel_.advance(kStart + 20, rearm_at_once);
  EXPECT_EQ(fires, 3);
}

TEST_F(TimerWheelTest, DoesNotFireWhatAnEarlierTimerOfTheSameAdvanceRemoved) {
  for (size_t i = 0; i < 4; ++i) wheel_.insert(timers_[i], kStart + 1 + i / 2);
  Fired fired;
  wheel_.advance(kStart + 2, [&](Timer& timer) {
    fired.push_back(&timer);
    if (&timer != &timers_[0]) return;
    EXPECT_EQ(wheel_.size(), 3u);
    EXPECT_EQ(wheel_.next_deadline_ms(), kStart + 1) << "still to be fired";
    EXPECT_EQ(wheel_.next_wake_ms(), kStart + 1);
    wheel_.remove(timers_[1]);
    wheel_.remove(timers_[3]);
    EXPECT_EQ(wheel_.next_deadline_ms(), kStart + 2);
  });
  EXPECT_EQ(fired, (Fired{&timers_[0], &timers_[2]}));
  EXPECT_TRUE(wheel_.empty());
  EXPECT_EQ(wheel_.next_wake_ms(), kNever);
}

TEST_F(TimerWheelTest, ClearHandsOverEveryTimerUnlinked) {
  for (size_t i = 0; i < std::size(kDelays); ++i) wheel_.insert(timers_[i], kStart + kDelays[i]);
  Fired handed;
  wheel_.clear([&](Timer& timer) {
    EXPECT_FALSE(timer.is_armed());
    handed.push_back(&timer);
  });
  Fired all;
  for (IdleTimer& timer : timers_) all.push_back(&timer);
  std::sort(all.begin(), all.end());
  std::sort(handed.begin(), handed.end());
  EXPECT_EQ(handed, all);
  EXPECT_TRUE(wheel_.empty());
  EXPECT_EQ(wheel_.next_wake_ms(), kNever);
}

TEST_F(TimerWheelTest, ClearLetsItsCallerRemoveOthers) {
  wheel_.insert(timers_[0], kStart + 1);
  wheel_.insert(timers_[1], kStart + 1);
  wheel_.insert(timers_[2], kStart + 100'000);
  int handed = 0;
  wheel_.clear([&](Timer&) {
    ++handed;
    for (const size_t i : {size_t{1}, size_t{2}}) {
      if (timers_[i].is_armed()) wheel_.remove(timers_[i]);
    }
  });
  EXPECT_EQ(handed, 1);
  EXPECT_TRUE(wheel_.empty());
}

TEST_F(TimerWheelTest, ClearFromWithinFireAlsoTakesWhatWasAboutToFire) {
  for (size_t i = 0; i < 3; ++i) wheel_.insert(timers_[i], kStart + 1);
  wheel_.insert(timers_[3], kStart + 1000);
  int fires = 0;
  int handed = 0;
  wheel_.advance(kStart + 1, [&](Timer&) {
    ++fires;
    wheel_.clear([&](Timer&) { ++handed; });
  });
  EXPECT_EQ(fires, 1);
  EXPECT_EQ(handed, 3);
  EXPECT_TRUE(wheel_.empty());
}

TEST_F(TimerWheelTest, WorksUpToTheLastMillisecondOf64Bits) {
  advance(kNever - 1);
  wheel_.insert(timers_[0], kNever);
  EXPECT_EQ(advance(kNever - 1), Fired{});
  EXPECT_EQ(advance(kNever), (Fired{&timers_[0]}));
  wheel_.insert(timers_[0], kNever);
  EXPECT_EQ(advance(kNever), (Fired{&timers_[0]}));
}

}  // namespace
}  // namespace jzx::base
