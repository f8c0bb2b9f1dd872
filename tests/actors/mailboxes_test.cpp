// Mailboxes have a size: what does not fit is refused and told, what was accepted is not lost.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Mailboxes : public OnStage {
 protected:
  // The answers to the sends of this actor, in order.
  std::vector<Errc> answers(ActorId of) {
    std::vector<Errc> errors;
    for (const Note& note : all({Note::Kind::answered, of})) {
      if (note.verb == Verb::send) errors.push_back(note.error);
    }
    return errors;
  }
};
JZX_FOR_ALL_BODIES(Mailboxes);

constexpr Errc kOk = Errc::ok;
constexpr Errc kFull = Errc::mailbox_full;

TEST_P(Mailboxes, ThatAreFullRefuseAndLoseNothing) {
  const ActorId a = spawn({.mailbox_cap = room_for(3)});
  tell(a, say::batch({say::send_records(0, 1, 5), say::record(0)}));
  await(seen::recorded(a), 4);
  EXPECT_EQ(answers(a), (std::vector<Errc>{kOk, kOk, kOk, kFull, kFull}));
  stage().settle();
  EXPECT_EQ(numbers(all(seen::recorded(a))), (std::vector<uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(count(seen::dead(a)), 0u) << "a refused message is the sender's, and no dead letter";
}

TEST_P(Mailboxes, ThatAreFullAreToldToTheObserver) {
  const ActorId a = spawn({.mailbox_cap = room_for(1)});
  ask(a, say::send_records(0, 1, 2));
  EXPECT_EQ(await(seen::full(a)).who, a);
}

TEST_P(Mailboxes, HaveRoomAgainWhenTheyHaveBeenWorkedOff) {
  const ActorId a = spawn({.mailbox_cap = room_for(2)});
  for (uint64_t round = 0; round < 10; ++round) {
    tell(a, say::send_records(0, 10 * round + 1, 10 * round + 3));
    await(seen::recorded(a), 2 * (round + 1));
    stage().settle();
  }
  EXPECT_EQ(count(seen::recorded(a)), 20u);
}

TEST_P(Mailboxes, FilledFromOutsideRefuseWhatDoesNotFit) {
  const ActorId a = spawn({.mailbox_cap = room_for(4)});
  const auto gate = stage().gate();
  uint64_t sent = 0;
  if (stage().has_threads()) {  // it must not work them off meanwhile
    tell(a, say::batch({say::record(100), say::hold(gate)}));
    await(seen::recorded(a, 100));
  }
  while (world().send(a, say::record(sent)) == Errc::ok) ++sent;
  EXPECT_EQ(sent, 4u);
  EXPECT_EQ(world().send(a, say::record(99)), Errc::mailbox_full);
  gate->open();
  for (uint64_t i = 0; i < sent; ++i) await(seen::recorded(a, i));
  EXPECT_EQ(await(seen::full(a)).who, a);
  EXPECT_EQ(count(seen::recorded(a, 99)), 0u);
}

TEST_P(Mailboxes, OfOneActorDoNotFillThoseOfOthers) {
  const ActorId small = spawn({.mailbox_cap = room_for(1)});
  const ActorId large = spawn({.mailbox_cap = room_for(50)});
  tell(small, say::batch({say::send_records(small, 1, 2), say::send_records(large, 1, 50)}));
  await(seen::recorded(large), 50);
  EXPECT_EQ(answers(small)[1], kFull);
  EXPECT_EQ(count(seen::recorded(small)), 1u);
}

TEST_P(Mailboxes, ThatAreFullTakeWhatTheSystemSays) {
  const ActorId a = spawn({.mailbox_cap = room_for(1)});
  tell(a, say::batch({say::trap_exit(true), say::spawn_child("first"), say::spawn_child("second"),
                      say::send_records(0, 1, 2)}));
  const ActorId first = await(seen::begun("first")).who;
  const ActorId second = await(seen::begun("second")).who;
  EXPECT_EQ(world().kill(first), Errc::ok);
  EXPECT_EQ(world().kill(second), Errc::ok);
  await(seen::child_exit(a, first));
  await(seen::child_exit(a, second));
  EXPECT_EQ(count(seen::recorded(a)), 1u);
}

TEST_P(Mailboxes, ThatAreFullDoNotKeepTheirActorFromEnding) {
  const ActorId a = spawn({.mailbox_cap = room_for(2)});
  tell(a, say::batch({say::send_records(0, 1, 5), say::end(0)}));
  EXPECT_EQ(await(seen::ended(a)).reason, ExitReason::normal);
  EXPECT_EQ(count(seen::dead(a)), 2u);
}

TEST_P(Mailboxes, ThatDropTheNewestDeadLetterIt) {
  NEEDS(Trait::overload);
  const ActorId a = spawn({.mailbox_cap = room_for(2), .overload = Overload::drop_newest});
  tell(a, say::send_records(0, 1, 4));
  await(seen::recorded(a), 2);
  await(seen::dead(a), 2);
  EXPECT_EQ(answers(a), (std::vector<Errc>{kOk, kOk, kOk, kOk}));
  EXPECT_EQ(numbers(all(seen::recorded(a))), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(numbers(all(seen::dead(a))), (std::vector<uint64_t>{3, 4}));
  for (const Note& dead : all(seen::dead(a))) EXPECT_EQ(dead.fate, DeadLetterReason::overload);
}

TEST_P(Mailboxes, OfTheUsualSizeTakeAThousandAtOnce) {
  const ActorId a = spawn();
  tell(a, say::send_records(0, 1, 1000));
  await(seen::recorded(a), 1000);
  EXPECT_EQ(count(seen::full(a)), 0u);
}

// What is too much is dropped when a turn begins; here a message is a turn.
class MailboxesOfShortTurns : public OnStage {
 protected:
  MailboxesOfShortTurns() : OnStage(SystemOptions{.max_msgs_per_actor = 1}) {}
};
JZX_FOR_ALL_BODIES(MailboxesOfShortTurns);

TEST_P(MailboxesOfShortTurns, ThatDropTheOldestDeadLetterIt) {
  NEEDS(Trait::overload);
  const ActorId a = spawn({.mailbox_cap = room_for(2), .overload = Overload::drop_oldest});
  tell(a, say::send_records(0, 1, 4));
  await(seen::recorded(a), 2);
  stage().settle();
  EXPECT_EQ(numbers(all(seen::recorded(a))), (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(numbers(all(seen::dead(a))), (std::vector<uint64_t>{1, 2}));
  for (const Note& dead : all(seen::dead(a))) EXPECT_EQ(dead.fate, DeadLetterReason::overload);
}

}  // namespace
}  // namespace jzx::actors
