// CHILD_EXIT: one for every end of every child, and impossible to lose. A plain actor
// can supervise others, so what a supervisor is told can be looked at.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "jzx/jzx.h"
#include "support/scale.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

TEST(ChildExit, IsSentForNormalEndsToo) {
  TestLoop loop;
  Probe& boss = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss);
  const jzx_actor_id child = loop.spawn_quiet(boss_id);
  ASSERT_EQ(loop.send(child, kTagStop), JZX_OK);
  loop.settle();
  const std::vector<Received> exits = boss.received(JZX_TAG_SYS_CHILD_EXIT);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].child_exit.child, child);
  EXPECT_EQ(exits[0].child_exit.reason, JZX_EXIT_NORMAL);
  EXPECT_EQ(exits[0].len, sizeof(jzx_child_exit));
}

TEST(ChildExit, TellsHowTheChildEnded) {
  TestLoop loop;
  Probe& boss = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss);
  const jzx_actor_id stopped = loop.spawn_quiet(boss_id);
  const jzx_actor_id failed = loop.spawn_quiet(boss_id);
  ASSERT_EQ(jzx_actor_stop(loop, stopped), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop, failed), JZX_OK);
  loop.settle();
  ASSERT_EQ(boss.count(JZX_TAG_SYS_CHILD_EXIT), 2u);
  for (const Received& one : boss.received(JZX_TAG_SYS_CHILD_EXIT)) {
    const jzx_exit_reason expected =
        one.child_exit.child == stopped ? JZX_EXIT_NORMAL : JZX_EXIT_FAIL;
    EXPECT_EQ(one.child_exit.reason, expected);
  }
}

TEST(ChildExit, ComesAfterTheChildsObserverCallbackAndTheChildIsGoneByThen) {
  TestLoop loop;
  jzx_actor_id child = 0;
  bool told = false;
  Probe& boss = loop.probe([&](jzx_context*, const Received& received) {
    if (received.tag != JZX_TAG_SYS_CHILD_EXIT) return JZX_BEHAVIOR_OK;
    told = true;
    EXPECT_FALSE(loop.is_alive(child));
    EXPECT_EQ(loop.send(child), JZX_ERR_NO_SUCH_ACTOR);
    return JZX_BEHAVIOR_OK;
  });
  child = loop.spawn_quiet(loop.spawn(boss));
  ASSERT_EQ(loop.send(child, kTagFail), JZX_OK);
  loop.settle();
  EXPECT_TRUE(told);
}

TEST(ChildExit, IsNotLostWhenTheSupervisorsMailboxIsFull) {
  TestLoop loop;
  Probe& boss = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss, 5);
  const jzx_actor_id child = loop.spawn_quiet(boss_id);
  ASSERT_EQ(loop.send(child, kTagFail), JZX_OK);
  ASSERT_EQ(loop.send(boss_id), JZX_OK);
  ASSERT_EQ(loop.send(boss_id), JZX_ERR_MAILBOX_FULL);
  loop.settle();
  EXPECT_EQ(boss.count(JZX_TAG_SYS_CHILD_EXIT), 1u);
  EXPECT_EQ(boss.count(kTag), 1u);
}

TEST(ChildExit, OfAllChildrenAtOnceAreAllDeliveredThroughTheSmallestMailbox) {
  TestLoop loop;
  const size_t count = scaled(10'000);
  Probe& boss = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss, 1);
  std::set<jzx_actor_id> children;
  for (size_t n = 0; n < count; ++n) children.insert(loop.spawn_quiet(boss_id));
  for (const jzx_actor_id child : children) ASSERT_EQ(jzx_actor_fail(loop, child), JZX_OK);
  loop.settle();
  std::set<jzx_actor_id> told;
  for (const Received& one : boss.received(JZX_TAG_SYS_CHILD_EXIT)) {
    EXPECT_TRUE(told.insert(one.child_exit.child).second) << "exactly one each";
  }
  EXPECT_EQ(told, children);
}

TEST(ChildExit, NeedsNoMemoryAtTheMomentOfDeath) {
  TestLoop loop;
  Probe& boss = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss);
  std::vector<jzx_actor_id> children;
  for (int n = 0; n < 100; ++n) children.push_back(loop.spawn_quiet(boss_id));
  loop.settle();
  loop.allocator().refuse_all(true);
  for (const jzx_actor_id child : children) ASSERT_EQ(jzx_actor_fail(loop, child), JZX_OK);
  loop.settle();
  EXPECT_EQ(boss.count(JZX_TAG_SYS_CHILD_EXIT), children.size());
  loop.allocator().refuse_all(false);
}

TEST(ChildExit, DownExitAndIoNoticesNeedNoMemoryEither) {
  TestLoop loop;
  Probe& watcher = loop.probe();
  const jzx_actor_id watcher_id = loop.spawn(watcher);
  const jzx_actor_id target = loop.spawn_quiet();
  ASSERT_EQ(jzx_monitor(loop, watcher_id, target, nullptr), JZX_OK);
  ASSERT_EQ(jzx_trap_exit(loop, watcher_id, 1), JZX_OK);
  ASSERT_EQ(jzx_link(loop, watcher_id, target), JZX_OK);
  loop.settle();
  loop.allocator().refuse_all(true);
  ASSERT_EQ(jzx_actor_fail(loop, target), JZX_OK);
  loop.settle();
  EXPECT_EQ(watcher.count(JZX_TAG_SYS_DOWN), 1u);
  EXPECT_EQ(watcher.count(JZX_TAG_SYS_EXIT), 1u);
  loop.allocator().refuse_all(false);
}

TEST(ChildExit, GoesToNobodyWhenTheSupervisorIsGoneFirst) {
  TestLoop loop;
  Probe& boss = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss);
  loop.spawn_quiet(boss_id);
  ASSERT_EQ(jzx_actor_stop(loop, boss_id), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.alive_count(), 0u);
  EXPECT_EQ(boss.count(JZX_TAG_SYS_CHILD_EXIT), 0u) << "its behaviour runs no more";
}

TEST(ChildExit, AllChildrenOfALibrarySupervisorMayFailAtOnceAndAllAreRestarted) {
  jzx_config config = default_config();
  config.default_mailbox_cap = 5;
  TestLoop loop(Time::manual, config);
  const size_t count = scaled(2000);
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children(count, child_spec(probe));
  const jzx_actor_id supervisor = loop.spawn_supervisor(
      family(children, JZX_SUP_ONE_FOR_ONE, static_cast<uint32_t>(count), 1000));
  std::vector<jzx_actor_id> first;
  for (size_t n = 0; n < count; ++n) first.push_back(loop.child(supervisor, n));
  for (const jzx_actor_id id : first) ASSERT_EQ(jzx_actor_fail(loop, id), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().count(Kind::restart), count);
  for (size_t n = 0; n < count; ++n) {
    const jzx_actor_id now = loop.child(supervisor, n);
    ASSERT_NE(now, 0u);
    ASSERT_NE(now, first[n]);
  }
}

}  // namespace
}  // namespace jzx::testing
