// Stackful actors.
//
// Promises guarded:
//   fiber_switch               two fibers that yield to each other through the scheduler: at most
//                              12 ns a switch; a yield is two of them.
//   fiber_pingpong/workers:1   two fibers, each in a loop of receive and send: at most 30 ns a
//                              message.
//   fiber_spawn                spawn, run, end, at most 10 alive: at most 60 ns a fiber, since
//                              stacks are pooled.
//   idle_fiber                 1,000,000 live fibers blocked in receive on guarded stacks, by
//                              resident memory: at most 4,400 bytes, one page and a little.
//   selective_receive          by type, with 10,000 messages of another waiting: at most 200 ns,
//                              and the same with none.
#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "workers_support.hpp"

namespace {

jzx::Pid must_be(jzx::Pid pid) {
  if (!pid) bench::must(jzx::Errc::unknown, "spawn");
  return pid;
}

jzx::RuntimeOptions one_worker() {
  jzx::RuntimeOptions options;
  options.workers = 1;
  return options;
}

// ---- fiber_switch ----

constexpr std::uint64_t kYields = 500'000;  // of each

void fiber_switch(benchmark::State& state) {
  jzx::Runtime runtime(one_worker());
  BENCH_CHECK(runtime);
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    const auto yields = bench::timed<std::uint64_t>(watch, [&](auto promise) {
      must_be(runtime.spawn_fn([done = std::move(promise)]() mutable {
        std::uint64_t others = 0;
        jzx::spawn_fn([&others] {
          for (; others < kYields; ++others) jzx::yield();
        });
        std::uint64_t own = 0;
        for (; own < kYields; ++own) jzx::yield();
        while (others < kYields) jzx::yield();
        done.resolve(own + others);
      }));
    });
    BENCH_CHECK_COUNT(yields, 2 * kYields);
    BENCH_CHECK(jzx::ok(runtime.run()));  // returns when nobody is alive
    return 2 * yields;
  });
}
BENCHMARK(fiber_switch);

// ---- fiber_pingpong ----

constexpr std::uint64_t kRounds = 500'000;

struct Ping {
  jzx::Pid from;
};
struct Pong {};

void fiber_pingpong(benchmark::State& state) {
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    const auto rounds = bench::timed<std::uint64_t>(watch, [&](auto promise) {
      must_be(runtime.spawn_fn([done = std::move(promise)]() mutable {
        const jzx::Pid ponger = must_be(jzx::spawn_fn([] {
          for (std::uint64_t i = 0; i < kRounds; ++i) {
            jzx::receive([](Ping ping) { bench::must(ping.from.send(Pong{}), "pong"); });
          }
        }));
        std::uint64_t round = 0;
        while (round < kRounds) {
          bench::must(ponger.send(Ping{jzx::self()}), "ping");
          jzx::receive([&](Pong) { ++round; });
        }
        done.resolve(round);
      }));
    });
    BENCH_CHECK_COUNT(rounds, kRounds);
    BENCH_CHECK(jzx::ok(runtime.run()));  // returns when nobody is alive
    return 2 * rounds;
  });
}
BENCHMARK(fiber_pingpong)->ArgName("workers")->Arg(1);

// ---- fiber_spawn ----

constexpr std::uint32_t kAlive = 10;
constexpr std::uint32_t kWindows = 20000;

void fiber_spawn(benchmark::State& state) {
  jzx::Runtime runtime(one_worker());
  BENCH_CHECK(runtime);
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    const auto lived = bench::timed<std::uint64_t>(watch, [&](auto promise) {
      must_be(runtime.spawn_fn([done = std::move(promise)]() mutable {
        std::uint64_t count = 0;
        for (std::uint32_t window = 0; window < kWindows; ++window) {
          for (std::uint32_t i = 0; i < kAlive; ++i) must_be(jzx::spawn_fn([&count] { ++count; }));
          while (count < (window + 1) * kAlive) jzx::yield();
        }
        done.resolve(count);
      }));
    });
    BENCH_CHECK_COUNT(lived, kAlive * kWindows);
    BENCH_CHECK(jzx::ok(runtime.run()));  // returns when nobody is alive
    return lived;
  });
}
BENCHMARK(fiber_spawn);

