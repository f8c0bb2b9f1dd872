// Children added to and removed from a running supervisor, and looking at them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Fail {};
struct Finish {};
struct Get {};

struct Worker {
  explicit Worker(int the_number) : number(the_number) {}
  void on(Fail, Context& context) { context.fail("told to"); }
  void on(Finish, Context& context) { context.stop(); }
  int on(Get) { return number; }
  int number;
};

class DynamicChildren : public OnAnyDriver {
 protected:
  ActorRef<Worker> typed(const Pid& pid) { return ActorRef<Worker>(pid); }

  ClockedLoop loop;
  SupervisorRef family =
      loop.supervise({.intensity = 10, .period = 1000ms}, {jzx::child<Worker>("first", 1)});
};
JZX_ON_ALL_DRIVERS(DynamicChildren);

TEST_P(DynamicChildren, AreStartedAndSupervisedLikeTheOthers) {
  const Result<Pid> added = family.add(jzx::child<Worker>("second", 2));
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(*added, family.child(1));
  EXPECT_EQ(loop.run_until(typed(*added).ask(Get{})).value(), 2);
  typed(*added) << Fail{};
  loop.settle();
  EXPECT_NE(family.child(1), *added);
  EXPECT_EQ(loop.run_until(family.child_as<Worker>(1).ask(Get{})).value(), 2);
}

TEST_P(DynamicChildren, MayBeSupervisorsThemselves) {
  const Result<Pid> added =
      family.add(jzx::supervisor("inner", {}, {jzx::child<Worker>("leaf", 3)}));
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(loop.run_until(SupervisorRef(*added).child_as<Worker>(0).ask(Get{})).value(), 3);
  EXPECT_EQ(family.count().supervisors, 1u);
}

TEST_P(DynamicChildren, AreGoneForGoodWhenRemoved) {
  const Pid added = *family.add(jzx::child<Worker>("second", 2));
  EXPECT_EQ(family.remove(added), Errc::ok);
  loop.settle();
  EXPECT_FALSE(loop.seen().is_alive(added.id()));
  EXPECT_EQ(loop.seen().stop_of(added.id()).reason, ExitReason::normal);
  EXPECT_TRUE(loop.seen().restarts.empty());
  EXPECT_EQ(family.count().specs, 1u);
  EXPECT_EQ(family.remove(added), Errc::no_such_actor);
}

TEST_P(DynamicChildren, OfThePlanCanBeRemovedToo) {
  const Pid first = family.child(0);
  EXPECT_EQ(family.remove(first), Errc::ok);
  loop.settle();
  EXPECT_FALSE(family.child(0));
  EXPECT_EQ(loop.seen().alive_count(), 1u) << "the supervisor";
}

TEST_P(DynamicChildren, CanBeRemovedByTheirLastPidWhileTheyWaitToBeRestarted) {
  ClockedLoop slow(Time::manual);
  const SupervisorRef family_of_two =
      slow.supervise({.intensity = 10, .period = 1000ms},
                     {jzx::child<Worker>("first", 1).backoff({.initial = 50ms})});
  const Pid added = *family_of_two.add(jzx::child<Worker>("second", 2).backoff({.initial = 50ms}));
  const Pid first = family_of_two.child(0);
  for (const Pid pid : {first, added}) typed(pid) << Fail{};
  slow.settle();
  ASSERT_FALSE(family_of_two.child(0));
  EXPECT_EQ(family_of_two.remove(first), Errc::ok);
  EXPECT_EQ(family_of_two.remove(added), Errc::ok);
  EXPECT_EQ(family_of_two.remove(added), Errc::no_such_actor);
  EXPECT_EQ(family_of_two.count().specs, 1u);
  slow.advance(1000ms);
  slow.settle();
  EXPECT_TRUE(slow.seen().restarts.empty());
  EXPECT_EQ(slow.seen().alive_count(), 1u) << "the supervisor";
}

TEST_P(DynamicChildren, RemovedWhileTheirGroupWaitsAreLeftOutOfIt) {
  for (const size_t removed : {size_t{0}, size_t{1}}) {
    SCOPED_TRACE(removed);
    ClockedLoop slow(Time::manual);
    const SupervisorRef pair = slow.supervise(
        {.strategy = Strategy::one_for_all, .intensity = 10, .period = 1000ms},
        {jzx::child<Worker>("first", 1).backoff({.initial = 50ms}), jzx::child<Worker>("b", 2)});
    const Pid before[] = {pair.child(0), pair.child(1)};
    typed(before[0]) << Fail{};  // leads the group
    slow.settle();
    EXPECT_EQ(pair.remove(before[removed]), Errc::ok);
    slow.advance(1000ms);
    slow.settle();
    EXPECT_FALSE(pair.child(removed));
    EXPECT_TRUE(pair.child(1 - removed));
  }
}

