// Backoff between restarts: initial delay, factor, ceiling, jitter, and the return to
// zero after a quiet period.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;

constexpr uint32_t kPeriodMs = 500;

class Backoff : public ::testing::Test {
 protected:
  void start(const jzx_backoff_spec& backoff, jzx_child_mode mode = JZX_CHILD_PERMANENT) {
    const std::vector<jzx_child_spec> children = {child_spec(loop_.probe(), mode, &backoff)};
    supervisor_ = loop_.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 10'000, kPeriodMs));
    loop_.settle();
  }

  [[nodiscard]] bool is_up() const { return loop_.child(supervisor_, 0) != 0; }

  // Fails the child and returns how many milliseconds it was down.
  uint64_t downtime_ms() {
    EXPECT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor_, 0)), JZX_OK);
    loop_.settle();
    uint64_t ms = 0;
    while (!is_up() && ms < 100'000) {
      loop_.advance(1);
      ++ms;
    }
    EXPECT_TRUE(is_up()) << "it never came back";
    return ms;
  }

  // The wheel may be a millisecond late, never early.
  void expect_downtime(uint64_t expected_ms) {
    const uint64_t ms = downtime_ms();
    EXPECT_GE(ms, expected_ms);
    EXPECT_LE(ms, expected_ms + 1);
  }

  TestLoop loop_;
  jzx_actor_id supervisor_ = 0;
};

TEST_F(Backoff, GrowsFromTheInitialDelayByTheFactorUpToTheCeiling) {
  start({100, 350, 2.0f, 0});
  expect_downtime(100);
  expect_downtime(200);
  expect_downtime(350);
  expect_downtime(350);
}

TEST_F(Backoff, WithAFactorOfOneStaysTheSame) {
  start({50, 1000, 1.0f, 0});
  for (int n = 0; n < 4; ++n) expect_downtime(50);
}

TEST_F(Backoff, WithAFractionalFactorGrowsByIt) {
  start({100, 10'000, 1.5f, 0});
  expect_downtime(100);
  expect_downtime(150);
  expect_downtime(225);
}

TEST_F(Backoff, WithoutASpecIsNone) {
  const std::vector<jzx_child_spec> children = {child_spec(loop_.probe())};
  supervisor_ = loop_.spawn_supervisor(family(children));
  for (int n = 0; n < 5; ++n) EXPECT_EQ(downtime_ms(), 0u);
}

TEST_F(Backoff, DoesNotApplyToNormalEnds) {
  start({1000, 1000, 1.0f, 0});
  const jzx_actor_id before = loop_.child(supervisor_, 0);
  ASSERT_EQ(loop_.send(before, kTagStop), JZX_OK);
  loop_.settle();
  EXPECT_TRUE(is_up()) << "a PERMANENT child that ends normally is restarted at once";
  EXPECT_NE(loop_.child(supervisor_, 0), before);
}

TEST_F(Backoff, ReturnsToTheInitialDelayWhenTheChildRanForAPeriod) {
  start({100, 10'000, 2.0f, 0});
  expect_downtime(100);
  expect_downtime(200);
  loop_.advance(kPeriodMs + 1);
  expect_downtime(100);
  expect_downtime(200);
}

TEST_F(Backoff, DoesNotReturnToTheInitialDelayBeforeThePeriodIsOver) {
  start({100, 10'000, 2.0f, 0});
  expect_downtime(100);
  loop_.advance(kPeriodMs - 10);
  expect_downtime(200);
}

TEST_F(Backoff, CountsOnlyTimeTheChildWasUpTowardsItsReturn) {
  // Down for longer than the period, then up for a moment: not a quiet period.
  start({2 * kPeriodMs, 8 * kPeriodMs, 2.0f, 0});
  expect_downtime(2 * kPeriodMs);
  expect_downtime(4 * kPeriodMs);
}

TEST_F(Backoff, JitterStaysWithinItsBoundsAndVaries) {
  start({100, 1000, 1.0f, 30});
  std::set<uint64_t> seen;
  for (int n = 0; n < 60; ++n) {
    const uint64_t ms = downtime_ms();
    EXPECT_GE(ms, 70u);
    EXPECT_LE(ms, 131u);
    seen.insert(ms);
  }
  EXPECT_GT(seen.size(), 5u);
}

TEST_F(Backoff, JitterIsClampedToZeroAndTheCeiling) {
  start({10, 20, 1.0f, 500});
  bool at_the_floor = false;
  bool at_the_ceiling = false;
  for (int n = 0; n < 60; ++n) {
    const uint64_t ms = downtime_ms();
    EXPECT_LE(ms, 21u);
    if (ms <= 1) at_the_floor = true;
    if (ms >= 20) at_the_ceiling = true;
  }
  EXPECT_TRUE(at_the_floor);
  EXPECT_TRUE(at_the_ceiling);
}

TEST_F(Backoff, JitterDoesNotAccumulate) {
  start({100, 10'000, 1.0f, 50});
  for (int n = 0; n < 60; ++n) EXPECT_LE(downtime_ms(), 151u);
}

TEST_F(Backoff, IsKeptPerChild) {
  const jzx_backoff_spec backoff{100, 10'000, 2.0f, 0};
  const std::vector<jzx_child_spec> children(
      2, child_spec(loop_.probe(), JZX_CHILD_PERMANENT, &backoff));
  supervisor_ = loop_.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 1000, kPeriodMs));
  expect_downtime(100);
  expect_downtime(200);
  ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor_, 1)), JZX_OK);
  loop_.advance(99);
  EXPECT_EQ(loop_.child(supervisor_, 1), 0u);
  loop_.advance(2);
  EXPECT_NE(loop_.child(supervisor_, 1), 0u) << "its first failure, so the initial delay";
}

TEST_F(Backoff, OfOneChildDoesNotHoldUpTheOthers) {
  const jzx_backoff_spec backoff{1000, 1000, 1.0f, 0};
  const std::vector<jzx_child_spec> children = {
      child_spec(loop_.probe(), JZX_CHILD_PERMANENT, &backoff), child_spec(loop_.probe())};
  supervisor_ = loop_.spawn_supervisor(family(children));
  ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor_, 0)), JZX_OK);
  loop_.settle();
  ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor_, 1)), JZX_OK);
  loop_.settle();
  EXPECT_FALSE(is_up());
  EXPECT_NE(loop_.child(supervisor_, 1), 0u);
}

TEST_F(Backoff, AppliesToTransientChildrenThatFail) {
  start({100, 100, 1.0f, 0}, JZX_CHILD_TRANSIENT);
  expect_downtime(100);
}

TEST_F(Backoff, HoldsTheLoopOpenWhileTheChildIsDown) {
  TestLoop loop(TestLoop::Time::jumping);
  const jzx_backoff_spec backoff{60'000, 60'000, 1.0f, 0};
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe, JZX_CHILD_PERMANENT, &backoff)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  loop.on_event = [&](const Event& event) {
    if (event.kind == Kind::restart) jzx_loop_request_stop(loop);
  };
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_NE(loop.child(supervisor, 0), 0u);
}

}  // namespace
}  // namespace jzx::testing
