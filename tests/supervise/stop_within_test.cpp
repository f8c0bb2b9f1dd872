// A child that is asked to stop has so much time. Then it is killed, with all below it, and whoever
// waits for its end goes on.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cpp/clocked_loop.hpp"

// What a body that was given up holds is left for good. Where the address sanitizer keeps the
// locals elsewhere (detect_stack_use_after_return), its leak check does not find them from the
// stack.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: its name is the sanitizer's
const char* __lsan_default_suppressions() { return "leak:wait_deaf\nleak:await_deaf\n"; }

namespace jzx {
namespace {

using testing::ClockedLoop;
using testing::Time;
using namespace std::chrono_literals;

constexpr SupervisorOptions kAllTogether{.strategy = Strategy::one_for_all, .intensity = 100};
constexpr auto kLimit = 100ms;

struct Never {};
struct Plain {
  void on(Never) {}
};

// Swallows every request to end, and waits again.
void wait_deaf() {
  for (;;) {
    try {
      (void)receive([](Never) {});
    } catch (...) {  // NOLINT: this is what it must not do
    }
  }
}

// The same in waits that have a limit of their own.
void wait_deaf_for_an_hour() {
  for (;;) {
    auto [future, nobodys] = promise<void>();
    try {
      (void)future.get_for(1h);
      (void)receive_for(1h, [](Never) {});
      sleep_for(1h);
    } catch (...) {  // NOLINT: as above
    }
  }
}

Task<void> await_deaf() {
  for (;;) {
    auto [future, nobodys] = promise<void>();
    (void)co_await future;
  }
}

// What holds up the end of a child, in its first life only.
struct DeafKind {
  const char* name;
  ChildSpec (*make)(int& lives);
};

struct Parent {
  int& lives;
  void on_start(Context& context) {
    if (lives++ > 0) return;
    SpawnOptions options;
    options.supervisor = context.self();
    EXPECT_TRUE(context.spawn_fn_with(options, &wait_deaf));
  }
  void on(Never) {}
};

const DeafKind kFiber{"Fiber", [](int& lives) {
                        return child_fn("child", [&lives] {
                          if (lives++ == 0) wait_deaf();
                          (void)receive([](Never) {});
                        });
                      }};
const DeafKind kCoroutine{"Coroutine", [](int& lives) {
                            return child_async("child", [&lives]() -> Task<void> {
                              if (lives++ == 0) return await_deaf();
                              return [](std::chrono::hours time) -> Task<void> {
                                auto nap = sleep(time);
                                co_await co_await nap;
                              }(1h);
                            });
                          }};
// A chain that its fiber waits for.
const DeafKind kFiberThatAwaits{"FiberThatAwaits", [](int& lives) {
                                  return child_fn("child", [&lives] {
                                    if (lives++ == 0) (void)await_deaf().get();
                                    (void)receive([](Never) {});
                                  });
                                }};
const DeafKind kFiberWithLimits{"FiberThatWaitsForAnHour", [](int& lives) {
                                  return child_fn("child", [&lives] {
                                    if (lives++ == 0) wait_deaf_for_an_hour();
                                    (void)receive([](Never) {});
                                  });
                                }};
const DeafKind kFiberThatAwaitsFor{"FiberThatAwaitsForAnHour", [](int& lives) {
                                     return child_fn("child", [&lives] {
                                       if (lives++ == 0) (void)await_deaf().get_for(1h);
                                       (void)receive([](Never) {});
                                     });
                                   }};
// One of the tasks of a scope.
const DeafKind kScope{"Scope", [](int& lives) {
                        return child_async("child", [&lives]() -> Task<void> {
                          if (lives++ == 0) {
                            return scope([](Scope& all) -> Task<void> {
                              all.spawn(await_deaf());
                              auto nap = sleep(1h);
                              co_await co_await nap;
                            });
                          }
                          return [](std::chrono::hours time) -> Task<void> {
                            auto nap = sleep(time);
                            co_await co_await nap;
                          }(1h);
                        });
                      }};
// A handler that is a coroutine.
struct Begin {};
struct Handler {
  int& lives;
  void on_start(Context& context) {
    if (lives++ > 0) return;
    EXPECT_EQ(ActorRef<Handler>(context.self()).send(Begin{}), Errc::ok);
  }
  Task<void> on(Begin) { return await_deaf(); }
};
const DeafKind kHandler{"Handler",
                        [](int& lives) { return child<Handler>("child", std::ref(lives)); }};

const DeafKind kParent{"ParentOfAFiber",
                       [](int& lives) { return child<Parent>("child", std::ref(lives)); }};
// The limit is that of the supervisor; its child has none.
const DeafKind kSupervisor{"SupervisorOfAFiber", [](int& lives) {
                             return supervisor("child", {}, {child_fn("leaf", [&lives] {
                                                               if (lives++ == 0) wait_deaf();
                                                               (void)receive([](Never) {});
                                                             }).stop_within(kNoStopLimit)});
                           }};

class StopWithin : public ::testing::TestWithParam<std::tuple<std::string, const DeafKind*>> {
 protected:
  [[nodiscard]] ChildSpec deaf() { return std::get<1>(GetParam())->make(lives); }
  // Its first life has begun.
  Pid begin(ClockedLoop& loop, const SupervisorRef& family) {
    loop.settle();
    EXPECT_EQ(lives, 1);
    return family.child(0);
  }

