#include "kinds/fiber/host_stacks.hpp"

#include <mutex>

namespace jzx::kinds {

// For debuggers, which have nowhere else to begin (scripts/gdb/jzx_fibers.py): the systems that
// have had fibers, in a list of the process. Nothing that the library does depends on it.
extern SystemStacks* systems_with_fibers;
SystemStacks* systems_with_fibers = nullptr;

namespace {

std::mutex systems_lock;  // of the list; innermost

SystemStacks* make_system_stacks(core::System& system) noexcept {
  auto* made = system.allocator.create<SystemStacks>(system);
  if (made == nullptr) return nullptr;
  core::KindStore* before = nullptr;
  // release: publishes it; acquire: another thread was first. Both pair with stacks_of().
  if (system.store.compare_exchange_strong(before, made, std::memory_order_acq_rel,
                                           std::memory_order_acquire)) {
    return made;
  }
  made->end(system.allocator);
  return static_cast<SystemStacks*>(before);
}

}  // namespace

SystemStacks::SystemStacks(core::System& own) noexcept : system(own) {
  std::lock_guard hold(systems_lock);
  next = systems_with_fibers;
  systems_with_fibers = this;
}

SystemStacks::~SystemStacks() {
  std::lock_guard hold(systems_lock);
  SystemStacks** place = &systems_with_fibers;
  while (*place != this) place = &(*place)->next;
  *place = next;
}

HostStacks* make_host_stacks(core::Host& host) noexcept {
  SystemStacks* shared = stacks_of(host.system);
  if (shared == nullptr) shared = make_system_stacks(host.system);
  if (shared == nullptr) return nullptr;
  auto* made = host.system.allocator.create<HostStacks>(shared->memory);
  host.store = made;
  return made;
}

}  // namespace jzx::kinds
