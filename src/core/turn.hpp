// The turn: resume one actor for up to its budget, then decide what happens next. There is exactly
// one implementation, for all kinds and all drivers: run_turn(). A Turn is what the kind sees of
// it.
//
//   queue ──▶ run_turn ──▶ start / resume / stop ──▶ Outcome ──▶ idle
//                                                           ├──▶ queue again
//                                                           └──▶ ending (lifecycle)
//
// What is rare is out of line, in turn.cpp, so that the common turn stays short.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/host.hpp"
#include "core/lifecycle.hpp"
#include "core/mailbox.hpp"
#include "core/one_runner.hpp"

namespace jzx::core {

// The first message of a turn, if nothing is unusual about it; it is still queued. nullptr: perhaps
// there is one; Turn::take() knows.
[[nodiscard]] inline Envelope* see_first(const Host& host, const Actor& actor) noexcept {
  // relaxed: a flag on its own; whoever set it waits for the turn to end.
  const bool is_halted = host.halted.load(std::memory_order_relaxed);
  Envelope* envelope = actor.inbox.oldest();
  return envelope != nullptr && !is_halted && envelope->flags == 0 ? envelope : nullptr;
}
// The same, if it is the only one.
[[nodiscard]] inline Envelope* see_only(const Host& host, const Actor& actor) noexcept {
  const bool is_halted = host.halted.load(std::memory_order_relaxed);  // as above
  Envelope* envelope = actor.inbox.only();
  return envelope != nullptr && !is_halted && envelope->flags == 0 ? envelope : nullptr;
}
inline void take_seen(Host& host, Actor& actor, Envelope& first) noexcept {
  host.note_step(first.type);
  take_from_inbox(actor, first, 0);
}

// The budget of a turn: so many messages, or so much time if they are slow. An actor that is run by
// hand in the middle of it takes its steps from the same one, unless it is by the only message of a
// short turn.
[[nodiscard]] inline bool is_spent(Host& host, uint64_t steps_before) noexcept {
  const uint64_t steps = host.steps();
  if (steps - steps_before >= host.messages_per_turn) return true;
  return steps >= host.look_at_step && host.has_run_long_enough();
}
// Before that step it is not, and need not be asked.
[[nodiscard]] inline uint64_t next_pause(const Host& host, uint64_t steps_before) noexcept {
  return std::min(steps_before + host.messages_per_turn, host.look_at_step);
}

class Turn {
 public:
  Turn(Host& the_host, Actor& the_actor) noexcept : Turn(the_host, the_actor, the_host.steps()) {}
  // What is left of one.
  Turn(Host& the_host, Actor& the_actor, uint64_t steps_before) noexcept
      : host(the_host), actor(the_actor), steps_before_(steps_before) {}
  // Of one that has this message in hand.
  Turn(Host& the_host, Actor& the_actor, Envelope& in_hand) noexcept
      : host(the_host), actor(the_actor), in_hand_(&in_hand), steps_before_(the_host.steps() - 1) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // The next message to handle, or nullptr: the kind then returns pause(). Ends the one before.
  [[nodiscard]] Envelope* take() noexcept { return take(host, actor); }
  // The same, for loops: user code can reach the turn, so the compiler would load its two members
  // again for every message.
  [[nodiscard]] Envelope* take(Host& the_host, Actor& the_actor) noexcept {
    if (in_hand_ != nullptr) the_host.finish(*in_hand_);
    do {
      in_hand_ = nullptr;
      if (!has_mail(the_actor)) return nullptr;
      // A hint; the decision is the state word's, after the turn.
      if (is_spent(the_host, steps_before_) || the_actor.has_note(kExitHint)) return nullptr;
      // relaxed: a flag on its own; whoever set it waits for the turn to end.
      if (the_host.halted.load(std::memory_order_relaxed)) [[unlikely]]
        return nullptr;
    } while (!pop(the_host, the_actor));
    return in_hand_;
  }

  // For kinds that give the first message of a turn a way of its own, short and without a loop:
  // most turns are for one message.
  //
  // The message that the sender left in the inbox, if there is nothing unusual about it. nullptr:
  // perhaps there is one; take() knows.
  [[nodiscard]] Envelope* take_first(Host& the_host, Actor& the_actor) noexcept {
    Envelope* envelope = see_first(the_host, the_actor);
    if (envelope == nullptr) return nullptr;
    take_seen(the_host, the_actor, *envelope);
    in_hand_ = envelope;
    return envelope;
  }
  // Ends the first message, which is still in hand. False: perhaps there is more; take() knows.
  [[nodiscard]] bool ends_with_first(Host& the_host, Actor& the_actor) noexcept {
    the_host.finish_plain(*in_hand_);
    in_hand_ = nullptr;
    return !may_have_mail(the_actor);
  }
  // The message in hand has ended.
  void finish_ended(Host& the_host) noexcept {
    the_host.finish_ended(*std::exchange(in_hand_, nullptr));
  }
  // Ends it, if it is the message in hand and that takes a few instructions. False: nothing was
  // done.
  [[nodiscard]] bool finish_at_once(Envelope& envelope) noexcept {
    if (in_hand_ != &envelope || envelope.flags != 0 || !host.can_finish_at_once(envelope)) {
      return false;
    }
    in_hand_ = nullptr;
    host.finish_plain(envelope);
    return true;
  }

