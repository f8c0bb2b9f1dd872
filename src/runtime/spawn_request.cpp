#include "runtime/spawn_request.hpp"

#include "core/bonds.hpp"

namespace jzx::runtime {

namespace {

constexpr uint8_t kPinnedHere = 252;  // as Placement::pinned()

uint8_t home_for(const core::Host& host, uint8_t wanted) noexcept {
  if (wanted != kPinnedHere) return wanted;
  if (host.index != core::Host::kNoTimers) return host.index;
  // A thread that is no worker's: the workers take turns.
  return static_cast<uint8_t>(host.births.load(std::memory_order_relaxed) % host.system.workers);
}

Errc bind(core::Host& host, ActorId id, const detail::SpawnRequest& request) noexcept {
  if (request.link != core::kNobody) {
    const Errc error = core::link(host, request.link, id);
    if (!ok(error)) return error;
  }
  if (request.watcher == core::kNobody) return Errc::ok;
  uint64_t ref = 0;
  const Errc error = core::monitor(host, request.watcher, id, ref);
  if (ok(error) && request.monitor_ref != nullptr) *request.monitor_ref = ref;
  return error;
}

}  // namespace

core::SpawnOptions spawn_options(const core::Host& host,
                                 const detail::SpawnRequest& request) noexcept {
  core::SpawnOptions options;
  options.label = request.label;
  options.mailbox_cap = request.mailbox_cap;
  options.parent = request.parent;
  options.priority = static_cast<base::Priority>(request.priority);
  options.home = home_for(host, request.home);
  options.overload = static_cast<core::Overload>(request.overload);
  options.high_water = request.high_water;
  return options;
}

Spawned spawn_bound(core::Host& host, const core::SpawnOptions& options,
                    const detail::SpawnRequest& request, ActorId& out) noexcept {
  if (request.link == core::kNobody && request.watcher == core::kNobody) [[likely]]
    return {core::spawn(host, options, out), false};
  host.hold_back();
  Spawned spawned{core::spawn(host, options, out), false};
  if (ok(spawned.error)) {
    spawned.error = bind(host, out, request);
    spawned.is_body_ended = !ok(spawned.error);
    if (spawned.is_body_ended) core::abort_start(host, out);
  }
  host.let_go();
  return spawned;
}

}  // namespace jzx::runtime
