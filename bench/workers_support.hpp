// What the benchmarks of the multi-core runtime share: batches that run on the workers while
// this thread waits, and failures that end the program instead of making it wait for ever.
//
// Timing. A batch is timed with the wall clock, from before the start message is sent until the
// promise that an actor resolves has reached this thread. That includes two wake-ups of some
// 20 µs, so batches take milliseconds. `cpu_ns_per_item` is what all threads of the process
// computed per item: with two workers up to twice ns_per_item, and far below it where the
// machine was busy with something else or everybody slept.
//
// How long. Google Benchmark counts the CPU time of this thread, which only waits; asking it for
// real time would change the names. It also ends a run after five times its min_time of real
// time, which is what ends these. Its guess of the iterations needed can then be ten times too
// high, so `measure` stops working after kEnoughNs and lets the rest of them pass.
//
// Threads: the actors' handlers run on workers, where `must` replaces BENCH_CHECK, whose count
// of checks belongs to the main thread.
#pragma once

#include <time.h>
#include <unistd.h>
#include <jzx/jzx.hpp>
#include <jzx/runtime.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <utility>

#include "support.hpp"

namespace bench {

// ---- failures, on any thread ----

// A refused message would be waited for in vain.
inline void must(jzx::Errc code, const char* what) {
  if (jzx::ok(code)) return;
  std::fprintf(stderr, "\n%s: %s\n", what, jzx::to_string(code));
  std::abort();
}

// Spawns by a runtime or a context, or ends the program.
template <class A, class Face, class... Args>
[[nodiscard]] jzx::ActorRef<A> must_spawn(Face& face, const jzx::SpawnOptions& options,
                                          Args&&... args) {
  const auto made = face.template spawn_with<A>(options, std::forward<Args>(args)...);
  if (!made) must(face.spawn_error(), "spawn");
  return made;
}

// Waits for a result; not on a worker.
template <class T>
[[nodiscard]] T await(jzx::Future<T> future) {
  jzx::Result<T> result = future.get();
  if (!result.ok()) {
    std::fprintf(stderr, "\nthe workers did not finish: %s\n", result.error().message());
    std::abort();
  }
  return std::move(result).value();
}

// A message or a wake-up that got lost would be waited for in vain as well: while one of these
// exists, the program ends after kPatienceSeconds, loudly and with a core to look at.
class Patience {
 public:
  static constexpr unsigned kPatienceSeconds = 300;

  Patience() {
    std::signal(SIGALRM, [](int) {
      constexpr std::string_view kText = "\nthe workers did not finish in time\n";
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
      std::abort();
    });
    ::alarm(kPatienceSeconds);
  }
  ~Patience() { ::alarm(0); }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
};

// ---- time ----

class WorkersWatch {
 public:
  void start() {
    cpu_began_ns_ = process_cpu_ns();
    began_ = Clock::now();
  }
  void stop() {
    total_ += Clock::now() - began_;
    total_cpu_ns_ += process_cpu_ns() - cpu_began_ns_;
  }

  [[nodiscard]] double total_ns() const {
    return std::chrono::duration<double, std::nano>(total_).count();
  }
  [[nodiscard]] double total_cpu_ns() const { return static_cast<double>(total_cpu_ns_); }

 private:
  using Clock = std::chrono::steady_clock;

  static std::int64_t process_cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  Clock::time_point began_;
  Clock::duration total_{};
  std::int64_t cpu_began_ns_ = 0;
  std::int64_t total_cpu_ns_ = 0;
};

inline void report(benchmark::State& state, std::uint64_t items, const WorkersWatch& watch) {
  BENCH_CHECK(items > 0);
  const double ns_per_item = watch.total_ns() / static_cast<double>(items);
  state.counters["items_per_second"] = 1e9 / ns_per_item;
  state.counters["ns_per_item"] = ns_per_item;
  state.counters["cpu_ns_per_item"] = watch.total_cpu_ns() / static_cast<double>(items);
}

// ---- batches ----

inline constexpr double kEnoughNs = 1.6e9;  // a little more than 5 * min_time of main.cpp

// `batch(watch)` does and checks its work, timing what counts, and returns how many items.
template <class Batch>
std::uint64_t measure(benchmark::State& state, Batch&& batch) {
  WorkersWatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    if (watch.total_ns() >= kEnoughNs) continue;
    const Patience patience;
    items += batch(watch);
  }
  report(state, items, watch);
  return items;
}

// The same after one batch that is not measured: memory has been taken, the workers are awake.
template <class Batch>
std::uint64_t measure_warm(benchmark::State& state, Batch&& batch) {
  {
    const Patience patience;
    WorkersWatch unused;
    (void)batch(unused);
  }
  return measure(state, std::forward<Batch>(batch));
}

// Times from `start(promise)` until the promise is resolved, and returns with what.
template <class T, class Start>
[[nodiscard]] T timed(WorkersWatch& watch, Start&& start) {
  auto [future, promise] = jzx::promise<T>();
  watch.start();
  start(std::move(promise));
  jzx::Result<T> result = future.get();
  watch.stop();
  return await(jzx::Future<T>(std::move(result)));
}

[[nodiscard]] inline jzx::RuntimeOptions options_of(const benchmark::State& state) {
  jzx::RuntimeOptions options;
  options.workers = static_cast<std::uint32_t>(state.range(0));  // the argument "workers"
  return options;
}

}  // namespace bench
