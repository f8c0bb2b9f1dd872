// Timers: scheduling and cancelling while many are pending.
//
// Promises guarded: timer_schedule at most 25 ns and timer_cancel at most 9 ns, the same
// with 100,000 pending as with 1,000,000 (delays are random, 1 to 10 s).
//   timer_cancel          takes back the 1,000 most recently armed
//   timer_cancel_random   takes random victims: cache misses, no goal
//
// Each timed batch includes a tick of the loop, so that work which the calls leave to the
// tick (stamping, placing, unlinking) is paid inside the figure. Nothing may come due
// while it is measured, so the pending set is built anew before its first second is over,
// and a batch in which something did is dropped.
#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <vector>

#include "support.hpp"

namespace {

constexpr std::size_t kBatch = 1000;
constexpr std::uint32_t kTagTimer = 1;
constexpr auto kFreshFor = std::chrono::milliseconds(700);

jzx_behavior_result count_fired(jzx_context* ctx, const jzx_message*) {
  ++*static_cast<std::uint64_t*>(ctx->state);
  return JZX_BEHAVIOR_OK;
}

// A loop with `pending` timers armed, none of them due soon.
class PendingTimers {
 public:
  explicit PendingTimers(std::size_t pending) : background_(pending) { build(); }

  // Call between batches, outside the timed part.
  void keep_fresh() {
    draw_delays();
    if (fired_ > 0 || std::chrono::steady_clock::now() - built_at_ > kFreshFor) build();
  }

  // A machine that stood still for long enough lets timers come due within a batch, and
  // then the batch does not count. A library too slow to arm them in time ends with no
  // batch at all, which `report` refuses.
  bool some_came_due() const { return fired_ > 0; }

  // Arms one batch; returns how many were refused.
  std::uint64_t schedule_batch() {
    std::uint64_t errors = 0;
    for (std::size_t i = 0; i < kBatch; ++i) errors += arm(delays_[i], &batch_[i]);
    return errors + tick();
  }

  std::uint64_t cancel_batch() {
    std::uint64_t errors = 0;
    for (const jzx_timer_id id : batch_) errors += jzx_cancel_timer(loop_.get(), id) != JZX_OK;
    return errors + tick();
  }

  // Moves random victims out of the pending set into the batch: cancel_batch ends them.
  void pick_victims() {
    for (std::size_t i = 0; i < kBatch; ++i) {
      // One victim from each of kBatch equal stretches: random, and never the same twice.
      const std::size_t stretch = background_.size() / kBatch;
      victims_[i] = i * stretch + random_() % stretch;
      batch_[i] = background_[victims_[i]];
    }
    std::shuffle(batch_.begin(), batch_.end(), random_);
  }

  void replace_victims() {
    std::uint64_t errors = 0;
    for (std::size_t i = 0; i < kBatch; ++i) errors += arm(delays_[i], &background_[victims_[i]]);
    BENCH_CHECK_COUNT(errors + tick(), 0);
  }

  // A cancelled timer is gone: cancelling the batch again is refused throughout.
  void check_batch_is_gone() {
    for (const jzx_timer_id id : batch_)
      BENCH_CHECK_COUNT(jzx_cancel_timer(loop_.get(), id), JZX_ERR_TIMER_INVALID);
  }

 private:
  void build() {
    loop_.reset();
    fired_ = 0;
    loop_ = bench::make_loop();
    target_ = bench::spawn(loop_, count_fired, &fired_);
    built_at_ = std::chrono::steady_clock::now();
    std::uint64_t errors = 0;
    for (jzx_timer_id& id : background_) errors += arm(random_delay_ms(), &id);
    BENCH_CHECK_COUNT(errors + tick(), 0);
    draw_delays();
  }

  void draw_delays() {
    for (std::uint32_t& delay : delays_) delay = random_delay_ms();
  }

  std::uint32_t random_delay_ms() { return 1000 + static_cast<std::uint32_t>(random_() % 9001); }

  std::uint64_t arm(std::uint32_t delay_ms, jzx_timer_id* out) {
    return jzx_send_after(loop_.get(), target_, delay_ms, nullptr, 0, kTagTimer, out) != JZX_OK;
  }

  std::uint64_t tick() { return jzx_loop_run_once(loop_.get(), 0) != 1; }

  bench::Loop loop_;
  jzx_actor_id target_ = 0;
  std::uint64_t fired_ = 0;
  std::chrono::steady_clock::time_point built_at_;
  std::mt19937 random_{12345};
  std::vector<jzx_timer_id> background_;
  std::array<std::uint32_t, kBatch> delays_{};
  std::array<jzx_timer_id, kBatch> batch_{};
  std::array<std::size_t, kBatch> victims_{};
};

void timer_schedule(benchmark::State& state) {
  PendingTimers timers(static_cast<std::size_t>(state.range(0)));
  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    timers.keep_fresh();
    watch.start();
    const std::uint64_t errors = timers.schedule_batch();
    watch.stop();
    if (timers.some_came_due()) {
      watch.take_back();
      continue;
    }
    BENCH_CHECK_COUNT(errors, 0);
    BENCH_CHECK_COUNT(timers.cancel_batch(), 0);  // every one of them was really pending
    items += kBatch;
  }
  bench::report(state, items, watch);
}
BENCHMARK(timer_schedule)->Arg(100'000)->Arg(1'000'000);

void timer_cancel(benchmark::State& state) {
  PendingTimers timers(static_cast<std::size_t>(state.range(0)));
  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    timers.keep_fresh();
    BENCH_CHECK_COUNT(timers.schedule_batch(), 0);
    watch.start();
    const std::uint64_t errors = timers.cancel_batch();
    watch.stop();
    if (timers.some_came_due()) {
      watch.take_back();
      continue;
    }
    BENCH_CHECK_COUNT(errors, 0);
    timers.check_batch_is_gone();
    items += kBatch;
  }
  bench::report(state, items, watch);
}
BENCHMARK(timer_cancel)->Arg(100'000)->Arg(1'000'000);

void timer_cancel_random(benchmark::State& state) {
  PendingTimers timers(static_cast<std::size_t>(state.range(0)));
  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    timers.keep_fresh();
    timers.pick_victims();
    watch.start();
    const std::uint64_t errors = timers.cancel_batch();
    watch.stop();
    if (timers.some_came_due()) {
      watch.take_back();
      continue;
    }
    BENCH_CHECK_COUNT(errors, 0);
    timers.check_batch_is_gone();
    timers.replace_victims();
    items += kBatch;
  }
  bench::report(state, items, watch);
}
BENCHMARK(timer_cancel_random)->Arg(100'000)->Arg(1'000'000);

}  // namespace
