// Failures that go up: restarts that cannot be done, supervisors that give up, trees.
#include <gtest/gtest.h>

#include "supervise/family.hpp"

namespace jzx::supervise {
namespace {

using jzx::testing::ChildWish;
using jzx::testing::FamilyRig;
using jzx::testing::kEndBadly;
using jzx::testing::kEndWell;

using Lines = std::vector<std::string>;

constexpr uint32_t kPeriod = 1000;

// ---- starts that fail ----

JZX_SUITE_ON_ALL_DRIVERS(FailedRestart);

TEST_P(FailedRestart, IsTriedAgainAndEachTryCounts) {
  FamilyRig rig;
  const ActorId top = rig.spawn_family({Strategy::one_for_one, 3, kPeriod}, {{"a"}});
  rig.refusals["a"] = 2;
  rig.order(rig.child(top, 0), kEndBadly);
  EXPECT_TRUE(rig.is_alive(top));
  EXPECT_NE(rig.child(top, 0), core::kNobody) << "the third try succeeded";
  EXPECT_EQ(rig.refusals["a"], 0);
  rig.order(rig.child(top, 0), kEndBadly);
  EXPECT_FALSE(rig.is_alive(top)) << "three were allowed";
}

TEST_P(FailedRestart, EscalatesOnceWhenItIsTooOften) {
  FamilyRig rig;
  const ActorId top = rig.spawn_family({Strategy::one_for_one, 3, kPeriod}, {{"a"}, {"b"}});
  rig.refusals["a"] = 100;
  rig.diary.take();
  rig.order(rig.child(top, 0), kEndBadly);
  EXPECT_EQ(rig.diary.take(), (Lines{"stop a", "escalate sup", "stop b", "stop sup"}));
  EXPECT_EQ(rig.refusals["a"], 97);
}

TEST_P(FailedRestart, WaitsOutItsBackoffBetweenTries) {
  FamilyRig rig;
  const ActorId top =
      rig.spawn_family({Strategy::one_for_one, 10, kPeriod}, {{"a", ChildMode::permanent, 20}});
  rig.refusals["a"] = 1;
  rig.order(rig.child(top, 0), kEndBadly);
  EXPECT_EQ(rig.refusals["a"], 1) << "not before the first backoff";
  rig.advance(21);
  EXPECT_EQ(rig.refusals["a"], 0);
  EXPECT_EQ(rig.child(top, 0), core::kNobody);
  rig.advance(21);
  EXPECT_NE(rig.child(top, 0), core::kNobody);
}

TEST_P(FailedRestart, OfOneInTheMiddleOfAGroupStopsThoseStartedAndBeginsAgain) {
  FamilyRig rig;
  const ActorId top = rig.spawn_family({Strategy::one_for_all, 10, kPeriod}, {{"a"}, {"b"}, {"c"}});
  rig.refusals["b"] = 1;
  rig.diary.take();
  rig.order(rig.child(top, 0), kEndBadly);
  EXPECT_EQ(rig.diary.take(),
            (Lines{"stop a", "stop c", "stop b",  // the group goes
                   "start a", "restart a 1",      // b refuses
                   "stop a",                      // the group goes again
                   "start a", "restart a 2", "start b", "restart b 1", "start c", "restart c 1"}));
}

TEST(FailedRestartTurnByTurn, DoesNotBreakTheStartOrderWhenAnEarlierSiblingFailsMeanwhile) {
  FamilyRig rig(1);  // a tick is a turn
  const ActorId top =
      rig.spawn_family({Strategy::rest_for_one, 10, kPeriod}, {{"a"}, {"b"}, {"c"}});
  rig.refusals["b"] = 1;
  ASSERT_EQ(rig.send(rig.child(top, 1), kEndBadly), Errc::ok);
  rig.tick();  // b ends
  rig.tick();  // the supervisor asks c to end
  ASSERT_EQ(rig.send(rig.child(top, 0), kEndBadly), Errc::ok);
  rig.tick();  // c ends
  rig.tick();  // a ends
  rig.diary.take();
  // Now the supervisor hears of c, tries to start b, which refuses, and hears of a before b's next
  // try is due.
  rig.settle();
  EXPECT_EQ(rig.diary.take(),
            (Lines{"start a", "restart a 1", "start b", "restart b 1", "start c", "restart c 1"}));
}

TEST_P(FailedRestart, ForWantOfASlotIsTriedAgainUntilThereIsOne) {
  FamilyRig rig;
  const ActorId top =
      rig.spawn_family({Strategy::one_for_one, 10, kPeriod}, {{"a", ChildMode::permanent, 20}});
  rig.order(rig.child(top, 0), kEndBadly);
  std::vector<ActorId> others;
  while (others.size() < 63) others.push_back(rig.spawn());
  rig.advance(21);
  EXPECT_EQ(rig.child(top, 0), core::kNobody);
  ASSERT_EQ(core::request_exit(rig.host(), others.back(), ExitReason::normal), Errc::ok);
  rig.advance(21);
  EXPECT_NE(rig.child(top, 0), core::kNobody);
}

JZX_SUITE_ON_ALL_DRIVERS(FailedStart);

TEST_P(FailedStart, OfALaterChildLeavesNothingOfTheEarlierOnes) {
  FamilyRig rig;
  rig.refusals["c"] = 1;
  ActorId top = core::kNobody;
  Plan& plan = rig.plan({Strategy::one_for_one, 3, kPeriod}, {{"a"}, {"b"}, {"c"}});
  EXPECT_EQ(spawn_supervisor(rig.host(), plan, true, core::kNobody, top), Errc::start_failed);
  rig.settle();
  EXPECT_EQ(top, core::kNobody);
  EXPECT_EQ(rig.system().alive_count(), 0u);
}

// ---- trees ----

class Tree : public jzx::testing::OnAnyDriver {
 protected:
  // A supervisor over "x" and over a nested supervisor of "a" and "b".
  ActorId make(uint32_t outer_intensity, uint32_t inner_intensity) {
    Plan& inner = rig.plan({Strategy::one_for_one, inner_intensity, kPeriod}, {{"a"}, {"b"}});
    Plan& outer = rig.plan({Strategy::one_for_one, outer_intensity, kPeriod}, {{"x"}, {"nested"}});
    outer.children[1].factory->dispose(rig.allocator());
    outer.children[1].factory = make_nested(rig.allocator(), inner);
    ActorId id = core::kNobody;
    EXPECT_EQ(spawn_supervisor(rig.host(), outer, true, core::kNobody, id), Errc::ok);
    rig.diary.take();
    return id;
  }

