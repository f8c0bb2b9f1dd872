#include "drivers/workers/worker_group.hpp"

#include "core/actor.hpp"
#include "core/system.hpp"
#include "drivers/workers/shared_worker.hpp"

namespace jzx::drivers {

WorkerGroup::WorkerGroup(core::System& the_system, const GroupOptions& the_options) noexcept
    : system(the_system),
      options(the_options),
      idle(the_options.workers),
      injection(the_options.injection_high_water) {}

void WorkerGroup::wake(uint32_t worker) noexcept { workers_[worker]->io().wake(); }

void WorkerGroup::route(base::Runnable& work) noexcept {
  work.standing.no_longer_fresh();  // whoever held it back has let it go
  switch (work.home()) {
    case base::kAnyWorker:
      return inject(work);
    case base::kBlockingPool:
      // Without a thread to block, a worker has to: late is better than never.
      if (!blocking->post(work)) inject(work);
      return;
    case base::kByHand:
      return static_cast<core::Actor&>(work).note_ready_by_hand();
    default:
      return workers_[work.home()]->post_pinned(work);
  }
}

void WorkerGroup::inject(base::Runnable& work) noexcept {
  tell_if_high(injection.push(work));
  const uint32_t worker = idle.worker_to_wake_or_call();
  if (worker != Idle::kNone) return wake(worker);
  next_worker().tell_news();  // all are busy: one of them is to look after its turn
}

void WorkerGroup::tell_high(uint64_t waiting) noexcept {
  if (Observer* observer = system.observer()) observer->injection_high(waiting);
}

bool WorkerGroup::has_stealable(uint32_t except) const noexcept {
  if (!injection.empty()) return true;
  for (uint32_t i = 0; i < count_; ++i) {
    if (i != except && workers_[i]->has_stealable()) return true;
  }
  return false;
}

}  // namespace jzx::drivers
