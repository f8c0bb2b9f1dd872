// What the workers of one system share besides the system: each other, who is idle, what came from
// outside, the pool for work that blocks. It decides where work goes that does not stay where it
// was woken, and whom to wake for it.
//
// Lifetime: made before the workers, which add themselves, and ended after them. Threads: any,
// except for add().
#pragma once

#include "base/executor.hpp"
#include "drivers/loop/blocking_pool.hpp"
#include "drivers/workers/idle.hpp"
#include "drivers/workers/injection.hpp"
#include "drivers/workers/stall_watch.hpp"

namespace jzx::core {
class System;
}

namespace jzx::drivers {

class SharedWorker;

struct GroupOptions {
  uint32_t workers = 1;
  uint32_t cores = 1;  // that the process may use
  uint32_t local_queue = 256;
  uint64_t injection_high_water = 65536;
  uint32_t steal_batch = 32;
};

class WorkerGroup {
 public:
  WorkerGroup(core::System& the_system, const GroupOptions& the_options) noexcept;

  // Before any of them runs, in the order of their numbers.
  void add(SharedWorker& worker) noexcept { workers_[count_++] = &worker; }

  [[nodiscard]] uint32_t size() const noexcept { return count_; }
  // Several: one thread may look around while another works.
  [[nodiscard]] bool has_cores() const noexcept { return options.cores > 1; }
  [[nodiscard]] SharedWorker& worker(uint32_t index) const noexcept { return *workers_[index]; }

  // The workers take turns. relaxed: any of them will do.
  [[nodiscard]] SharedWorker& next_worker() noexcept {
    return *workers_[next_.fetch_add(1, std::memory_order_relaxed) % count_];
  }

  // Work that does not stay where it was woken: pinned elsewhere, for the blocking pool, by hand,
  // or from a thread that is no worker.
  void route(base::Runnable& work) noexcept;

  // There is work that anybody may take: somebody should know.
  void wake_one() noexcept { wake_if_any(idle.worker_to_wake()); }

  // A worker has more to do than it will get done soon: one that naps should look.
  void call_napper() noexcept { wake_if_any(idle.napper_to_call()); }

  // Is there anything that an idle worker could take? `except` looks at its own queues itself.
  [[nodiscard]] bool has_stealable(uint32_t except) const noexcept;

  // What the injection says about its mark.
  void tell_if_high(uint64_t waiting) noexcept {
    if (waiting != 0) [[unlikely]]
      tell_high(waiting);
  }

  // A worker found that no actor is alive.
  void nobody_is_left() noexcept { on_nobody_left(on_nobody_left_context); }
  void (*on_nobody_left)(void* context) = [](void*) {};
  void* on_nobody_left_context = nullptr;

  core::System& system;
  const GroupOptions options;
  Idle idle;
  Injection injection;
  BlockingPool* blocking = nullptr;
  StallWatch* watch = nullptr;

 private:
  void inject(base::Runnable& work) noexcept;
  void tell_high(uint64_t waiting) noexcept;
  void wake(uint32_t worker) noexcept;
  void wake_if_any(uint32_t worker) noexcept {
    if (worker != Idle::kNone) [[unlikely]]
      wake(worker);
  }

  uint32_t count_ = 0;
  base::Atomic<uint32_t> next_{0};
  SharedWorker* workers_[Idle::kMaxWorkers] = {};
};

}  // namespace jzx::drivers
