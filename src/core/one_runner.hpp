// Where one thread runs all actors, a loop or a single worker, that thread sends to them and
// schedules them without a locked instruction: two of these would be half of what a hop costs.
// Only other threads, and what is rare, go by exchanges on the state word.
//
//   scheduled_here   the actor is in this thread's ready queue, or in its turn, by this thread's
//                    own doing. The mark `scheduled` in the state word is then not its: it is
//                    clear, or somebody else has set it, and calls.
//   handled          one less for each message that this thread sends, and one more when that is
//                    taken: so `sent - handled` are queued, as everywhere.
//
//   the one thread                              another thread
//     sends to an idle actor:                     sends, wakes, asks to end:
//       scheduled_here, and into the queue          an exchange sets `scheduled`; who finds it
//     ends its turn:                                clear calls for a turn (CallList)
//       scheduled_here no more
//     takes a call, or sets `scheduled` itself:
//       who is scheduled_here is so by the
//       mark from now on; others are queued
//
// Why no call is lost: the turn of one that is scheduled here ends without a look at the state
// word. If somebody has set `scheduled` meanwhile, a call is on its way, and with it another turn.
// If nobody has, nothing was admitted by an exchange either, since that would have set it; and what
// this thread has sent is in the inbox, at which it looks.
//
// Why an actor is in the queue at most once: it is put there when neither scheduled_here nor the
// mark was set; who finds the one sets no other. The call alone may come while it is scheduled
// here, which the call finds out; and it is linked in the list of calls by another word.
//
// While a call is on its way its actor neither suspends nor gives up its slot, since the caller
// still has it in its hands: it goes around the queue until the call has come.
//
// The bound: this thread counts exactly. Another may have looked at `handled` just before the last
// messages from here, and then its own is one more than fits: one for each send under way.
//
// Actors that others run (the blocking pool, whoever runs them by hand) or still hold back are not
// this thread's: their mail goes by exchanges, see takes_mail_here().
//
// Threads: the one that runs all actors; where there is none, nothing is ever scheduled here, and
// the functions for both cases do what the state word says.
#pragma once

#include "core/mailbox.hpp"

namespace jzx::core {

enum class OwnSend : uint8_t {
  first,        // it is scheduled here now: put it into the queue
  queued,       // it has been scheduled before, or waits for its waker
  refused,      // nothing has happened; admit_user() knows whether that is so and why
  by_exchange,  // nothing has happened: its mail goes by exchanges
};

// `fill()` answers the envelope with the message, and is called when that is let in.
template <class Fill>
[[nodiscard]] inline OwnSend send_own(Actor& actor, ActorId id, Fill&& fill) noexcept {
  // One whom others run may end at any moment, and another move in: so its standing is that of the
  // one meant only if he is there before and after. If he is this thread's, he stays.
  if (!StateWord::is_open_to(actor.state.look(), id)) return OwnSend::refused;
  if (!takes_mail_here(actor)) return OwnSend::by_exchange;
  const uint64_t word = actor.state.look();
  const uint32_t room_ends_at = actor.room_ends_at();
  if (!StateWord::is_open_to(word, id) || !StateWord::is_below(word, room_ends_at)) {
    return OwnSend::refused;
  }
  base::add_alone(actor.handled, ~uint32_t{0});
  // release: after `handled`; pairs with the exchange in leave_look().
  actor.full_at.store(room_ends_at - StateWord::mark_of_count(1), std::memory_order_release);
  if (!StateWord::would_be_first(word) || is_scheduled_here(actor)) {
    actor.inbox.put(fill());
    return OwnSend::queued;
  }
  set_scheduled_here(actor, true);
  actor.inbox.put_only(fill());
  return OwnSend::first;
}

// This thread has set `scheduled`, or takes the call of who has. True: put it into the queue.
// False: it is there already, or in its turn, and that is by the mark from now on.
[[nodiscard]] inline bool is_to_be_queued(Actor& actor) noexcept {
  if (!is_scheduled_here(actor)) return true;
  set_scheduled_here(actor, false);
  return false;
}

// As StateWord::wake(), of any thread's. `is_runner`: this thread runs all actors.
[[nodiscard]] inline Wake wake(Actor& actor, uint32_t generation, bool is_runner) noexcept {
  // It may be in its turn, which must know that it was woken; of that the mark tells.
  if (is_runner && is_scheduled_here(actor) && actor.state.schedule()) {
    set_scheduled_here(actor, false);
  }
  return actor.state.wake(generation);
}

// For who gives its slot up without a turn of it: nobody who wakes it meanwhile calls for one.
// False: it was scheduled; that is as it was.
[[nodiscard]] inline bool schedule_if_idle(Actor& actor) noexcept {
  return !is_scheduled_here(actor) && actor.state.schedule();
}

// ---- the end of a turn; wherever it was run ----

// It has seen no more mail. Idle; false: there is more, or something else to do.
[[nodiscard]] inline bool rest_here(Actor& actor) noexcept {
  if (!actor.inbox.is_empty()) return false;
  set_scheduled_here(actor, false);
  return true;
}
[[nodiscard]] inline bool rest(Actor& actor, bool stopping) noexcept {
  if (is_scheduled_here(actor)) return rest_here(actor);
  return actor.state.park(taken_count(actor), stopping);
}
// In one try, for one to which nothing unusual has happened. False: perhaps it can.
[[nodiscard]] inline bool rest_at_once(Actor& actor) noexcept {
  if (is_scheduled_here(actor)) return rest_here(actor);
  return actor.state.park_at_once(taken_count(actor), generation_of(actor.id()));
}

// See StateWord::suspend().
[[nodiscard]] inline bool suspend(Actor& actor, bool stopping) noexcept {
  if (!is_scheduled_here(actor)) return actor.state.suspend(stopping);
  if (!actor.state.suspend_unscheduled(stopping)) return false;
  set_scheduled_here(actor, false);
  return true;
}

// Gives the slot up; see StateWord::retire().
[[nodiscard]] inline bool give_up_slot(Actor& actor) noexcept {
  if (!is_scheduled_here(actor)) return actor.state.retire(taken_count(actor));
  if (!actor.state.retire_unscheduled(taken_count(actor))) return false;
  set_scheduled_here(actor, false);
  return true;
}

}  // namespace jzx::core
