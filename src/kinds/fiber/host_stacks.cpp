#include "kinds/fiber/host_stacks.hpp"

namespace jzx::kinds {

namespace {

struct SystemStacks final : core::KindStore {
  void end(const base::Allocator& allocator) noexcept override { allocator.destroy(this); }
  StackMemory memory;
};

struct HostStacks final : core::KindStore {
  explicit HostStacks(StackMemory& memory) noexcept : pool(memory) {}
  void end(const base::Allocator& allocator) noexcept override { allocator.destroy(this); }
  StackPool pool;
};

StackMemory* make_memory(core::System& system) noexcept {
  auto* made = system.allocator.create<SystemStacks>();
  if (made == nullptr) return nullptr;
  core::KindStore* before = nullptr;
  // release: publishes it; acquire: another thread was first. Both pair with stack_memory_of().
  if (system.store.compare_exchange_strong(before, made, std::memory_order_acq_rel,
                                           std::memory_order_acquire)) {
    return &made->memory;
  }
  made->end(system.allocator);
  return &static_cast<SystemStacks*>(before)->memory;
}

[[gnu::noinline]] StackPool* make_pool(core::Host& host) noexcept {
  StackMemory* memory = stack_memory_of(host.system);
  if (memory == nullptr) memory = make_memory(host.system);
  if (memory == nullptr) return nullptr;
  auto* made = host.system.allocator.create<HostStacks>(*memory);
  if (made == nullptr) return nullptr;
  host.store = made;
  return &made->pool;
}

}  // namespace

StackPool* stacks_of(core::Host& host) noexcept {
  if (host.store == nullptr) [[unlikely]]
    return make_pool(host);
  return &static_cast<HostStacks*>(host.store)->pool;
}

StackMemory* stack_memory_of(core::System& system) noexcept {
  // acquire: pairs with make_memory().
  auto* made = static_cast<SystemStacks*>(system.store.load(std::memory_order_acquire));
  return made != nullptr ? &made->memory : nullptr;
}

}  // namespace jzx::kinds
