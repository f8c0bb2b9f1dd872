// A supervised child that is a C behaviour.
#pragma once

#include <jzx/jzx.h>

#include "supervise/supervisor.hpp"

namespace jzx::runtime {

// nullptr: no memory.
[[nodiscard]] supervise::ChildFactory* make_behaviour_child(const base::Allocator& allocator,
                                                            const jzx_child_spec& spec) noexcept;

// The same for an actor without a supervisor's spec.
[[nodiscard]] Errc spawn_behaviour(core::Host& host, const jzx_spawn_opts& options,
                                   ActorId& out) noexcept;

}  // namespace jzx::runtime
