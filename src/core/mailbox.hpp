// The mailbox: the part of an actor through which messages come. Bounded, many producers, one
// consumer, FIFO per sender, and without memory of its own: messages queue in their envelopes.
//
//   sender ── admit (one exchange on the state word) ──┬─ was idle: straight into the inbox
//                                                      ├─ from the thread that runs it, or has it
//                                                      │  in its lifo slot: the same
//                                                      └─ else: pushed on the arrivals
//   consumer ── take: from the inbox; when that is empty, all arrivals become the inbox
//
// Whose is the inbox? Where several threads run actors, the sender that finds the actor idle owns
// it until it submits the actor: the consumer left it empty when it parked, and nobody else is told
// to submit. Everyone after it goes through the arrivals, which the consumer takes only when the
// inbox is empty, so order is kept. Except for the worker in whose lifo slot the actor waits: no
// other thread can take it from there unasked (base/steal/lifo_slot.hpp), and it leaves the inbox
// alone while there are arrivals, as below.
//
// Where one thread runs all of them, a loop or a single worker, every inbox is that thread's, and
// its sends need no exchange at all (one_runner.hpp); all others go through the arrivals, also to
// an actor that they find idle. So that order is kept here too, the thread leaves the inbox alone
// while there are arrivals: those were sent before, as far as it can know. Which of the two it is,
// a host says (Host::inboxes). Three sorts of actors are others' in either case: those of the
// blocking pool, those run by hand, and those that have not been queued yet: another thread may
// hold one back, and call its start off.
//
// A message may be admitted but not yet pushed (its sender was interrupted). Then take() finds
// nothing while park() refuses, and the actor goes around the run queue once more.
#pragma once

#include <utility>

#include "core/actor.hpp"

