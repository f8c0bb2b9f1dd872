// Messages between actors, and to oneself: order, senders, and that none is lost.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Messages : public OnStage {};
JZX_FOR_ALL_BODIES(Messages);

[[nodiscard]] std::vector<uint64_t> range(uint64_t first, uint64_t last) {
  std::vector<uint64_t> all;
  for (uint64_t i = first; i <= last; ++i) all.push_back(i);
  return all;
}

TEST_P(Messages, FromOutsideComeInTheOrderSentAndWithoutASender) {
  const ActorId a = spawn();
  for (uint64_t i = 1; i <= 300; ++i) tell(a, say::record(i));
  await(seen::recorded(a), 300);
  EXPECT_EQ(numbers(all(seen::recorded(a))), range(1, 300));
  for (const Note& note : all(seen::recorded(a))) EXPECT_EQ(note.other, 0u);
}

TEST_P(Messages, BetweenTwoActorsComeInTheOrderSentAndNameTheirSender) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  tell(a, say::send_records(b, 1, 200));
  tell(a, say::send_records(b, 201, 300));
  await(seen::recorded(b), 300);
  EXPECT_EQ(numbers(all(seen::recorded(b))), range(1, 300));
  for (const Note& note : all(seen::recorded(b))) EXPECT_EQ(note.other, a);
}

TEST_P(Messages, OfSeveralSendersKeepEachSendersOrder) {
  const ActorId target = spawn();
  std::vector<ActorId> senders;
  for (uint64_t i = 0; i < 4; ++i) senders.push_back(spawn());
  for (uint64_t i = 0; i < 4; ++i) {
    tell(senders[i], say::send_records(target, i * 1000, i * 1000 + 99));
  }
  await(seen::recorded(target), 400);
  for (uint64_t i = 0; i < 4; ++i) {
    const Query from_one{Note::Kind::recorded, target, senders[i]};
    EXPECT_EQ(numbers(all(from_one)), range(i * 1000, i * 1000 + 99));
  }
}

TEST_P(Messages, ToOneselfAreHandledLaterAndInOrder) {
  const ActorId a = spawn();
  tell(a, say::batch({say::send_records(0, 2, 50), say::record(1)}));
  await(seen::recorded(a), 50);
  EXPECT_EQ(numbers(all(seen::recorded(a))), range(1, 50)) << "the turn that sent them goes first";
  EXPECT_EQ(all(seen::recorded(a)).back().other, a);
}

TEST_P(Messages, CanBeRepliedTo) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  tell(a, say::send(b, say::reply(say::record(5))));
  const Note note = await(seen::recorded(a));
  EXPECT_EQ(note.number, 5u);
  EXPECT_EQ(note.other, b);
}

TEST_P(Messages, FromNobodyCannotBeRepliedTo) {
  const ActorId a = spawn();
  EXPECT_EQ(ask(a, say::reply(say::record(1))).error, Errc::no_such_actor);
}

TEST_P(Messages, GoRoundInARing) {
  std::vector<ActorId> ring;
  for (int i = 0; i < 10; ++i) ring.push_back(spawn());
  Command token = say::record(42);
  for (int i = 99; i > 0; --i) token = say::send(ring[static_cast<size_t>(i) % 10], token);
  tell(ring[0], std::move(token));
  EXPECT_EQ(await(seen::recorded(ring[9])).number, 42u);
}

TEST_P(Messages, ThatFollowOneAnotherCauseKeepItsOrder) {
  // a tells c, then asks b to tell c: what b says cannot come first.
  const ActorId a = spawn();
  const ActorId b = spawn();
  const ActorId c = spawn();
  for (uint64_t i = 0; i < 50; ++i) {
    tell(a, say::batch({say::send(c, say::record(2 * i)),
                        say::send(b, say::send(c, say::record(2 * i + 1)))}));
  }
  await(seen::recorded(c), 100);
  std::vector<uint64_t> when(100);
  const std::vector<Note> notes = all(seen::recorded(c));
  for (uint64_t i = 0; i < notes.size(); ++i) when[notes[i].number] = i;
  for (uint64_t i = 0; i < 50; ++i) EXPECT_LT(when[2 * i], when[2 * i + 1]);
}

TEST_P(Messages, ToAnIdThatNobodyHadAreRefused) {
  const ActorId a = spawn();
  EXPECT_EQ(world().send(0, say::record(1)), Errc::no_such_actor);
  EXPECT_EQ(world().send(a + (uint64_t{1} << 32), say::record(1)), Errc::no_such_actor);
  EXPECT_EQ(world().send(a + 4000, say::record(1)), Errc::no_such_actor);
}

}  // namespace
}  // namespace jzx::actors
