// What every benchmark here uses: checks that the work happened, a stopwatch for
// batches, the figures' names, and loops and actors without ceremony.
//
// Timing. A clock read costs more than a message, so only batches are timed, with the
// wall clock, and `report` turns items and nanoseconds into `items_per_second` (ns per
// item = 1e9 / items_per_second) and, for people, `ns_per_item`. `cpu_ns_per_item` is what
// the measuring thread itself computed: where it is far below ns_per_item the machine was
// busy with something else, or the thread waited. Google Benchmark's own Time column is one
// whole batch with its preparation and is not the figure to read.
#pragma once

#include <benchmark/benchmark.h>
#include <jzx/jzx.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

namespace bench {

// How many checks held; main refuses a run that measured without checking.
inline std::uint64_t g_checks_passed = 0;

[[noreturn]] inline void fail_check(const char* file, int line, const char* what, long long actual,
                                    long long expected) {
  std::fprintf(stderr, "\n%s:%d: the benchmark did not do its work: %s (got %lld, expected %lld)\n",
               file, line, what, actual, expected);
  std::abort();
}

}  // namespace bench

// Outside the timed part, or once per batch: they are cheap, not free.
#define BENCH_CHECK(condition)                                                   \
  do {                                                                           \
    if (!(condition)) ::bench::fail_check(__FILE__, __LINE__, #condition, 0, 1); \
    ++::bench::g_checks_passed;                                                  \
  } while (false)

#define BENCH_CHECK_COUNT(actual, expected)                                           \
  do {                                                                                \
    const auto bench_actual = static_cast<long long>(actual);                         \
    const auto bench_expected = static_cast<long long>(expected);                     \
    if (bench_actual != bench_expected)                                               \
      ::bench::fail_check(__FILE__, __LINE__, #actual, bench_actual, bench_expected); \
    ++::bench::g_checks_passed;                                                       \
  } while (false)

namespace bench {

// Adds up the time between start and stop over many batches. The CPU clock costs a system
// call, so its reads stay outside the wall clock's.
class Stopwatch {
 public:
  void start() {
    cpu_began_ns_ = thread_cpu_ns();
    began_ = Clock::now();
  }

  void stop() {
    last_ = Clock::now() - began_;
    last_cpu_ns_ = thread_cpu_ns() - cpu_began_ns_;
    total_ += last_;
    total_cpu_ns_ += last_cpu_ns_;
  }

  // Drops the batch just timed: something that does not belong to it happened meanwhile.
  void take_back() {
    total_ -= last_;
    total_cpu_ns_ -= last_cpu_ns_;
  }

  double total_ns() const { return std::chrono::duration<double, std::nano>(total_).count(); }
  double total_cpu_ns() const { return static_cast<double>(total_cpu_ns_); }

 private:
  using Clock = std::chrono::steady_clock;

  static std::int64_t thread_cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  Clock::time_point began_;
  Clock::duration last_{};
  Clock::duration total_{};
  std::int64_t cpu_began_ns_ = 0;
  std::int64_t last_cpu_ns_ = 0;
  std::int64_t total_cpu_ns_ = 0;
};

inline void report(benchmark::State& state, std::uint64_t items, const Stopwatch& watch) {
  BENCH_CHECK(items > 0);
  const double ns_per_item = watch.total_ns() / static_cast<double>(items);
  state.counters["items_per_second"] = 1e9 / ns_per_item;
  state.counters["ns_per_item"] = ns_per_item;
  state.counters["cpu_ns_per_item"] = watch.total_cpu_ns() / static_cast<double>(items);
}

// What of this process is in memory now.
inline std::uint64_t resident_bytes() {
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  BENCH_CHECK(resident_pages > 0);
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

struct LoopDeleter {
  void operator()(jzx_loop* loop) const { jzx_loop_destroy(loop); }
};
using Loop = std::unique_ptr<jzx_loop, LoopDeleter>;

inline jzx_config default_config() {
  jzx_config config;
  jzx_config_init(&config);
  return config;
}

inline Loop make_loop(const jzx_config& config = default_config()) {
  Loop loop(jzx_loop_create(&config));
  BENCH_CHECK(loop != nullptr);
  return loop;
}

inline jzx_actor_id spawn(const Loop& loop, jzx_behavior_fn behavior, void* state) {
  jzx_spawn_opts opts{};
  opts.behavior = behavior;
  opts.state = state;
  jzx_actor_id id = 0;
  BENCH_CHECK_COUNT(jzx_spawn(loop.get(), &opts, &id), JZX_OK);
  return id;
}

}  // namespace bench
