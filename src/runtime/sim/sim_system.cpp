#include "runtime/sim/sim_system.hpp"

#include <cstdio>

#include "core/lifecycle.hpp"

namespace jzx::runtime {

namespace {

core::SystemOptions system_options(const SimOptions& options) noexcept {
  core::SystemOptions result;
  result.allocator = options.allocator;
  result.max_actors = options.max_actors;
  result.default_mailbox_cap = options.default_mailbox_cap;
  result.detect_deadlocks = options.detect_deadlocks;
  result.first_generation = 1;  // the same ids in every run
  return result;
}

}  // namespace

SimSystem::SimSystem(const SimOptions& options, drivers::sim::Simulator& sim,
                     io::ReactorPtr reactor) noexcept
    : Port(system_options(options)),
      host(system, sim, std::move(reactor), options.node),
      watches_(host, host.io(), options.max_watches, nullptr) {
  host.port = static_cast<detail::Port*>(this);
  host.end_watches = &drivers::FdWatches::release_all;
}

SimSystem* SimSystem::create(const SimOptions& options, drivers::sim::Simulator& sim,
                             io::ReactorPtr reactor) noexcept {
  return create_aligned<SimSystem>(options.allocator, options, sim, std::move(reactor));
}

core::Host* SimSystem::begin_turn() noexcept {
  if (!is_open()) return nullptr;
  outer_.push_back(base::Executor::current());
  host.enter_thread();
  return &host;
}

void SimSystem::end_turn(core::Host&) noexcept {
  host.leave_thread(outer_.back());
  outer_.pop_back();
}

bool SimSystem::power_off() noexcept {
  if (!is_open()) return true;
  if (base::Executor::current() == &host) {
    std::fputs("jzx: a simulated node cannot be ended from inside its own step; ignored\n", stderr);
    return false;
  }
  host.halted.store(true, std::memory_order_relaxed);  // one thread
  if (!gate_.close()) return false;                    // a callback of this very end
  system.waiting_senders.close();
  gate_.wait_until_empty();
  system.refuse_spawns();
  system.is_closing.store(true, std::memory_order_relaxed);  // one thread
  core::abandon_all(host);
  host.switch_off();
  return true;
}

bool SimSystem::destroy() noexcept {
  if (!power_off()) return false;
  destroy_aligned(system.allocator, this);
  return true;
}

}  // namespace jzx::runtime
