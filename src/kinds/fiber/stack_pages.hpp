// What stack memory asks of the system: slabs of address space, guards in them, and how many
// mappings there may be. Nothing here knows of classes, batches or free stacks.
//
// Threads: any. The count of reserved mappings is shared by all systems of a process, since the
// limit is the process's; nothing but the kind of guard depends on it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kinds/fiber/stack_memory.hpp"

namespace jzx::kinds {

// kSlabSize bytes at a multiple of that, without huge pages. nullptr: there is no more.
[[nodiscard]] std::byte* map_slab() noexcept;
void unmap_slab(void* slab) noexcept;

// Makes the page a guard for the stack above it. False: errno says why; a canary always succeeds.
[[nodiscard]] bool install_guard(Guard guard, std::byte* page) noexcept;

// The first guard from `wanted` on that works here.
[[nodiscard]] Guard probe_guard(Guard wanted) noexcept;

// Half of what the system allows this process: the rest is the user's.
[[nodiscard]] uint64_t mappings_for_guards() noexcept;

// False: with what is reserved already, that would be more than `allowed`.
[[nodiscard]] bool reserve_mappings(uint64_t count, uint64_t allowed) noexcept;
void release_mappings(uint64_t count) noexcept;
[[nodiscard]] uint64_t reserved_mappings() noexcept;

}  // namespace jzx::kinds
