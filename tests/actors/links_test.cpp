// Links: two actors that end together, unless one of them would rather be told.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Links : public OnStage {
 protected:
  void link(ActorId a, ActorId b) { EXPECT_EQ(ask(a, say::link(b)).error, Errc::ok); }
  void trap(ActorId a) { EXPECT_EQ(ask(a, say::trap_exit(true)).error, Errc::ok); }
  // It is alive, and has handled all that was sent to it so far.
  void expect_alive(ActorId a) {
    stage().settle();
    ask(a, say::record(0));
    EXPECT_EQ(count(seen::ended(a)), 0u);
  }
};
JZX_FOR_ALL_BODIES(Links);

TEST_P(Links, AFailureTakesTheOtherAlongForTheSameReason) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  link(a, b);
  tell(a, say::fail("broken"));
  EXPECT_EQ(await(seen::ended(b)).reason, ExitReason::fail);
}

TEST_P(Links, WorkFromTheOtherEndToo) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  link(a, b);
  EXPECT_EQ(world().kill(b), Errc::ok);
  EXPECT_EQ(await(seen::ended(a)).reason, world().kill_reason());
}

TEST_P(Links, ANormalEndKillsNobodyAndIsNotTold) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  link(a, b);
  tell(a, say::stop());
  await(seen::ended(a));
  expect_alive(b);
  EXPECT_EQ(count(seen::exit(b)), 0u);
}

TEST_P(Links, OneThatTrapsIsToldOnceAndLives) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  link(a, b);
  trap(b);
  tell(a, say::fail("broken"));
  const Note exit = await(seen::exit(b));
  EXPECT_EQ(exit.other, a);
  EXPECT_EQ(exit.reason, ExitReason::fail);
  expect_alive(b);
  EXPECT_EQ(count(seen::exit(b)), 1u);
}

TEST_P(Links, OneThatTrapsIsToldOfANormalEndToo) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  link(a, b);
  trap(b);
  tell(a, say::stop());
  EXPECT_EQ(await(seen::exit(b)).reason, ExitReason::normal);
}

TEST_P(Links, TellWhyToOneThatTraps) {
  NEEDS(Trait::texts);
  const ActorId a = spawn();
  const ActorId b = spawn();
  link(a, b);
  trap(b);
  tell(a, say::fail("broken"));
  EXPECT_EQ(await(seen::exit(b)).text, "broken");
}

TEST_P(Links, OneThatTrapsNoLongerEndsAgain) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  link(a, b);
  trap(b);
  EXPECT_EQ(ask(b, say::trap_exit(false)).error, Errc::ok);
  tell(a, say::fail("broken"));
  await(seen::ended(b));
  EXPECT_EQ(count(seen::exit(b)), 0u);
}

TEST_P(Links, ThatAreUndoneByEitherSideSignalNothing) {
  for (const bool by_the_other : {false, true}) {
    const ActorId a = spawn();
    const ActorId b = spawn();
    link(a, b);
    EXPECT_EQ(ask(by_the_other ? b : a, say::unlink(by_the_other ? a : b)).error, Errc::ok);
    trap(b);
    tell(a, say::fail("broken"));
    await(seen::ended(a));
    expect_alive(b);
    EXPECT_EQ(count(seen::exit(b)), 0u);
  }
}

TEST_P(Links, MadeTwiceAreOne) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  link(a, b);
  link(b, a);
  trap(b);
  tell(a, say::fail("broken"));
  await(seen::exit(b));
  expect_alive(b);
  EXPECT_EQ(count(seen::exit(b)), 1u);
}

TEST_P(Links, ToTheDeadAndToOneselfAreRefused) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  tell(b, say::stop());
  await(seen::ended(b));
  EXPECT_EQ(ask(a, say::link(b)).error, Errc::no_such_actor);
  EXPECT_EQ(ask(a, say::link(a)).error, Errc::invalid_arg);
  expect_alive(a);
}

TEST_P(Links, OfAChainAllGo) {
  std::vector<ActorId> chain = {spawn()};
  for (int i = 0; i < 30; ++i) {
    chain.push_back(spawn());
    link(chain[chain.size() - 2], chain.back());
  }
  tell(chain[15], say::fail("broken"));
  for (const ActorId id : chain) EXPECT_EQ(await(seen::ended(id)).reason, ExitReason::fail);
}

TEST_P(Links, OfARingAllGoOnce) {
  std::vector<ActorId> ring;
  for (int i = 0; i < 20; ++i) ring.push_back(spawn());
  for (size_t i = 0; i < ring.size(); ++i) link(ring[i], ring[(i + 1) % ring.size()]);
  EXPECT_EQ(world().kill(ring[3]), Errc::ok);
  await(seen::ended(), ring.size());
  EXPECT_EQ(count(seen::ended()), ring.size());
}

TEST_P(Links, OfAChainStopAtOneThatTraps) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  const ActorId c = spawn();
  link(a, b);
  link(b, c);
  trap(b);
  tell(a, say::fail("broken"));
  await(seen::exit(b, a));
  expect_alive(b);
  expect_alive(c);
}

TEST_P(Links, OfAHubTellItOfEachOnce) {
  const ActorId hub = spawn();
  trap(hub);
  std::vector<ActorId> leaves;
  for (int i = 0; i < 50; ++i) {
    leaves.push_back(spawn());
    link(leaves.back(), hub);
  }
  for (const ActorId leaf : leaves) tell(leaf, say::fail("broken"));
  await(seen::exit(hub), leaves.size());
  expect_alive(hub);
  for (const ActorId leaf : leaves) EXPECT_EQ(count(seen::exit(hub, leaf)), 1u);
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(Links, APanicTakesTheOtherAlong) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  link(a, b);
  tell(a, say::crash("out of luck"));
  EXPECT_EQ(await(seen::ended(b)).reason, ExitReason::panic);
}
#endif

TEST_P(Links, TwoThatFailAtTheSameTimeBothEndOnce) {
  for (int i = 0; i < 20; ++i) {
    const ActorId a = spawn();
    const ActorId b = spawn();
    link(a, b);
    const bool a_first = i % 2 == 0;
    tell(a_first ? a : b, say::fail("broken"));
    (void)world().kill(a_first ? b : a);
    await(seen::ended(a));
    await(seen::ended(b));
  }
}

}  // namespace
}  // namespace jzx::actors
