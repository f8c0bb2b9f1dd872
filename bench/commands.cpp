// Commands of the deterministic scheduler.
//
// Promises guarded:
//   command/sim        one command: a send that is processed, with a handler that returns one
//                      action; at most 30 ns. Two actors and one ball, so the queue is short.
//   command_wide/sim   the same with 1000 balls in the queue. No goal of its own.
//   command_log/sim    command/sim with the log on: what the log costs. No goal of its own.
#include <cstdint>
#include <jzx/sim/command_scheduler.hpp>

#include "support.hpp"

namespace {

constexpr std::uint64_t kCommands = 200'000;

struct Ball {
  std::uint64_t hits = 0;
};

struct Player {
  jzx::ActorId peer = 0;
  std::uint64_t* left = nullptr;  // shared by all: commands to go
  std::uint64_t* received = nullptr;

  jzx::Actions<Ball> handle(Ball ball, jzx::CommandContext<Ball>& context) {
    ++*received;
    if (*left == 0) return {};
    --*left;
    return context.send(peer, Ball{ball.hits + 1});
  }
};

void rally(benchmark::State& state, std::uint64_t balls, const jzx::CommandOptions& options) {
  jzx::CommandScheduler<Ball> scheduler(options);
  std::uint64_t left = 0;
  std::uint64_t received[2] = {};
  const jzx::ActorId ids[2] = {scheduler.reserve(), scheduler.reserve()};
  for (std::size_t i = 0; i < 2; ++i) {
    BENCH_CHECK(
        scheduler
            .dispatch(scheduler.actions().spawn<Player>(ids[i], ids[1 - i], &left, &received[i]))
            .ok());
  }
  BENCH_CHECK(scheduler.run().end == jzx::RunEnd::idle);

  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    left = kCommands - balls;
    for (std::uint64_t i = 0; i < balls; ++i) {
      BENCH_CHECK(scheduler.dispatch_to(ids[0], Ball{}).ok());
    }
    watch.start();
    const jzx::RunReport report = scheduler.run();
    watch.stop();
    BENCH_CHECK(report.end == jzx::RunEnd::idle);
    BENCH_CHECK_COUNT(report.commands, kCommands);
    items += kCommands;
    BENCH_CHECK_COUNT(received[0] + received[1], items);
  }
  BENCH_CHECK_COUNT(received[0], received[1]);
  bench::report(state, items, watch);
}

void command_sim(benchmark::State& state) { rally(state, 1, {}); }
BENCHMARK(command_sim)->Name("command/sim");

void command_wide(benchmark::State& state) { rally(state, 1000, {}); }
BENCHMARK(command_wide)->Name("command_wide/sim");

void command_log(benchmark::State& state) {
  jzx::CommandOptions options;
  options.keeps_log = true;
  rally(state, 1, options);
}
BENCHMARK(command_log)->Name("command_log/sim");

}  // namespace
