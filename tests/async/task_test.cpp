// Task: coroutines that await one another, futures and results.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx {
namespace {

using testing::ClockedLoop;

using namespace std::chrono_literals;

Task<int> number(int value) { co_return value; }
Task<void> nothing() { co_return; }
Task<int> fails(Errc code) { co_return Error(code, "on purpose"); }

Task<int> sum(int a, int b) {
  auto first = number(a);
  auto second = number(b);
  const int x = co_await co_await first;
  const int y = co_await co_await second;
  co_return x + y;
}

TEST(Task, GivesWhatItReturns) {
  Result<int> result = sum(2, 3).get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, 5);
  EXPECT_TRUE(nothing().get().ok());
}

TEST(Task, IsLazy) {
  bool has_run = false;
  const auto note = [](bool& flag) -> Task<void> {
    flag = true;
    co_return;
  };
  {
    auto task = note(has_run);
    EXPECT_FALSE(has_run);
  }
  EXPECT_FALSE(has_run);
  EXPECT_TRUE(note(has_run).get().ok());
  EXPECT_TRUE(has_run);
}

TEST(Task, GivesTheErrorThatItReturns) {
  const Result<int> result = fails(Errc::timed_out).get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::timed_out);
  EXPECT_STREQ(result.error().message(), "on purpose");
}

TEST(Task, ThatAwaitsAResultEndsWithItsError) {
  int reached = 0;
  const auto outer = [](int& count) -> Task<int> {
    auto inner = fails(Errc::closed);
    auto guard = std::make_unique<int>(1);
    Result<int> result = co_await inner;
    ++count;
    const int value = co_await result;
    ++count;
    co_return value + *guard;
  };
  const Result<int> result = outer(reached).get();
  EXPECT_EQ(result.error().code(), Errc::closed);
  EXPECT_EQ(reached, 1);
}

TEST(Task, OfNothingFailsBySayingSo) {
  const auto task = []() -> Task<void> { co_await fail(Errc::too_long, "much too long"); };
  const Result<void> result = task().get();
  EXPECT_EQ(result.error().code(), Errc::too_long);
}

TEST(Task, MayHoldWhatCanOnlyBeMoved) {
  const auto task = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
  Result<std::unique_ptr<int>> result = task().get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(**result, 7);
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST(Task, CarriesWhatItThrows) {
  const auto task = []() -> Task<int> {
    throw std::out_of_range("too far");
    co_return 1;
  };
  Result<int> result = task().get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::exception);
  EXPECT_STREQ(result.error().message(), "too far");
  EXPECT_THROW((void)std::move(result).or_throw(), std::out_of_range);
}
#endif

TEST(Task, AwaitsAFutureOfAnotherThread) {
  auto [future, promise] = jzx::promise<int>();
  const auto task = [](Future<int> given) -> Task<int> {
    Result<int> result = co_await given;
    co_return co_await result + 1;
  };
  std::thread other([p = std::move(promise)]() mutable { p.resolve(41); });
  EXPECT_EQ(*task(std::move(future)).get(), 42);
  other.join();
}

TEST(Task, RunsOnce) {
  auto task = number(1);
  EXPECT_EQ(*task.get(), 1);
  EXPECT_EQ(task.get().error().code(), Errc::invalid_arg);
}

// ---- no stack ----

Task<int> deep(int depth) {
  if (depth == 0) co_return 0;
  auto next = deep(depth - 1);
  Result<int> below = co_await next;
  co_return co_await below + 1;
}
TEST(Task, NeedsNoStackForAChainOfAMillion) { EXPECT_EQ(*deep(1'000'000).get(), 1'000'000); }

TEST(Task, NeedsNoStackForALoopOfAMillion) {
  const auto loop = []() -> Task<int> {
    int total = 0;
    for (int i = 0; i < 1'000'000; ++i) {
      auto one = number(1);
      Result<int> result = co_await one;
      total += *result;
    }
    co_return total;
  };
  EXPECT_EQ(*loop().get(), 1'000'000);
}

TEST(Task, NeedsNoStackForAMillionReadyFutures) {
  const auto loop = []() -> Task<int> {
    int total = 0;
    for (int i = 0; i < 1'000'000; ++i) {
      Future<int> ready{Result<int>(1)};
      Result<int> result = co_await ready;
      total += *result;
    }
    co_return total;
  };
  EXPECT_EQ(*loop().get(), 1'000'000);
}

// ---- as actors ----

JZX_SUITE_ON_ALL_DRIVERS(SpawnedTask);

TEST_P(SpawnedTask, SettlesItsFuture) {
  ClockedLoop loop;
  Pid actor;
  auto future = loop.spawn_async(sum(20, 22), &actor);
  EXPECT_TRUE(static_cast<bool>(actor));
  EXPECT_FALSE(future.is_ready());
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(*future.get(), 42);
}

TEST_P(SpawnedTask, WaitsForAFuture) {
  ClockedLoop loop;
  auto [given, promise] = jzx::promise<int>();
  auto future = loop.spawn_async([](Future<int> number_to_come) -> Task<int> {
    Result<int> result = co_await number_to_come;
    co_return co_await result;
  }(std::move(given)));
  loop.run_once(0ms);
  EXPECT_FALSE(future.is_ready());
  promise.resolve(5);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(*future.get(), 5);
}

TEST_P(SpawnedTask, ThatIsCancelledEndsFromTheInside) {
  ClockedLoop loop;
  auto [given, promise] = jzx::promise<int>();
  bool saw_end = false;
  auto future = loop.spawn_async([](Future<int> never, bool& saw) -> Task<int> {
    Result<int> result = co_await never;
    saw = co_await stop_requested();
    co_return co_await result;
  }(std::move(given), saw_end));
  loop.run_once(0ms);
  future.cancel();
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_TRUE(saw_end);
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
  promise.resolve(1);  // to nobody
}

TEST_P(SpawnedTask, OfASystemThatEndsIsAskedToStop) {
  auto [given, promise] = jzx::promise<int>();
  Future<int> future;
  {
    ClockedLoop loop;
    future = loop.spawn_async([](Future<int> never) -> Task<int> {
      Result<int> result = co_await never;
      co_return co_await result;
    }(std::move(given)));
    loop.run_once(0ms);
  }
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
}

TEST(SpawnedTaskOnWorkers, RunsOnWorkers) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  std::vector<Future<int>> futures;
  for (int i = 0; i < 100; ++i) futures.push_back(runtime.spawn_async(sum(i, 1)));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(*futures[static_cast<size_t>(i)].get(), i + 1);
}

TEST(SpawnedTaskOnWorkers, MayBeAwaitedInAFiber) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto [future, promise] = jzx::promise<int>();
  auto [given, source] = jzx::promise<int>();
  runtime.spawn_fn([p = std::move(promise), g = std::move(given)]() mutable {
    const auto task = [](Future<int> f) -> Task<int> {
      Result<int> result = co_await f;
      co_return co_await result + 1;
    };
    p.resolve(*task(std::move(g)).get());
  });
  source.resolve(9);
  EXPECT_EQ(*future.get(), 10);
}

}  // namespace
}  // namespace jzx
