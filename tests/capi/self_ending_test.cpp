// Actors that end themselves, and what jzx_actor_stop and jzx_actor_fail do to others:
// all from inside a behaviour, where freeing too early would hurt.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

TEST(SelfEnding, AnActorMaySendToItselfAndReturnStop) {
  TestLoop loop;
  Probe& probe = loop.probe([&](jzx_context* ctx, const Received&) {
    EXPECT_EQ(loop.send(ctx->self, kTag, 2), JZX_OK);
    EXPECT_EQ(loop.send_async(ctx->self, kTag, 3), JZX_OK);
    EXPECT_EQ(loop.send_after(ctx->self, 0, kTag, 4), JZX_OK);
    return JZX_BEHAVIOR_STOP;
  });
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id, kTag, 1), JZX_OK);
  loop.settle();
  EXPECT_EQ(probe.values(), std::vector<uint64_t>{1});
  EXPECT_EQ(loop.events().count(Kind::dead_letter, id), 3u);
  EXPECT_EQ(loop.events().stop_reason(id), JZX_EXIT_NORMAL);
}

TEST(SelfEnding, AnActorMayStopItselfByIdAndIsDeadToLaterSendsOfTheSameCall) {
  TestLoop loop;
  Probe& probe = loop.probe([&](jzx_context* ctx, const Received&) {
    EXPECT_EQ(jzx_actor_stop(ctx->loop, ctx->self), JZX_OK);
    EXPECT_EQ(loop.send(ctx->self, kTag, 99), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_actor_stop(ctx->loop, ctx->self), JZX_ERR_NO_SUCH_ACTOR);
    return JZX_BEHAVIOR_OK;
  });
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id, kTag, 1), JZX_OK);
  ASSERT_EQ(loop.send(id, kTag, 2), JZX_OK);
  loop.settle();
  EXPECT_EQ(probe.values(), std::vector<uint64_t>{1}) << "it takes effect before the next message";
  EXPECT_EQ(loop.events().dead_values(), std::vector<uint64_t>{2});
  EXPECT_EQ(loop.events().stop_reason(id), JZX_EXIT_NORMAL);
  EXPECT_EQ(loop.events().count(Kind::stop, id), 1u);
}

TEST(SelfEnding, AnActorMayFailItselfById) {
  TestLoop loop;
  Probe& probe = loop.probe([&](jzx_context* ctx, const Received&) {
    EXPECT_EQ(jzx_actor_fail(ctx->loop, ctx->self), JZX_OK);
    return JZX_BEHAVIOR_OK;
  });
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id, kTag, 1), JZX_OK);
  ASSERT_EQ(loop.send(id, kTag, 2), JZX_OK);
  loop.settle();
  EXPECT_EQ(probe.values(), std::vector<uint64_t>{1});
  EXPECT_EQ(loop.events().stop_reason(id), JZX_EXIT_FAIL);
}

TEST(SelfEnding, AnUnknownBehaviourResultFailsTheActor) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn(loop.probe(
      [](jzx_context*, const Received&) { return static_cast<jzx_behavior_result>(3); }));
  ASSERT_EQ(loop.send(id), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().stop_reason(id), JZX_EXIT_FAIL);
}

#if defined(__cpp_exceptions) && !defined(JZX_LIBRARY_NOEXCEPT)
TEST(SelfEnding, AnExceptionThatEscapesABehaviourIsAPanicAndGoesNoFurther) {
  TestLoop loop;
  Probe& boss = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss);
  const jzx_actor_id id =
      loop.spawn(loop.probe([](jzx_context*, const Received&) -> jzx_behavior_result {
        throw std::runtime_error("escapes");
      }),
                 0, boss_id);
  ASSERT_EQ(loop.send(id), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().stop_reason(id), JZX_EXIT_PANIC);
  ASSERT_EQ(boss.count(JZX_TAG_SYS_CHILD_EXIT), 1u);
  EXPECT_EQ(boss.received(JZX_TAG_SYS_CHILD_EXIT)[0].child_exit.reason, JZX_EXIT_PANIC);
}
#endif

TEST(SelfEnding, AnActorMayStopItsOwnPlainSupervisor) {
  TestLoop loop;
  const jzx_actor_id boss = loop.spawn_quiet();
  Probe& probe = loop.probe([&](jzx_context* ctx, const Received&) {
    EXPECT_EQ(jzx_actor_stop(ctx->loop, boss), JZX_OK);
    return JZX_BEHAVIOR_OK;
  });
  const jzx_actor_id child = loop.spawn(probe, 0, boss);
  ASSERT_EQ(loop.send(child), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.alive_count(), 0u);
  EXPECT_LT(loop.events().position(Kind::stop, child), loop.events().position(Kind::stop, boss));
}

class StopsItsSupervisor : public ::testing::TestWithParam<jzx_behavior_result> {};

