// Futures and tasks: chains, several at once, time limits and scopes; see docs/futures.md.
#include <jzx/jzx.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

// Something that takes time, and perhaps fails.
jzx::Task<int> fetch(int number, std::chrono::milliseconds time) {
  auto nap = jzx::sleep(time);
  jzx::Result<void> slept = co_await nap;
  co_await slept;  // asked to stop: ends here
  if (number < 0) co_return jzx::Error(jzx::Errc::closed, "there is no such page");
  co_return number * 10;
}

jzx::Task<void> tour() {
  // In place, one after the other.
  auto page = fetch(1, 1ms);
  const int ten = co_await co_await page;
  std::printf("one page: %d\n", ten);

  // As actors of their own, which end with this one.
  auto both = jzx::all(jzx::spawn_async(fetch(1, 2ms)), jzx::spawn_async(fetch(2, 1ms)));
  auto pages = co_await both;
  const auto [first, second] = co_await pages;
  std::printf("two pages: %d and %d\n", first, second);

  // The first good one; the other is asked to stop.
  auto fallback = jzx::any(fetch(-1, 1ms), fetch(3, 2ms), fetch(4, 1h));
  jzx::Result<int> good = co_await fallback;
  std::printf("the first that works: %d\n", co_await good);

  // Not for ever.
  auto limited = jzx::with_timeout(2ms, fetch(5, 1h));
  jzx::Result<int> late = co_await limited;
  std::printf("in time? %s\n", late ? "yes" : late.error().message());

  // Beside one another, and none outlives the scope.
  auto together = [](jzx::Scope& scope) -> jzx::Task<int> {
    auto a = scope.start(fetch(6, 2ms));
    auto b = scope.start(fetch(7, 1ms));
    auto results = jzx::all(std::move(a), std::move(b));
    auto values = co_await results;
    const auto [x, y] = co_await values;
    co_return x + y;
  };
  auto whole = jzx::scope(together);
  jzx::Result<int> sum = co_await whole;
  std::printf("a scope: %d\n", co_await sum);

  auto failing = [](jzx::Scope& scope) -> jzx::Task<int> {
    scope.spawn(fetch(-1, 1ms));
    auto own = fetch(8, 1h);
    jzx::Result<int> result = co_await own;
    co_return result;
  };
  auto broken = jzx::scope(failing);
  jzx::Result<int> result = co_await broken;
  std::printf("a scope that fails: %s\n", result.error().message());
}

}  // namespace

int main() {
  // A promise, and a chain that is made before the value is there.
  auto [future, promise] = jzx::promise<int>();
  auto chain = future.then([](int value) { return std::to_string(value + 1); })
                   .catch_error([](const jzx::Error&) { return std::string("nothing"); });
  promise.resolve(41);
  std::printf("a chain: %s\n", chain.get().value().c_str());

  jzx::Runtime runtime(jzx::RuntimeOptions{.workers = 2});
  const jzx::Result<void> ended = runtime.spawn_async(tour()).get();
  std::printf("%s\n", ended ? "done" : ended.error().message());
  return ended ? 0 : 1;
}
