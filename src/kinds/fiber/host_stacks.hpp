// Where a host finds stacks: a pool per host over one memory per system, both made when the first
// fiber needs them, and ended with them. Beside them, how deep stacks have been.
//
// Threads: the host's own.
#pragma once

#include "core/host.hpp"
#include "kinds/fiber/stack_marks.hpp"
#include "kinds/fiber/stack_pool.hpp"

namespace jzx::kinds {

struct HostStacks final : core::KindStore {
  explicit HostStacks(StackMemory& memory) noexcept : pool(memory) {}
  void end(const base::Allocator& allocator) noexcept override { allocator.destroy(this); }

  StackPool pool;
  Sampler sampler;
};

struct SystemStacks final : core::KindStore {
  explicit SystemStacks(core::System& own) noexcept;
  ~SystemStacks();
  void end(const base::Allocator& allocator) noexcept override { allocator.destroy(this); }

  StackMemory memory;
  StackMarks marks;
  core::System& system;
  SystemStacks* next = nullptr;  // in the debuggers' list of all systems
};

[[nodiscard]] HostStacks* make_host_stacks(core::Host& host) noexcept;
// nullptr: no memory.
[[nodiscard]] inline HostStacks* stacks_of(core::Host& host) noexcept {
  if (host.store == nullptr) [[unlikely]]
    return make_host_stacks(host);
  return static_cast<HostStacks*>(host.store);
}

// nullptr: no fiber has needed any yet.
[[nodiscard]] inline SystemStacks* stacks_of(const core::System& system) noexcept {
  // acquire: pairs with make_host_stacks().
  return static_cast<SystemStacks*>(system.store.load(std::memory_order_acquire));
}

}  // namespace jzx::kinds
