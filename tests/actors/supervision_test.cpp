// Supervision: who is started again, who with it, and when it is too often.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Supervision : public OnStage {
 protected:
  using Ids = std::vector<ActorId>;

  // a, b and c under this strategy.
  ActorId three(Strategy strategy, Ids& children) {
    const ActorId supervisor =
        stage().supervise({.members = {{"a"}, {"b"}, {"c"}}, .strategy = strategy});
    for (const char* name : {"a", "b", "c"}) children.push_back(await(seen::begun(name)).who);
    return supervisor;
  }
  // The labels of those that began, from this one on.
  std::vector<std::string> begun_since(size_t first) {
    stage().settle();
    std::vector<std::string> labels;
    for (const Note& note : all({Note::Kind::begun})) labels.push_back(note.text);
    labels.erase(labels.begin(), labels.begin() + static_cast<ptrdiff_t>(first));
    return labels;
  }
  Ids ended() { return whom(all(seen::ended())); }
};
JZX_FOR_ALL_BODIES(Supervision);

using Labels = std::vector<std::string>;

TEST_P(Supervision, StartsTheChildrenInOrder) {
  Ids ids;
  const ActorId supervisor = three(Strategy::one_for_one, ids);
  EXPECT_EQ(begun_since(1), (Labels{"a", "b", "c"}));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(world().child_at(supervisor, i), ids[i]);
  EXPECT_EQ(world().child_at(supervisor, 3), 0u);
}

TEST_P(Supervision, OneForOneStartsTheFailedAgainUnderANewId) {
  Ids ids;
  const ActorId supervisor = three(Strategy::one_for_one, ids);
  tell(ids[1], say::fail("broken"));
  const Note restart = await(seen::restarted(supervisor));
  EXPECT_EQ(restart.number, 1u) << "the first attempt";
  EXPECT_NE(restart.who, ids[1]);
  EXPECT_EQ(begun_since(4), Labels{"b"});
  EXPECT_EQ(ended(), Ids{ids[1]});
  EXPECT_EQ(world().child_at(supervisor, 1), restart.who);
  EXPECT_EQ(world().send(ids[1], say::record(1)), Errc::no_such_actor);
  ask(restart.who, say::record(2));
}

TEST_P(Supervision, OneForAllEndsAllInReverseAndStartsAllInOrder) {
  Ids ids;
  const ActorId supervisor = three(Strategy::one_for_all, ids);
  tell(ids[1], say::fail("broken"));
  await(seen::begun("c"), 2);
  EXPECT_EQ(ended(), (Ids{ids[1], ids[2], ids[0]}));
  EXPECT_EQ(begun_since(4), (Labels{"a", "b", "c"}));
  for (size_t i = 0; i < 3; ++i) EXPECT_NE(world().child_at(supervisor, i), ids[i]);
}

TEST_P(Supervision, RestForOneStartsTheFailedAndThoseAfterIt) {
  Ids ids;
  const ActorId supervisor = three(Strategy::rest_for_one, ids);
  tell(ids[1], say::fail("broken"));
  await(seen::begun("c"), 2);
  EXPECT_EQ(ended(), (Ids{ids[1], ids[2]}));
  EXPECT_EQ(begun_since(4), (Labels{"b", "c"}));
  EXPECT_EQ(world().child_at(supervisor, 0), ids[0]);
}

