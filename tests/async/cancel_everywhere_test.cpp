// Tasks, chains, combinators, scopes and limits, cancelled at every suspension; locks, channels and
// actors are in cancel_sync_test.cpp, I/O in tests/net/cancel_io_test.cpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "async/cancel_everywhere.hpp"

namespace jzx::testing {
namespace {

// ---- the samples; each returns 1 if nobody disturbs it ----

Task<int> get(Future<Counted> future) {
  const Counted held(0);
  Result<Counted> result = co_await future;
  const Counted counted = co_await result;
  co_return counted.value;
}
Task<void> nap(std::chrono::milliseconds time) {
  const Counted held(0);
  auto sleeping = sleep(time);
  Result<void> result = co_await sleeping;
  co_await result;
}

Task<int> futures(World& world) {
  auto first = get(world.later(1, 3));
  const int a = co_await co_await first;
  auto second = get(world.later(2, 4));
  const int b = co_await co_await second;
  auto ready = get(Future<Counted>(Result<Counted>(Counted(5))));
  const int c = co_await co_await ready;
  co_return a + b + c == 12 ? 1 : 0;
}
Task<int> deep(World& world, int depth) {
  const Counted held(depth);
  if (depth == 0) {
    auto leaf = futures(world);
    Result<int> result = co_await leaf;
    co_return result;
  }
  auto below = deep(world, depth - 1);
  Result<int> result = co_await below;
  auto rest = nap(1ms);
  co_await co_await rest;
  co_return result;
}
Task<int> nested(World& world) {
  auto all_of_it = deep(world, 4);
  Result<int> result = co_await all_of_it;
  co_return result;
}
Task<int> sleeps(World&) {
  for (int i = 0; i < 4; ++i) {
    auto one = nap(2ms);
    co_await co_await one;
  }
  co_return 1;
}
Task<int> chains(World& world) {
  const Counted held(0);
  int ends = 0;
  auto chain = world.later(1, 2)
                   .then([&world](Counted counted) { return world.later(2, counted.value + 1); })
                   .finally([&] { ++ends; })
                   .then([](const Counted& counted) { return counted.value; })
                   .map_error([](const Error& error) { return error; });
  Result<int> result = co_await chain;
  EXPECT_EQ(ends, 1);
  co_return co_await result == 3 ? 1 : 0;
}
Task<int> combined(World& world) {
  std::vector<Future<Counted>> list;
  for (int i = 0; i < 3; ++i) list.push_back(world.later(i + 1, i));
  auto every = all(std::move(list));
  Result<std::vector<Counted>> values = co_await every;
  const size_t count = (co_await values).size();
  auto first = race(world.later(2, 1), world.later(9, 2));
  Result<Counted> winner = co_await first;
  const int who = (co_await winner).value;
  auto some =
      any(world.later(1, 1).then([](Counted) -> Result<int> { return Error(Errc::closed); }),
          world.later(2, 8).then([](const Counted& counted) { return counted.value; }));
  Result<int> any_of_them = co_await some;
  const int eight = co_await any_of_them;
  auto settled = all_settled(sleep(2ms), world.later(1, 1));
  auto results = co_await settled;
  auto both = co_await results;
  co_await std::get<0>(both);
  co_return count == 3 && who == 1 && eight == 8 ? 1 : 0;
}
Task<int> scoped(World& world) {
  int total = 0;
  auto body = [&](Scope& scope) -> Task<int> {
    const Counted held(0);
    scope.spawn(nap(3ms));
    auto a = scope.start(get(world.later(2, 5)));
    auto b = scope.start(get(world.later(4, 6)));
    Result<int> first = co_await a;
    total += co_await first;
    scope.spawn(nap(1ms));
    Result<int> second = co_await b;
    total += co_await second;
    co_return total;
  };
  auto whole = scope(body);
  Result<int> result = co_await whole;
  co_return co_await result == 11 ? 1 : 0;
}
Task<int> failing_scope(World& world) {
  auto body = [&](Scope& scope) -> Task<int> {
    const auto bad = [](World& given) -> Task<void> {
      auto waiting = get(given.later(2, 1));
      co_await co_await waiting;
      co_await fail(Errc::lagged);
    };
    scope.spawn(bad(world));
    scope.spawn(nap(1h));
    auto own = get(world.later(50, 1));
    Result<int> result = co_await own;
    co_return result;
  };
  auto whole = scope(body);
  Result<int> result = co_await whole;
  if (result.error().code() == Errc::lagged) co_return 1;
  co_return result;
}
Task<int> together(World& world) {
  auto both = all(get(world.later(3, 1)), get(world.later(1, 2)));
  auto pair = co_await both;
  const auto [a, b] = co_await pair;
  auto first = race(get(world.later(40, 7)), get(world.later(2, 8)));
  Result<int> winner = co_await first;
  co_return a + b == 3 && co_await winner == 8 ? 1 : 0;
}
Task<int> limited(World& world) {
  auto quick = with_timeout(20ms, world.later(2, 1));
  Result<Counted> in_time = co_await quick;
  const int one = (co_await in_time).value;
  auto slow = with_timeout(2ms, world.later(40, 1));
  Result<Counted> late = co_await slow;
  if (late.error().code() != Errc::timed_out) co_return late.error();
  auto slow_task = with_timeout(2ms, nap(1h));
  Result<void> late_task = co_await slow_task;
  if (late_task.error().code() != Errc::timed_out) co_return late_task.error();
  auto quick_task = with_timeout(20ms, get(world.later(1, 1)));
  Result<int> also = co_await quick_task;
  co_return one == 1 && co_await also == 1 ? 1 : 0;
}
Task<int> spawned(World& world) {
  auto a = spawn_async(get(world.later(2, 1)));
  auto b = spawn_async(nap(3ms));
  auto both = all(std::move(a), std::move(b));
  auto result = co_await both;
  co_return std::get<0>(co_await result);
}
// Takes no notice, and ends all the same.
Task<int> stubborn(World& world) {
  int refused = 0;
  for (int i = 0; i < 5; ++i) {
    auto one = get(world.later(2, 1));
    Result<int> result = co_await one;
    if (!result) ++refused;
  }
  const bool is_stopped = co_await stop_requested();
  EXPECT_EQ(refused > 0, is_stopped);
  co_return 1;
}
Task<int> watched(World& world) {
  const std::stop_token token = co_await stop_token();
  std::stop_source other;
  const std::stop_callback pass_on(token, [&] { other.request_stop(); });
  auto waiting = with_stop(other.get_token(), get(world.later(3, 1)));
  Result<int> result = co_await waiting;
  co_return result;
}

template <Task<int> (*kRun)(World&)>
struct Plain final : Script {
  using Script::Script;
  Task<int> run() override { return kRun(world); }
};

const Sample kSamples[] = {
    {"futures", script<Plain<futures>>},
    {"nested", script<Plain<nested>>},
    {"sleeps", script<Plain<sleeps>>},
    {"chains", script<Plain<chains>>},
    {"combined", script<Plain<combined>>},
    {"scoped", script<Plain<scoped>>},
    {"together", script<Plain<together>>},
    {"limited", script<Plain<limited>>},
    {"failing_scope", script<Plain<failing_scope>>},
    {"spawned", script<Plain<spawned>>},
    {"stubborn", script<Plain<stubborn>>, true},
    {"watched", script<Plain<watched>>},
};

JZX_SUITE_ON_ALL_DRIVERS(CancelEverywhere);

TEST_P(CancelEverywhere, TheSamplesCompleteIfNobodyDisturbsThem) {
  for (const Sample& sample : kSamples) expect_to_complete(sample);
}

TEST_P(CancelEverywhere, EndsATaskAtEverySuspensionAndLeavesNothing) {
  for (const Sample& sample : kSamples) cancel_everywhere(sample);
}

}  // namespace
}  // namespace jzx::testing
