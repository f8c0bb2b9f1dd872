// Scopes, and what is built like them: combinators of tasks, with_timeout of a task, stop tokens.
#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "async/inputs.hpp"
#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

Task<int> number(int value) { co_return value; }
Task<int> fails(Errc code) { co_return Error(code); }
Task<int> wait_for(Future<int> future) {
  Result<int> result = co_await future;
  co_return co_await result;
}
// Notes its end, which is as late as that of the future.
Task<int> noting(Future<int> future, std::vector<std::string>& log, std::string name) {
  Result<int> result = co_await future;
  log.push_back(name + (result ? "" : result.error().code() == Errc::cancelled ? "!" : "?"));
  co_return co_await result;
}

TEST(Scope, GivesWhatItsFunctionReturns) {
  EXPECT_EQ(scope([](Scope&) { return number(4); }).get().value(), 4);
  EXPECT_EQ(scope([](Scope&) { return fails(Errc::closed); }).get().error().code(), Errc::closed);
  const auto nothing = [](Scope&) -> Task<void> { co_return; };
  EXPECT_TRUE(scope(nothing).get().ok());
}

JZX_SUITE_ON_ALL_DRIVERS(ScopeOfAnActor);

TEST_P(ScopeOfAnActor, EndsWhenAllItsTasksHave) {
  ClockedLoop loop;
  Inputs in(2);
  std::vector<std::string> log;
  auto future = loop.spawn_async(scope([&](Scope& s) -> Task<int> {
    s.spawn(noting(in.future(0), log, "a"));
    s.spawn(noting(in.future(1), log, "b"));
    co_return 1;
  }));
  loop.run_once(std::chrono::milliseconds(0));
  in.resolve(1, 1);
  loop.run_once(std::chrono::milliseconds(0));
  EXPECT_FALSE(future.is_ready());
  in.resolve(0, 1);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(future.get().value(), 1);
  EXPECT_EQ(log, (std::vector<std::string>{"b", "a"}));
}

TEST(Scope, OfWhichOneTaskFailsStopsTheOthersAndItsFunction) {
  Inputs in(3);
  std::vector<std::string> log;
  auto task = scope([&](Scope& s) -> Task<int> {
    s.spawn(noting(in.future(0), log, "a"));
    s.spawn(noting(in.future(1), log, "b"));
    auto own = noting(in.future(2), log, "own");
    Result<int> result = co_await own;
    co_return result;
  });
  in.reject(1, Errc::lagged);
  EXPECT_EQ(task.get().error().code(), Errc::lagged);
  EXPECT_EQ(log.size(), 3u);
  EXPECT_EQ(std::count(log.begin(), log.end(), "a!"), 1);
  EXPECT_EQ(std::count(log.begin(), log.end(), "own!"), 1);
}

TEST(Scope, WhoseFunctionFailsStopsItsTasks) {
  Inputs in(1);
  std::vector<std::string> log;
  auto task = scope([&](Scope& s) -> Task<int> {
    s.spawn(noting(in.future(0), log, "a"));
    co_return Error(Errc::too_long);
  });
  EXPECT_EQ(task.get().error().code(), Errc::too_long);
  EXPECT_EQ(log, (std::vector<std::string>{"a!"}));
}

TEST_P(ScopeOfAnActor, WaitsForATaskThatIsSlowToStop) {
  ClockedLoop loop;
  SlowToCancel slow;
  auto future = loop.spawn_async(scope([&](Scope& s) -> Task<int> {
    s.spawn(wait_for(slow.future()));
    co_return Error(Errc::too_long);
  }));
  loop.run_once(std::chrono::milliseconds(0));
  EXPECT_TRUE(slow.was_cancelled());
  EXPECT_FALSE(future.is_ready());
  slow.end();
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(future.get().error().code(), Errc::too_long);
}

TEST_P(ScopeOfAnActor, ThatIsCancelledStopsAllAndWaitsForThem) {
  ClockedLoop loop;
  SlowToCancel a;
  SlowToCancel b;
  auto future = loop.spawn_async(scope([&](Scope& s) -> Task<int> {
    s.spawn(wait_for(a.future()));
    auto own = wait_for(b.future());
    Result<int> result = co_await own;
    co_return result;
  }));
  loop.run_once(std::chrono::milliseconds(0));
  future.cancel();
  loop.run_once(std::chrono::milliseconds(0));
  EXPECT_TRUE(a.was_cancelled());
  EXPECT_TRUE(b.was_cancelled());
  b.end();
  loop.run_once(std::chrono::milliseconds(0));
  EXPECT_FALSE(future.is_ready());
  a.end();
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
}

