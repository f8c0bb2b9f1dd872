// The mailbox: the part of an actor through which messages come. Bounded, many producers, one
// consumer, FIFO per sender, and without memory of its own: messages queue in their envelopes.
//
//   sender ── admit (one exchange on the state word) ──┬─ was idle: straight into the inbox
//                                                      └─ else: pushed on the arrivals
//   consumer ── take: from the inbox; when that is empty, all arrivals become the inbox
//
// The sender that finds the actor idle owns the inbox until it submits the actor: the consumer
// left it empty when it parked, and nobody else is told to submit. Everyone after it goes through
// the arrivals, which the consumer takes only when the inbox is empty, so order is kept.
//
// A message may be admitted but not yet pushed (its sender was interrupted). Then take() finds
// nothing while park() refuses, and the actor goes around the run queue once more.
#pragma once

#include "core/actor.hpp"

namespace jzx::core {

// May one more user message be queued? `sent` is from the state word; see there why this is exact.
[[nodiscard]] inline bool has_room_for_user(Actor& actor, uint32_t sent) noexcept {
  const auto since = [sent](uint32_t handled) { return (sent - handled) & StateWord::kSentMask; };
  // relaxed, here and below: counters that only grow; the exchange that follows makes it exact.
  const uint32_t limit = actor.user_limit();
  const uint32_t seen = actor.handled_seen.load(std::memory_order_relaxed);
  if (since(StateWord::count_of_mark(seen)) < limit) return true;
  // That was an old look. The consumer's line is read only now, about once per full mailbox.
  const uint32_t handled = actor.handled.load(std::memory_order_relaxed);
  actor.handled_seen.store(StateWord::mark_of_count(handled), std::memory_order_relaxed);
  // `sent` may be older than `handled`, and then the difference wraps; that is an empty queue (and
  // the exchange will fail, since more has been sent).
  const uint32_t difference = since(handled);
  const uint32_t now_queued = difference < StateWord::kSentMask / 4 * 3 ? difference : 0;
  if (now_queued < limit) return true;
  // Counted up before its message is admitted and down after it was taken, so this is not too
  // small, unless a system message was taken since `handled` was read: then look again. A user is
  // never refused because of a system message.
  // acquire: pairs with the release in take(), so that who sees the lower count sees `handled`.
  const uint32_t system = actor.system_queued.load(std::memory_order_acquire);
  if (now_queued < limit + system) return true;
  return actor.handled.load(std::memory_order_relaxed) != handled && has_room_for_user(actor, sent);
}

// In one try, by the last look at `handled`. `full` or `gone`: perhaps; admit_user() knows.
[[nodiscard]] inline Admission admit_user_at_once(Actor& actor, uint32_t generation) noexcept {
  return actor.state.admit_at_once(generation, [&](uint32_t sent_mark) {
    // relaxed, both: as in has_room_for_user().
    return sent_mark - actor.handled_seen.load(std::memory_order_relaxed) <
           actor.user_limit_mark.load(std::memory_order_relaxed);
  });
}

[[nodiscard]] inline Admission admit_user(Actor& actor, uint32_t generation) noexcept {
  return actor.state.admit(generation,
                           [&](uint32_t sent) { return has_room_for_user(actor, sent); });
}

// Puts an admitted message where its admission says. True: submit the actor.
[[nodiscard]] inline bool enqueue(Actor& actor, Envelope& envelope, Admission admission) noexcept {
  if (admission == Admission::first) {
    JZX_ASSERT(actor.inbox == nullptr);
    envelope.next = nullptr;
    actor.inbox = &envelope;
    return true;
  }
  actor.arrivals.push(envelope);
  return false;
}

// The consumer: is there a message in the inbox, now that the arrivals were looked at?
[[nodiscard]] inline bool has_mail(Actor& actor) noexcept {
  if (actor.inbox != nullptr) return true;
  Envelope* arrived = actor.arrivals.take_all();
  if (arrived == nullptr) return false;
  actor.inbox = arrived;
  return true;
}

// The consumer, or while there is none: all mail is in the inbox afterwards, for who wants to see
// it.
inline void gather(Actor& actor) noexcept {
  if (!has_mail(actor)) return;
  Envelope* last = actor.inbox;
  while (last->next != nullptr) last = last->next;
  last->next = actor.arrivals.take_all();
}

// The consumer: `envelope` is the first in the inbox, and no longer counts as queued.
inline void take_from_inbox(Actor& actor, Envelope& envelope, uint32_t flags) noexcept {
  actor.inbox = envelope.next;
  // relaxed: only the consumer writes it; senders need a number that does not run ahead.
  const uint32_t handled = actor.handled.load(std::memory_order_relaxed);
  actor.handled.store(handled + 1, std::memory_order_relaxed);
  if ((flags & Envelope::kSystem) != 0) [[unlikely]] {
    // release: after `handled`; pairs with the acquire in has_room_for_user().
    actor.system_queued.fetch_sub(1, std::memory_order_release);
    // Users refresh their look when they send. Where nobody does, it must not get a lap behind.
    if (handled % (1u << 20) == 0) {
      actor.handled_seen.store(StateWord::mark_of_count(handled), std::memory_order_relaxed);
    }
  }
}

// Both: nullptr if there is none.
[[nodiscard]] inline Envelope* take(Actor& actor) noexcept {
  if (!has_mail(actor)) return nullptr;
  Envelope* envelope = actor.inbox;
  take_from_inbox(actor, *envelope, envelope->flags);
  return envelope;
}

// The consumer: this many system messages that it took are in the inbox again.
inline void give_back(Actor& actor, uint32_t system_messages) noexcept {
  // relaxed: as in take(). It runs behind again by what is queued again.
  actor.handled.store(actor.handled.load(std::memory_order_relaxed) - system_messages,
                      std::memory_order_relaxed);
  actor.system_queued.fetch_add(system_messages, std::memory_order_relaxed);
}

[[nodiscard]] inline uint32_t handled_count(const Actor& actor) noexcept {
  return actor.handled.load(std::memory_order_relaxed);  // the consumer's own counter
}

// For park() and retire(): the messages that were taken, or that the body has put aside.
[[nodiscard]] inline uint32_t taken_count(const Actor& actor) noexcept {
  return handled_count(actor) + actor.held;
}

// How many messages are queued, or on their way; a snapshot unless the caller is the consumer. For
// another the two counters may be of different moments, and an empty queue look like less.
[[nodiscard]] inline uint32_t queued_count(const Actor& actor) noexcept {
  const uint32_t difference = (actor.state.sent() - handled_count(actor)) & StateWord::kSentMask;
  return difference < StateWord::kSentMask / 4 * 3 ? difference : 0;
}

}  // namespace jzx::core