  // Has it had its messages, or its time?
  [[nodiscard]] bool has_spent_budget() const noexcept {
    return core::is_spent(host, steps_before_);
  }

  // The message in hand cannot be handled by this body.
  void refuse() noexcept;

  // Puts the message in hand aside: it still counts as queued. The body keeps it, and gives it back
  // by release() or take_held(), or, when it ends, to drop_held(). nullptr: no more can be held.
  [[nodiscard]] Envelope* hold() noexcept;
  // One that was put aside is in hand again. False: it was nothing for the body any more, and gone.
  [[nodiscard]] bool take_held(Envelope& envelope) noexcept;
  // One that was put aside has been handled.
  void finish_held(Envelope& envelope) noexcept;
  // `count` held messages, chained from the oldest to the newest, come before all other mail.
  void release(Envelope& oldest, Envelope& newest, uint32_t count) noexcept;

  // Why take() had nothing more.
  [[nodiscard]] Outcome pause() const noexcept {
    return !actor.inbox.is_empty() ? Outcome::budget_spent : Outcome::wants_mail;
  }

  // Says why; the kind returns what this returns.
  Outcome fail(ExitReason reason, std::string_view text) noexcept;

  [[nodiscard]] Envelope* in_hand() const noexcept { return in_hand_; }

  // Ends the message in hand, if any.
  void finish() noexcept {
    if (in_hand_ != nullptr) host.finish(*std::exchange(in_hand_, nullptr));
  }

  Host& host;
  Actor& actor;

 private:
  // Takes the next one in hand. False: it was nothing for the body, and is gone.
  [[nodiscard]] bool pop(Host& the_host, Actor& the_actor) noexcept {
    Envelope& envelope = *the_actor.inbox.oldest();
    const uint32_t flags = envelope.flags;
    the_host.note_step(envelope.type);
    if (flags == 0) [[likely]] {
      take_from_inbox(the_actor, envelope, 0);
    } else {
      take_from_inbox(the_actor, envelope, flags);
      if (!is_for_body(the_host, the_actor, envelope)) {
        the_host.finish(envelope);
        return false;
      }
    }
    in_hand_ = &envelope;
    return true;
  }
  // Tells the tap, if it wants to hear. A notice's cause may have been withdrawn: then it is not
  // for the body.
  [[nodiscard]] static bool is_for_body(Host& host, Actor& actor,
                                        const Envelope& envelope) noexcept;
  [[nodiscard]] static bool is_withdrawn(const Envelope& envelope) noexcept {
    return (envelope.flags & Envelope::kNotice) != 0 &&
           static_cast<const Notice&>(envelope).is_void();
  }

