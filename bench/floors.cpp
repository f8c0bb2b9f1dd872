// The machine's floors, measured in the same run as everything else, so that a figure can
// be read as a ratio on any machine.
//
// Promises guarded: none of ours. clock_floor is why no benchmark (and no message) reads
// the clock per item; cas_floor is the price of one uncontended locked instruction, of
// which a send may spend two; line_floor is a cache line's way to another core and back.
#include <atomic>

#include "line_round_trip.hpp"
#include "support.hpp"

namespace {

constexpr std::uint64_t kReads = 10'000;
constexpr std::uint64_t kSwaps = 100'000;

void clock_floor(benchmark::State& state) {
  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    auto last = std::chrono::steady_clock::now();
    std::uint64_t backwards = 0;
    watch.start();
    for (std::uint64_t i = 0; i < kReads; ++i) {
      const auto now = std::chrono::steady_clock::now();
      backwards += now < last;
      last = now;
    }
    watch.stop();
    BENCH_CHECK_COUNT(backwards, 0);
    items += kReads;
  }
  bench::report(state, items, watch);
}
BENCHMARK(clock_floor);

void cas_floor(benchmark::State& state) {
  std::atomic<std::uint64_t> word{0};
  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    std::uint64_t failed = 0;
    watch.start();
    std::uint64_t expected = word.load(std::memory_order_relaxed);
    for (std::uint64_t i = 0; i < kSwaps; ++i) {
      failed += !word.compare_exchange_strong(expected, expected + 1, std::memory_order_acq_rel);
      ++expected;
    }
    watch.stop();
    items += kSwaps;
    BENCH_CHECK_COUNT(failed, 0);
    BENCH_CHECK_COUNT(word.load(std::memory_order_relaxed), items);
  }
  bench::report(state, items, watch);
}
BENCHMARK(cas_floor);

void line_floor(benchmark::State& state) {
  constexpr std::uint64_t kTrips = 2'000;
  double total_ns = 0;
  for (auto _ : state) total_ns += bench::line_round_trip_ns(kTrips);
  BENCH_CHECK(total_ns > 0);
  const double ns_per_item = total_ns / static_cast<double>(state.iterations());
  state.counters["items_per_second"] = 1e9 / ns_per_item;
  state.counters["ns_per_item"] = ns_per_item;
}
BENCHMARK(line_floor);

}  // namespace