TEST_P(StopsItsSupervisor, FromInsideItsBehaviour) {
  TestLoop loop;
  jzx_actor_id supervisor = 0;
  Probe& probe = loop.probe([&](jzx_context* ctx, const Received&) {
    EXPECT_EQ(jzx_actor_stop(ctx->loop, supervisor), JZX_OK);
    return GetParam();
  });
  Probe& sibling = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(sibling), child_spec(probe),
                                                child_spec(sibling)};
  supervisor = loop.spawn_supervisor(family(children));
  ASSERT_EQ(loop.send(loop.child(supervisor, 1)), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.alive_count(), 0u);
  EXPECT_EQ(loop.events().stop_reason(supervisor), JZX_EXIT_NORMAL);
  EXPECT_EQ(loop.events().count(Kind::restart), 0u)
      << "a supervisor on its way out restarts nobody";
}

INSTANTIATE_TEST_SUITE_P(AndReturns, StopsItsSupervisor,
                         ::testing::Values(JZX_BEHAVIOR_OK, JZX_BEHAVIOR_STOP, JZX_BEHAVIOR_FAIL));

TEST(ActorStop, TakesEffectBeforeTheActorsNextMessage) {
  TestLoop loop;
  Probe& victim = loop.probe();
  const jzx_actor_id victim_id = loop.spawn(victim);
  ASSERT_EQ(loop.send(victim_id, kTag, 1), JZX_OK);
  ASSERT_EQ(loop.send(victim_id, kTag, 2), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop, victim_id), JZX_OK);
  EXPECT_EQ(loop.send(victim_id, kTag, 3), JZX_ERR_NO_SUCH_ACTOR);
  loop.settle();
  EXPECT_TRUE(victim.log.empty());
  EXPECT_EQ(loop.events().dead_values(), (std::vector<uint64_t>{1, 2}));
}

TEST(ActorStop, EndsWithNormalAndActorFailEndsWithFail) {
  TestLoop loop;
  const jzx_actor_id stopped = loop.spawn_quiet();
  const jzx_actor_id failed = loop.spawn_quiet();
  ASSERT_EQ(jzx_actor_stop(loop, stopped), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop, failed), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().stop_reason(stopped), JZX_EXIT_NORMAL);
  EXPECT_EQ(loop.events().stop_reason(failed), JZX_EXIT_FAIL);
}

TEST(ActorStop, OfAnActorThatIsAlreadyEndingIsNoSuchActor) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
  EXPECT_EQ(jzx_actor_stop(loop, id), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_actor_fail(loop, id), JZX_ERR_NO_SUCH_ACTOR);
  loop.settle();
  EXPECT_EQ(loop.events().count(Kind::stop, id), 1u);
  EXPECT_EQ(loop.events().stop_reason(id), JZX_EXIT_NORMAL) << "the first word counts";
}

TEST(ActorStop, OfAnotherActorInTheMiddleOfATickIsSafe) {
  // The killer runs between two turns of a victim with a long queue.
  jzx_config config = default_config();
  config.max_msgs_per_actor = 2;
  TestLoop loop(Time::manual, config);
  Probe& victim = loop.probe();
  const jzx_actor_id victim_id = loop.spawn(victim);
  const jzx_actor_id killer = loop.spawn(loop.probe([&](jzx_context* ctx, const Received&) {
    EXPECT_EQ(jzx_actor_stop(ctx->loop, victim_id), JZX_OK);
    return JZX_BEHAVIOR_STOP;
  }));
  for (uint64_t value = 0; value < 100; ++value) {
    ASSERT_EQ(loop.send(victim_id, kTag, value), JZX_OK);
  }
  ASSERT_EQ(loop.send(killer), JZX_OK);
  loop.settle();
  EXPECT_LE(victim.log.size(), 4u);
  EXPECT_EQ(victim.log.size() + loop.events().count(Kind::dead_letter, victim_id), 100u);
}

TEST(ActorStop, CallbacksMaySendAndSpawnAndStop) {
  // What an observer does inside a callback must not confuse the ending it is told of.
  TestLoop loop;
  Probe& other = loop.probe();
  const jzx_actor_id other_id = loop.spawn(other);
  jzx_actor_id spawned = 0;
  loop.on_event = [&](const Event& event) {
    if (event.kind != Kind::stop || spawned != 0) return;
    EXPECT_EQ(loop.send(event.id), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(loop.send(other_id, kTag, 1), JZX_OK);
    spawned = loop.spawn_quiet();
    EXPECT_EQ(jzx_actor_stop(loop, spawned), JZX_OK);
  };
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(loop.send(id, kTag, 5), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
  loop.settle();
  EXPECT_EQ(other.values(), std::vector<uint64_t>{1});
  EXPECT_NE(spawned, 0u);
  EXPECT_FALSE(loop.is_alive(spawned));
}

TEST(ActorStop, ATickFullOfEndingActorsEndsThemAll) {
  TestLoop loop;
  std::vector<jzx_actor_id> ids;
  for (int n = 0; n < 3000; ++n) ids.push_back(loop.spawn_quiet());
  for (const jzx_actor_id id : ids) ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(loop.alive_count(), 0u);
  EXPECT_EQ(loop.events().count(Kind::stop), ids.size());
}

}  // namespace
}  // namespace jzx::testing
