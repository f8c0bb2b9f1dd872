// Supervised typed actors: strategies, modes, backoff, nesting, escalation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

using ::testing::Each;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using Log = std::vector<std::string>;

struct Fail {};
struct Finish {};
struct Get {};

// Notes when it is made, which is the supervisor's doing. When it has its first turn is nobody's
// promise.
struct Worker {
  Worker(Log& the_log, std::string the_name) : log(the_log), name(std::move(the_name)) {
    log.push_back("+" + name);
  }
  void on_start() {}  // so that it has not started before its first turn
  void on_stop() { log.push_back("-" + name); }
  void on(Fail, Context& context) { context.fail("told to"); }
  void on(Finish, Context& context) { context.stop(); }
  std::string on(Get) { return name; }
  Log& log;
  std::string name;
};

struct Leaf {};

class Supervise : public OnAnyDriver {
 protected:
  ChildSpec worker(const std::string& name) {
    return jzx::child<Worker>(name, std::ref(log), name);
  }
  // a, b and c under this strategy; the log is clear.
  SupervisorRef three(Strategy strategy) {
    const SupervisorRef family =
        loop.supervise({.strategy = strategy, .intensity = 10, .period = 1000ms},
                       {worker("a"), worker("b"), worker("c")});
    loop.settle();
    EXPECT_EQ(log, (Log{"+a", "+b", "+c"}));
    log.clear();
    return family;
  }

  Log log;
  ClockedLoop loop;
};
JZX_ON_ALL_DRIVERS(Supervise);

TEST_P(Supervise, StartsTheChildrenInOrderAndTellsTheirNames) {
  const SupervisorRef family = three(Strategy::one_for_one);
  ASSERT_TRUE(family);
  EXPECT_EQ(loop.seen().started(), (Log{"", "a", "b", "c"})) << "the supervisor first";
}

TEST_P(Supervise, GivesTypedReferencesToTheChildren) {
  const SupervisorRef family = three(Strategy::one_for_one);
  EXPECT_EQ(loop.run_until(family.child_as<Worker>(1).ask(Get{})).value(), "b");
  EXPECT_FALSE(family.child(3)) << "there is no fourth";
  EXPECT_FALSE(SupervisorRef().child(0));
}

TEST_P(Supervise, RefusesAChildThatMayBlockWhereThereIsNoThreadForIt) {
  const SupervisorRef family = three(Strategy::one_for_one);
  const ChildSpec blocking = worker("d").placement(Placement::blocking());
  EXPECT_FALSE(loop.supervise({}, {worker("e"), blocking}));
  EXPECT_EQ(loop.supervise_error(), Errc::invalid_arg);
  EXPECT_FALSE(loop.supervise({}, {jzx::supervisor("inner", {}, {blocking})}));
  EXPECT_EQ(loop.supervise_error(), Errc::invalid_arg);
  const Result<Pid> added = family.add(blocking);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code(), Errc::invalid_arg);
  EXPECT_EQ(family.count().specs, 3u);
}

TEST_P(Supervise, OneForOneRestartsOnlyTheOneThatFailed) {
  const SupervisorRef family = three(Strategy::one_for_one);
  const Pid a = family.child(0);
  const Pid b = family.child(1);
  family.child_as<Worker>(1) << Fail{};
  loop.settle();
  EXPECT_EQ(log, (Log{"-b", "+b"}));
  EXPECT_EQ(family.child(0), a);
  EXPECT_NE(family.child(1), b) << "a restart gives a new id";
  ASSERT_EQ(loop.seen().restarts.size(), 1u);
  EXPECT_EQ(loop.seen().restarts[0].supervisor, family.pid().id());
  EXPECT_EQ(loop.seen().restarts[0].child, family.child(1).id());
  EXPECT_EQ(loop.seen().restarts[0].attempt, 1u);
}

TEST_P(Supervise, OneForAllRestartsAllOfThem) {
  const SupervisorRef family = three(Strategy::one_for_all);
  family.child_as<Worker>(1) << Fail{};
  loop.settle();
  EXPECT_EQ(log, (Log{"-b", "-c", "-a", "+a", "+b", "+c"}));
}

