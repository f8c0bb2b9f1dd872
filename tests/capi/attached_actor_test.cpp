// Actors attached to a supervisor without a child spec: stopped with it, in order,
// never restarted; attached supervisors hand their failure up.
#include <gtest/gtest.h>

#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;

class AttachedActor : public ::testing::Test {
 protected:
  void SetUp() override {
    supervisor_ = loop_.spawn_supervisor(family(children_));
    loop_.settle();
  }

  TestLoop loop_;
  Probe& probe_ = loop_.probe();
  std::vector<jzx_child_spec> children_ = {child_spec(probe_), child_spec(probe_)};
  jzx_actor_id supervisor_ = 0;
};

TEST_F(AttachedActor, IsStoppedWithItsSupervisorInReverseOrderAmongAllItsChildren) {
  const jzx_actor_id one = loop_.spawn_quiet(supervisor_);
  const jzx_actor_id two = loop_.spawn_quiet(supervisor_);
  const std::vector<jzx_actor_id> expected = {two, one, loop_.child(supervisor_, 1),
                                              loop_.child(supervisor_, 0), supervisor_};
  ASSERT_EQ(jzx_actor_stop(loop_, supervisor_), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().ids(Kind::stop), expected);
}

TEST_F(AttachedActor, IsNotRestartedWhenItFails) {
  const jzx_actor_id attached = loop_.spawn_quiet(supervisor_);
  ASSERT_EQ(loop_.send(attached, kTagFail), JZX_OK);
  loop_.settle();
  EXPECT_FALSE(loop_.is_alive(attached));
  EXPECT_EQ(loop_.events().count(Kind::restart), 0u);
  EXPECT_EQ(loop_.events().count(Kind::escalate), 0u);
  EXPECT_EQ(loop_.alive_count(), 3u) << "nobody else minds";
}

TEST_F(AttachedActor, ThatFailsDoesNotCountAgainstTheIntensity) {
  const jzx_actor_id strict =
      loop_.spawn_supervisor(family(children_, JZX_SUP_ONE_FOR_ONE, 0, 1000));
  for (int n = 0; n < 5; ++n) {
    ASSERT_EQ(jzx_actor_fail(loop_, loop_.spawn_quiet(strict)), JZX_OK);
    loop_.settle();
  }
  EXPECT_TRUE(loop_.is_alive(strict));
}

TEST_F(AttachedActor, TakesNoIndexAmongTheSpecifiedChildren) {
  loop_.spawn_quiet(supervisor_);
  EXPECT_EQ(jzx_supervisor_child_id(loop_, supervisor_, 2, nullptr), JZX_ERR_INVALID_ARG);
}

TEST_F(AttachedActor, CanAttachToAPlainActorAndIsStoppedWithIt) {
  const jzx_actor_id boss = loop_.spawn_quiet();
  const jzx_actor_id one = loop_.spawn_quiet(boss);
  const jzx_actor_id two = loop_.spawn_quiet(boss);
  loop_.events().clear();
  ASSERT_EQ(loop_.send(boss, kTagStop), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().ids(Kind::stop), (std::vector<jzx_actor_id>{two, one, boss}));
  EXPECT_EQ(loop_.events().stop_reason(one), JZX_EXIT_NORMAL);
}

TEST_F(AttachedActor, OfABossThatFailsIsStoppedFirstToo) {
  const jzx_actor_id boss = loop_.spawn_quiet();
  const jzx_actor_id one = loop_.spawn_quiet(boss);
  loop_.events().clear();
  ASSERT_EQ(loop_.send(boss, kTagFail), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().ids(Kind::stop), (std::vector<jzx_actor_id>{one, boss}));
  EXPECT_EQ(loop_.events().stop_reason(boss), JZX_EXIT_FAIL);
}

