// Restart intensity (a sliding window), escalation, child modes, nested trees, and
// restarts that cannot be done.
#include <gtest/gtest.h>

#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

// One supervisor of one child; time is the test's.
class Intensity : public ::testing::Test {
 protected:
  void start(uint32_t intensity, uint32_t period_ms, jzx_child_mode mode = JZX_CHILD_PERMANENT) {
    const std::vector<jzx_child_spec> children = {child_spec(probe_, mode)};
    supervisor_ =
        loop_.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, intensity, period_ms));
    start_ns_ = loop_.clock().now_ns();
    loop_.settle();
  }

  // Fails the child when `ms` have gone since start().
  void fail_at(uint64_t ms) {
    const uint64_t now_ms = (loop_.clock().now_ns() - start_ns_) / 1'000'000;
    ASSERT_LE(now_ms, ms);
    loop_.advance(ms - now_ms);
    const jzx_actor_id child = loop_.child(supervisor_, 0);
    ASSERT_NE(child, 0u) << "it was not running at " << ms << " ms";
    ASSERT_EQ(jzx_actor_fail(loop_, child), JZX_OK);
    loop_.settle();
  }

  [[nodiscard]] size_t escalations() { return loop_.events().count(Kind::escalate, supervisor_); }

  TestLoop loop_;
  Probe& probe_ = loop_.probe();
  jzx_actor_id supervisor_ = 0;
  uint64_t start_ns_ = 0;
};

TEST_F(Intensity, AllowsThatManyRestartsInAPeriodAndEscalatesOnTheNext) {
  start(3, 1000);
  fail_at(0);
  fail_at(10);
  fail_at(20);
  EXPECT_EQ(escalations(), 0u);
  EXPECT_NE(loop_.child(supervisor_, 0), 0u);
  fail_at(30);
  EXPECT_EQ(escalations(), 1u);
  EXPECT_EQ(loop_.events().stop_reason(supervisor_), JZX_EXIT_FAIL);
  EXPECT_EQ(loop_.events().count(Kind::restart), 3u);
}

TEST_F(Intensity, IsASlidingWindowNotOneThatStartsOver) {
  // In any 1000 ms at most 3. A window that starts afresh at 1100 would have forgotten
  // the restarts at 400 and 800, and let the one at 1300 pass.
  start(3, 1000);
  fail_at(0);
  fail_at(400);
  fail_at(800);
  fail_at(1100);
  EXPECT_EQ(escalations(), 0u) << "the one at 0 is more than a period ago";
  fail_at(1300);
  EXPECT_EQ(escalations(), 1u);
}

TEST_F(Intensity, ForgetsRestartsOlderThanThePeriod) {
  start(1, 1000);
  for (uint64_t round = 0; round < 20; ++round) fail_at(round * 1010);
  EXPECT_EQ(escalations(), 0u);
  EXPECT_EQ(loop_.events().count(Kind::restart), 20u);
}

TEST_F(Intensity, RemembersRestartsYoungerThanThePeriod) {
  start(1, 1000);
  fail_at(0);
  fail_at(990);
  EXPECT_EQ(escalations(), 1u);
}

TEST_F(Intensity, OfZeroEscalatesOnTheFirstFailure) {
  start(0, 1000);
  fail_at(0);
  EXPECT_EQ(escalations(), 1u);
  EXPECT_EQ(loop_.events().count(Kind::restart), 0u);
  EXPECT_EQ(loop_.alive_count(), 0u);
}

TEST_F(Intensity, WithAPeriodOfZeroIsInvalid) {
  const std::vector<jzx_child_spec> children = {child_spec(probe_)};
  const jzx_supervisor_init init = family(children, JZX_SUP_ONE_FOR_ONE, 3, 0);
  jzx_actor_id id = 0;
  EXPECT_EQ(jzx_spawn_supervisor(loop_, &init, 0, &id), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(id, 0u);
  const std::vector<jzx_child_spec> outer_children = {nested_spec(init)};
  const jzx_supervisor_init outer = family(outer_children);
  EXPECT_EQ(jzx_spawn_supervisor(loop_, &outer, 0, &id), JZX_ERR_INVALID_ARG) << "nested too";
  EXPECT_EQ(loop_.events().count(Kind::start), 0u);
}

TEST_F(Intensity, CountsRestartsAfterNormalEndsToo) {
  start(2, 1000);
  for (int n = 0; n < 3; ++n) {
    ASSERT_EQ(loop_.send(loop_.child(supervisor_, 0), kTagStop), JZX_OK);
    loop_.settle();
  }
  EXPECT_EQ(loop_.events().count(Kind::restart), 2u);
  EXPECT_EQ(escalations(), 1u);
}

TEST_F(Intensity, IsSharedByAllChildrenOfASupervisor) {
  const std::vector<jzx_child_spec> children(3, child_spec(probe_));
  supervisor_ = loop_.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 2, 1000));
  for (size_t n = 0; n < 3; ++n) {
    ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor_, n)), JZX_OK);
    loop_.settle();
  }
  EXPECT_EQ(escalations(), 1u);
}

