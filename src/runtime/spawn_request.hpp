// From what the typed edge asks for to what the core spawns, for all bodies alike.
#pragma once

#include <cstddef>
#include <cstring>

#include <jzx/detail/port.hpp>

#include "core/lifecycle.hpp"

namespace jzx::runtime {

// All but the body. `host` is the one that will spawn it.
[[nodiscard]] inline core::SpawnOptions spawn_options(
    const core::Host& host, const detail::SpawnRequest& request) noexcept {
  core::SpawnOptions options;
  options.label = request.label;
  options.mailbox_cap = request.mailbox_cap;
  options.parent = request.parent;
  options.priority = static_cast<base::Priority>(request.priority);
  options.home = core::settle_home(host, request.home);
  options.overload = static_cast<core::Overload>(request.overload);
  options.high_water = request.high_water;
  options.is_quiet = request.is_quiet;
  return options;
}

// Does it ask for nothing but a body, and perhaps a mailbox?
[[nodiscard]] inline bool is_common(const detail::SpawnRequest& request) noexcept {
  using detail::SpawnRequest;
  constexpr SpawnRequest kUsual;
  static_assert(offsetof(SpawnRequest, is_quiet) == offsetof(SpawnRequest, high_water) + 7);
  const uint64_t others =
      reinterpret_cast<uintptr_t>(request.label) | request.parent | request.link | request.watcher;
  return others == 0 && std::memcmp(&request.high_water, &kUsual.high_water, 8) == 0;
}

struct Spawned {
  Errc error = Errc::ok;
  bool is_body_ended = false;  // it lived, but could not be bound as it should be
};

[[nodiscard]] Spawned spawn_and_bind(core::Host& host, const core::SpawnOptions& options,
                                     const detail::SpawnRequest& request, ActorId& out) noexcept;

// Spawns it, linked and monitored as the request says before it has its first turn. `options` have
// the body, and what the request asks for.
[[nodiscard]] inline Spawned spawn_bound(core::Host& host, const core::SpawnOptions& options,
                                         const detail::SpawnRequest& request,
                                         ActorId& out) noexcept {
  if (request.link == core::kNobody && request.watcher == core::kNobody) [[likely]]
    return {core::spawn(host, options, out), false};
  return spawn_and_bind(host, options, request, out);
}

}  // namespace jzx::runtime
