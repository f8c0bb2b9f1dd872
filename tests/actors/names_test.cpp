// Names: one actor each, free again when it ends.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Names : public OnStage {
 protected:
  void end(ActorId a) {
    tell(a, say::stop());
    await(seen::ended(a));
  }
};
JZX_FOR_ALL_BODIES(Names);

TEST_P(Names, AreFoundFromInsideAndOutside) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  EXPECT_EQ(ask(a, say::register_name("clerk")).error, Errc::ok);
  EXPECT_EQ(world().whereis("clerk"), a);
  EXPECT_EQ(ask(b, say::whereis("clerk")).number, a);
  EXPECT_EQ(world().whereis("porter"), 0u);
}

TEST_P(Names, CanBeGivenByOthers) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  EXPECT_EQ(ask(a, say::register_name("clerk", b)).error, Errc::ok);
  EXPECT_EQ(world().whereis("clerk"), b);
  EXPECT_EQ(world().register_name(a, "porter"), Errc::ok);
  EXPECT_EQ(world().whereis("porter"), a);
}

TEST_P(Names, ThatAreTakenAreRefused) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  EXPECT_EQ(ask(a, say::register_name("clerk")).error, Errc::ok);
  EXPECT_EQ(ask(b, say::register_name("clerk")).error, Errc::invalid_arg);
  EXPECT_EQ(world().whereis("clerk"), a);
}

TEST_P(Names, AreOneForEachActor) {
  const ActorId a = spawn();
  EXPECT_EQ(ask(a, say::register_name("clerk")).error, Errc::ok);
  EXPECT_EQ(ask(a, say::register_name("porter")).error, Errc::invalid_arg);
  EXPECT_EQ(world().whereis("porter"), 0u);
}

TEST_P(Names, MayBeOfACertainLengthAndNotEmpty) {
  const ActorId a = spawn();
  EXPECT_EQ(ask(a, say::register_name("")).error, Errc::invalid_arg);
  EXPECT_EQ(ask(a, say::register_name(std::string(256, 'n'))).error, Errc::invalid_arg);
  EXPECT_EQ(ask(a, say::register_name(std::string(255, 'n'))).error, Errc::ok);
  EXPECT_EQ(world().whereis(std::string(255, 'n')), a);
}

TEST_P(Names, AreFreeWhenTheEndIsTold) {
  const ActorId a = spawn();
  EXPECT_EQ(ask(a, say::register_name("clerk")).error, Errc::ok);
  end(a);
  EXPECT_EQ(world().whereis("clerk"), 0u);
  const ActorId b = spawn();
  EXPECT_EQ(ask(b, say::register_name("clerk")).error, Errc::ok);
  EXPECT_EQ(world().whereis("clerk"), b);
}

TEST_P(Names, FindTheOneThatWasStartedAgain) {
  stage().supervise({.members = {{"clerk"}}});
  const ActorId before = await(seen::begun("clerk")).who;
  EXPECT_EQ(ask(before, say::register_name("clerk")).error, Errc::ok);
  tell(before, say::fail("broken"));
  const ActorId after = await(seen::begun("clerk"), 2).who;
  EXPECT_EQ(ask(after, say::register_name("clerk")).error, Errc::ok);
  EXPECT_EQ(world().whereis("clerk"), after);
}

TEST_P(Names, WantedByManyAreGivenToOne) {
  std::vector<ActorId> all_of_them;
  for (int i = 0; i < 30; ++i) all_of_them.push_back(spawn());
  for (const ActorId id : all_of_them) tell(id, say::register_name("clerk"));
  const Query answers{Note::Kind::answered};
  await(answers, all_of_them.size());
  ActorId winner = 0;
  for (const Note& note : all(answers)) {
    if (note.error != Errc::ok) continue;
    EXPECT_EQ(winner, 0u);
    winner = note.who;
  }
  EXPECT_EQ(world().whereis("clerk"), winner);
  EXPECT_NE(winner, 0u);
}

TEST_P(Names, OfManyActorsAreAllFound) {
  std::vector<ActorId> ids;
  for (int i = 0; i < 100; ++i) {
    ids.push_back(spawn());
    tell(ids.back(), say::register_name("clerk " + std::to_string(i)));
  }
  await({Note::Kind::answered}, 100);
  for (size_t i = 0; i < 100; i += 2) end(ids[i]);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(world().whereis("clerk " + std::to_string(i)), i % 2 == 0 ? 0 : ids[i]);
  }
}

}  // namespace
}  // namespace jzx::actors
