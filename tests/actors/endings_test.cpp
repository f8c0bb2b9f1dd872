// How actors end: by themselves, by an exception, by others; what becomes of their mail and what
// their ids are good for afterwards.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Endings : public OnStage {
 protected:
  // An actor that is gone.
  ActorId spawn_dead() {
    const ActorId id = spawn();
    tell(id, say::stop());
    await(seen::ended(id));
    stage().settle();
    return id;
  }
  void expect_dead_letters(ActorId of, uint64_t count) {
    await(seen::dead(of), count);
    stage().settle();
    const std::vector<Note> dead = all(seen::dead(of));
    ASSERT_EQ(dead.size(), count);
    for (uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(dead[i].number, i + 1) << "in the order sent";
      EXPECT_EQ(dead[i].fate, DeadLetterReason::target_gone);
      EXPECT_EQ(dead[i].other, of) << "the sender is told";
    }
    EXPECT_EQ(count_of_records(of), 0u);
  }
  size_t count_of_records(ActorId of) { return count(seen::recorded(of)); }
};
JZX_FOR_ALL_BODIES(Endings);

TEST_P(Endings, AStopIsNormalAndTheTurnIsFinishedFirst) {
  const ActorId a = spawn();
  tell(a, say::batch({say::stop(), say::record(1)}));
  EXPECT_EQ(await(seen::ended(a)).reason, ExitReason::normal);
  EXPECT_EQ(count_of_records(a), 1u);
}

TEST_P(Endings, AFailureHasItsReason) {
  const ActorId a = spawn();
  tell(a, say::fail("broken"));
  EXPECT_EQ(await(seen::ended(a)).reason, ExitReason::fail);
}

TEST_P(Endings, AFailureSaysWhy) {
  NEEDS(Trait::texts);
  const ActorId a = spawn();
  tell(a, say::fail("broken"));
  EXPECT_EQ(await(seen::ended(a)).text, "broken");
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(Endings, AnExceptionIsAPanicWithItsText) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  tell(a, say::crash("out of luck"));
  const Note end = await(seen::ended(a));
  EXPECT_EQ(end.reason, ExitReason::panic);
  EXPECT_EQ(end.text, "out of luck");
  ask(b, say::record(1));
}

TEST_P(Endings, MailThatIsQueuedWhenItThrowsIsDeadLettered) {
  const ActorId a = spawn();
  tell(a, say::batch({say::send_records(0, 1, 5), say::crash("out of luck")}));
  expect_dead_letters(a, 5);
}
#endif

TEST_P(Endings, MailThatIsQueuedWhenItStopsIsDeadLettered) {
  const ActorId a = spawn();
  tell(a, say::batch({say::send_records(0, 1, 5), say::stop()}));
  expect_dead_letters(a, 5);
}

TEST_P(Endings, MailThatIsQueuedWhenItFailsIsDeadLettered) {
  const ActorId a = spawn();
  tell(a, say::batch({say::send_records(0, 1, 100), say::fail("broken")}));
  expect_dead_letters(a, 100);
}

TEST_P(Endings, OneThatKillsItselfSeesNoFurtherMessage) {
  const ActorId a = spawn();
  tell(a, say::batch({say::send_records(0, 1, 5), say::kill(0)}));
  EXPECT_EQ(await(seen::ended(a)).reason, world().kill_reason());
  expect_dead_letters(a, 5);
}

TEST_P(Endings, OneKilledInTheMiddleOfItsMailSeesNoneOfTheRest) {
  const ActorId a = spawn();
  const auto gate = stage().gate();
  tell(a, say::batch({say::record(100), say::hold(gate)}));
  if (stage().has_threads()) await(seen::recorded(a, 100));
  for (uint64_t i = 1; i <= 5; ++i) tell(a, say::record(i));
  EXPECT_EQ(world().kill(a), Errc::ok);
  gate->open();
  EXPECT_EQ(await(seen::ended(a)).reason, world().kill_reason());
  for (uint64_t i = 1; i <= 5; ++i) EXPECT_EQ(count(seen::dead(a, i)), 1u);
  for (uint64_t i = 1; i <= 5; ++i) EXPECT_EQ(count(seen::recorded(a, i)), 0u);
}

TEST_P(Endings, OneKilledByAnotherActorEnds) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  EXPECT_EQ(ask(a, say::kill(b)).error, Errc::ok);
  EXPECT_EQ(await(seen::ended(b)).reason, world().kill_reason());
}

TEST_P(Endings, OneAskedToEndByAnotherActorEndsWell) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  EXPECT_EQ(ask(a, say::end(b)).error, Errc::ok);
  EXPECT_EQ(await(seen::ended(b)).reason, ExitReason::normal);
}

TEST_P(Endings, OneThatIsKilledBeforeItsFirstMessageBeganAndEnds) {
  const ActorId a = spawn();
  EXPECT_EQ(world().kill(a), Errc::ok);
  EXPECT_EQ(await(seen::ended(a)).reason, world().kill_reason());
  EXPECT_EQ(count(seen::begun(a)), 1u);
}

TEST_P(Endings, BeingAskedTwiceIsHarmless) {
  const ActorId a = spawn();
  EXPECT_EQ(world().stop(a), Errc::ok);
  const Errc again = world().stop(a);
  EXPECT_TRUE(again == Errc::ok || again == Errc::no_such_actor);
  await(seen::ended(a));
  stage().settle();
  EXPECT_EQ(world().stop(a), Errc::no_such_actor);
}

TEST_P(Endings, WhatWasSentBeforeStillArrives) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  tell(a, say::batch({say::send(b, say::record(1)), say::stop()}));
  EXPECT_EQ(await(seen::recorded(b)).other, a);
}

TEST_P(Endings, AnIdOfOneThatIsGoneIsRefusedEverywhere) {
  const ActorId gone = spawn_dead();
  const ActorId a = spawn();
  uint64_t out = 0;
  EXPECT_EQ(world().send(gone, say::record(1)), Errc::no_such_actor);
  EXPECT_EQ(world().send_after(1, gone, say::record(1), out), Errc::no_such_actor);
  EXPECT_EQ(world().stop(gone), Errc::no_such_actor);
  EXPECT_EQ(world().kill(gone), Errc::no_such_actor);
  EXPECT_EQ(world().link(a, gone), Errc::no_such_actor);
  EXPECT_EQ(world().unlink(a, gone), Errc::no_such_actor);
  EXPECT_EQ(world().trap_exit(gone, true), Errc::no_such_actor);
  EXPECT_EQ(world().monitor(gone, a, out), Errc::no_such_actor);
  EXPECT_EQ(world().register_name(gone, "ghost"), Errc::no_such_actor);
  EXPECT_EQ(world().spawn({.parent = gone}, out), Errc::no_such_actor);
  EXPECT_EQ(ask(a, say::send(gone, say::record(1))).error, Errc::no_such_actor) << "from inside";
}

TEST_P(Endings, AnOldIdNeverReachesALaterActor) {
  std::vector<ActorId> gone;
  for (int i = 0; i < 20; ++i) gone.push_back(spawn_dead());
  std::vector<ActorId> alive;
  for (int i = 0; i < 20; ++i) alive.push_back(spawn());
  for (const ActorId id : gone) {
    EXPECT_EQ(world().send(id, say::record(1)), Errc::no_such_actor);
    EXPECT_EQ(world().kill(id), Errc::no_such_actor);
  }
  for (const ActorId id : alive) ask(id, say::record(2));
  EXPECT_EQ(count({Note::Kind::recorded, 0, 0, 1}), 0u);
}

}  // namespace
}  // namespace jzx::actors
