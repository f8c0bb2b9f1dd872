// Timers: delivered once, never early, in order, cancellable, also by the million.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "jzx/jzx.h"
#include "support/scale.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

// How late the wheel may be when a deadline falls between two of its milliseconds.
constexpr uint64_t kSlackMs = 1;

class TimerDelay : public ::testing::TestWithParam<uint32_t> {};

TEST_P(TimerDelay, IsNeverCutShortAndIsKept) {
  const uint32_t ms = GetParam();
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  loop.clock().advance_ns(123'456);  // not on a millisecond
  ASSERT_EQ(loop.send_after(id, ms, kTag, 1), JZX_OK);
  loop.settle();
  loop.clock().advance_ns(uint64_t{ms} * 1'000'000 - 1);
  loop.settle();
  EXPECT_TRUE(probe.log.empty()) << "a nanosecond before its time";
  loop.clock().advance_ns(1);
  loop.advance(kSlackMs);
  EXPECT_EQ(probe.values(), std::vector<uint64_t>{1});
}

// Around every edge of a wheel with levels of 256 ms, 64 × 256 ms and 64 × 16.4 s.
INSTANTIATE_TEST_SUITE_P(Of, TimerDelay,
                         ::testing::Values(1u, 2u, 255u, 256u, 257u, 511u, 512u, 16'383u, 16'384u,
                                           16'385u, 65'537u, 1'048'575u, 1'048'576u, 1'048'577u,
                                           100'000'000u, 0xffffffffu));

TEST(Timers, OfZeroMillisecondsDeliverAtOnceButNotInsideTheCall) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send_after(id, 0, kTag, 1), JZX_OK);
  EXPECT_TRUE(probe.log.empty());
  loop.advance(kSlackMs);
  EXPECT_EQ(probe.values(), std::vector<uint64_t>{1});
}

TEST(Timers, ADelayCountsFromTheCallNotFromAnOlderReadingOfTheClock) {
  // The clock moves while a behaviour runs; a delay counted from the tick's earlier
  // reading would end early.
  TestLoop loop;
  Probe& target = loop.probe();
  const jzx_actor_id target_id = loop.spawn(target);
  const jzx_actor_id slow = loop.spawn(loop.probe([&](jzx_context*, const Received&) {
    loop.clock().advance_ms(100);
    EXPECT_EQ(loop.send_after(target_id, 50), JZX_OK);
    return JZX_BEHAVIOR_OK;
  }));
  ASSERT_EQ(loop.send(slow), JZX_OK);
  loop.settle();
  EXPECT_TRUE(target.log.empty());
  loop.advance(49);
  EXPECT_TRUE(target.log.empty());
  loop.advance(1 + kSlackMs);
  EXPECT_EQ(target.log.size(), 1u);
}

TEST(Timers, CarryPayloadTagAndSender) {
  TestLoop loop;
  Probe& target = loop.probe();
  const jzx_actor_id target_id = loop.spawn(target);
  const jzx_actor_id sender = loop.spawn(loop.probe([&](jzx_context*, const Received&) {
    EXPECT_EQ(loop.send_after(target_id, 5, 33, 44), JZX_OK);
    return JZX_BEHAVIOR_OK;
  }));
  ASSERT_EQ(loop.send(sender), JZX_OK);
  ASSERT_EQ(loop.send_after(target_id, 1, 55, 66), JZX_OK);
  loop.advance(10);
  ASSERT_EQ(target.log.size(), 2u);
  EXPECT_EQ(target.log[0].sender, 0u) << "armed outside a behaviour";
  EXPECT_EQ(target.log[1].tag, 33u);
  EXPECT_EQ(target.log[1].value, 44u);
  EXPECT_EQ(target.log[1].len, sizeof(uint64_t));
  EXPECT_EQ(target.log[1].sender, sender);
}

TEST(Timers, WithEqualDeadlinesFireInTheOrderTheyWereSet) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  std::vector<uint64_t> order;
  for (uint64_t value = 0; value < 300; ++value) {
    ASSERT_EQ(loop.send_after(id, 20, kTag, value), JZX_OK);
    order.push_back(value);
  }
  loop.advance(20 + kSlackMs);
  EXPECT_EQ(probe.values(), order);
}

TEST(Timers, WithEqualDeadlinesKeepTheirOrderWhenTheyWereSetAtDifferentTimes) {
  // Each is set 90 ms after the one before and due at the same instant, so that they
  // enter the wheel on different levels and meet in a cascade.
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  std::vector<uint64_t> order;
  constexpr uint32_t kDue = 18'000;
  for (uint32_t at = 0; at < kDue; at += 90) {
    ASSERT_EQ(loop.send_after(id, kDue - at, kTag, at), JZX_OK);
    order.push_back(at);
    loop.advance(90);
  }
  loop.advance(kSlackMs);
  EXPECT_EQ(probe.values(), order);
}

