// The clock of a simulated node: it may jump and run too fast or too slow, but never back.
#include <gtest/gtest.h>

#include "drivers/sim/sim_clock.hpp"

namespace jzx::drivers::sim {
namespace {

constexpr uint64_t kStart = VirtualTime::kStart;
constexpr uint64_t kSecond = 1'000'000'000;

struct NodeClocks : testing::Test {
  VirtualTime time;
  NodeClock clock{time};
};

TEST_F(NodeClocks, ShowTheTimeOfTheWorldAtFirst) {
  EXPECT_EQ(clock.now_ns(), kStart);
  time.move_to(kStart + 5);
  EXPECT_EQ(clock.now_ns(), kStart + 5);
  EXPECT_EQ(clock.true_time(kStart + 77), kStart + 77);
}

TEST_F(NodeClocks, RunFasterOrSlowerFromThenOn) {
  time.move_to(kStart + kSecond);
  clock.set_skew(1'000);
  EXPECT_EQ(clock.now_ns(), kStart + kSecond) << "nothing changes at once";
  time.move_to(kStart + 2 * kSecond);
  EXPECT_EQ(clock.now_ns(), kStart + 2 * kSecond + kSecond / 1'000);
  clock.set_skew(-500'000);
  time.move_to(kStart + 4 * kSecond);
  EXPECT_EQ(clock.now_ns(), kStart + 3 * kSecond + kSecond / 1'000);
}

TEST_F(NodeClocks, KeepWhatTheyHaveGainedOrLostWhenTheyAreHealed) {
  clock.set_skew(-100'000);
  time.move_to(kStart + 10 * kSecond);
  const uint64_t shown = clock.now_ns();
  EXPECT_EQ(shown, kStart + 9 * kSecond);
  clock.set_skew(0);
  EXPECT_EQ(clock.now_ns(), shown);
  time.move_to(kStart + 11 * kSecond);
  EXPECT_EQ(clock.now_ns(), shown + kSecond);
}

TEST_F(NodeClocks, KnowToTheNanosecondWhenTheyWillShowATime) {
  for (const int32_t skew : {0, 1, -1, 333, -777, 499'999, -499'999}) {
    clock.set_skew(skew);
    for (const uint64_t later :
         {uint64_t{1}, uint64_t{2}, uint64_t{999'999}, uint64_t{1'000'001}, 17 * kSecond + 3}) {
      const uint64_t shown = clock.now_ns() + later;
      const uint64_t when = clock.true_time(shown);
      time.move_to(when - 1);
      EXPECT_LT(clock.now_ns(), shown) << skew << ' ' << later;
      time.move_to(when);
      EXPECT_GE(clock.now_ns(), shown) << skew << ' ' << later;
    }
  }
}

TEST_F(NodeClocks, AreMonotoneWhateverIsDoneToThem) {
  uint64_t before = clock.now_ns();
  int32_t skew = -500'000;
  for (uint64_t ns = 0; ns < 2'000; ns += 7) {
    time.move_to(kStart + ns);
    clock.set_skew(skew += 3'000);
    if (ns % 5 == 0) clock.jump_ahead(ns);
    EXPECT_GE(clock.now_ns(), before);
    before = clock.now_ns();
  }
}

TEST_F(NodeClocks, TakeNoMoreSkewThanMakesSense) {
  clock.set_skew(-2'000'000);
  EXPECT_EQ(clock.skew(), -NodeClock::kMostSkew);
  clock.set_skew(2'000'000);
  EXPECT_EQ(clock.skew(), NodeClock::kMostSkew);
}

TEST_F(NodeClocks, WillShowATimeThatIsVeryFarAway) {
  constexpr uint64_t kFar = base::kNever - 1;
  EXPECT_EQ(clock.true_time(base::kNever), base::kNever);
  clock.set_skew(-500'000);
  EXPECT_EQ(clock.true_time(kFar), kFar) << "as far away as there is";
  clock.set_skew(500'000);
  EXPECT_LT(clock.true_time(kFar), kFar);
  EXPECT_EQ(clock.true_time(3), kStart) << "it has been shown already";
}

TEST_F(NodeClocks, CountWithoutOverflowUntilTheEndOfTime) {
  clock.set_skew(500'000);
  for (int i = 0; i < 5; ++i) clock.jump_ahead(base::kNever);
  const uint64_t jumped = clock.now_ns();
  EXPECT_EQ(jumped, kStart + VirtualTime::kEnd) << "and no farther";
  time.move_to(base::kNever);
  EXPECT_EQ(time.now_ns(), VirtualTime::kEnd);
  EXPECT_GT(clock.now_ns(), jumped);
  EXPECT_LT(clock.now_ns(), base::kNever / 4 * 3);
}

}  // namespace
}  // namespace jzx::drivers::sim
