// Links and monitors: how actors hear of one another's end.
//
// Threads: the host's own; the actors may be anywhere.
#pragma once

#include <jzx/errc.hpp>

#include "core/host.hpp"

namespace jzx::core {

// Linking twice is one link. Whoever dies abnormally takes the other along, unless that one traps
// exits; a normal end kills nobody.
[[nodiscard]] Errc link(Host& host, ActorId a, ActorId b) noexcept;
[[nodiscard]] Errc unlink(Host& host, ActorId a, ActorId b) noexcept;
[[nodiscard]] Errc set_trap_exit(Host& host, ActorId id, bool on) noexcept;

// Exactly one Down to the watcher; at once, with noproc, if the target is gone already.
[[nodiscard]] Errc monitor(Host& host, ActorId watcher, ActorId target, uint64_t& ref) noexcept;
// invalid_arg: there is no such monitor, or its Down is on its way.
[[nodiscard]] Errc demonitor(Host& host, uint64_t ref) noexcept;

// ---- for the lifecycle ----

// The actor ended: tells everyone bound to it and drops the bonds.
void tell_bonds(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept;
// The system ends: drops the bonds without telling anyone.
void drop_bonds(Host& host, Actor& actor) noexcept;

}  // namespace jzx::core
