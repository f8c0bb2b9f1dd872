#include "runtime/spawn_request.hpp"

#include "core/bonds.hpp"

namespace jzx::runtime {

namespace {

// All or nothing. The link comes last: whoever it is for would be told of the end of a start that
// is called off, or end with it; a monitor can be taken back before that.
Errc bind(core::Host& host, ActorId id, const detail::SpawnRequest& request) noexcept {
  uint64_t ref = 0;
  if (request.watcher != core::kNobody) {
    const Errc error = core::monitor(host, request.watcher, id, ref);
    if (!ok(error)) return error;
  }
  if (request.link != core::kNobody) {
    const Errc error = core::link(host, request.link, id);
    if (!ok(error)) {
      if (ref != 0) (void)core::demonitor(host, ref);
      return error;
    }
  }
  if (ref != 0 && request.monitor_ref != nullptr) *request.monitor_ref = ref;
  return Errc::ok;
}

}  // namespace

Spawned spawn_and_bind(core::Host& host, const core::SpawnOptions& options,
                       const detail::SpawnRequest& request, ActorId& out) noexcept {
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
