// What the core's mailbox and turn lack for a body that keeps a message across turns: a message
// whose handler is suspended counts as queued until it is done.
//
//   today     Turn::take() counts the message as handled at once, and the turn's end finishes it
//   wanted    take it out without counting; count it when its handler is done
//
// Since only `handled` moves later, everything else follows: the ledger balances while the handler
// is suspended, the message takes up its room in the mailbox, and the slot cannot retire before it.
// Here it is done by hand on the actor's fields; in the core it would be Turn::hold() (the message
// in hand is the body's, and uncounted) and Turn::release(envelope) (counts and finishes it), and
// park() would be asked with handled + held for bodies that wait for mail while they hold some.
#pragma once

#include "core/turn.hpp"

namespace jzx::contracts {

// The next message, still counted as queued; nullptr: none.
[[nodiscard]] inline Envelope* take_held(core::Actor& actor) {
  if (!core::has_mail(actor)) return nullptr;
  Envelope* envelope = actor.inbox.oldest();
  actor.inbox.remove(*envelope);
  return envelope;
}

inline void count_taken(core::Actor& actor, const Envelope& envelope) {
  // relaxed: as in core::take().
  actor.handled.store(core::handled_count(actor) + 1, std::memory_order_relaxed);
  if ((envelope.flags & Envelope::kSystem) != 0) {
    actor.system_queued.fetch_sub(1, std::memory_order_relaxed);
  }
}

// Its handler is done.
inline void finish_held(core::Host& host, core::Actor& actor, Envelope& envelope) {
  count_taken(actor, envelope);
  host.finish(envelope);
}

// Its handler will never be done.
inline void abandon_held(core::Host& host, core::Actor& actor, Envelope& envelope) {
  count_taken(actor, envelope);
  if ((envelope.flags & Envelope::kSystem) != 0) {
    host.discard(envelope);
  } else {
    host.dead_letter(actor.id(), envelope, DeadLetterReason::target_gone);
  }
}

}  // namespace jzx::contracts
