#include "kinds/fiber/host_stacks.hpp"

namespace jzx::kinds {

namespace {

SystemStacks* make_system_stacks(core::System& system) noexcept {
  auto* made = system.allocator.create<SystemStacks>();
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

HostStacks* make_host_stacks(core::Host& host) noexcept {
  SystemStacks* shared = stacks_of(host.system);
  if (shared == nullptr) shared = make_system_stacks(host.system);
  if (shared == nullptr) return nullptr;
  auto* made = host.system.allocator.create<HostStacks>(shared->memory);
  host.store = made;
  return made;
}

}  // namespace jzx::kinds
