// child_async(): tasks under a supervisor.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include <jzx/jzx.hpp>

#include "cpp/clocked_loop.hpp"

namespace jzx {
namespace {

using testing::ClockedLoop;
using namespace std::chrono_literals;

// What a supervised task did.
struct Lives {
  int started = 0;
  int cancelled = 0;
};

Task<void> wait_for_ever(Lives& lives) {
  ++lives.started;
  auto waiting = jzx::sleep(24h);
  const Result<void> result = co_await waiting;
  if (!result && result.error().code() == Errc::cancelled) ++lives.cancelled;
}

Task<void> fail_after(Lives& lives, std::chrono::milliseconds time) {
  ++lives.started;
  auto waiting = jzx::sleep(time);
  Result<void> waited = co_await waiting;
  co_await waited;
  co_await fail(Errc::too_long, "on purpose");
}

struct EndOfAChild {
  std::vector<Down>* downs;
  void on(const Down& down) { downs->push_back(down); }
};

JZX_SUITE_ON_ALL_DRIVERS(ChildAsync);

TEST_P(ChildAsync, FailsWithTheErrorOfTheTaskAndIsStartedAgain) {
  ClockedLoop loop;
  Lives lives;
  std::vector<Down> downs;
  const auto watcher = loop.spawn<EndOfAChild>(&downs);
  const SupervisorRef family =
      loop.supervise({}, {child_async("fails", [&lives] { return fail_after(lives, 10ms); })});
  loop.settle();
  const Pid before = family.child(0);
  ASSERT_EQ(loop.monitor(watcher, before), Errc::ok);
  EXPECT_EQ(lives.started, 1);
  loop.advance(10ms);
  EXPECT_EQ(lives.started, 2);
  EXPECT_NE(family.child(0), before);
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0].reason, ExitReason::fail);
  EXPECT_STREQ(downs[0].text.c_str(), "on purpose");
}

TEST_P(ChildAsync, EndsNormallyWhenTheTaskEndsWell) {
  ClockedLoop loop;
  int started = 0;
  const SupervisorRef family = loop.supervise({}, {child_async("once", [&started]() -> Task<void> {
                                                     ++started;
                                                     co_return;
                                                   }).transient()});
  loop.settle();
  EXPECT_EQ(started, 1);
  EXPECT_FALSE(family.child(0));
  EXPECT_EQ(family.count().active, 0u);
}

TEST_P(ChildAsync, IsAskedToStopWhenItsSupervisorEnds) {
  ClockedLoop loop;
  Lives lives;
  const SupervisorRef family =
      loop.supervise({}, {child_async("waits", [&lives] { return wait_for_ever(lives); })});
  loop.settle();
  EXPECT_EQ(lives.cancelled, 0);
  ASSERT_EQ(loop.stop(family), Errc::ok);
  loop.settle();
  EXPECT_EQ(lives.started, 1);
  EXPECT_EQ(lives.cancelled, 1);
}

TEST_P(ChildAsync, ThatIsStoppedHasNotFailed) {
  ClockedLoop loop;
  Lives lives;
  const SupervisorRef family = loop.supervise(
      {}, {child_async("waits", [&lives] { return wait_for_ever(lives); }).transient()});
  loop.settle();
  ASSERT_EQ(loop.stop(family.child(0)), Errc::ok);
  loop.settle();
  EXPECT_EQ(lives.cancelled, 1);
  EXPECT_EQ(lives.started, 1) << "a transient child does not come back after a normal end";
}

TEST_P(ChildAsync, IsAddedAndRemovedAtRunTime) {
  ClockedLoop loop;
  Lives lives;
  const SupervisorRef family = loop.supervise({}, {});
  const Result<Pid> child =
      family.add(child_async("added", [&lives] { return wait_for_ever(lives); }).temporary());
  ASSERT_TRUE(child.ok());
  loop.settle();
  EXPECT_EQ(family.count().active, 1u);
  ASSERT_EQ(family.remove(*child), Errc::ok);
  loop.settle();
  EXPECT_EQ(lives.cancelled, 1);
  EXPECT_EQ(family.count().specs, 0u);
}

TEST_P(ChildAsync, EveryStartHasItsOwnCopyOfWhatIsCaptured) {
  ClockedLoop loop;
  std::vector<int> seen;
  int count = 0;
  auto shared = std::make_shared<int>(0);
  const std::weak_ptr<int> alive = shared;
  {
    const SupervisorRef family = loop.supervise(
        {.intensity = 10},
        {child_async("counts", [&seen, count, held = std::move(shared)]() mutable -> Task<void> {
          seen.push_back(++count);
          auto waiting = jzx::sleep(1ms);
          Result<void> waited = co_await waiting;
          co_await waited;
          seen.push_back(++count);  // the captures are still there
          co_await fail(Errc::unknown);
        })});
    loop.advance(1ms);
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 1}));
    ASSERT_EQ(loop.stop(family), Errc::ok);
    loop.settle();
  }
  EXPECT_TRUE(alive.expired()) << "the copies went with their starts";
}

TEST_P(ChildAsync, ThatCannotBeginIsAStartThatFailed) {
  ClockedLoop loop;
  EXPECT_FALSE(loop.supervise({}, {child_async("empty", [] { return Task<void>(); })}));
  EXPECT_EQ(loop.supervise_error(), Errc::invalid_arg);
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(ChildAsync, AFunctionThatThrowsIsAStartThatFailed) {
  ClockedLoop loop;
  EXPECT_FALSE(loop.supervise(
      {}, {child_async("throws", []() -> Task<void> { throw std::runtime_error("no task"); })}));
  EXPECT_EQ(loop.supervise_error(), Errc::start_failed);
}

TEST_P(ChildAsync, PanicsWhenTheTaskThrows) {
  ClockedLoop loop;
  std::vector<Down> downs;
  const auto watcher = loop.spawn<EndOfAChild>(&downs);
  const SupervisorRef family = loop.supervise({}, {child_async("throws", []() -> Task<void> {
                                                     auto waiting = jzx::sleep(1ms);
                                                     const Result<void> waited = co_await waiting;
                                                     if (waited.ok())
                                                       throw std::runtime_error("thrown");
                                                   }).temporary()});
  loop.settle();
  ASSERT_EQ(loop.monitor(watcher, family.child(0)), Errc::ok);
  loop.advance(1ms);
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0].reason, ExitReason::panic);
  EXPECT_STREQ(downs[0].text.c_str(), "thrown");
}
#endif

}  // namespace
}  // namespace jzx
