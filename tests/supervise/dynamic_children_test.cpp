// Children added and removed while the supervisor runs.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "core/bonds.hpp"
#include "supervise/family.hpp"

namespace jzx::supervise {
namespace {

using jzx::testing::ChildWish;
using jzx::testing::FamilyRig;
using jzx::testing::kEndBadly;
using jzx::testing::kEndWell;

using Lines = std::vector<std::string>;

constexpr uint32_t kOften = 100;
constexpr uint32_t kPeriod = 1000;

class DynamicChildren : public ::testing::TestWithParam<std::tuple<std::string, Strategy>> {
 protected:
  static Strategy strategy() { return std::get<1>(GetParam()); }
  void expect_count(size_t specs, size_t active) {
    const ChildCounts counts = rig.visit(top, [&](Supervisor& it) { return it.count(); });
    EXPECT_EQ(counts.specs, specs);
    EXPECT_EQ(counts.active, active);
  }

  jzx::testing::ChosenDriver driver{std::get<0>(GetParam())};
  FamilyRig rig;
  ActorId top = rig.spawn_family({strategy(), kOften, kPeriod}, {{"a"}, {"b"}});
};

TEST_P(DynamicChildren, AreCountedWithTheOthersAndStartedAtOnce) {
  rig.diary.take();
  const ActorId c = rig.add(top, {"c"});
  EXPECT_TRUE(rig.is_alive(c));
  EXPECT_EQ(rig.diary.take(), Lines{"start c"});
  expect_count(3, 3);
  EXPECT_EQ(rig.child(top, 2), c);
}

TEST_P(DynamicChildren, ComeBackWhenTheyFailAsTheirModeSays) {
  const ActorId c = rig.add(top, {"c"});
  rig.order(c, kEndBadly);
  const ActorId again = rig.child(top, 2);
  EXPECT_NE(again, core::kNobody);
  EXPECT_NE(again, c);
  expect_count(3, 3);
}

TEST_P(DynamicChildren, ThatWillNotComeBackAreForgotten) {
  rig.order(rig.add(top, {"t", ChildMode::temporary}), kEndBadly);
  expect_count(2, 2);
  rig.order(rig.add(top, {"n", ChildMode::transient}), kEndWell);
  expect_count(2, 2);
}

TEST_P(DynamicChildren, AreStoppedAndForgottenWhenRemovedWhateverTheirMode) {
  for (const ChildMode mode : {ChildMode::permanent, ChildMode::transient, ChildMode::temporary}) {
    const ActorId c = rig.add(top, {"c", mode});
    rig.diary.take();
    ASSERT_EQ(rig.visit(top, [&](Supervisor& it) { return it.remove_child(c); }), Errc::ok);
    rig.settle();
    EXPECT_EQ(rig.diary.take(), Lines{"stop c"}) << "and nobody else is touched";
    expect_count(2, 2);
    EXPECT_EQ(rig.visit(top, [&](Supervisor& it) { return it.remove_child(c); }),
              Errc::no_such_actor);
  }
}

TEST_P(DynamicChildren, CanBeRemovedFromTheMiddle) {
  const ActorId c = rig.add(top, {"c"});
  const ActorId d = rig.add(top, {"d"});
  const ActorId e = rig.add(top, {"e"});
  ASSERT_EQ(rig.visit(top, [&](Supervisor& it) { return it.remove_child(c); }), Errc::ok);
  rig.settle();
  expect_count(4, 4);
  rig.order(d, kEndBadly);
  expect_count(4, 4);
  // Under one_for_one and rest_for_one the first two never noticed; all four run under each.
  for (size_t i = 0; i < 4; ++i) EXPECT_NE(rig.child(top, i), core::kNobody) << i;
  (void)e;
}

TEST_P(DynamicChildren, OfThePlanCanBeRemovedTooAndKeepTheirPlace) {
  ASSERT_EQ(rig.visit(top, [&](Supervisor& it) { return it.remove_child(rig.child(top, 0)); }),
            Errc::ok);
  rig.settle();
  EXPECT_EQ(rig.child(top, 0), core::kNobody);
  EXPECT_NE(rig.child(top, 1), core::kNobody);
  expect_count(2, 1);
  rig.order(rig.child(top, 1), kEndBadly);
  EXPECT_EQ(rig.child(top, 0), core::kNobody) << "a group restart does not bring it back";
  EXPECT_NE(rig.child(top, 1), core::kNobody);
}

TEST_P(DynamicChildren, ThatRefuseToStartLeaveNothingBehind) {
  rig.refusals["c"] = 1;
  rig.add(top, {"c"}, Errc::start_failed);
  expect_count(2, 2);
  EXPECT_TRUE(rig.is_alive(rig.add(top, {"c"})));
}

TEST_P(DynamicChildren, LeaveNothingBehindWhicheverAllocationFails) {
  bool added = false;
  for (uint64_t nth = 1; !added; ++nth) {
    ASSERT_LT(nth, 50u);
    auto* spec = rig.allocator().create<ChildSpec>();
    rig.fill(*spec, {"c"});
    rig.memory.refuse_nth(nth);
    ActorId id = core::kNobody;
    const Errc result = rig.visit(top, [&](Supervisor& it) { return it.add_child(*spec, id); });
    rig.memory.refuse_nth(0);
    added = result == Errc::ok;
    if (added) break;
    EXPECT_EQ(result, Errc::no_memory);
    expect_count(2, 2);
    spec->dispose(rig.allocator());
    rig.allocator().destroy(spec);
  }
  expect_count(3, 3);
}

TEST_P(DynamicChildren, AreStoppedWithTheirSupervisorTheLastFirst) {
  rig.add(top, {"c"});
  rig.add(top, {"d"});
  rig.diary.take();
  ASSERT_EQ(core::request_exit(rig.host(), top, ExitReason::normal), Errc::ok);
  rig.settle();
  EXPECT_EQ(rig.diary.take(), (Lines{"stop d", "stop c", "stop b", "stop a", "stop sup"}));
}

TEST_P(DynamicChildren, OfAnotherSupervisorCannotBeRemoved) {
  const ActorId other = rig.spawn_family({strategy(), kOften, kPeriod}, {{"x"}});
  EXPECT_EQ(rig.visit(top, [&](Supervisor& it) { return it.remove_child(rig.child(other, 0)); }),
            Errc::no_such_actor);
  EXPECT_EQ(rig.visit(top, [&](Supervisor& it) { return it.remove_child(other); }),
            Errc::no_such_actor);
  rig.settle();
  EXPECT_TRUE(rig.is_alive(rig.child(other, 0)));
}

std::string strategy_name(Strategy strategy) {
  switch (strategy) {
    case Strategy::one_for_one:
      return "one_for_one";
    case Strategy::one_for_all:
      return "one_for_all";
    case Strategy::rest_for_one:
      break;
  }
  return "rest_for_one";
}

INSTANTIATE_TEST_SUITE_P(Strategies, DynamicChildren,
                         ::testing::Combine(::testing::ValuesIn(jzx::testing::all_drivers()),
                                            ::testing::Values(Strategy::one_for_one,
                                                              Strategy::one_for_all,
                                                              Strategy::rest_for_one)),
                         [](const auto& one) {
                           return strategy_name(std::get<1>(one.param)) + "_on_" +
                                  std::get<0>(one.param);
                         });

JZX_SUITE_ON_ALL_DRIVERS(DynamicChildrenInAGroup);

TEST_P(DynamicChildrenInAGroup, OneThatIsForgottenDoesNotShiftTheGroupThatWaitsToRestart) {
  FamilyRig rig;
  const ActorId top = rig.spawn_family({Strategy::rest_for_one, kOften, kPeriod}, {});
  const ActorId brief = rig.add(top, {"brief", ChildMode::temporary});
  const ActorId leader = rig.add(top, {"leader", ChildMode::permanent, 50});
  rig.add(top, {"follower"});
  rig.order(leader, kEndBadly);  // the two wait for their backoff
  rig.order(brief, kEndWell);    // meanwhile the one before them ends, and its place closes
  rig.diary.take();
  rig.advance(51);
  EXPECT_EQ(rig.diary.take(),
            (Lines{"start leader", "restart leader 1", "start follower", "restart follower 1"}));
  EXPECT_EQ(rig.visit(top, [&](Supervisor& it) { return it.count(); }).active, 2u);
}

TEST_P(DynamicChildrenInAGroup, OneAddedWhileTheGroupWaitsIsLeftAlone) {
  FamilyRig rig;
  const ActorId top =
      rig.spawn_family({Strategy::one_for_all, kOften, kPeriod}, {{"a", ChildMode::permanent, 50}});
  rig.order(rig.child(top, 0), kEndBadly);
  const ActorId late = rig.add(top, {"late"});
  rig.advance(51);
  EXPECT_TRUE(rig.is_alive(late));
  EXPECT_NE(rig.child(top, 0), core::kNobody);
  EXPECT_EQ(rig.visit(top, [&](Supervisor& it) { return it.count(); }).active, 2u);
}

TEST_P(DynamicChildrenInAGroup, OneRemovedWhileItsGroupStopsDoesNotComeBackWithIt) {
  FamilyRig rig;
  const ActorId top =
      rig.spawn_family({Strategy::one_for_all, kOften, kPeriod}, {{"a"}, {"b"}, {"c"}});
  const ActorId b = rig.child(top, 1);
  ASSERT_EQ(rig.send(rig.child(top, 0), kEndBadly), Errc::ok);
  ASSERT_EQ(rig.visit(top, [&](Supervisor& it) { return it.remove_child(b); }), Errc::ok);
  rig.settle();
  EXPECT_NE(rig.child(top, 0), core::kNobody);
  EXPECT_EQ(rig.child(top, 1), core::kNobody);
  EXPECT_NE(rig.child(top, 2), core::kNobody);
}

}  // namespace
}  // namespace jzx::supervise