TEST_F(AttachedActor, CannotAttachToAGoneOrUnknownSupervisor) {
  jzx_spawn_opts opts{};
  opts.behavior = &Probe::behave;
  opts.state = &probe_;
  opts.supervisor = supervisor_ + (1ull << 40);
  EXPECT_EQ(jzx_spawn(loop_, &opts, nullptr), JZX_ERR_NO_SUCH_ACTOR);
  const jzx_supervisor_init init = family(children_);
  EXPECT_EQ(jzx_spawn_supervisor(loop_, &init, opts.supervisor, nullptr), JZX_ERR_NO_SUCH_ACTOR);
  ASSERT_EQ(jzx_actor_stop(loop_, supervisor_), JZX_OK);
  opts.supervisor = supervisor_;
  EXPECT_EQ(jzx_spawn(loop_, &opts, nullptr), JZX_ERR_NO_SUCH_ACTOR) << "it is ending";
  EXPECT_EQ(jzx_spawn_supervisor(loop_, &init, supervisor_, nullptr), JZX_ERR_NO_SUCH_ACTOR);
  loop_.settle();
  EXPECT_EQ(loop_.alive_count(), 0u);
}

TEST_F(AttachedActor, ASpawnInsideAChildsBehaviourCanAttachToItsSupervisor) {
  jzx_actor_id spawned = 0;
  probe_.on = [&](jzx_context*, const Received&) {
    spawned = loop_.spawn_quiet(supervisor_);
    return JZX_BEHAVIOR_FAIL;
  };
  ASSERT_EQ(loop_.send(loop_.child(supervisor_, 0)), JZX_OK);
  loop_.settle();
  EXPECT_TRUE(loop_.is_alive(spawned));
  EXPECT_NE(loop_.child(supervisor_, 0), 0u);
}

// ---- attached supervisors ------------------------------------------------------------

TEST_F(AttachedActor, ThatIsASupervisorHandsItsFailureUp) {
  const jzx_actor_id inner =
      loop_.spawn_supervisor(family(children_, JZX_SUP_ONE_FOR_ONE, 0, 1000), supervisor_);
  loop_.events().clear();
  ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(inner, 0)), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().ids(Kind::escalate), (std::vector<jzx_actor_id>{inner, supervisor_}));
  EXPECT_EQ(loop_.events().stop_reason(inner), JZX_EXIT_FAIL);
  EXPECT_EQ(loop_.events().stop_reason(supervisor_), JZX_EXIT_FAIL);
  EXPECT_EQ(loop_.alive_count(), 0u);
}

TEST_F(AttachedActor, ThatIsASupervisorEscalatesAlsoWhenItIsFailedFromOutside) {
  const jzx_actor_id inner = loop_.spawn_supervisor(family(children_), supervisor_);
  loop_.events().clear();
  ASSERT_EQ(jzx_actor_fail(loop_, inner), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().count(Kind::escalate, supervisor_), 1u);
  EXPECT_EQ(loop_.alive_count(), 0u);
}

TEST_F(AttachedActor, ThatIsASupervisorAndIsStoppedEscalatesNothing) {
  const jzx_actor_id inner = loop_.spawn_supervisor(family(children_), supervisor_);
  ASSERT_EQ(jzx_actor_stop(loop_, inner), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().count(Kind::escalate), 0u);
  EXPECT_TRUE(loop_.is_alive(supervisor_));
  EXPECT_EQ(loop_.alive_count(), 3u);
}

TEST_F(AttachedActor, ThatIsASupervisorUnderAPlainActorTellsItLikeAnyChild) {
  Probe& boss = loop_.probe();
  const jzx_actor_id boss_id = loop_.spawn(boss);
  const jzx_actor_id inner =
      loop_.spawn_supervisor(family(children_, JZX_SUP_ONE_FOR_ONE, 0, 1000), boss_id);
  ASSERT_EQ(jzx_actor_fail(loop_, loop_.child(inner, 1)), JZX_OK);
  loop_.settle();
  const std::vector<Received> exits = boss.received(JZX_TAG_SYS_CHILD_EXIT);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].child_exit.child, inner);
  EXPECT_EQ(exits[0].child_exit.reason, JZX_EXIT_FAIL);
  EXPECT_TRUE(loop_.is_alive(boss_id));
}

}  // namespace
}  // namespace jzx::testing