TEST(Scope, GivesAFutureOfATaskThatMayFail) {
  auto task = scope([](Scope& s) -> Task<int> {
    auto bad = s.start(fails(Errc::closed));
    auto good = s.start(number(2));
    Result<int> first = co_await bad;
    Result<int> second = co_await good;
    EXPECT_EQ(first.error().code(), Errc::closed);
    co_return second;
  });
  EXPECT_EQ(task.get().value(), 2);
}

TEST(Scope, MayStopItsTasksWithoutFailing) {
  Inputs in(1);
  std::vector<std::string> log;
  auto task = scope([&](Scope& s) -> Task<int> {
    s.spawn(noting(in.future(0), log, "a"));
    s.stop();
    co_return 3;
  });
  EXPECT_EQ(task.get().value(), 3);
  EXPECT_EQ(log, (std::vector<std::string>{"a!"}));
}

TEST(Scope, TakesTasksOfItsTasks) {
  int ended = 0;
  auto task = scope([&](Scope& s) -> Task<void> {
    const auto leaf = [](int& count) -> Task<void> {
      ++count;
      co_return;
    };
    const auto branch = [leaf](Scope& scope, int& count) -> Task<void> {
      scope.spawn(leaf(count));
      scope.spawn(leaf(count));
      co_return;
    };
    s.spawn(branch(s, ended));
    co_return;
  });
  EXPECT_TRUE(task.get().ok());
  EXPECT_EQ(ended, 2);
}

TEST(Scope, RunsTasksThatWakeOneAnother) {
  auto task = scope([](Scope& s) -> Task<int> {
    auto [future, promise] = jzx::promise<int>();
    const auto giver = [](Promise<int> p) -> Task<void> {
      p.resolve(11);
      co_return;
    };
    s.spawn(giver(std::move(promise)));
    auto own = wait_for(std::move(future));
    Result<int> result = co_await own;
    co_return result;
  });
  EXPECT_EQ(task.get().value(), 11);
}

TEST(Scope, IsWokenByManyThreads) {
  constexpr int kTasks = 8;
  for (int round = 0; round < 50; ++round) {
    Inputs in(kTasks);
    std::vector<std::thread> threads;
    auto task = scope([&](Scope& s) -> Task<int> {
      std::vector<Future<int>> futures;
      for (int i = 0; i < kTasks; ++i) futures.push_back(s.start(wait_for(in.future(i))));
      for (int i = 0; i < kTasks; ++i) threads.emplace_back([&in, i] { in.resolve(i, i); });
      auto together = all(std::move(futures));
      Result<std::vector<int>> result = co_await together;
      co_return static_cast<int>(result->size());
    });
    EXPECT_EQ(task.get().value(), kTasks);
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Scope, RunsInAFiber) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto [future, promise] = jzx::promise<int>();
  runtime.spawn_fn([p = std::move(promise)]() mutable {
    auto task = scope([](Scope& s) -> Task<int> {
      auto a = s.start(number(1));
      auto b = s.start(number(2));
      auto both = all(std::move(a), std::move(b));
      auto result = co_await both;
      co_return std::get<0>(*result) + std::get<1>(*result);
    });
    p.resolve(task.get().value());
  });
  EXPECT_EQ(future.get().value(), 3);
}

TEST(Scope, MayBeInAScope) {
  auto task = scope([](Scope& outer) -> Task<int> {
    auto inner = outer.start(scope([](Scope& s) -> Task<int> {
      auto deep = s.start(number(6));
      Result<int> result = co_await deep;
      co_return result;
    }));
    Result<int> result = co_await inner;
    co_return result;
  });
  EXPECT_EQ(task.get().value(), 6);
}

// ---- combinators of tasks; what they answer is in combinator_table_test.cpp ----