TEST_P(Supervise, RestForOneRestartsTheFailedAndThoseAfterIt) {
  const SupervisorRef family = three(Strategy::rest_for_one);
  const Pid a = family.child(0);
  family.child_as<Worker>(1) << Fail{};
  loop.settle();
  EXPECT_EQ(log, (Log{"-b", "-c", "+b", "+c"}));
  EXPECT_EQ(family.child(0), a);
}

TEST_P(Supervise, StopsTheChildrenInReverseOrderWhenItIsStopped) {
  const SupervisorRef family = three(Strategy::one_for_one);
  EXPECT_EQ(loop.stop(family), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(log, (Log{"-c", "-b", "-a"}));
}

TEST_P(Supervise, BringsChildrenBackAsTheirModesSay) {
  const SupervisorRef family = loop.supervise(
      {.intensity = 10}, {worker("permanent").permanent(), worker("transient").transient(),
                          worker("temporary").temporary()});
  loop.settle();
  log.clear();
  for (size_t i = 0; i < 3; ++i) family.child_as<Worker>(i) << Finish{};
  loop.settle();
  EXPECT_THAT(log, UnorderedElementsAre("-permanent", "-transient", "-temporary", "+permanent"));
  EXPECT_FALSE(family.child(1));
  EXPECT_FALSE(family.child(2));

  log.clear();
  const SupervisorRef other = loop.supervise(
      {.intensity = 10}, {worker("transient").transient(), worker("temporary").temporary()});
  loop.settle();
  log.clear();
  for (size_t i = 0; i < 2; ++i) other.child_as<Worker>(i) << Fail{};
  loop.settle();
  EXPECT_THAT(log, UnorderedElementsAre("-transient", "-temporary", "+transient"));
}

TEST_P(Supervise, KeepsASpecThatIsChangedStepByStep) {
  ChildSpec one = worker("one");
  one = std::move(one).temporary();
  one = std::move(one).mailbox_cap(6);
  one = std::move(one).backoff({.initial = 1ms});
  ChildSpec inner = jzx::supervisor("inner", {}, {worker("leaf")});
  inner = std::move(inner).transient();
  (void)loop.supervise({}, {one, inner});
  loop.settle();
  EXPECT_EQ(loop.seen().started(), (Log{"", "one", "inner", "leaf"}));
}

TEST_P(Supervise, MakesEveryChildFromFreshCopiesOfTheArguments) {
  struct Spender {
    explicit Spender(std::vector<int> the_coins) : coins(std::move(the_coins)) {}
    int on(Get) {
      const auto left = static_cast<int>(coins.size());
      coins.clear();
      return left;
    }
    void on(Fail, Context& context) { context.fail("broke"); }
    std::vector<int> coins;
  };
  const SupervisorRef family =
      loop.supervise({}, {jzx::child<Spender>("spender", std::vector<int>{1, 2, 3})});
  EXPECT_EQ(loop.run_until(family.child_as<Spender>(0).ask(Get{})).value(), 3);
  EXPECT_EQ(loop.run_until(family.child_as<Spender>(0).ask(Get{})).value(), 0);
  family.child_as<Spender>(0) << Fail{};
  loop.settle();
  EXPECT_EQ(loop.run_until(family.child_as<Spender>(0).ask(Get{})).value(), 3);
}

TEST_P(Supervise, GivesAChildTheMailboxItsSpecAsksFor) {
  const SupervisorRef family = loop.supervise({}, {worker("small").mailbox_cap(6)});
  loop.settle();
  const auto small = family.child_as<Worker>(0);
  EXPECT_EQ(small.send(Get{}), Errc::ok);
  EXPECT_EQ(small.send(Get{}), Errc::ok);
  EXPECT_EQ(small.send(Get{}), Errc::mailbox_full);
}

// ---- backoff ----

TEST_P(Supervise, WaitsLongerAfterEveryFailureUpToTheLimit) {
  const SupervisorRef family =
      loop.supervise({.intensity = 10, .period = 10'000ms},
                     {worker("w").backoff({.initial = 100ms, .max = 300ms, .factor = 2.0f})});
  loop.settle();
  for (const auto delay : {100ms, 200ms, 300ms, 300ms}) {
    family.child_as<Worker>(0) << Fail{};
    loop.settle();
    EXPECT_FALSE(family.child(0)) << "down while it waits";
    loop.advance(delay - 1ms);
    EXPECT_FALSE(family.child(0)) << "not before " << delay.count() << " ms";
    loop.advance(1ms);
    EXPECT_TRUE(family.child(0));
  }
}

TEST_P(Supervise, RefusesABackoffThatMakesNoSense) {
  EXPECT_FALSE(loop.supervise({}, {worker("w").backoff({.initial = 1ms, .factor = -1.0f})}));
  EXPECT_EQ(loop.supervise_error(), Errc::invalid_arg);
  EXPECT_FALSE(loop.supervise({.period = 0ms}, {worker("w")}));
  EXPECT_EQ(loop.supervise_error(), Errc::invalid_arg);
  EXPECT_EQ(loop.seen().alive_count(), 0u);
}

// ---- escalation ----

TEST_P(Supervise, EndsWhenThereAreTooManyRestartsAndTheObserverIsToldOnce) {
  const SupervisorRef family =
      loop.supervise({.intensity = 2, .period = 1000ms}, {worker("a"), worker("b")});
  loop.settle();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(loop.seen().escalations.empty());
    family.child_as<Worker>(0) << Fail{};
    loop.settle();
  }
  EXPECT_EQ(loop.seen().escalations, std::vector<ActorId>{family.pid().id()});
  EXPECT_EQ(loop.seen().stop_of(family.pid().id()).reason, ExitReason::fail);
  EXPECT_EQ(loop.seen().stop_of(family.pid().id()).text, "a child failed too often");
  EXPECT_EQ(loop.seen().alive_count(), 0u);
  EXPECT_EQ(loop.run(), Errc::ok) << "nobody is left";
}

TEST_P(Supervise, CountsOnlyTheRestartsOfThePeriod) {
  const SupervisorRef family = loop.supervise({.intensity = 1, .period = 100ms}, {worker("a")});
  loop.settle();
  for (int i = 0; i < 5; ++i) {
    family.child_as<Worker>(0) << Fail{};
    loop.advance(100ms);
  }
  EXPECT_TRUE(loop.seen().escalations.empty());
  EXPECT_EQ(loop.seen().restarts.size(), 5u);
  EXPECT_EQ(loop.seen().restarts.back().attempt, 5u);
}

// ---- nested ----

TEST_P(Supervise, NestedSupervisorsAreRestartedByTheirOwn) {
  const SupervisorRef root = loop.supervise(
      {.intensity = 5, .period = 1000ms},
      {worker("logger"),
       jzx::supervisor("inner", {.intensity = 1, .period = 1000ms}, {worker("leaf")})});
  loop.settle();
  const SupervisorRef inner(root.child(1));
  inner.child_as<Worker>(0) << Fail{};
  loop.settle();
  EXPECT_EQ(root.child(1), inner.pid()) << "one failure is the inner one's business";
  inner.child_as<Worker>(0) << Fail{};
  loop.settle();
  EXPECT_EQ(loop.seen().escalations, std::vector<ActorId>{inner.pid().id()});
  const SupervisorRef again(root.child(1));
  ASSERT_TRUE(again);
  EXPECT_NE(again.pid(), inner.pid());
  EXPECT_EQ(loop.run_until(again.child_as<Worker>(0).ask(Get{})).value(), "leaf");
  EXPECT_EQ(log, (Log{"+logger", "+leaf", "-leaf", "+leaf", "-leaf", "+leaf"}));
}

TEST_P(Supervise, UnderAParentIsStoppedWithIt) {
  struct Parent {};
  const auto parent = loop.spawn<Parent>();
  const SupervisorRef family = loop.supervise({}, {worker("w")}, parent);
  ASSERT_TRUE(family);
  EXPECT_EQ(loop.stop(parent), Errc::ok);
  loop.settle();
  EXPECT_EQ(loop.seen().alive_count(), 0u);
}

// Starts a family of its own when it is told to.
struct Founder {
  explicit Founder(SupervisorRef& the_family) : family(the_family) {}
  void on(std::string name, Context& context) {
    family = context.supervise({}, {jzx::child<Leaf>(name)}, context.self());
    EXPECT_EQ(context.supervise_error(), Errc::ok);
  }
  SupervisorRef& family;
};

TEST_P(Supervise, WorksFromInsideAHandlerAndEndsWithItsParent) {
  SupervisorRef family;
  const auto founder = loop.spawn<Founder>(family);
  founder << std::string("leaf");
  loop.settle();
  ASSERT_TRUE(family);
  EXPECT_TRUE(family.child(0));
  EXPECT_EQ(loop.stop(founder), Errc::ok);
  loop.settle();
  EXPECT_EQ(loop.seen().alive_count(), 0u);
}

TEST_P(Supervise, NestsAtMost64Deep) {
  const auto tree = [&](int depth) {
    std::vector<ChildSpec> children{worker("leaf")};
    for (; depth > 1; --depth) {
      std::vector<ChildSpec> level;
      level.push_back(jzx::supervisor("inner", {}, std::move(children)));
      children = std::move(level);
    }
    return children;
  };
  EXPECT_FALSE(loop.supervise({}, tree(65)));
  EXPECT_EQ(loop.supervise_error(), Errc::invalid_arg);
  loop.settle();
  EXPECT_EQ(loop.seen().alive_count(), 0u);
  const SupervisorRef family = loop.supervise({}, tree(64));
  ASSERT_TRUE(family);
  loop.settle();
  EXPECT_EQ(loop.seen().alive_count(), 65u);
  // The same for one that is added.
  EXPECT_EQ(family.add(tree(66).front()).error().code(), Errc::invalid_arg);
  EXPECT_TRUE(family.add(tree(65).front()).ok());
}

TEST_P(Supervise, RefusesANameWithAZeroByte) {
  const std::string name("a\0b", 3);
  EXPECT_FALSE(loop.supervise({}, {worker(name)}));
  EXPECT_EQ(loop.supervise_error(), Errc::invalid_arg);
}

TEST_P(Supervise, WithoutRoomForAllChildrenLeavesNothingBehind) {
  LoopOptions options;
  options.max_actors = 3;
  ClockedLoop tight(Time::manual, options);
  EXPECT_FALSE(tight.supervise({}, {worker("a"), worker("b"), worker("c")}));
  EXPECT_EQ(tight.supervise_error(), Errc::max_actors);
  tight.settle();
  EXPECT_EQ(tight.seen().alive_count(), 0u);
  EXPECT_THAT(log, Each(StartsWith("+"))) << "who never started is not stopped";
}

TEST_P(Supervise, CalledOffGivesTheSlotsBackAlsoWhenNobodyElseIsThere) {
  LoopOptions options;
  options.max_actors = 3;
  ClockedLoop tight(Time::manual, options);
  EXPECT_FALSE(tight.supervise({}, {worker("a"), worker("b"), worker("c")}));
  tight.settle();
  EXPECT_TRUE(tight.supervise({}, {worker("a"), worker("b")}));
}

TEST_P(Supervise, WithoutMemoryLeavesNothingBehind) {
  const int64_t before = loop.allocator().live_blocks();
  int refusals = 0;
  for (uint64_t nth = 1;; ++nth) {
    loop.allocator().refuse_nth(nth);
    const SupervisorRef family = loop.supervise(
        {}, {worker("a").backoff({.initial = 1ms}), jzx::supervisor("s", {}, {worker("b")})});
    loop.allocator().refuse_nth(0);
    if (family) break;
    ++refusals;
    EXPECT_EQ(loop.supervise_error(), Errc::no_memory);
    loop.settle();
    EXPECT_EQ(loop.seen().alive_count(), 0u);
  }
  EXPECT_GE(refusals, 10) << "of " << before << " blocks before";
}

}  // namespace
}  // namespace jzx::testing
