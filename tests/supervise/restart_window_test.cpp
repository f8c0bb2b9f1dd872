// The sliding window of restarts, against a model that remembers everything.
#include "supervise/restart_window.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "base/prng.hpp"
#include "core/rig.hpp"

namespace jzx::supervise {
namespace {

using jzx::testing::allocator_of;
using jzx::testing::CountingAllocator;

TEST(RestartWindow, OfIntensityZeroAllowsNothing) {
  RestartWindow window(base::Allocator{}, 0, 1000);
  EXPECT_FALSE(window.allow(5));
}

TEST(RestartWindow, ForgetsARestartExactlyOnePeriodAfterIt) {
  RestartWindow window(base::Allocator{}, 2, 1000);
  EXPECT_TRUE(window.allow(0));
  EXPECT_TRUE(window.allow(10));
  EXPECT_FALSE(window.allow(999));
  EXPECT_TRUE(window.allow(1000)) << "the first has left";
  EXPECT_FALSE(window.allow(1009)) << "the second has not";
  EXPECT_TRUE(window.allow(1010));
}

TEST(RestartWindow, DoesNotCountWhatItRefused) {
  RestartWindow window(base::Allocator{}, 1, 1000);
  EXPECT_TRUE(window.allow(0));
  for (uint64_t now = 1; now < 1000; ++now) EXPECT_FALSE(window.allow(now));
  EXPECT_TRUE(window.allow(1000));
}

TEST(RestartWindow, RefusesWhatItCannotRememberAndRecovers) {
  CountingAllocator memory;
  {
    RestartWindow window(allocator_of(memory), 100, 1000);
    memory.refuse_all(true);
    EXPECT_FALSE(window.allow(0)) << "never more: one that is not counted is one too many";
    memory.refuse_all(false);
    for (int n = 0; n < 8; ++n) EXPECT_TRUE(window.allow(1));
    memory.refuse_all(true);
    EXPECT_FALSE(window.allow(2));
    EXPECT_TRUE(window.allow(1001)) << "room again, without memory";
    memory.refuse_all(false);
    EXPECT_TRUE(window.allow(1002));
  }
  EXPECT_EQ(memory.live_blocks(), 0);
}

TEST(RestartWindow, NeverAllowsMoreThanTheModelInAnyPeriod) {
  for (const uint32_t intensity : {1u, 2u, 7u, 8u, 9u, 40u}) {
    const uint64_t seed = 1000 + intensity;
    SCOPED_TRACE(seed);
    base::Prng random(seed);
    constexpr uint64_t kPeriod = 500;
    RestartWindow window(base::Allocator{}, intensity, kPeriod);
    std::deque<uint64_t> allowed;
    uint64_t now = 12345;
    for (int step = 0; step < 5000; ++step) {
      now += random.below(random.below(20) == 0 ? 2000 : 40);
      while (!allowed.empty() && now - allowed.front() >= kPeriod) allowed.pop_front();
      const bool expected = allowed.size() < intensity;
      ASSERT_EQ(window.allow(now), expected) << "step " << step;
      if (expected) allowed.push_back(now);
    }
  }
}

}  // namespace
}  // namespace jzx::supervise
