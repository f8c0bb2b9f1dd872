// Mailbox capacity: of mailbox_cap slots 4 are the system's, the rest, and never less
// than 1, is the user's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

// How many user messages an idle actor takes.
uint32_t room_of(TestLoop& loop, jzx_actor_id id) {
  uint32_t accepted = 0;
  while (accepted < 100'000) {
    const jzx_err err = loop.send(id);
    if (err != JZX_OK) {
      EXPECT_EQ(err, JZX_ERR_MAILBOX_FULL);
      break;
    }
    ++accepted;
  }
  return accepted;
}

struct Share {
  uint32_t mailbox_cap;
  uint32_t user_share;
};

class UserShare : public ::testing::TestWithParam<Share> {};

TEST_P(UserShare, IsAllButFourAndNeverLessThanOne) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, GetParam().mailbox_cap);
  EXPECT_EQ(room_of(loop, id), GetParam().user_share);
  loop.settle();
  EXPECT_EQ(probe.log.size(), GetParam().user_share);
  EXPECT_EQ(room_of(loop, id), GetParam().user_share) << "the room comes back";
}

INSTANTIATE_TEST_SUITE_P(Of, UserShare,
                         ::testing::Values(Share{1, 1}, Share{2, 1}, Share{4, 1}, Share{5, 1},
                                           Share{6, 2}, Share{10, 6}, Share{1024, 1020},
                                           Share{0, 1020}),  // 0: the default, 1024
                         [](const auto& param_info) {
                           return "Cap" + std::to_string(param_info.param.mailbox_cap);
                         });

TEST(Capacity, OfTwoToTheThirtyTwoMinusOneTakesNoMemoryUntilUsed) {
  TestLoop loop;
  const int64_t before = loop.allocator().live_bytes();
  const jzx_actor_id id = loop.spawn(loop.probe(), 0xffffffffu);
  EXPECT_LT(loop.allocator().live_bytes() - before, 1 << 20);
  EXPECT_EQ(room_of(loop, id), 100'000u);
  loop.settle();
}

TEST(Capacity, DefaultComesFromTheConfig) {
  jzx_config config = default_config();
  config.default_mailbox_cap = 7;
  TestLoop loop(Time::manual, config);
  EXPECT_EQ(room_of(loop, loop.spawn_quiet()), 3u);
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  EXPECT_EQ(room_of(loop, loop.child(supervisor, 0)), 3u) << "children too";
}

TEST(Capacity, OfAChildComesFromItsSpecAlsoAfterARestart) {
  TestLoop loop;
  Probe& probe = loop.probe();
  std::vector<jzx_child_spec> children = {child_spec(probe)};
  children[0].mailbox_cap = 9;
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  EXPECT_EQ(room_of(loop, loop.child(supervisor, 0)), 5u);
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
  loop.settle();
  EXPECT_EQ(room_of(loop, loop.child(supervisor, 0)), 5u);
}

TEST(Capacity, DoesNotCountTheMessageBeingHandled) {
  TestLoop loop;
  bool asked = false;
  const jzx_actor_id id = loop.spawn(loop.probe([&](jzx_context* ctx, const Received&) {
    if (asked) return JZX_BEHAVIOR_OK;
    asked = true;
    EXPECT_EQ(loop.send(ctx->self), JZX_OK);
    EXPECT_EQ(loop.send(ctx->self), JZX_ERR_MAILBOX_FULL);
    return JZX_BEHAVIOR_OK;
  }),
                                     5);
  ASSERT_EQ(loop.send(id), JZX_OK);
  loop.settle();
  EXPECT_TRUE(asked);
}

TEST(Capacity, IsPerActor) {
  TestLoop loop;
  const jzx_actor_id full = loop.spawn(loop.probe(), 5);
  const jzx_actor_id free = loop.spawn(loop.probe(), 5);
  ASSERT_EQ(loop.send(full), JZX_OK);
  EXPECT_EQ(loop.send(full), JZX_ERR_MAILBOX_FULL);
  EXPECT_EQ(loop.send(free), JZX_OK);
}

TEST(Capacity, AFullUserShareDoesNotKeepSystemMessagesAway) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 5);
  std::vector<jzx_actor_id> targets;
  for (int n = 0; n < 50; ++n) {  // far more than the four reserved slots
    targets.push_back(loop.spawn_quiet());
    ASSERT_EQ(jzx_monitor(loop, id, targets.back(), nullptr), JZX_OK);
  }
  for (const jzx_actor_id target : targets) ASSERT_EQ(jzx_actor_stop(loop, target), JZX_OK);
  ASSERT_EQ(loop.send(id), JZX_OK);
  loop.settle();
  EXPECT_EQ(probe.count(JZX_TAG_SYS_DOWN), 50u);
  EXPECT_EQ(probe.count(kTag), 1u);
}

TEST(Capacity, SystemMessagesDoNotTakeTheUsersRoom) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn(loop.probe(), 8);
  for (uint64_t n = 0; n < 50; ++n) {
    // Each gives one DOWN at once, for an actor that never was.
    ASSERT_EQ(jzx_monitor(loop, id, (n + 1) << 40, nullptr), JZX_OK);
  }
  EXPECT_EQ(room_of(loop, id), 4u);
}

TEST(Capacity, TimersDeliverIntoTheUsersShare) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 6);  // the user's share is 2
  for (uint64_t value = 1; value <= 4; ++value) {
    ASSERT_EQ(loop.send_after(id, 5, kTag, value), JZX_OK);
  }
  loop.settle();
  // A spectator whose turn comes in the tick in which the timers are due sees that
  // no more of them were delivered than there is room.
  size_t accepted_beside = 0;
  const jzx_actor_id spectator = loop.spawn(loop.probe([&](jzx_context*, const Received&) {
    while (loop.send(id, kTag, 100) == JZX_OK) ++accepted_beside;
    return JZX_BEHAVIOR_OK;
  }));
  ASSERT_EQ(loop.send(spectator), JZX_OK);
  loop.clock().advance_ms(6);
  loop.settle();
  EXPECT_LE(accepted_beside, 2u);
  std::vector<uint64_t> from_timers;
  for (const uint64_t value : probe.values()) {
    if (value < 100) from_timers.push_back(value);
  }
  EXPECT_EQ(from_timers, (std::vector<uint64_t>{1, 2, 3, 4}));
}

TEST(Capacity, ARefusedSendOnTheLoopsThreadTellsTheObserver) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn(loop.probe(), 5);
  ASSERT_EQ(loop.send(id), JZX_OK);
  ASSERT_EQ(loop.send(id), JZX_ERR_MAILBOX_FULL);
  loop.settle();
  EXPECT_EQ(loop.events().count(Kind::mailbox_full, id), 1u);
}

}  // namespace
}  // namespace jzx::testing