TEST_P(DynamicChildren, OfSomebodyElseAreNotRemoved) {
  const auto stranger = loop.spawn<Worker>(9);
  EXPECT_EQ(family.remove(stranger), Errc::no_such_actor);
  EXPECT_EQ(family.remove(Pid()), Errc::no_such_actor);
  ClockedLoop other;
  const auto foreign = other.spawn<Worker>(9);
  EXPECT_EQ(family.remove(foreign), Errc::no_such_actor);
  loop.settle();
  EXPECT_TRUE(loop.seen().is_alive(stranger.id()));
}

TEST_P(DynamicChildren, ThatEndAndAreNotBroughtBackAreForgotten) {
  const Pid added = *family.add(jzx::child<Worker>("second", 2).temporary());
  EXPECT_EQ(family.count().specs, 2u);
  typed(added) << Finish{};
  loop.settle();
  EXPECT_EQ(family.count().specs, 1u);
}

TEST_P(DynamicChildren, AreListedWithNameModeAndPid) {
  (void)*family.add(jzx::child<Worker>("second", 2).transient());
  const std::vector<ChildInfo> children = family.which_children();
  ASSERT_EQ(children.size(), 2u);
  EXPECT_EQ(children[0].name, "first");
  EXPECT_EQ(children[0].mode, ChildMode::permanent);
  EXPECT_EQ(children[0].pid, family.child(0));
  EXPECT_EQ(children[1].name, "second");
  EXPECT_EQ(children[1].mode, ChildMode::transient);
  EXPECT_EQ(children[1].pid, family.child(1));
}

TEST_P(DynamicChildren, AreCountedAsKnownAndActive) {
  const Pid waiting = *family.add(jzx::child<Worker>("waiting", 2).backoff({.initial = 100ms}));
  typed(waiting) << Fail{};
  loop.settle();
  const ChildCounts counts = family.count();
  EXPECT_EQ(counts.specs, 2u);
  EXPECT_EQ(counts.active, 1u) << "the other one waits for its restart";
  EXPECT_EQ(counts.supervisors, 0u);
  EXPECT_FALSE(family.which_children()[1].pid);
}

TEST_P(DynamicChildren, CanBeAddedByAHandler) {
  struct Manager {
    explicit Manager(SupervisorRef the_family) : family(the_family) {}
    Pid on(Get) { return *family.add(jzx::child<Worker>("hired", 5)); }
    SupervisorRef family;
  };
  const auto manager = loop.spawn<Manager>(family);
  const Pid hired = loop.run_until(manager.ask(Get{})).value();
  EXPECT_EQ(loop.run_until(typed(hired).ask(Get{})).value(), 5);
}

TEST_P(DynamicChildren, OfAReferenceThatIsNoSupervisorAreRefused) {
  const SupervisorRef impostor(loop.spawn<Worker>(1));
  EXPECT_EQ(impostor.add(jzx::child<Worker>("x", 1)).error().code(), Errc::invalid_arg);
  EXPECT_TRUE(impostor.which_children().empty());
  EXPECT_EQ(impostor.count().specs, 0u);
  EXPECT_EQ(loop.stop(family), Errc::ok);
  loop.settle();
  EXPECT_EQ(family.add(jzx::child<Worker>("x", 1)).error().code(), Errc::no_such_actor);
  EXPECT_EQ(SupervisorRef().add(jzx::child<Worker>("x", 1)).error().code(), Errc::no_such_actor);
}

TEST_P(DynamicChildren, WithoutMemoryAreNotAddedAndNothingIsLost) {
  loop.settle();
  int refusals = 0;
  for (uint64_t nth = 1;; ++nth) {
    loop.allocator().refuse_nth(nth);
    const Result<Pid> added = family.add(jzx::child<Worker>("second", 2));
    loop.allocator().refuse_nth(0);
    if (added.ok()) break;
    ++refusals;
    EXPECT_EQ(added.error().code(), Errc::no_memory);
    EXPECT_EQ(family.count().specs, 1u);
  }
  EXPECT_GE(refusals, 3);
  EXPECT_EQ(family.count().active, 2u);
}

}  // namespace
}  // namespace jzx::testing
