// What an actor costs: to start, to end, and to keep.
//
// Promises guarded:
//   spawn/loop           spawn and stop with the default mailbox: at most 35 ns an actor.
//   spawn_message/loop   spawn, one message, STOP. No goal of its own; it shows what the
//                        first message adds.
//   idle_actor           1,000,000 live idle actors, by resident memory: at most 160 bytes
//                        each. Every one has handled a message before it is weighed, so
//                        memory that only use would reveal is counted.
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <vector>

#include "support.hpp"

namespace {

constexpr std::size_t kAlive = 1000;  // at most this many at a time
constexpr std::size_t kRounds = 100;
constexpr std::uint32_t kTagHello = 1;

jzx_behavior_result count_and_stay(jzx_context* ctx, const jzx_message*) {
  ++*static_cast<std::uint64_t*>(ctx->state);
  return JZX_BEHAVIOR_OK;
}

jzx_behavior_result count_and_stop(jzx_context* ctx, const jzx_message*) {
  ++*static_cast<std::uint64_t*>(ctx->state);
  return JZX_BEHAVIOR_STOP;
}

// Ticks until nobody is alive; gives up instead of hanging when they never end.
bool run_until_empty(jzx_loop* loop) {
  for (std::size_t tick = 0; tick < 10 * kAlive; ++tick) {
    const int again = jzx_loop_run_once(loop, 0);
    if (again <= 0) return again == 0;
  }
  return false;
}

// The spawned ones are really gone: each id is refused and none was given twice.
void check_all_gone(jzx_loop* loop, const std::array<jzx_actor_id, kAlive>& ids) {
  for (const jzx_actor_id id : ids) {
    BENCH_CHECK(id != 0);
    BENCH_CHECK_COUNT(jzx_send(loop, id, nullptr, 0, kTagHello), JZX_ERR_NO_SUCH_ACTOR);
  }
}

void spawn_loop(benchmark::State& state) {
  const bench::Loop loop = bench::make_loop();
  std::uint64_t handled = 0;
  jzx_spawn_opts opts{};
  opts.behavior = count_and_stay;
  opts.state = &handled;
  std::array<jzx_actor_id, kAlive> ids{};
  std::array<jzx_actor_id, kAlive> earlier{};

  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    std::uint64_t errors = 0;
    watch.start();
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (jzx_actor_id& id : ids) errors += jzx_spawn(loop.get(), &opts, &id) != JZX_OK;
      for (const jzx_actor_id id : ids) errors += jzx_actor_stop(loop.get(), id) != JZX_OK;
      errors += !run_until_empty(loop.get());
    }
    watch.stop();
    BENCH_CHECK_COUNT(errors, 0);
    check_all_gone(loop.get(), ids);
    for (std::size_t i = 0; i < kAlive; ++i) BENCH_CHECK(ids[i] != earlier[i]);
    earlier = ids;
    items += kAlive * kRounds;
  }
  BENCH_CHECK_COUNT(handled, 0);  // nobody sent anything
  bench::report(state, items, watch);
}
BENCHMARK(spawn_loop)->Name("spawn/loop");

void spawn_message_loop(benchmark::State& state) {
  const bench::Loop loop = bench::make_loop();
  std::uint64_t handled = 0;
  jzx_spawn_opts opts{};
  opts.behavior = count_and_stop;
  opts.state = &handled;
  std::array<jzx_actor_id, kAlive> ids{};

  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    std::uint64_t errors = 0;
    watch.start();
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (jzx_actor_id& id : ids) {
        errors += jzx_spawn(loop.get(), &opts, &id) != JZX_OK;
        errors += jzx_send(loop.get(), id, nullptr, 0, kTagHello) != JZX_OK;
      }
      errors += !run_until_empty(loop.get());
    }
    watch.stop();
    BENCH_CHECK_COUNT(errors, 0);
    items += kAlive * kRounds;
    BENCH_CHECK_COUNT(handled, items);
    check_all_gone(loop.get(), ids);
  }
  bench::report(state, items, watch);
}
BENCHMARK(spawn_message_loop)->Name("spawn_message/loop");

constexpr std::size_t kIdleActors = 1'000'000;
static_assert(kIdleActors % kAlive == 0);

// Gives every actor its one message, a thousand at a time, so that the messages in
// flight do not weigh in.
std::uint64_t populate(jzx_loop* loop, std::uint64_t& handled) {
  jzx_spawn_opts opts{};
  opts.behavior = count_and_stay;
  opts.state = &handled;
  std::uint64_t errors = 0;
  for (std::size_t spawned = 0; spawned < kIdleActors; spawned += kAlive) {
    for (std::size_t i = 0; i < kAlive; ++i) {
      jzx_actor_id id = 0;
      errors += jzx_spawn(loop, &opts, &id) != JZX_OK;
      errors += jzx_send(loop, id, nullptr, 0, kTagHello) != JZX_OK;
    }
    for (std::size_t tick = 0; handled < spawned + kAlive && tick < kAlive; ++tick)
      errors += jzx_loop_run_once(loop, 0) != 1;
  }
  return errors;
}

void idle_actor(benchmark::State& state) {
  jzx_config config = bench::default_config();
  config.max_actors = kIdleActors + 16;
  bench::Stopwatch watch;
  std::uint64_t items = 0;
  double bytes = 0;
  for (auto _ : state) {
    // What earlier benchmarks freed must go back to the system, or it would be reused
    // here and not be seen as growth.
    malloc_trim(0);
    const std::uint64_t before = bench::resident_bytes();
    std::uint64_t handled = 0;
    watch.start();
    bench::Loop loop = bench::make_loop(config);
    const std::uint64_t errors = populate(loop.get(), handled);
    watch.stop();
    BENCH_CHECK_COUNT(errors, 0);
    BENCH_CHECK_COUNT(handled, kIdleActors);
    const std::uint64_t after = bench::resident_bytes();
    BENCH_CHECK(after > before);
    BENCH_CHECK_COUNT(jzx_loop_run_once(loop.get(), 0), 1);  // all of them still alive
    bytes += static_cast<double>(after - before);
    items += kIdleActors;
  }
  bench::report(state, items, watch);
  state.counters["bytes_per_item"] = bytes / static_cast<double>(items);
}
BENCHMARK(idle_actor)->Name("idle_actor");

}  // namespace
