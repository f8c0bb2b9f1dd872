// Timers: once, never early, exactly cancelled, and never lost.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

constexpr uint64_t kNanosPerMilli = 1'000'000;
constexpr uint64_t kNeverMs = 3'600'000;  // longer than any test

class Timers : public OnStage {
 protected:
  uint64_t arm(ActorId by, uint64_t ms, ActorId to, Command what) {
    const Note note = ask(by, say::send_after(ms, to, std::move(what)));
    EXPECT_EQ(note.error, Errc::ok);
    return note.number;
  }
};
JZX_FOR_ALL_BODIES(Timers);

TEST_P(Timers, FireOnceAndNotEarly) {
  const ActorId a = spawn();
  const uint64_t before = stage().now_ns();
  tell(a, say::send_after(15, 0, say::record(1)));
  EXPECT_GE(await(seen::recorded(a)).at_ns, before + 15 * kNanosPerMilli);
  EXPECT_EQ(count(seen::recorded(a)), 1u);
}

TEST_P(Timers, ArmedFromOutsideFireNotEarly) {
  const ActorId a = spawn();
  const uint64_t before = stage().now_ns();
  uint64_t timer = 0;
  EXPECT_EQ(world().send_after(15, a, say::record(1), timer), Errc::ok);
  EXPECT_NE(timer, 0u);
  EXPECT_GE(await(seen::recorded(a)).at_ns, before + 15 * kNanosPerMilli);
}

TEST_P(Timers, OfOneActorFireInTheOrderOfTheirTimes) {
  const ActorId a = spawn();
  tell(a,
       say::batch({say::send_after(12, 0, say::record(3)), say::send_after(2, 0, say::record(1)),
                   say::send_after(7, 0, say::record(2)), say::send_after(12, 0, say::record(4))}));
  await(seen::recorded(a), 4);
  EXPECT_EQ(numbers(all(seen::recorded(a))), (std::vector<uint64_t>{1, 2, 3, 4}));
}

TEST_P(Timers, OfNoTimeFireToo) {
  const ActorId a = spawn();
  tell(a, say::batch({say::send_after(0, 0, say::record(2)), say::record(1)}));
  await(seen::recorded(a), 2);
  EXPECT_EQ(numbers(all(seen::recorded(a))), (std::vector<uint64_t>{1, 2}));
}

TEST_P(Timers, ThatAreCancelledNeverFire) {
  const ActorId a = spawn();
  // In one turn, so that it cannot be due in between.
  const uint64_t timer = arm(a, kNeverMs, a, say::record(1));
  EXPECT_EQ(ask(a, say::cancel(timer)).error, Errc::ok);
  EXPECT_EQ(ask(a, say::cancel(timer)).error, Errc::timer_invalid);
  arm(a, 5, a, say::record(2));
  await(seen::recorded(a));
  EXPECT_EQ(numbers(all(seen::recorded(a))), std::vector<uint64_t>{2});
}

TEST_P(Timers, CanBeCancelledFromOutside) {
  const ActorId a = spawn();
  const uint64_t timer = arm(a, kNeverMs, a, say::record(1));
  EXPECT_EQ(world().cancel(timer), Errc::ok);
  EXPECT_EQ(world().cancel(timer), Errc::timer_invalid);
}

TEST_P(Timers, ThatHaveFiredCannotBeCancelled) {
  const ActorId a = spawn();
  const uint64_t timer = arm(a, 1, a, say::record(1));
  await(seen::recorded(a));
  EXPECT_EQ(ask(a, say::cancel(timer)).error, Errc::timer_invalid);
}

TEST_P(Timers, ThatAreCancelledWhenTheyAreDueFireOrAreCancelledButNotBoth) {
  const ActorId a = spawn();
  uint64_t cancelled = 0;
  for (uint64_t i = 0; i < 30; ++i) {
    const uint64_t timer = arm(a, i % 3, a, say::record(i));
    cancelled += world().cancel(timer) == Errc::ok;
  }
  arm(a, 10, a, say::record(1000));
  await(seen::recorded(a, 1000));
  EXPECT_EQ(count(seen::recorded(a)) - 1 + cancelled, 30u);
}

TEST_P(Timers, ToOneThatEndsFirstAreDeadLettered) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  arm(a, kNeverMs, b, say::record(1));
  tell(b, say::stop());
  const Note dead = await(seen::dead(b, 1));
  EXPECT_EQ(dead.fate, DeadLetterReason::target_gone);
  EXPECT_EQ(count(seen::dead(b)), 1u);
}

TEST_P(Timers, ToOneThatIsGoneAreRefused) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  tell(b, say::stop());
  await(seen::ended(b));
  EXPECT_EQ(ask(a, say::send_after(1, b, say::record(1))).error, Errc::no_such_actor);
}

TEST_P(Timers, OutliveWhoArmedThem) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  tell(a, say::batch({say::send_after(5, b, say::record(1)), say::stop()}));
  await(seen::ended(a));
  await(seen::recorded(b, 1));
}

TEST_P(Timers, ThatFindAFullMailboxWaitForRoom) {
  const ActorId a = spawn({.mailbox_cap = room_for(1)});
  tell(a, say::batch({say::send_after(0, 0, say::record(2)), say::send_after(0, 0, say::record(3)),
                      say::send(0, say::record(1))}));
  await(seen::recorded(a), 3);
  EXPECT_EQ(numbers(all(seen::recorded(a))), (std::vector<uint64_t>{1, 2, 3}));
}

TEST_P(Timers, OfManyActorsAllFireOnce) {
  std::vector<ActorId> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(spawn());
  for (uint64_t i = 0; i < 200; ++i) {
    tell(ids[i % 20], say::send_after(i * 7 % 11, ids[(i + 3) % 20], say::record(i)));
  }
  await({Note::Kind::recorded}, 200);
  for (uint64_t i = 0; i < 200; ++i) EXPECT_EQ(count(seen::recorded(ids[(i + 3) % 20], i)), 1u);
}

TEST_P(Timers, OfManyTargetsThatEndAreAllDeadLettered) {
  const ActorId a = spawn();
  for (uint64_t i = 0; i < 20; ++i) {
    const ActorId b = spawn();
    for (uint64_t k = 0; k < 5; ++k) tell(a, say::send_after(kNeverMs, b, say::record(k)));
    tell(a, say::kill(b));
  }
  await(seen::ended(), 20);
  EXPECT_EQ(count(seen::dead()), 100u);
}

TEST_P(Timers, ThatWaitWhenTheSystemEndsAreDeadLettered) {
  const ActorId a = spawn();
  const uint64_t cancelled = arm(a, kNeverMs, a, say::record(1));
  arm(a, kNeverMs, a, say::record(2));
  EXPECT_EQ(world().cancel(cancelled), Errc::ok);
  stage().close();
  const std::vector<Note> dead = all(seen::dead(a));
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0].number, 2u);
  EXPECT_EQ(dead[0].fate, DeadLetterReason::closing);
}

}  // namespace
}  // namespace jzx::actors