TEST_F(Intensity, ExceededByManyFailuresAtOnceEscalatesExactlyOnce) {
  const std::vector<jzx_child_spec> children(50, child_spec(probe_));
  supervisor_ = loop_.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 5, 1000));
  for (size_t n = 0; n < 50; ++n) {
    ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor_, n)), JZX_OK);
  }
  loop_.settle();
  EXPECT_EQ(escalations(), 1u);
  EXPECT_EQ(loop_.events().count(Kind::escalate), 1u);
  EXPECT_LE(loop_.events().count(Kind::restart), 5u);
  EXPECT_EQ(loop_.alive_count(), 0u);
}

TEST_F(Intensity, ExceededStopsTheOtherChildrenInReverseOrderFirst) {
  const std::vector<jzx_child_spec> children(3, child_spec(probe_));
  supervisor_ = loop_.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 0, 1000));
  const std::vector<jzx_actor_id> expected = {loop_.child(supervisor_, 1),
                                              loop_.child(supervisor_, 2),
                                              loop_.child(supervisor_, 0), supervisor_};
  ASSERT_EQ(jzx_actor_fail(loop_, expected[0]), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().ids(Kind::stop), expected);
}

TEST_F(Intensity, EscalatesRegardlessOfBackoff) {
  const jzx_backoff_spec backoff{10, 10, 1.0f, 0};
  const std::vector<jzx_child_spec> children = {child_spec(probe_, JZX_CHILD_PERMANENT, &backoff)};
  supervisor_ = loop_.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 1, 1000));
  ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor_, 0)), JZX_OK);
  loop_.advance(20);
  ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor_, 0)), JZX_OK);
  loop_.settle();
  EXPECT_EQ(escalations(), 1u) << "at once, not after the delay";
}

// ---- modes ------------------------------------------------------------------------------

struct ModeCase {
  jzx_child_mode mode;
  bool after_stop;
  bool after_fail;
};

class ChildMode : public ::testing::TestWithParam<ModeCase> {};

TEST_P(ChildMode, DecidesWhetherTheChildComesBack) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children(2, child_spec(probe, GetParam().mode));
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  ASSERT_EQ(loop.send(loop.child(supervisor, 0), kTagStop), JZX_OK);
  ASSERT_EQ(loop.send(loop.child(supervisor, 1), kTagFail), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.child(supervisor, 0) != 0, GetParam().after_stop);
  EXPECT_EQ(loop.child(supervisor, 1) != 0, GetParam().after_fail);
  EXPECT_TRUE(loop.is_alive(supervisor)) << "a supervisor lives on without its children";
}

INSTANTIATE_TEST_SUITE_P(Is, ChildMode,
                         ::testing::Values(ModeCase{JZX_CHILD_PERMANENT, true, true},
                                           ModeCase{JZX_CHILD_TRANSIENT, false, true},
                                           ModeCase{JZX_CHILD_TEMPORARY, false, false}));

// ---- nested supervisors --------------------------------------------------------------------

TEST(NestedSupervisor, IsRestartedWithNewChildrenWhenItEscalates) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> inner_children(2, child_spec(probe));
  const jzx_supervisor_init inner = family(inner_children, JZX_SUP_ONE_FOR_ONE, 0, 1000);
  const std::vector<jzx_child_spec> children = {nested_spec(inner)};
  const jzx_actor_id root = loop.spawn_supervisor(family(children));
  const jzx_actor_id before = loop.child(root, 0);
  const jzx_actor_id grandchild = loop.child(before, 0);
  ASSERT_EQ(jzx_actor_fail(loop, grandchild), JZX_OK);
  loop.settle();
  const jzx_actor_id after = loop.child(root, 0);
  ASSERT_NE(after, 0u);
  EXPECT_NE(after, before);
  EXPECT_NE(loop.child(after, 0), 0u);
  EXPECT_NE(loop.child(after, 1), 0u);
  EXPECT_EQ(loop.events().ids(Kind::escalate), std::vector<jzx_actor_id>{before});
  EXPECT_EQ(loop.alive_count(), 4u);
}