  int lives = 0;

 private:
  testing::ChosenDriver driver_{std::get<0>(GetParam())};
};

TEST_P(StopWithin, ADeafChildOfAGroupIsKilledWhenItsTimeIsUpAndTheGroupStartsAgain) {
  ClockedLoop loop;
  const SupervisorRef family =
      loop.supervise(kAllTogether, {deaf().stop_within(kLimit), child<Plain>("other")});
  const Pid first = begin(loop, family);
  ASSERT_EQ(loop.kill(family.child(1)), Errc::ok);
  loop.advance(kLimit - 1ms);
  EXPECT_TRUE(loop.seen().is_alive(first.id())) << "it still has time";
  EXPECT_FALSE(family.child(1)) << "the group waits for it";
  loop.advance(2ms);
  EXPECT_EQ(loop.seen().stop_of(first.id()).reason, ExitReason::killed);
  EXPECT_NE(loop.seen().stop_of(first.id()).text.find("100 ms"), std::string::npos)
      << loop.seen().stop_of(first.id()).text;
  EXPECT_TRUE(family.child(0));
  EXPECT_TRUE(family.child(1));
  EXPECT_EQ(lives, 2);
}

TEST_P(StopWithin, ADeafChildThatIsRemovedIsKilledWhenItsTimeIsUp) {
  ClockedLoop loop;
  const SupervisorRef family = loop.supervise(kAllTogether, {deaf().stop_within(kLimit)});
  const Pid first = begin(loop, family);
  ASSERT_EQ(family.remove(first), Errc::ok);
  loop.advance(kLimit - 1ms);
  EXPECT_TRUE(loop.seen().is_alive(first.id()));
  loop.advance(2ms);
  EXPECT_EQ(loop.seen().stop_of(first.id()).reason, ExitReason::killed);
}

TEST_P(StopWithin, ASupervisorThatEndsDoesNotWaitLongerForADeafChild) {
  ClockedLoop loop;
  const SupervisorRef family = loop.supervise(kAllTogether, {deaf().stop_within(kLimit)});
  const Pid first = begin(loop, family);
  ASSERT_EQ(loop.stop(family), Errc::ok);
  loop.advance(kLimit - 1ms);
  EXPECT_TRUE(loop.seen().is_alive(family.pid().id()));
  loop.advance(2ms);
  EXPECT_EQ(loop.seen().stop_of(first.id()).reason, ExitReason::killed);
  EXPECT_EQ(loop.seen().stop_of(family.pid().id()).reason, ExitReason::normal);
}

TEST_P(StopWithin, ADeafChildThatRestsUntilItsTimeIsUpDoesNotHoldUpTheEndOfItsSystem) {
  ClockedLoop loop;
  const SupervisorRef family = loop.supervise(kAllTogether, {deaf().stop_within(kLimit)});
  const Pid first = begin(loop, family);
  ASSERT_EQ(loop.stop(family), Errc::ok);
  loop.settle();
  EXPECT_TRUE(loop.seen().is_alive(first.id()));
}

TEST_P(StopWithin, TheKillNeedsNoMemory) {
  ClockedLoop loop;
  const SupervisorRef family = loop.supervise(kAllTogether, {deaf().stop_within(kLimit)});
  const Pid first = begin(loop, family);
  loop.allocator().refuse_all(true);
  ASSERT_EQ(loop.stop(family), Errc::ok);
  loop.advance(kLimit + 1ms);
  loop.allocator().refuse_all(false);
  EXPECT_EQ(loop.seen().stop_of(first.id()).reason, ExitReason::killed);
}

INSTANTIATE_TEST_SUITE_P(All, StopWithin,
                         ::testing::Combine(::testing::ValuesIn(testing::all_drivers()),
                                            ::testing::Values(&kFiber, &kCoroutine,
                                                              &kFiberThatAwaits, &kFiberWithLimits,
                                                              &kFiberThatAwaitsFor, &kScope,
                                                              &kHandler, &kParent, &kSupervisor)),
                         [](const auto& one) {
                           return std::string(std::get<1>(one.param)->name) + "_on_" +
                                  std::get<0>(one.param);
                         });

JZX_SUITE_ON_ALL_DRIVERS(StopWithinLimits);

TEST_P(StopWithinLimits, AChildHasFiveSecondsIfNothingElseIsSaid) {
  ClockedLoop loop;
  const SupervisorRef family = loop.supervise(kAllTogether, {child_fn("deaf", &wait_deaf)});
  loop.settle();
  const Pid first = family.child(0);
  ASSERT_EQ(loop.stop(family), Errc::ok);
  loop.advance(4999ms);
  EXPECT_TRUE(loop.seen().is_alive(first.id()));
  loop.advance(2ms);
  EXPECT_EQ(loop.seen().stop_of(first.id()).reason, ExitReason::killed);
}

TEST_P(StopWithinLimits, ZeroIsAKillAtOnce) {
  ClockedLoop loop;
  const SupervisorRef family =
      loop.supervise(kAllTogether, {child_fn("deaf", &wait_deaf).stop_within(0ms)});
  loop.settle();
  const Pid first = family.child(0);
  ASSERT_EQ(loop.stop(family), Errc::ok);
  loop.advance(1ms);
  EXPECT_EQ(loop.seen().stop_of(first.id()).reason, ExitReason::killed);
  EXPECT_FALSE(loop.seen().is_alive(family.pid().id()));
}

TEST_P(StopWithinLimits, ANestedSupervisorHasNoneUnlessItIsGivenOne) {
  ClockedLoop loop;
  const SupervisorRef family = loop.supervise(
      kAllTogether, {supervisor("inner", {}, {child_fn("deaf", &wait_deaf).stop_within(10s)})});
  loop.settle();
  const Pid inner = family.child(0);
  const Pid leaf = SupervisorRef(inner).child(0);
  ASSERT_EQ(loop.stop(family), Errc::ok);
  loop.advance(9999ms);
  EXPECT_TRUE(loop.seen().is_alive(leaf.id())) << "its own limit counts";
  loop.advance(2ms);
  EXPECT_EQ(loop.seen().stop_of(leaf.id()).reason, ExitReason::killed);
  EXPECT_EQ(loop.seen().stop_of(inner.id()).reason, ExitReason::normal);
}

TEST_P(StopWithinLimits, WithoutOneAChildIsWaitedForAsLongAsItTakes) {
  ClockedLoop loop;
  const SupervisorRef family = loop.supervise(
      kAllTogether,
      {child<Plain>("by hand").placement(Placement::by_hand()).stop_within(kNoStopLimit)});
  loop.settle();
  const Pid child = family.child(0);
  ASSERT_EQ(loop.stop(family), Errc::ok);
  loop.advance(24h);
  EXPECT_TRUE(loop.seen().is_alive(child.id()));
}

TEST_P(StopWithinLimits, AChildThatStopsInTimeIsNotKilledAndLeavesNoTimer) {
  ClockedLoop loop(Time::jumping);
  const SupervisorRef family = loop.supervise(
      kAllTogether,
      {child<Plain>("handlers"), child_fn("fiber", [] { (void)receive([](Never) {}); })});
  loop.settle();
  const Pid first = family.child(0);
  const Pid second = family.child(1);
  const uint64_t before_ms = loop.now_ms();
  ASSERT_EQ(loop.stop(family), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(loop.now_ms(), before_ms);
  EXPECT_EQ(loop.seen().stop_of(first.id()).reason, ExitReason::normal);
  EXPECT_EQ(loop.seen().stop_of(second.id()).reason, ExitReason::normal);
}

// It is asked once; the time does not begin anew when its supervisor ends meanwhile.
TEST_P(StopWithinLimits, TheTimeBeginsWhenTheChildIsAskedFirst) {
  ClockedLoop loop;
  const SupervisorRef family = loop.supervise(
      kAllTogether, {child_fn("deaf", &wait_deaf).stop_within(kLimit), child<Plain>("other")});
  loop.settle();
  const Pid first = family.child(0);
  ASSERT_EQ(loop.kill(family.child(1)), Errc::ok);
  loop.advance(60ms);
  ASSERT_EQ(loop.stop(family), Errc::ok);
  loop.advance(41ms);
  EXPECT_EQ(loop.seen().stop_of(first.id()).reason, ExitReason::killed);
  EXPECT_FALSE(loop.seen().is_alive(family.pid().id()));
}

// Its supervisor hears of its end when it has ended, with its children.
TEST_P(StopWithinLimits, AnActorThatFailsIsHeldUpByADeafChildForFiveSecondsAtMost) {
  ClockedLoop loop;
  int lives = 0;
  const SupervisorRef family = loop.supervise({}, {child<Parent>("parent", std::ref(lives))});
  loop.settle();
  const Pid first = family.child(0);
  ASSERT_EQ(loop.kill(first), Errc::ok);
  loop.advance(4999ms);
  EXPECT_TRUE(loop.seen().is_alive(first.id()));
  loop.advance(2ms);
  EXPECT_FALSE(loop.seen().is_alive(first.id()));
  EXPECT_TRUE(family.child(0));
}

// The one that failed ends by itself, but waits for a child of its own.
TEST_P(StopWithinLimits, AGroupWaitsNoLongerForAMemberThatEndsByItself) {
  ClockedLoop loop;
  int lives = 0;
  const SupervisorRef family = loop.supervise(
      kAllTogether,
      {child<Parent>("parent", std::ref(lives)).stop_within(kLimit), child<Plain>("other")});
  loop.settle();
  const Pid parent = family.child(0);
  ASSERT_EQ(loop.kill(parent), Errc::ok);
  ASSERT_EQ(loop.kill(family.child(1)), Errc::ok);
  loop.advance(kLimit + 1ms);
  EXPECT_FALSE(loop.seen().is_alive(parent.id()));
  EXPECT_TRUE(family.child(0));
  EXPECT_TRUE(family.child(1));
}

}  // namespace
}  // namespace jzx
