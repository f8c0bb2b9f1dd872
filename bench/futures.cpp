// Futures and tasks, on one thread and without a scheduler.
//
// Promises guarded:
//   future_poll   a future that is ready is awaited by a task, and its value taken: at most 5 ns
//   future_then   a link of a chain is made, settled, run and ended: at most 30 ns
//   task_await    a task is created, awaited and ended: at most 14 ns
//
// The futures of future_poll are made outside of the timed part.
#include <jzx/jzx.hpp>

#include <utility>
#include <vector>

#include "support.hpp"

namespace {

constexpr int kBatch = 1000;

jzx::Task<long> await_all(std::vector<jzx::Future<int>>& futures, bench::Stopwatch& watch) {
  long sum = 0;
  watch.start();
  for (jzx::Future<int>& future : futures) {
    jzx::Result<int> result = co_await future;
    sum += *result;
  }
  watch.stop();
  co_return sum;
}
void future_poll(benchmark::State& state) {
  bench::Stopwatch watch;
  std::uint64_t polled = 0;
  std::vector<jzx::Future<int>> futures(kBatch);
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) {
      futures[static_cast<size_t>(i)] = jzx::Future<int>(jzx::Result<int>(i));
    }
    BENCH_CHECK_COUNT(await_all(futures, watch).get().value(), kBatch * (kBatch - 1) / 2);
    polled += kBatch;
  }
  bench::report(state, polled, watch);
}
BENCHMARK(future_poll);

void future_then(benchmark::State& state) {
  bench::Stopwatch watch;
  std::uint64_t links = 0;
  for (auto _ : state) {
    auto [future, promise] = jzx::promise<int>();
    watch.start();
    for (int i = 0; i < kBatch; ++i) future = future.then([](int value) { return value + 1; });
    promise.resolve(0);
    watch.stop();
    BENCH_CHECK_COUNT(future.get().value(), kBatch);
    links += kBatch;
  }
  bench::report(state, links, watch);
}
BENCHMARK(future_then);

[[gnu::noinline]] jzx::Task<int> one(int value) { co_return value; }
jzx::Task<long> await_tasks(bench::Stopwatch& watch) {
  long sum = 0;
  watch.start();
  for (int i = 0; i < kBatch; ++i) {
    auto task = one(i);
    jzx::Result<int> result = co_await task;
    sum += *result;
  }
  watch.stop();
  co_return sum;
}
void task_await(benchmark::State& state) {
  bench::Stopwatch watch;
  std::uint64_t awaited = 0;
  for (auto _ : state) {
    BENCH_CHECK_COUNT(await_tasks(watch).get().value(), kBatch * (kBatch - 1) / 2);
    awaited += kBatch;
  }
  bench::report(state, awaited, watch);
}
BENCHMARK(task_await);

}  // namespace