TEST_P(Supervision, APermanentChildThatEndsWellOrIsKilledComesBack) {
  Ids ids;
  three(Strategy::one_for_one, ids);
  tell(ids[0], say::stop());
  await(seen::begun("a"), 2);
  EXPECT_EQ(world().kill(ids[1]), Errc::ok);
  await(seen::begun("b"), 2);
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(Supervision, AChildThatThrowsComesBack) {
  Ids ids;
  three(Strategy::one_for_one, ids);
  tell(ids[0], say::crash("out of luck"));
  ask(await(seen::begun("a"), 2).who, say::record(1));
  EXPECT_EQ(await(seen::ended(ids[0])).reason, ExitReason::panic);
}
#endif

TEST_P(Supervision, ATransientChildComesBackOnlyAfterABadEnd) {
  const ActorId supervisor = stage().supervise(
      {.members = {{"well", ChildMode::transient}, {"badly", ChildMode::transient}}});
  tell(await(seen::begun("well")).who, say::stop());
  tell(await(seen::begun("badly")).who, say::fail("broken"));
  await(seen::begun("badly"), 2);
  await(seen::ended(), 2);
  EXPECT_EQ(count(seen::begun("well")), 1u);
  EXPECT_EQ(world().child_at(supervisor, 0), 0u);
}

TEST_P(Supervision, ATemporaryChildNeverComesBack) {
  const ActorId supervisor =
      stage().supervise({.members = {{"t", ChildMode::temporary}, {"other"}}});
  tell(await(seen::begun("t")).who, say::fail("broken"));
  await(seen::ended());
  EXPECT_EQ(count(seen::begun("t")), 1u);
  EXPECT_EQ(world().child_at(supervisor, 0), 0u);
  EXPECT_EQ(count(seen::ended()), 1u) << "the supervisor lives";
}

TEST_P(Supervision, TooManyRestartsEndTheSupervisorAndTheOthers) {
  const ActorId supervisor = stage().supervise({.members = {{"a"}, {"b"}}, .intensity = 3});
  for (size_t i = 1; i <= 4; ++i) tell(await(seen::begun("b"), i).who, say::fail("broken"));
  await(seen::ended(supervisor));
  EXPECT_NE(all(seen::ended(supervisor))[0].reason, ExitReason::normal);
  EXPECT_EQ(count(seen::escalated(supervisor)), 1u);
  EXPECT_EQ(count(seen::restarted(supervisor)), 3u);
  EXPECT_TRUE(journal().alive().empty());
}

TEST_P(Supervision, AnIntensityOfZeroEscalatesAtTheFirstFailure) {
  const ActorId supervisor = stage().supervise({.members = {{"a"}}, .intensity = 0});
  tell(await(seen::begun("a")).who, say::fail("broken"));
  await(seen::ended(supervisor));
  EXPECT_EQ(count(seen::escalated(supervisor)), 1u);
  EXPECT_EQ(count(seen::begun("a")), 1u);
}

TEST_P(Supervision, ASupervisorThatGivesUpIsStartedAgainByItsOwn) {
  const auto inner = std::make_shared<Family>(Family{.members = {{"leaf"}}, .intensity = 1});
  stage().supervise({.members = {{.name = "inner", .family = inner}}});
  const ActorId first = await(seen::begun("inner")).who;
  tell(await(seen::begun("leaf"), 1).who, say::fail("broken"));
  tell(await(seen::begun("leaf"), 2).who, say::fail("broken"));
  const ActorId second = await(seen::begun("inner"), 2).who;
  EXPECT_NE(first, second);
  EXPECT_EQ(count(seen::escalated(first)), 1u);
  ask(await(seen::begun("leaf"), 3).who, say::record(1));
}

TEST_P(Supervision, ABackoffIsWaitedOut) {
  constexpr uint32_t kBackoffMs = 20;
  stage().supervise({.members = {{.name = "slow", .backoff_ms = kBackoffMs}}});
  tell(await(seen::begun("slow")).who, say::fail("broken"));
  const Note again = await(seen::begun("slow"), 2);
  const Note end = await(seen::ended());
  EXPECT_GE(again.at_ns - end.at_ns, kBackoffMs * 1'000'000ull);
}

TEST_P(Supervision, AStoppedSupervisorEndsItsChildrenInReverse) {
  Ids ids;
  const ActorId supervisor = three(Strategy::one_for_one, ids);
  EXPECT_EQ(world().stop(supervisor), Errc::ok);
  await(seen::ended(supervisor));
  EXPECT_EQ(ended(), (Ids{ids[2], ids[1], ids[0], supervisor}));
  EXPECT_EQ(count({Note::Kind::restarted}), 0u);
}

TEST_P(Supervision, EndsWithTheParent) {
  const ActorId parent = spawn();
  const ActorId supervisor = stage().supervise({.members = {{"a"}}}, parent);
  const ActorId child = await(seen::begun("a")).who;
  tell(parent, say::stop());
  await(seen::ended(parent));
  EXPECT_EQ(ended(), (Ids{child, supervisor, parent}));
}

TEST_P(Supervision, MailOfTheFailedIsDeadLetteredAndNotForTheNext) {
  Ids ids;
  three(Strategy::one_for_one, ids);
  tell(ids[0], say::batch({say::send_records(0, 1, 5), say::fail("broken")}));
  const ActorId next = await(seen::begun("a"), 2).who;
  ask(next, say::record(6));
  EXPECT_EQ(numbers(all(seen::recorded(next))), std::vector<uint64_t>{6});
  EXPECT_EQ(count(seen::dead(ids[0])), 5u);
}

TEST_P(Supervision, EveryLifeOfAChildHasItsOwnDown) {
  Ids ids;
  three(Strategy::one_for_one, ids);
  const ActorId watcher = spawn();
  for (size_t life = 1; life <= 20; ++life) {
    const ActorId child = await(seen::begun("a"), life).who;
    EXPECT_EQ(ask(watcher, say::monitor(child)).error, Errc::ok);
    tell(child, say::fail("broken"));
    EXPECT_EQ(await(seen::down(watcher, child)).reason, ExitReason::fail);
  }
  EXPECT_EQ(count(seen::down(watcher)), 20u);
  EXPECT_EQ(count(seen::begun("a")), 21u);
}

TEST_P(Supervision, ALinkedPartnerGoesWithTheFailedAndIsNotStartedAgain) {
  Ids ids;
  three(Strategy::one_for_one, ids);
  const ActorId partner = spawn();
  EXPECT_EQ(ask(partner, say::link(ids[2])).error, Errc::ok);
  tell(ids[2], say::fail("broken"));
  await(seen::ended(partner));
  await(seen::begun("c"), 2);
}

}  // namespace
}  // namespace jzx::actors
