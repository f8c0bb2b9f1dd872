// Restarting a failed child.
//
// Promise guarded: supervisor_restart, at most 600 ns for one full cycle: a message makes
// the child fail, the supervisor hears of it and starts a new one, and the new one is
// found by jzx_supervisor_child_id and takes a message. The intensity is far above what
// the window can hold, so nothing escalates, and the window's upkeep is in the figure.
#include "support.hpp"

namespace {

constexpr std::uint64_t kCycles = 20'000;
constexpr std::uint32_t kIntensity = 100'000;
constexpr std::uint32_t kPeriodMs = 1;
constexpr std::uint32_t kTagBreak = 1;
constexpr std::uint32_t kTagLook = 2;

struct Trial {
  jzx_loop* loop = nullptr;
  jzx_actor_id supervisor = 0;
  jzx_actor_id driver = 0;
  jzx_actor_id last_child = 0;
  std::uint64_t left = 0;
  std::uint64_t starts = 0;
  std::uint64_t failures = 0;
  bool broken = false;
};

// An init function gets no context; one benchmark runs at a time.
Trial* g_trial = nullptr;

// Runs in the supervisor's turn. The driver looks when that turn is over, so it need not
// poll, and the figure holds the two messages of a cycle and nothing else.
jzx_behavior_result start_child(void** out_state) {
  ++g_trial->starts;
  *out_state = g_trial;
  if (g_trial->driver != 0)
    g_trial->broken |= jzx_send(g_trial->loop, g_trial->driver, nullptr, 0, kTagLook) != JZX_OK;
  return JZX_BEHAVIOR_OK;
}

jzx_behavior_result fail_at_once(jzx_context* ctx, const jzx_message*) {
  ++static_cast<Trial*>(ctx->state)->failures;
  return JZX_BEHAVIOR_FAIL;
}

// Finds the new child and makes it fail in its turn.
jzx_behavior_result drive(jzx_context* ctx, const jzx_message*) {
  auto* trial = static_cast<Trial*>(ctx->state);
  jzx_actor_id child = 0;
  trial->broken |= jzx_supervisor_child_id(ctx->loop, trial->supervisor, 0, &child) != JZX_OK;
  trial->broken |= child == trial->last_child;
  trial->last_child = child;
  if (trial->left == 0 || trial->broken) {
    jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  }
  --trial->left;
  trial->broken |= jzx_send(ctx->loop, child, nullptr, 0, kTagBreak) != JZX_OK;
  return JZX_BEHAVIOR_OK;
}

jzx_actor_id spawn_supervisor(const bench::Loop& loop) {
  jzx_child_spec child{};
  child.name = "child";
  child.behavior = fail_at_once;
  child.init = start_child;
  child.mode = JZX_CHILD_PERMANENT;
  jzx_supervisor_init init{};
  init.children = &child;
  init.child_count = 1;
  init.supervisor = {JZX_SUP_ONE_FOR_ONE, kIntensity, kPeriodMs};
  jzx_actor_id id = 0;
  BENCH_CHECK_COUNT(jzx_spawn_supervisor(loop.get(), &init, 0, &id), JZX_OK);
  return id;
}

void supervisor_restart(benchmark::State& state) {
  const bench::Loop loop = bench::make_loop();
  Trial trial;
  g_trial = &trial;
  trial.loop = loop.get();
  trial.supervisor = spawn_supervisor(loop);
  trial.driver = bench::spawn(loop, drive, &trial);

  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    trial.left = kCycles;
    trial.last_child = 0;  // the living child begins the next round too
    BENCH_CHECK_COUNT(jzx_send(loop.get(), trial.driver, nullptr, 0, kTagLook), JZX_OK);
    watch.start();
    const int result = jzx_loop_run(loop.get());
    watch.stop();
    BENCH_CHECK_COUNT(result, 0);
    BENCH_CHECK(!trial.broken);
    items += kCycles;
    BENCH_CHECK_COUNT(trial.failures, items);
    BENCH_CHECK_COUNT(trial.starts, items + 1);
  }
  bench::report(state, items, watch);
  g_trial = nullptr;
}
BENCHMARK(supervisor_restart);

}  // namespace