namespace jzx::core {

// Is there room by what was seen last? `sent_mark` may have a part of the generation below it. No:
// perhaps there is. See state_word.hpp why this is exact: what was seen is behind what is, and the
// exchange that follows decides.
[[nodiscard]] inline bool has_room_as_seen(uint32_t sent_mark, uint32_t full_at) noexcept {
  // It wraps, so the sign tells.
  return static_cast<int32_t>(sent_mark - full_at) < 0;
}

// May one more user message be queued? `sent` is from the state word; see there why this is exact.
[[nodiscard]] inline bool has_room_for_user(const Actor& actor, uint32_t sent) noexcept {
  // relaxed, here and below: counters that only grow; the exchange that follows makes it exact.
  const uint32_t seen = actor.full_at.load(std::memory_order_relaxed);
  if (has_room_as_seen(StateWord::mark_of_count(sent), seen)) return true;
  // That was an old look. The consumer's line is read only now, about once per full mailbox.
  const uint32_t limit = actor.user_limit();
  const uint32_t handled = actor.handled.load(std::memory_order_relaxed);
  // `sent` may be older than `handled`, and then the difference wraps; that is an empty queue (and
  // the exchange will fail, since more has been sent).
  const uint32_t difference = (sent - handled) & StateWord::kSentMask;
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
[[nodiscard]] inline Admission admit_user_at_once(Actor& actor, ActorId id) noexcept {
  return actor.state.admit_at_once(id, [&](uint64_t word) {
    // relaxed: see has_room_as_seen().
    return StateWord::is_below(word, actor.full_at.load(std::memory_order_relaxed));
  });
}

// Leaves a look at the room there is for those who come after, in place of the one that was seen.
inline void leave_look(Actor& actor, uint32_t seen) noexcept {
  uint32_t room = actor.room_ends_at();
  // acquire: pairs with send_own(), whose messages were not counted in `room` if it was as quick
  // and the look stands where it stood: then once more, with them.
  while (actor.full_at.compare_exchange_strong(seen, room, std::memory_order_acq_rel,
                                               std::memory_order_relaxed)) {
    const uint32_t room_now = actor.room_ends_at();
    if (!has_room_as_seen(room_now, room)) return;
    seen = std::exchange(room, room_now);
  }
}

[[nodiscard]] inline Admission admit_user(Actor& actor, uint32_t generation) noexcept {
  // relaxed: as in has_room_for_user().
  const uint32_t seen = actor.full_at.load(std::memory_order_relaxed);
  uint32_t sent_mark = 0;
  const Admission admission = actor.state.admit(generation, [&](uint32_t sent) {
    sent_mark = StateWord::mark_of_count(sent);
    return has_room_for_user(actor, sent);
  });
  // Leaves its look for those who come after. Only now: what was admitted keeps the slot, so the
  // limit is this actor's and not the next one's. And not over a newer look: who is kept from it
  // for long would leave one that lies a lap behind.
  if (admission < Admission::full && !has_room_as_seen(sent_mark, seen)) leave_look(actor, seen);
  return admission;
}

// May the thread that runs everybody put a message into this inbox, of one that is scheduled? Not
// past one that came before it. relaxed: what this thread sent is seen, and what it knows of.
[[nodiscard]] inline bool takes_mail_here(const Actor& actor) noexcept {
  return actor.standing.is_with_workers() && actor.arrivals.looks_empty();
}

// Has the one thread that runs all actors scheduled it by itself? See one_runner.hpp. relaxed,
// both: that thread's own; others only take a snapshot.
[[nodiscard]] inline bool is_scheduled_here(const Actor& actor) noexcept {
  return actor.scheduled_here.load(std::memory_order_relaxed);
}
inline void set_scheduled_here(Actor& actor, bool is_so) noexcept {
  actor.scheduled_here.store(is_so, std::memory_order_relaxed);
}

// Puts an admitted message where its admission says. True: submit the actor.
[[nodiscard]] inline bool enqueue(Actor& actor, Envelope& envelope, Admission admission,
                                  Inboxes mine) noexcept {
  const bool is_first = admission == Admission::first;
  if (is_first && mine != Inboxes::none && !is_scheduled_here(actor)) {
    return actor.inbox.put_only(envelope), true;
  }
  if (mine == Inboxes::all && takes_mail_here(actor)) {
    actor.inbox.put(envelope);
  } else {
    actor.arrivals.push(envelope);
  }
  return is_first;
}

[[nodiscard]] inline uint32_t handled_count(const Actor& actor) noexcept {
  return actor.handled.load(std::memory_order_relaxed);  // the consumer's own counter
}

// The consumer. False: nothing had arrived.
inline bool fetch_arrivals(Actor& actor) noexcept {
  Envelope* newest = nullptr;
  Envelope* oldest = actor.arrivals.take_all(newest);
  if (oldest == nullptr) return false;
  actor.inbox.put_chain(*oldest, *newest);
  return true;
}

// The consumer: is there a message in the inbox, now that the arrivals were looked at?
[[nodiscard]] inline bool has_mail(Actor& actor) noexcept {
  if (!actor.inbox.is_empty()) return true;
  return fetch_arrivals(actor);
}

// The consumer. False: there is no message, unless one comes now.
[[nodiscard]] inline bool may_have_mail(const Actor& actor) noexcept {
  return !actor.inbox.is_empty() || !actor.arrivals.looks_empty();
}

// The consumer has taken a system message. Users refresh the look when they send; where nobody
// does, it must not get a lap behind.
inline void keep_look_fresh(Actor& actor) noexcept {
  if (handled_count(actor) % (1u << 20) != 0) return;
  actor.full_at.store(actor.room_ends_at(), std::memory_order_relaxed);
}

// The consumer: `envelope` is the first in the inbox, and no longer counts as queued.
inline void take_from_inbox(Actor& actor, Envelope& envelope, uint32_t flags) noexcept {
  actor.inbox.remove(envelope);
  // Senders need a number that does not run ahead.
  base::add_alone(actor.handled, 1u);
  if ((flags & Envelope::kSystem) != 0) [[unlikely]] {
    // release: after `handled`; pairs with the acquire in has_room_for_user().
    actor.system_queued.fetch_sub(1, std::memory_order_release);
    keep_look_fresh(actor);
  }
}

// The same of one without flags, by what was seen of the inbox.
inline void take_plain(Actor& actor, const Inbox::Ends& seen) noexcept {
  actor.inbox.remove_oldest(seen);
  base::add_alone(actor.handled, 1u);
}
// And of the only one.
inline void take_only(Actor& actor) noexcept {
  actor.inbox.remove_only();
  base::add_alone(actor.handled, 1u);
}

// Both: nullptr if there is none.
[[nodiscard]] inline Envelope* take(Actor& actor) noexcept {
  if (!has_mail(actor)) return nullptr;
  Envelope* envelope = actor.inbox.oldest();
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