TEST(NestedSupervisor, FailuresClimbUntilSomebodyMayRestart) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> leaf = {child_spec(probe)};
  const jzx_supervisor_init low = family(leaf, JZX_SUP_ONE_FOR_ONE, 0, 1000);
  const std::vector<jzx_child_spec> mid_children = {nested_spec(low)};
  const jzx_supervisor_init mid = family(mid_children, JZX_SUP_ONE_FOR_ONE, 0, 1000);
  const std::vector<jzx_child_spec> top_children = {nested_spec(mid)};
  const jzx_actor_id top =
      loop.spawn_supervisor(family(top_children, JZX_SUP_ONE_FOR_ONE, 1, 1000));
  const jzx_actor_id mid_id = loop.child(top, 0);
  const jzx_actor_id low_id = loop.child(mid_id, 0);
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(low_id, 0)), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().ids(Kind::escalate), (std::vector<jzx_actor_id>{low_id, mid_id}));
  EXPECT_EQ(loop.alive_count(), 4u) << "the whole branch is back";
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(loop.child(loop.child(top, 0), 0), 0)), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().count(Kind::escalate, top), 1u);
  EXPECT_EQ(loop.alive_count(), 0u);
}

// ---- restarts that cannot be done -------------------------------------------------------------

class RestartWithoutRoom : public ::testing::Test {
 protected:
  // Fails the child, and takes its slot while it waits for its backoff.
  void start_and_take_the_slot(uint32_t intensity) {
    const jzx_backoff_spec backoff{10, 10, 1.0f, 0};
    const std::vector<jzx_child_spec> children = {
        child_spec(loop_.probe(), JZX_CHILD_PERMANENT, &backoff)};
    supervisor_ =
        loop_.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, intensity, 1'000'000));
    ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor_, 0)), JZX_OK);
    loop_.settle();
    squatter_ = loop_.spawn_quiet();
  }

  static jzx_config small() {
    jzx_config config = default_config();
    config.max_actors = 2;
    return config;
  }

  TestLoop loop_{Time::manual, small()};
  jzx_actor_id supervisor_ = 0;
  jzx_actor_id squatter_ = 0;
};

TEST_F(RestartWithoutRoom, IsTriedAgainUntilThereIsRoom) {
  start_and_take_the_slot(1000);
  for (int n = 0; n < 5; ++n) loop_.advance(15);
  EXPECT_EQ(loop_.child(supervisor_, 0), 0u);
  ASSERT_TRUE(loop_.is_alive(supervisor_));
  ASSERT_EQ(jzx_actor_stop(loop_, squatter_), JZX_OK);
  for (int n = 0; n < 5; ++n) loop_.advance(15);
  EXPECT_NE(loop_.child(supervisor_, 0), 0u);
}

TEST_F(RestartWithoutRoom, EscalatesWhenTheIntensityIsUsedUp) {
  start_and_take_the_slot(3);
  for (int n = 0; n < 20; ++n) loop_.advance(15);
  EXPECT_EQ(loop_.events().count(Kind::escalate, supervisor_), 1u);
  EXPECT_FALSE(loop_.is_alive(supervisor_));
}

// jzx_init_fn has no context; the number of starts it still refuses is global.
int refusals_left = 0;
jzx_behavior_result reluctant_init(void** out_state) {
  *out_state = nullptr;
  if (refusals_left == 0) return JZX_BEHAVIOR_OK;
  --refusals_left;
  return JZX_BEHAVIOR_FAIL;
}

jzx_child_spec reluctant_spec() {
  jzx_child_spec spec{};
  spec.behavior = [](jzx_context*, const jzx_message*) { return JZX_BEHAVIOR_OK; };
  spec.init = &reluctant_init;
  return spec;
}

TEST(RefusedRestart, CountsAsAFailureAndIsTriedAgain) {
  TestLoop loop;
  refusals_left = 0;
  const std::vector<jzx_child_spec> children = {reluctant_spec()};
  const jzx_actor_id supervisor =
      loop.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 10, 1000));
  refusals_left = 3;
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
  loop.settle();
  EXPECT_NE(loop.child(supervisor, 0), 0u);
  EXPECT_EQ(refusals_left, 0);
}

TEST(RefusedRestart, EscalatesWhenTheIntensityIsUsedUp) {
  TestLoop loop;
  refusals_left = 0;
  const std::vector<jzx_child_spec> children = {reluctant_spec()};
  const jzx_actor_id supervisor =
      loop.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 3, 1000));
  refusals_left = 100;
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().count(Kind::escalate, supervisor), 1u);
  EXPECT_GE(refusals_left, 100 - 3) << "no more tries than the intensity allows";
  EXPECT_EQ(loop.alive_count(), 0u);
  refusals_left = 0;
}

}  // namespace
}  // namespace jzx::testing
