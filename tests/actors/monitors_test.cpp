// Monitors: exactly one Down for each, whatever happens.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Monitors : public OnStage {
 protected:
  uint64_t monitor(ActorId watcher, ActorId target) {
    const Note note = ask(watcher, say::monitor(target));
    EXPECT_EQ(note.error, Errc::ok);
    return note.number;
  }
};
JZX_FOR_ALL_BODIES(Monitors);

TEST_P(Monitors, TellOnceHowTheTargetEndedAndTheWatcherLives) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  const uint64_t ref = monitor(a, b);
  tell(b, say::fail("broken"));
  const Note down = await(seen::down(a));
  EXPECT_EQ(down.other, b);
  EXPECT_EQ(down.number, ref);
  EXPECT_EQ(down.reason, ExitReason::fail);
  ask(a, say::record(1));
  EXPECT_EQ(count(seen::down(a)), 1u);
}

TEST_P(Monitors, TellOfANormalEnd) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  monitor(a, b);
  tell(b, say::stop());
  EXPECT_EQ(await(seen::down(a)).reason, ExitReason::normal);
}

TEST_P(Monitors, TellOfAKill) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  monitor(a, b);
  EXPECT_EQ(world().kill(b), Errc::ok);
  EXPECT_EQ(await(seen::down(a)).reason, world().kill_reason());
}

TEST_P(Monitors, TellWhy) {
  NEEDS(Trait::texts);
  const ActorId a = spawn();
  const ActorId b = spawn();
  monitor(a, b);
  tell(b, say::fail("broken"));
  EXPECT_EQ(await(seen::down(a)).text, "broken");
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(Monitors, TellOfAPanic) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  monitor(a, b);
  tell(b, say::crash("out of luck"));
  EXPECT_EQ(await(seen::down(a)).reason, ExitReason::panic);
}
#endif

TEST_P(Monitors, OfTheDeadTellAtOnceAndOnce) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  tell(b, say::stop());
  await(seen::ended(b));
  const uint64_t ref = monitor(a, b);
  const Note down = await(seen::down(a));
  EXPECT_EQ(down.reason, ExitReason::noproc);
  EXPECT_EQ(down.other, b);
  EXPECT_EQ(down.number, ref);
  EXPECT_EQ(count(seen::down(a)), 1u);
}

TEST_P(Monitors, ThatAreWithdrawnTellNothing) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  const uint64_t ref = monitor(a, b);
  EXPECT_EQ(ask(a, say::demonitor(ref)).error, Errc::ok);
  EXPECT_EQ(ask(a, say::demonitor(ref)).error, Errc::invalid_arg) << "it is gone";
  tell(b, say::fail("broken"));
  await(seen::ended(b));
  EXPECT_EQ(count(seen::down(a)), 0u);
}

TEST_P(Monitors, ThatHaveToldCannotBeWithdrawn) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  const uint64_t ref = monitor(a, b);
  tell(b, say::stop());
  await(seen::down(a));
  EXPECT_EQ(ask(a, say::demonitor(ref)).error, Errc::invalid_arg);
}

TEST_P(Monitors, OfOneWatcherOnOneTargetTellEach) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  const uint64_t first = monitor(a, b);
  const uint64_t second = monitor(a, b);
  const uint64_t third = monitor(a, b);
  EXPECT_NE(first, second);
  EXPECT_EQ(ask(a, say::demonitor(second)).error, Errc::ok);
  tell(b, say::stop());
  await(seen::down(a), 2);
  EXPECT_EQ(count(seen::down(a)), 2u);
  EXPECT_EQ(count({Note::Kind::down, a, b, first}), 1u);
  EXPECT_EQ(count({Note::Kind::down, a, b, third}), 1u);
}

TEST_P(Monitors, OfManyWatchersTellEachOnce) {
  const ActorId target = spawn();
  std::vector<ActorId> watchers;
  for (int i = 0; i < 50; ++i) {
    watchers.push_back(spawn());
    monitor(watchers.back(), target);
  }
  tell(target, say::fail("broken"));
  for (const ActorId watcher : watchers) await(seen::down(watcher, target));
  for (const ActorId watcher : watchers) EXPECT_EQ(count(seen::down(watcher)), 1u);
}

TEST_P(Monitors, TellAfterAllThatTheTargetSaid) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  monitor(a, b);
  tell(b, say::batch({say::send_records(a, 1, 20), say::stop()}));
  await(seen::down(a));
  const std::vector<Note> notes = journal().all();
  size_t records = 0;
  for (const Note& note : notes) {
    if (note.kind == Note::Kind::down) break;
    records += note.kind == Note::Kind::recorded && note.who == a;
  }
  EXPECT_EQ(records, 20u);
}

TEST_P(Monitors, ReachAWatcherWhoseMailboxIsFull) {
  const ActorId a = spawn({.mailbox_cap = room_for(1)});
  const ActorId b = spawn();
  tell(b, say::stop());
  await(seen::ended(b));
  tell(a, say::batch({say::send_records(0, 1, 2), say::monitor(b)}));
  await(seen::down(a, b));
  EXPECT_EQ(count(seen::recorded(a, 1)), 1u);
  EXPECT_EQ(count(seen::full(a)), 1u) << "the second did not fit";
}

TEST_P(Monitors, OfAWatcherThatIsGoneTellNobody) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  monitor(a, b);
  tell(a, say::stop());
  await(seen::ended(a));
  stage().settle();
  tell(b, say::fail("broken"));
  await(seen::ended(b));
  EXPECT_EQ(count(seen::down(a)), 0u);
  EXPECT_EQ(count(seen::dead()), 0u) << "what the system says is no dead letter";
}

TEST_P(Monitors, BothWaysTellTheSurvivor) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  monitor(a, b);
  monitor(b, a);
  tell(a, say::fail("broken"));
  await(seen::down(b, a));
  EXPECT_EQ(count(seen::down(a)), 0u);
}

}  // namespace
}  // namespace jzx::actors