TEST(Timers, FireInTheOrderOfTheirDeadlines) {
  TestLoop loop(Time::jumping);
  const size_t count = scaled(2000);
  std::mt19937 random(1);
  std::vector<std::pair<uint32_t, uint64_t>> expected;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 1u << 20);
  for (uint64_t n = 0; n < count; ++n) {
    const uint32_t ms = static_cast<uint32_t>(random() % 200'000);
    ASSERT_EQ(loop.send_after(id, ms, kTag, n), JZX_OK);
    expected.emplace_back(ms, n);
  }
  ASSERT_EQ(loop.send_after(id, 300'000, kTagStop, count), JZX_OK);
  ASSERT_EQ(loop.run(), 0);
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<uint64_t> values;
  for (const auto& [ms, n] : expected) values.push_back(n);
  values.push_back(count);
  EXPECT_EQ(probe.values(), values);
}

TEST(Timers, SetByABehaviourForItselfTickOn) {
  TestLoop loop(Time::jumping);
  size_t ticks = 0;
  const jzx_actor_id id = loop.spawn(loop.probe([&](jzx_context* ctx, const Received&) {
    if (++ticks == 1000) return JZX_BEHAVIOR_STOP;
    EXPECT_EQ(loop.send_after(ctx->self, 10), JZX_OK);
    return JZX_BEHAVIOR_OK;
  }));
  const uint64_t start_ns = loop.clock().now_ns();
  ASSERT_EQ(loop.send(id), JZX_OK);
  ASSERT_EQ(loop.run(), 0);
  EXPECT_EQ(ticks, 1000u);
  EXPECT_GE(loop.clock().now_ns() - start_ns, 999u * 10u * 1'000'000u);
}

// ---- ids ---------------------------------------------------------------------------

TEST(TimerIds, AreNotZeroAndDiffer) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  std::set<jzx_timer_id> seen;
  for (int n = 0; n < 1000; ++n) {
    jzx_timer_id timer = 0;
    ASSERT_EQ(loop.send_after(id, 1, kTag, 0, &timer), JZX_OK);
    EXPECT_NE(timer, 0u);
    EXPECT_TRUE(seen.insert(timer).second) << "no id is given twice";
    if (n % 2 == 0) {
      ASSERT_EQ(loop.cancel(timer), JZX_OK);
    }
    if (n % 100 == 0) loop.advance(5);
  }
}

TEST(TimerIds, OfCancelledTimersAreInvalid) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  jzx_timer_id timer = 0;
  ASSERT_EQ(loop.send_after(id, 10, kTag, 0, &timer), JZX_OK);
  EXPECT_EQ(loop.cancel(timer), JZX_OK);
  EXPECT_EQ(loop.cancel(timer), JZX_ERR_TIMER_INVALID);
}

TEST(TimerIds, OfFiredTimersAreInvalidAlsoWhileTheirMessageIsHandled) {
  TestLoop loop;
  jzx_timer_id timer = 0;
  const jzx_actor_id id = loop.spawn(loop.probe([&](jzx_context*, const Received&) {
    EXPECT_EQ(loop.cancel(timer), JZX_ERR_TIMER_INVALID);
    return JZX_BEHAVIOR_OK;
  }));
  ASSERT_EQ(loop.send_after(id, 10, kTag, 0, &timer), JZX_OK);
  loop.advance(10 + kSlackMs);
  EXPECT_EQ(loop.cancel(timer), JZX_ERR_TIMER_INVALID);
}

TEST(TimerIds, OfAnOldTimerNeverCancelANewOne) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  jzx_timer_id old_timer = 0;
  ASSERT_EQ(loop.send_after(id, 10, kTag, 1, &old_timer), JZX_OK);
  ASSERT_EQ(loop.cancel(old_timer), JZX_OK);
  ASSERT_EQ(loop.send_after(id, 10, kTag, 2), JZX_OK);  // likely in the same slot
  EXPECT_EQ(loop.cancel(old_timer), JZX_ERR_TIMER_INVALID);
  loop.advance(10 + kSlackMs);
  EXPECT_EQ(probe.values(), std::vector<uint64_t>{2});
}

TEST(TimerIds, ThatWereNeverGivenAreInvalid) {
  TestLoop loop;
  EXPECT_EQ(loop.cancel(0), JZX_ERR_TIMER_INVALID);
  EXPECT_EQ(loop.cancel(1), JZX_ERR_TIMER_INVALID);
  EXPECT_EQ(loop.cancel(~uint64_t{0}), JZX_ERR_TIMER_INVALID);
}

TEST(TimerIds, NeedNotBeAskedFor) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  EXPECT_EQ(loop.send_after(id, 1, kTag, 0, nullptr), JZX_OK);
}

// ---- full mailboxes and dead targets ---------------------------------------------------

