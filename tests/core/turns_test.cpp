// Who gets a turn when, and how much of it: budgets and fairness, counted in turns and messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/bonds.hpp"
#include "core/rig.hpp"

namespace jzx::core {
namespace {

using jzx::testing::Rig;
using jzx::testing::Script;
using jzx::testing::send_value;
using jzx::testing::value_of;

runtime::LoopOptions budgets(uint32_t messages_per_turn, uint32_t turns_per_tick) {
  runtime::LoopOptions options;
  options.max_msgs_per_actor = messages_per_turn;
  options.max_actors_per_tick = turns_per_tick;
  return options;
}

// Counts what it is sent.
Script counter(int& count) {
  return {.handle = [&count](Turn&, Envelope&) {
    ++count;
    return Outcome::wants_mail;
  }};
}

TEST(Turns, HandleAtMostTheBudgetOfMessages) {
  Rig rig(budgets(5, 1));
  int handled = 0;
  const ActorId id = rig.spawn(counter(handled));
  for (uint32_t n = 0; n < 12; ++n) ASSERT_EQ(rig.send(id, n), Errc::ok);
  std::vector<int> after_each_turn;
  for (int turn = 0; turn < 3; ++turn) {
    rig.tick();
    after_each_turn.push_back(handled);
  }
  EXPECT_EQ(after_each_turn, (std::vector<int>{5, 10, 12}));
  EXPECT_FALSE(rig.worker().has_work()) << "it parked at the end of the last turn";
}

TEST(Turns, ATurnThatSpendsItsBudgetOnTheLastMessageIsNotFollowedByAnEmptyOne) {
  Rig rig(budgets(5, 1));
  int handled = 0;
  const ActorId id = rig.spawn(counter(handled));
  for (uint32_t n = 0; n < 5; ++n) ASSERT_EQ(rig.send(id, n), Errc::ok);
  rig.tick();
  EXPECT_EQ(handled, 5);
  EXPECT_FALSE(rig.worker().has_work());
}

TEST(Turns, ATickRunsAtMostItsNumberOfTurnsInTheOrderOfWaking) {
  Rig rig(budgets(64, 3));
  std::vector<int> order;
  std::vector<ActorId> ids;
  for (int i = 0; i < 8; ++i) {
    ids.push_back(rig.spawn({.handle = [&order, i](Turn&, Envelope&) {
      order.push_back(i);
      return Outcome::wants_mail;
    }}));
  }
  for (const ActorId id : ids) ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.tick();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  rig.tick();
  rig.tick();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Turns, OneThatKeepsSendingToItselfTakesOneTurnInEachRoundAndNoMore) {
  constexpr uint32_t kBudget = 4;
  constexpr int kOthers = 50;
  Rig rig(budgets(kBudget, 1));
  std::vector<ActorId> turns;  // whose messages were handled, one entry a turn
  const auto note = [&turns](Turn& turn) {
    if (turns.empty() || turns.back() != turn.actor.id()) turns.push_back(turn.actor.id());
  };
  const ActorId busy = rig.spawn({.handle = [&](Turn& turn, Envelope&) {
    note(turn);
    EXPECT_EQ(send_value(turn.host, turn.actor.id(), 0), Errc::ok);
    return Outcome::wants_mail;
  }});
  for (uint32_t n = 0; n < 2 * kBudget; ++n) ASSERT_EQ(rig.send(busy, 0), Errc::ok);
  std::map<ActorId, int> received;
  for (int i = 0; i < kOthers; ++i) {
    const ActorId id = rig.spawn({.handle = [&](Turn& turn, Envelope&) {
      note(turn);
      ++received[turn.actor.id()];
      return Outcome::wants_mail;
    }});
    for (uint32_t n = 0; n < 3 * kBudget; ++n) ASSERT_EQ(rig.send(id, n), Errc::ok);
  }
  // Three rounds give every other all of its messages, however busy the busy one is.
  for (int tick = 0; tick < 3 * (kOthers + 1); ++tick) rig.tick();
  ASSERT_EQ(received.size(), static_cast<size_t>(kOthers));
  for (const auto& [id, count] : received) EXPECT_EQ(count, static_cast<int>(3 * kBudget));
  EXPECT_EQ(std::count(turns.begin(), turns.end(), busy), 3);
}

TEST(Turns, WorkFromOtherThreadsAndTimersComeInBetweenTicksOfABusyLoop) {
  Rig rig(budgets(1, 2));
  const ActorId busy = rig.spawn({.handle = [&](Turn& turn, Envelope&) {
    EXPECT_EQ(send_value(turn.host, turn.actor.id(), 0), Errc::ok);
    return Outcome::wants_mail;
  }});
  ASSERT_EQ(rig.send(busy, 0), Errc::ok);
  int heard = 0;
  const ActorId listener = rig.spawn(counter(heard));
  ASSERT_EQ(rig.parts->send_from_anywhere(listener, {nullptr, 0, 0}), Errc::ok);
  struct Alarm : base::Timer {
    explicit Alarm(int& count)
        : Timer([](base::Timer& self, base::Executor&) { ++static_cast<Alarm&>(self).fired; }),
          fired(count) {}
    int& fired;
  };
  int fired = 0;
  Alarm alarm(fired);
  rig.worker().arm(alarm, 5);
  rig.tick();
  EXPECT_EQ(heard, 1);
  rig.clock.advance_ms(5);
  rig.tick();
  EXPECT_EQ(fired, 1);
}

// ---- the end of an actor goes before its mail ----

TEST(StopBeforeMail, WhatIsQueuedWhenItIsAskedIsDeadLettered) {
  Rig rig;
  int handled = 0;
  const ActorId id = rig.spawn(counter(handled));
  for (uint32_t n = 0; n < 5; ++n) ASSERT_EQ(rig.send(id, n), Errc::ok);
  ASSERT_EQ(request_exit(rig.host(), id, ExitReason::normal), Errc::ok);
  EXPECT_EQ(rig.send(id, 9), Errc::no_such_actor);
  rig.settle();
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(rig.parts->ledger().dead_lettered, 5u);
}

TEST(StopBeforeMail, OneThatStopsItselfHandlesNothingMoreInThatTurn) {
  Rig rig;
  int handled = 0;
  const ActorId id = rig.spawn({.handle = [&](Turn& turn, Envelope&) {
    if (++handled == 2) {
      EXPECT_EQ(request_exit(turn.host, turn.actor.id(), ExitReason::fail), Errc::ok);
    }
    return Outcome::wants_mail;
  }});
  for (uint32_t n = 0; n < 5; ++n) ASSERT_EQ(rig.send(id, n), Errc::ok);
  rig.settle();
  EXPECT_EQ(handled, 2);
  EXPECT_FALSE(rig.is_alive(id));
  EXPECT_EQ(rig.parts->ledger().dead_lettered, 3u);
}

TEST(StopBeforeMail, TheFirstReasonStays) {
  Rig rig;
  ExitReason reason = ExitReason::noproc;
  const ActorId id = rig.spawn({.destroyed = [&](ExitReason why) { reason = why; }});
  ASSERT_EQ(request_exit(rig.host(), id, ExitReason::killed), Errc::ok);
  EXPECT_EQ(request_exit(rig.host(), id, ExitReason::normal), Errc::no_such_actor);
  rig.settle();
  EXPECT_EQ(reason, ExitReason::killed);
}

TEST(StopBeforeMail, ADyingLinkTakesItAlongBeforeItsNextMessage) {
  Rig rig;
  int handled = 0;
  const ActorId survivor = rig.spawn(counter(handled));
  const ActorId doomed = rig.spawn();
  ASSERT_EQ(link(rig.host(), survivor, doomed), Errc::ok);
  ASSERT_EQ(request_exit(rig.host(), doomed, ExitReason::fail), Errc::ok);
  rig.tick();
  EXPECT_EQ(rig.send(survivor, 1), Errc::no_such_actor) << "asked in the same tick";
  rig.settle();
  EXPECT_EQ(handled, 0);
  EXPECT_FALSE(rig.is_alive(survivor));
}

TEST(StopBeforeMail, AnActorThatIsAskedBeforeItsFirstTurnIsStoppedWithoutBeingStarted) {
  Rig rig;
  int started = 0;
  int stopped = 0;
  core::SpawnOptions options;
  options.first_turn = true;
  const ActorId id = rig.spawn({.start =
                                    [&](Turn&) {
                                      ++started;
                                      return Outcome::wants_mail;
                                    },
                                .stop =
                                    [&](Turn&) {
                                      ++stopped;
                                      return Outcome::stopped;
                                    }},
                               options);
  ASSERT_EQ(request_exit(rig.host(), id, ExitReason::normal), Errc::ok);
  rig.settle();
  EXPECT_EQ(started, 0);
  EXPECT_EQ(stopped, 1);
  EXPECT_FALSE(rig.is_alive(id));
}

}  // namespace
}  // namespace jzx::core
