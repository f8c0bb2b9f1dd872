// Timers that deliver a message to an actor: once, never early, in the user's share of the mailbox.
// A due timer whose target is full waits at the target and is delivered at the end of the turn that
// makes room. When the target ends its timers are dead-lettered.
//
// A record is the envelope too, so that firing needs no memory. Threads: the host's own.
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

}  // namespace jzx::core
