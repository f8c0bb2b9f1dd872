// A host for threads that are no workers: those of the blocking pool, and, one at a time, foreign
// threads that call in. It runs nothing by itself; what is submitted here goes to the workers, and
// its timers are theirs.
//
// Threads: one at a time; post(), keeper() and timer_home() by any.
#pragma once

#include "base/prng.hpp"
#include "base/time/clock.hpp"
#include "core/host.hpp"
#include "drivers/workers/worker_group.hpp"

namespace jzx::drivers {

class SideHost final : public core::Host, public BlockingPool::ThreadHost {
 public:
  SideHost(WorkerGroup& group, base::Clock& clock, uint32_t messages_per_turn_,
           uint64_t seed) noexcept;

  void post(base::Runnable& work) override { group_.route(work); }
  uint64_t now_ns() override { return clock_.now_ns(); }
  void arm(base::Timer& timer, uint64_t delay_ms) override;
  bool disarm(base::Timer&) override { return false; }  // it arms none
  base::Executor& keeper() noexcept override { return timer_home_elsewhere(); }
  uint32_t choose(uint32_t count, base::ChoiceSite) override { return prng_.below(count); }
  bool post_blocking(base::Runnable& work) override;
  io::Reactor& io() override;

  void submit_elsewhere(base::Runnable& work) noexcept override;
  void submit_last(base::Runnable& work, bool) noexcept override { submit_elsewhere(work); }
  core::Host& timer_home_elsewhere() noexcept override;
  bool unlink_timer(base::Timer&) noexcept override { return false; }
  void release_watches(core::Actor& actor) noexcept override;

  // ---- BlockingPool::ThreadHost ----
  void begin_thread() noexcept override { enter_thread(); }
  void end_thread() noexcept override { leave_thread(nullptr); }
  void run_work(base::Runnable& work, bool is_halted) noexcept override;

  void enter_thread() noexcept { set_current(this); }
  void leave_thread(base::Executor* outer) noexcept { set_current(outer); }

 private:
  WorkerGroup& group_;
  base::Clock& clock_;
  base::Prng prng_;
  base::Atomic<uint32_t> next_worker_{0};
};

}  // namespace jzx::drivers