// ---- idle_fiber ----

constexpr std::uint32_t kIdleFibers = 1'000'000;

std::uint64_t count_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::uint64_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

struct WakeUp {};

void idle_fiber(benchmark::State& state) {
  bench::Stopwatch watch;
  std::uint64_t items = 0;
  double bytes = 0;
  std::uint64_t mappings = 0;
  for (auto _ : state) {
    malloc_trim(0);
    const std::uint64_t before = bench::resident_bytes();
    std::uint64_t asleep = 0;
    std::uint64_t woken = 0;
    watch.start();
    jzx::Loop loop({.max_actors = kIdleFibers + 16});
    BENCH_CHECK(loop);
    std::uint64_t errors = 0;
    for (std::uint32_t i = 0; i < kIdleFibers; ++i) {
      errors += !loop.spawn_fn([&] {
        ++asleep;
        jzx::receive([&](WakeUp) { ++woken; });
      });
      if (i % 1000 == 999) (void)loop.run_once(std::chrono::milliseconds(0));
    }
    watch.stop();
    BENCH_CHECK_COUNT(errors, 0);
    BENCH_CHECK_COUNT(asleep, kIdleFibers);
    const std::uint64_t after = bench::resident_bytes();
    BENCH_CHECK(after > before);
    mappings = count_mappings();
    bytes += static_cast<double>(after - before);
    items += kIdleFibers;
  }
  bench::report(state, items, watch);
  state.counters["bytes_per_item"] = bytes / static_cast<double>(items);
  state.counters["mappings"] = static_cast<double>(mappings);
}
BENCHMARK(idle_fiber);

// ---- selective_receive ----

constexpr std::uint32_t kReceives = 100'000;

struct Unwanted {
  std::uint32_t number;
};
struct Wanted {
  std::uint32_t number;
};

void selective_receive(benchmark::State& state) {
  const auto waiting = static_cast<std::uint32_t>(state.range(0));
  jzx::Runtime runtime(one_worker());
  BENCH_CHECK(runtime);
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    auto [ready, is_ready] = jzx::promise<jzx::Pid>();
    auto [future, promise] = jzx::promise<std::uint64_t>();
    jzx::SpawnOptions options;
    options.mailbox_cap = waiting + 1000;
    must_be(runtime.spawn_fn_with(
        options, [waiting, ready = std::move(is_ready), done = std::move(promise)]() mutable {
          const jzx::Pid self = jzx::self();
          for (std::uint32_t i = 0; i < waiting; ++i)
            bench::must(self.send(Unwanted{i}), "unwanted");
          // They have all been looked at once.
          jzx::receive_for(std::chrono::milliseconds(0), [](Wanted) {});
          ready.resolve(self);
          jzx::receive([](Pong) {});
          std::uint64_t sum = 0;
          for (std::uint32_t i = 0; i < kReceives; ++i) {
            bench::must(self.send(Wanted{i}), "wanted");
            jzx::receive([&](Wanted wanted) { sum += wanted.number; });
          }
          std::uint32_t next = 0;
          while (next < waiting) {
            jzx::receive([&](Unwanted unwanted) {
              if (unwanted.number != next) bench::must(jzx::Errc::unknown, "order");
              ++next;
            });
          }
          done.resolve(sum);
        }));
    const jzx::Pid fiber = bench::await(std::move(ready));
    watch.start();
    bench::must(fiber.send(Pong{}), "start");
    const std::uint64_t sum = bench::await(std::move(future));
    watch.stop();
    BENCH_CHECK_COUNT(sum, std::uint64_t{kReceives} * (kReceives - 1) / 2);
    BENCH_CHECK(jzx::ok(runtime.run()));  // returns when nobody is alive
    return std::uint64_t{kReceives};
  });
}
BENCHMARK(selective_receive)->Arg(0)->Arg(10'000);

}  // namespace
