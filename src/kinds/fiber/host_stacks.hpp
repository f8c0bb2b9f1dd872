// Where a host finds stacks: a pool per host over one memory per system, both made when the first
// fiber needs them, and ended with them.
//
// Threads: the host's own.
#pragma once

#include "core/host.hpp"
#include "kinds/fiber/stack_pool.hpp"

namespace jzx::kinds {

// nullptr: no memory.
[[nodiscard]] StackPool* stacks_of(core::Host& host) noexcept;

// nullptr: no fiber has needed any yet.
[[nodiscard]] StackMemory* stack_memory_of(core::System& system) noexcept;

}  // namespace jzx::kinds
