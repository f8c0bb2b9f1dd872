// Timers that deliver a message to an actor: once, never early, in the user's share of the mailbox.
// A due timer whose target is full waits at the target and is delivered at the end of the turn that
// makes room. When the target ends its timers are dead-lettered.
//
// A record is the envelope too, so that firing needs no memory. It belongs to a host, hangs in that
// host's wheel and in a list of its target, and is in one of three states:
//
//   armed ──▶ firing ──▶ delivered: the id is stale
//     │          └─────▶ waiting for room ──▶ delivered
//     └ cancelled, target ended               └ cancelled, target ended
//
// The lock of its host's timers decides: who takes it out of the wheel (the firing worker, a
// cancel from any thread, the end of the target) owns it, and so does who finds it waiting, under
// the target's lock too. Nobody else may touch it then, so a cancel that answers ok is exact: the
// message was not and will not be delivered. A cancel that meets it firing looks again, until it
// is delivered or waiting. (A wheel with a lock and not an atomic step with the unlinking left to
// the owner: the record and its message are free at once, not when a sleeping worker wakes.)
//
// Threads: the host's own; the timer may be another host's.
#pragma once

#include <jzx/errc.hpp>

#include "core/host.hpp"

namespace jzx::core {

// A record bound to its target, with the message still to be written into it; nullptr and an
// error if there is no such actor or no memory.
[[nodiscard]] MessageTimer* make_timer(Host& host, ActorId target, Errc& error) noexcept;
// Starts it; the answer is its id.
[[nodiscard]] uint64_t arm_timer(Host& host, MessageTimer& timer, uint64_t delay_ms) noexcept;

// ok: the message will not be delivered, and has been discarded.
[[nodiscard]] Errc cancel_timer(Host& host, uint64_t id) noexcept;

void deliver_waiting_timers(Host& host, Actor& actor) noexcept;

// The target ends.
void abandon_timers(Host& host, Actor& target, DeadLetterReason reason) noexcept;

[[nodiscard]] inline Host& timer_owner(System& system, const MessageTimer& timer) noexcept {
  return *system.timer_host(timer.home());
}

}  // namespace jzx::core