  Envelope* in_hand_ = nullptr;
  uint64_t steps_before_;
};

// A body that ends gives up what it held.
void drop_held(Host& host, Actor& actor, Envelope& envelope) noexcept;
void drop_held(Host& host, Actor& actor, Envelope& envelope, DeadLetterReason reason) noexcept;

// The turn of an actor that runs by hand, for at most so many messages. False: it had nothing to
// do. On a thread that is, for the length of the call, this host's; `actor` is live.
bool run_by_hand(Host& host, Actor& actor, uint32_t messages);

// The turn of an actor about which something is unusual: one that ends, or is asked to.
void run_unusual_turn(Host& host, Actor& actor);
// Sees to what is unusual. False: the actor has had its turn.
[[nodiscard]] bool attend(Host& host, Actor& actor);
// After the turn of a living actor that is not simply idle now.
void settle(Host& host, Actor& actor, Turn& turn, Outcome outcome);

// Its budget is spent and there is more: not by its own doing?
[[nodiscard]] inline bool is_fed_by_others(const Actor& actor) noexcept {
  if (actor.inbox.is_empty()) [[likely]]
    return false;
  return actor.inbox.oldest()->sender != actor.id();
}

// What follows from the turn that a body has had.
inline void end_turn(Host& host, Actor& actor, Turn& turn, Outcome outcome) {
  host.set_acting(kNobody);
  // Mostly nothing unusual happened. relaxed: flags on their own.
  if (actor.attention.load(std::memory_order_relaxed) == 0) [[likely]] {
    // It has handled all its mail, and is idle now …
    if (outcome == Outcome::wants_mail) {
      JZX_ASSERT(turn.in_hand() == nullptr);  // take() had nothing more
      if (rest_at_once(actor)) [[likely]]
        return;
    }
    // … or lets others go first …
    if (outcome == Outcome::budget_spent) {
      if (turn.in_hand() != nullptr) [[unlikely]]
        turn.finish();
      return host.submit_again(actor, is_fed_by_others(actor));
    }
    // … or has ended.
    if (outcome == Outcome::stopped) {
      turn.finish();
      return begin_end(host, actor, ExitReason::normal, kNoText);
    }
  }
  settle(host, actor, turn, outcome);
}

// ---- short turns: without a Turn ----
//
// For kinds whose code cannot reach one, or not for these messages. What such a turn takes is,
// above all, stores; a processor makes one a cycle.
//   way_of(type)       how a message of this type is handled; null: not here
//   handle(way, one)   handles and ends it. False: the turn has been ended already.
//
// Most turns are for one message, so that has a way of its own, on which nothing waits to be read
// that was read before: a hop between two actors is one load after the other, and the processor
// often guesses wrongly where it goes, which it finds out at the end of them.

// All mail has been handled. False: perhaps there is more, or something unusual happened.
[[nodiscard]] inline bool ends_idle(Host& host, Actor& actor) noexcept {
  host.set_acting(kNobody);
  // relaxed: flags on their own.
  return actor.attention.load(std::memory_order_relaxed) == 0 && rest_at_once(actor);
}

// Of what see_only() saw, of this type.
//   handle(only)   as above
//   more()         what is left of the turn
template <class Handle, class More>
[[gnu::always_inline]] inline void run_only(Host& host, Actor& actor, Envelope& only,
                                            const MessageType& type, Handle&& handle, More&& more) {
  host.set_acting(actor.id());
  host.note_step(&type);
  take_only(actor);
  if (!handle(only)) [[unlikely]]
    return;
  host.finish_ended_plain(only);
  if (!may_have_mail(actor)) [[likely]] {
    if (ends_idle(host, actor)) [[likely]]
      return;
    host.set_acting(actor.id());  // mail has come since
  }
  more();
}

//   other(only)          the whole turn, of what see_only() saw and has no way
//   more(steps_before)   what is left of the turn; or all of it, if there are several or none
template <class WayOf, class Handle, class Other, class More>
[[gnu::always_inline]] inline void run_short_turn(Host& host, Actor& actor, WayOf&& way_of,
                                                  Handle&& handle, Other&& other, More&& more) {
  // relaxed: flags on their own.
  if (actor.attention.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return run_unusual_turn(host, actor);
  Envelope* only = see_only(host, actor);
  if (only == nullptr) {
    host.set_acting(actor.id());
    return more(host.steps());
  }
  const MessageType& type = *only->type;
  const auto way = way_of(type);
  if (!way) return other(*only);
  run_only(
      host, actor, *only, type, [&](Envelope& one) { return handle(way, one); },
      [&] { more(host.steps() - 1); });
}

// Its budget is spent, and there is mail.
inline void end_spent(Host& host, Actor& actor) {
  host.set_acting(kNobody);
  host.submit_again(actor, is_fed_by_others(actor));
}

// What is left after the first message, or all of it.
//   rest(steps_before)   goes on with a Turn of this budget
template <class WayOf, class Handle, class Rest>
[[gnu::always_inline]] inline void continue_short_turn(Host& host, Actor& actor,
                                                       uint64_t steps_before, WayOf&& way_of,
                                                       Handle&& handle, Rest&& rest) {
  uint64_t pause = next_pause(host, steps_before);
  while (has_mail(actor)) {
    const Inbox::Ends ends = actor.inbox.ends();
    Envelope& envelope = *ends.oldest;
    // relaxed: flags on their own.
    if (host.halted.load(std::memory_order_relaxed) || envelope.flags != 0 ||
        actor.attention.load(std::memory_order_relaxed) != 0) {
      return rest(steps_before);
    }
    if (host.steps() >= pause) [[unlikely]] {
      if (is_spent(host, steps_before)) return end_spent(host, actor);
      pause = next_pause(host, steps_before);
    }
    const MessageType& type = *envelope.type;
    const auto way = way_of(type);
    if (!way) return rest(steps_before);
    take_plain(actor, ends);
    host.note_step(&type);
    if (!handle(way, envelope)) [[unlikely]]
      return;
    host.finish_ended_plain(envelope);
  }
  if (!ends_idle(host, actor)) [[unlikely]]
    rest(steps_before);
}

// ---- other turns ----

// `resume(turn)` is the kind's resume().
template <class Resume>
[[gnu::always_inline]] inline void run_turn(Host& host, Actor& actor, Resume&& resume) {
  // relaxed: flags on their own.
  if (actor.attention.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return run_unusual_turn(host, actor);
  Turn turn(host, actor);
  host.set_acting(actor.id());
  end_turn(host, actor, turn, resume(turn));
}

// The first turn, before any mail. `start(turn)` is the kind's start().
template <class Start>
[[gnu::always_inline]] inline void run_first(Host& host, Actor& actor, Start&& start) {
  // relaxed: flags on their own. One whose start was called off has no kind any more.
  if (actor.attention.load(std::memory_order_relaxed) != 0 && !attend(host, actor)) return;
  actor.set_run(actor.kind->run);
  JZX_ASSERT(actor.status == Status::init);
  actor.status = Status::running;
  Turn turn(host, actor);
  host.set_acting(actor.id());
  host.note_step(nullptr);
  end_turn(host, actor, turn, start(turn));  // mail that waits already is for the next turn
}

}  // namespace jzx::core