TEST(TasksTogether, BeginInTheOrderOfTheInputs) {
  std::vector<int> order;
  const auto say = [](std::vector<int>& out, int number) -> Task<int> {
    out.push_back(number);
    co_return number;
  };
  EXPECT_TRUE(all(say(order, 1), say(order, 2), say(order, 3)).get().ok());
  std::vector<Task<int>> tasks;
  for (const int number : {4, 5, 6}) tasks.push_back(say(order, number));
  EXPECT_TRUE(all(std::move(tasks)).get().ok());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(race(say(order, 7), say(order, 8)).get().value(), 7);
}

TEST(TasksTogether, OneThatFailsStopsTheOthers) {
  Inputs in(1);
  std::vector<std::string> log;
  EXPECT_EQ(all(noting(in.future(0), log, "a"), fails(Errc::closed)).get().error().code(),
            Errc::closed);
  EXPECT_EQ(log, (std::vector<std::string>{"a!"}));
}

TEST(TasksTogether, TheLosersOfARaceAreStopped) {
  Inputs in(1);
  std::vector<std::string> log;
  EXPECT_EQ(race(noting(in.future(0), log, "a"), number(2)).get().value(), 2);
  EXPECT_EQ(log, (std::vector<std::string>{"a!"}));
}

// ---- with_timeout of a task ----

JZX_SUITE_ON_ALL_DRIVERS(TimeLimitOfAnActor);

TEST_P(TimeLimitOfAnActor, StopsIt) {
  ClockedLoop loop;
  Inputs in(1);
  std::vector<std::string> log;
  auto future = loop.spawn_async(with_timeout(10ms, noting(in.future(0), log, "a")));
  loop.advance(9ms);
  EXPECT_FALSE(future.is_ready());
  loop.advance(1ms);
  ASSERT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().error().code(), Errc::timed_out);
  EXPECT_EQ(log, (std::vector<std::string>{"a!"}));
}

TEST_P(TimeLimitOfAnActor, LetsItEndInTime) {
  ClockedLoop loop;
  auto future = loop.spawn_async(with_timeout(10ms, number(2)));
  auto other = loop.spawn_async(with_timeout(10ms, fails(Errc::closed)));
  loop.settle();
  ASSERT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().value(), 2);
  EXPECT_EQ(other.get().error().code(), Errc::closed);
}

TEST_P(TimeLimitOfAnActor, WaitsForItsEnd) {
  ClockedLoop loop;
  SlowToCancel slow;
  auto future = loop.spawn_async(with_timeout(10ms, wait_for(slow.future())));
  loop.advance(10ms);
  EXPECT_TRUE(slow.was_cancelled());
  EXPECT_FALSE(future.is_ready());
  slow.end_well(1);
  loop.settle();
  EXPECT_EQ(future.get().value(), 1);
}

TEST_P(TimeLimitOfAnActor, ThatIsCancelledIsCancelled) {
  ClockedLoop loop;
  Inputs in(1);
  auto future = loop.spawn_async(with_timeout(10ms, wait_for(in.future(0))));
  loop.settle();
  future.cancel();
  loop.settle();
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
}

// ---- stop tokens ----

JZX_SUITE_ON_ALL_DRIVERS(StopTokenOfAnActor);

TEST_P(StopTokenOfAnActor, IsTriggeredWhenItIsAskedToStop) {
  ClockedLoop loop;
  Inputs in(1);
  std::stop_token seen;
  auto future = loop.spawn_async([](Future<int> never, std::stop_token& out) -> Task<int> {
    out = co_await stop_token();
    Result<int> result = co_await never;
    co_return result;
  }(in.future(0), seen));
  loop.run_once(std::chrono::milliseconds(0));
  EXPECT_TRUE(seen.stop_possible());
  EXPECT_FALSE(seen.stop_requested());
  future.cancel();
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_TRUE(seen.stop_requested());
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
}

TEST(StopToken, StopsATask) {
  Inputs in(1);
  std::stop_source source;
  auto task = with_stop(source.get_token(), wait_for(in.future(0)));
  std::thread other([&] { source.request_stop(); });
  EXPECT_EQ(task.get().error().code(), Errc::cancelled);
  other.join();
}

TEST(StopToken, ThatWasTriggeredBeforeStopsATaskAtItsFirstWait) {
  Inputs in(1);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(with_stop(source.get_token(), wait_for(in.future(0))).get().error().code(),
            Errc::cancelled);
  EXPECT_EQ(with_stop(source.get_token(), number(1)).get().value(), 1);
}

}  // namespace
}  // namespace jzx::testing
