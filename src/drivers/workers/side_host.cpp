#include "drivers/workers/side_host.hpp"

#include "drivers/workers/shared_worker.hpp"

namespace jzx::drivers {

SideHost::SideHost(WorkerGroup& group, base::Clock& clock, uint32_t messages_per_turn_,
                   uint64_t seed) noexcept
    : Host(group.system, kNoTimers, messages_per_turn_), group_(group), clock_(clock), prng_(seed) {
  // A single worker writes to all inboxes as it likes.
  if (group.options.workers == 1) inboxes = core::Inboxes::none;
}

void SideHost::submit_elsewhere(base::Runnable& work) noexcept {
  if (holding_back > 0) return held_back.push(work);
  group_.route(work);
}

// The workers take turns. relaxed: any number will do.
core::Host& SideHost::timer_home_elsewhere() noexcept {
  return group_.worker(next_worker_.fetch_add(1, std::memory_order_relaxed) % group_.size());
}

void SideHost::arm(base::Timer& timer, uint64_t delay_ms) { timer_home().arm(timer, delay_ms); }

bool SideHost::post_blocking(base::Runnable& work) { return group_.blocking->post(work); }

void SideHost::run_work(base::Runnable& work, bool is_halted) noexcept {
  if (is_halted) halted.store(true, std::memory_order_relaxed);  // our own thread's
  work.run(*this);
  // The workers may be asleep, and will not notice.
  if (system.alive_count() == 0) group_.nobody_is_left();
}

io::Reactor& SideHost::io() { return group_.worker(0).io(); }

void SideHost::release_watches(core::Actor& actor) noexcept {
  FdWatches::release_all(system, actor);
}

}  // namespace jzx::drivers
