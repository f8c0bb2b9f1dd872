// From what the typed edge asks for to what the core spawns, for all bodies alike.
#pragma once

#include <jzx/detail/port.hpp>

#include "core/lifecycle.hpp"

namespace jzx::runtime {

// All but the body. `host` is the one that will spawn it.
[[nodiscard]] core::SpawnOptions spawn_options(const core::Host& host,
                                               const detail::SpawnRequest& request) noexcept;

struct Spawned {
  Errc error = Errc::ok;
  bool is_body_ended = false;  // it lived, but could not be bound as it should be
};

// Spawns it, linked and monitored as the request says before it has its first turn.
[[nodiscard]] Spawned spawn_bound(core::Host& host, const core::SpawnOptions& options,
                                  const detail::SpawnRequest& request, ActorId& out) noexcept;

}  // namespace jzx::runtime
