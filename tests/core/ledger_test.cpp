// Every accepted message has one fate, and the ledger knows which.
#include "core/ledger.hpp"

#include <gtest/gtest.h>

#include "core/message_timer.hpp"
#include "core/rig.hpp"

namespace jzx::core {
namespace {

using jzx::testing::Rig;

void expect_ledger(Rig& rig, uint64_t accepted, uint64_t handled, uint64_t dead, uint64_t queued) {
  const Ledger ledger = rig.parts->ledger();
  EXPECT_EQ(ledger.accepted, accepted);
  EXPECT_EQ(ledger.handled, handled);
  EXPECT_EQ(ledger.dead_lettered, dead);
  EXPECT_EQ(ledger.queued, queued);
}

uint64_t send_later(Rig& rig, ActorId target, uint64_t delay_ms) {
  Errc error = Errc::ok;
  MessageTimer* timer = make_timer(rig.host(), target, error);
  EXPECT_EQ(error, Errc::ok);
  timer->type = &raw_message_type;
  new (timer->storage) RawMessage{};
  return arm_timer(rig.host(), *timer, delay_ms);
}

TEST(Ledger, BalancesOnlyWhenNothingIsMissing) {
  EXPECT_TRUE((Ledger{5, 2, 1, 2}.balanced()));
  EXPECT_FALSE((Ledger{5, 2, 1, 1}.balanced()));
  EXPECT_FALSE((Ledger{5, 3, 1, 2}.balanced()));
}

TEST(Ledger, CountsQueuedThenHandled) {
  Rig rig;
  const ActorId id = rig.spawn();
  for (uint32_t n = 0; n < 3; ++n) ASSERT_EQ(rig.send(id, n), Errc::ok);
  ASSERT_EQ(rig.parts->send_from_anywhere(id, {}), Errc::ok);
  expect_ledger(rig, 4, 0, 0, 4);
  rig.settle();
  expect_ledger(rig, 4, 4, 0, 0);
}

TEST(Ledger, KnowsNothingOfWhatWasRefused) {
  runtime::LoopOptions options;
  options.default_mailbox_cap = 1;
  Rig rig(options);
  const ActorId id = rig.spawn();
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  EXPECT_EQ(rig.send(id, 1), Errc::mailbox_full);
  EXPECT_EQ(rig.parts->send_from_anywhere(id, {}), Errc::mailbox_full);
  EXPECT_EQ(rig.send(id + 1, 1), Errc::no_such_actor);
  expect_ledger(rig, 1, 0, 0, 1);
}

TEST(Ledger, CountsWhatABodyRefusesAsDead) {
  Rig rig;
  const ActorId id = rig.spawn({.handle = [](Turn& turn, Envelope&) {
    turn.refuse();
    return Outcome::wants_mail;
  }});
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.settle();
  expect_ledger(rig, 1, 0, 1, 0);
}

TEST(Ledger, CountsATimerWhenItIsDeliveredOrDiesAndNeverWhenItIsCancelled) {
  Rig rig;
  const ActorId id = rig.spawn();
  send_later(rig, id, 5);
  const uint64_t cancelled = send_later(rig, id, 5);
  expect_ledger(rig, 0, 0, 0, 0);
  ASSERT_EQ(cancel_timer(rig.host(), cancelled), Errc::ok);
  rig.advance(5);
  expect_ledger(rig, 1, 1, 0, 0);
  send_later(rig, id, 5);
  ASSERT_EQ(request_exit(rig.host(), id, ExitReason::normal), Errc::ok);
  rig.settle();
  expect_ledger(rig, 2, 1, 1, 0);
}

TEST(Ledger, CountsTheMessageOnWhichABodyEndsAsHandledAndTheRestAsDead) {
  Rig rig;
  const ActorId id = rig.spawn(
      {.handle = [](Turn& turn, Envelope&) { return turn.fail(ExitReason::fail, "enough"); }});
  for (uint32_t n = 0; n < 3; ++n) ASSERT_EQ(rig.send(id, n), Errc::ok);
  rig.settle();
  expect_ledger(rig, 3, 1, 2, 0);
}

}  // namespace
}  // namespace jzx::core
