// Time limits for whoever has no system of its own: a thread, and a loop without actors.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

Task<int> wait_for(Future<int> future) {
  Result<int> result = co_await future;
  co_return co_await result;
}
Task<int> number(int value) { co_return value; }
// Gives a value all the same when it is asked to stop.
Task<int> stubborn(Future<int> future) {
  Result<int> result = co_await future;
  co_return result ? *result : -1;
}

// ---- a loop without actors ----

TEST(RunUntil, SleepsInALoopWithoutActors) {
  ClockedLoop loop(Time::jumping);
  EXPECT_TRUE(loop.run_until(loop.sleep(1h)).ok());
  EXPECT_GE(loop.now_ms(), 3'600'000u);
  EXPECT_TRUE(loop.run_until(loop.sleep(0ms)).ok());
}

TEST(RunUntil, EndsATimeLimitInALoopWithoutActors) {
  ClockedLoop loop(Time::jumping);
  auto [future, promise] = jzx::promise<int>();
  EXPECT_EQ(loop.run_until(with_timeout(loop.sleep(1h), std::move(future))).error().code(),
            Errc::timed_out);
}

TEST(RunUntil, SaysThatNothingCanComeWhenTheTimersAreThrough) {
  ClockedLoop loop(Time::jumping);
  auto [future, promise] = jzx::promise<int>();
  int rings = 0;
  loop.sleep(1s).then([&](Result<void>) { ++rings; });
  const Result<int> result = loop.run_until(std::move(future));
  EXPECT_EQ(result.error().code(), Errc::loop_closed);
  EXPECT_STREQ(result.error().source(), "run_until");
  EXPECT_EQ(rings, 1);
}

TEST(RunUntil, IsStoppedAlsoWhileItSleeps) {
  ClockedLoop loop(Time::jumping);
  loop.sleep(1s).then([&](Result<void>) { loop.request_stop(); });
  EXPECT_EQ(loop.run_until(loop.sleep(1h)).error().code(), Errc::loop_closed);
  EXPECT_LT(loop.now_ms(), 3'600'000u);
}

// ---- tasks on a thread ----

TEST(TaskGetFor, OnAThreadStopsTheTaskWhenTheTimeIsUp) {
  auto [never, promise] = jzx::promise<int>();
  EXPECT_EQ(wait_for(std::move(never)).get_for(1ms).error().code(), Errc::timed_out);
}

TEST(TaskGetFor, OnAThreadGivesWhatCameInTime) {
  EXPECT_EQ(number(4).get_for(0ms).value(), 4);
  auto [future, promise] = jzx::promise<int>();
  std::thread other([p = std::move(promise)]() mutable { p.resolve(5); });
  EXPECT_EQ(wait_for(std::move(future)).get_for(std::chrono::milliseconds::max()).value(), 5);
  other.join();
  EXPECT_EQ(Task<int>().get_for(1h).error().code(), Errc::invalid_arg);
}

TEST(TaskGetFor, GivesTheValueOfATaskThatEndsWellWhenItIsAskedToStop) {
  auto [never, promise] = jzx::promise<int>();
  EXPECT_EQ(stubborn(std::move(never)).get_for(1ms).value(), -1);
}

TEST(TaskGetFor, WaitsForTheEndOfATaskThatIsSlowToStop) {
  Runtime runtime(RuntimeOptions{.workers = 1});
  bool has_ended = false;
  const auto slow = [&]() -> Task<void> {
    auto first = runtime.sleep(1h);
    (void)co_await first;
    auto blocking = runtime.spawn_blocking([] { return 1; });
    (void)blocking.get();  // what a destructor might do
    has_ended = true;
  };
  EXPECT_EQ(slow().get_for(1ms).error().code(), Errc::ok);
  EXPECT_TRUE(has_ended);
}

JZX_SUITE_ON_ALL_DRIVERS(TaskGetForInAFiber);

TEST_P(TaskGetForInAFiber, StopsTheTaskWhenTheTimeIsUp) {
  ClockedLoop loop;
  auto [never, promise] = jzx::promise<int>();
  std::optional<Result<int>> seen;
  loop.spawn_fn([&, future = std::move(never)]() mutable {
    seen.emplace(wait_for(std::move(future)).get_for(10ms));
  });
  loop.advance(9ms);
  EXPECT_FALSE(seen.has_value());
  loop.advance(1ms);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->error().code(), Errc::timed_out);
}

TEST_P(TaskGetForInAFiber, GivesWhatCameInTimeAndIsKilledAsUsual) {
  ClockedLoop loop;
  auto [future, promise] = jzx::promise<int>();
  auto [never, kept] = jzx::promise<int>();
  std::optional<Result<int>> seen;
  const Pid fiber = loop.spawn_fn([&, a = std::move(future), b = std::move(never)]() mutable {
    seen.emplace(wait_for(std::move(a)).get_for(10ms));
    seen.emplace(wait_for(std::move(b)).get_for(1h));
  });
  loop.settle();
  promise.resolve(3);
  loop.settle();
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->value(), 3);
  seen.reset();
  EXPECT_EQ(loop.stop(fiber), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);  // it ends at once
#ifndef JZX_LIBRARY_NOEXCEPT
  EXPECT_FALSE(seen.has_value()) << "it was unwound";
#endif
}

TEST(TimeLimitOfATask, ByATimerThatIsGiven) {
  Runtime runtime(RuntimeOptions{.workers = 1});
  auto [never, promise] = jzx::promise<int>();
  EXPECT_EQ(with_timeout(runtime.sleep(1ms), wait_for(std::move(never))).get().error().code(),
            Errc::timed_out);
  EXPECT_EQ(with_timeout(runtime.sleep(1h), number(7)).get().value(), 7);
  // Why there is no timer.
  auto [other, second] = jzx::promise<int>();
  EXPECT_EQ(with_timeout(Future<void>(), wait_for(std::move(other))).get().error().code(),
            Errc::invalid_arg);
}

}  // namespace
}  // namespace jzx::testing