TEST(Timers, AimedAtAFullMailboxWaitForRoomAndDeliverOnce) {
  jzx_config config = default_config();
  config.max_msgs_per_actor = 1;
  TestLoop loop(Time::manual, config);
  Probe& probe = loop.probe([&](jzx_context* ctx, const Received& received) {
    // Keeps its own mailbox full for a while: the timers find no room.
    if (received.value >= 100 && received.value < 150)
      (void)loop.send(ctx->self, kTag, received.value + 1);
    return JZX_BEHAVIOR_OK;
  });
  const jzx_actor_id id = loop.spawn(probe, 5);  // the user's share is 1
  for (uint64_t value = 1; value <= 3; ++value) {
    ASSERT_EQ(loop.send_after(id, 10, kTag, value), JZX_OK);
  }
  loop.settle();
  ASSERT_EQ(loop.send(id, kTag, 100), JZX_OK);
  loop.clock().advance_ms(10 + kSlackMs);
  loop.settle();
  std::vector<uint64_t> from_timers;
  for (const uint64_t value : probe.values()) {
    if (value < 100) from_timers.push_back(value);
  }
  EXPECT_EQ(from_timers, (std::vector<uint64_t>{1, 2, 3})) << "each once, in order";
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 0u);
}

TEST(Timers, ThatWaitForRoomCanStillBeCancelledOrHaveFiredButNeverBoth) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 5);
  jzx_timer_id timers[2] = {};
  ASSERT_EQ(loop.send_after(id, 10, kTag, 1, &timers[0]), JZX_OK);
  ASSERT_EQ(loop.send_after(id, 10, kTag, 2, &timers[1]), JZX_OK);
  loop.settle();
  std::vector<uint64_t> expected = {50};
  probe.on = [&](jzx_context*, const Received& received) {
    if (received.value != 50) return JZX_BEHAVIOR_OK;
    for (uint64_t n = 0; n < 2; ++n) {
      if (loop.cancel(timers[n]) != JZX_OK) expected.push_back(n + 1);
    }
    return JZX_BEHAVIOR_OK;
  };
  ASSERT_EQ(loop.send(id, kTag, 50), JZX_OK);
  loop.clock().advance_ms(10 + kSlackMs);
  loop.settle();
  EXPECT_EQ(probe.values(), expected);
}

TEST(Timers, OfATargetThatEndsAreDeadLetteredAndTheirIdsInvalid) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  loop.spawn_quiet();  // keeps the loop going
  jzx_timer_id timer = 0;
  ASSERT_EQ(loop.send_after(id, 1000, kTag, 77, &timer), JZX_OK);
  loop.settle();
  ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().dead_values(), std::vector<uint64_t>{77}) << "at once, not at its time";
  EXPECT_EQ(loop.cancel(timer), JZX_ERR_TIMER_INVALID);
  loop.advance(2000);
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 1u);
}

TEST(Timers, OfASenderThatEndsStillDeliver) {
  TestLoop loop;
  Probe& target = loop.probe();
  const jzx_actor_id target_id = loop.spawn(target);
  const jzx_actor_id sender = loop.spawn(loop.probe([&](jzx_context*, const Received&) {
    EXPECT_EQ(loop.send_after(target_id, 10, kTag, 9), JZX_OK);
    return JZX_BEHAVIOR_STOP;
  }));
  ASSERT_EQ(loop.send(sender), JZX_OK);
  loop.advance(10 + kSlackMs);
  EXPECT_EQ(target.values(), std::vector<uint64_t>{9});
}

TEST(Timers, AToStoppedActorIsNoSuchActorAtTheCall) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
  EXPECT_EQ(loop.send_after(id, 1), JZX_ERR_NO_SUCH_ACTOR);
}

// ---- many --------------------------------------------------------------------------------

TEST(Timers, AMillionPendingCanBeSetAndCancelledInAnyOrder) {
  TestLoop loop;
  const size_t count = scaled(1'000'000);
  const jzx_actor_id id = loop.spawn_quiet();
  std::mt19937_64 random(2);
  std::vector<jzx_timer_id> timers(count);
  for (jzx_timer_id& timer : timers) {
    ASSERT_EQ(
        loop.send_after(id, static_cast<uint32_t>(1 + random() % 10'000'000), kTag, 0, &timer),
        JZX_OK);
  }
  loop.settle();
  std::shuffle(timers.begin(), timers.end(), random);
  for (const jzx_timer_id timer : timers) ASSERT_EQ(loop.cancel(timer), JZX_OK);
  for (size_t n = 0; n < 100; ++n) EXPECT_EQ(loop.cancel(timers[n]), JZX_ERR_TIMER_INVALID);
  loop.advance(10'000'001);
}

TEST(Timers, AMillionAllFireOnceAlsoThroughASmallMailbox) {
  TestLoop loop(Time::jumping);
  const size_t count = scaled(1'000'000);
  Probe& probe = loop.probe();
  size_t fired = 0;
  probe.on = [&](jzx_context*, const Received&) {
    probe.log.clear();
    return ++fired == count ? JZX_BEHAVIOR_STOP : JZX_BEHAVIOR_OK;
  };
  const jzx_actor_id id = loop.spawn(probe, 68);
  for (size_t n = 0; n < count; ++n) {
    ASSERT_EQ(loop.send_after(id, static_cast<uint32_t>(n % 5000), kTag, n), JZX_OK);
  }
  ASSERT_EQ(loop.run(), 0);
  EXPECT_EQ(fired, count);
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 0u);
}

}  // namespace
}  // namespace jzx::testing