  FamilyRig rig;
};
JZX_ON_ALL_DRIVERS(Tree);

TEST_P(Tree, ANestedSupervisorThatGivesUpIsRestartedWithItsChildren) {
  const ActorId top = make(5, 0);
  const ActorId nested = rig.child(top, 1);
  rig.order(rig.child(nested, 0), kEndBadly);
  EXPECT_EQ(rig.diary.take(), (Lines{"stop a", "escalate nested", "stop b", "stop nested",
                                     "start nested", "start a", "start b", "restart nested 1"}));
  EXPECT_EQ(rig.visit(top, [&](Supervisor& it) { return it.count(); }).supervisors, 1u);
}

TEST_P(Tree, ARestartOfANestedSupervisorThatFailsHalfWayLeavesNothingAndIsTriedAgain) {
  const ActorId top = make(5, 0);
  rig.refusals["b"] = 1;
  rig.order(rig.child(rig.child(top, 1), 0), kEndBadly);
  EXPECT_EQ(rig.diary.take(),
            (Lines{"stop a", "escalate nested", "stop b", "stop nested",  //
                   "start nested", "start a", "stop a", "stop nested",    // b refused
                   "start nested", "start a", "start b", "restart nested 1"}));
  EXPECT_EQ(rig.system().alive_count(), 5u);
}

TEST_P(Tree, WhatIsTooMuchForAllLevelsEndsTheWholeTreeAndEachLevelSaysSoOnce) {
  const ActorId top = make(1, 1);
  for (int failures = 0; failures < 4 && rig.is_alive(top); ++failures) {
    rig.order(rig.child(rig.child(top, 1), 0), kEndBadly);
  }
  EXPECT_FALSE(rig.is_alive(top));
  EXPECT_EQ(rig.diary.count("escalate sup"), 1u);
  EXPECT_EQ(rig.diary.count("escalate nested"), 2u) << "one for each of its lives";
  EXPECT_EQ(rig.system().alive_count(), 0u);
}

// ---- attached without a spec ----

JZX_SUITE_ON_ALL_DRIVERS(Attached);

TEST_P(Attached, ASupervisorThatGivesUpTakesTheOneItIsAttachedToAlong) {
  FamilyRig rig;
  const ActorId top = rig.spawn_family({Strategy::one_for_one, 50, kPeriod}, {{"x"}});
  const ActorId attached = rig.spawn_family({Strategy::one_for_one, 0, kPeriod}, {{"a"}}, top);
  rig.order(rig.child(attached, 0), kEndBadly);
  EXPECT_FALSE(rig.is_alive(attached));
  EXPECT_FALSE(rig.is_alive(top));
  EXPECT_EQ(rig.diary.count("escalate sup"), 2u) << "both are named so";
}

TEST_P(Attached, ASupervisorThatIsStoppedLeavesTheOtherAlone) {
  FamilyRig rig;
  const ActorId top = rig.spawn_family({Strategy::one_for_one, 50, kPeriod}, {{"x"}});
  const ActorId attached = rig.spawn_family({Strategy::one_for_one, 0, kPeriod}, {{"a"}}, top);
  ASSERT_EQ(core::request_exit(rig.host(), attached, ExitReason::normal), Errc::ok);
  rig.settle();
  EXPECT_TRUE(rig.is_alive(top));
}

TEST_P(Attached, APlainActorThatFailsIsNotRestartedAndHurtsNobody) {
  FamilyRig rig;
  const ActorId top = rig.spawn_family({Strategy::one_for_all, 0, kPeriod}, {{"x"}});
  core::SpawnOptions options;
  options.parent = top;
  const ActorId attached = rig.spawn({}, options);
  ASSERT_EQ(core::request_exit(rig.host(), attached, ExitReason::fail), Errc::ok);
  rig.settle();
  EXPECT_FALSE(rig.is_alive(attached));
  EXPECT_TRUE(rig.is_alive(top));
  EXPECT_NE(rig.child(top, 0), core::kNobody);
}

}  // namespace
}  // namespace jzx::supervise
