// The turn: resume one actor for up to its budget, then decide what happens next. There is exactly
// one implementation, for all kinds and all drivers: run_turn(). A Turn is what the kind sees of
// it.
//
//   queue ──▶ run_turn ──▶ start / resume / stop ──▶ Outcome ──▶ idle
//                                                           ├──▶ settle: queue again
//                                                           └──▶ settle: ending (lifecycle)
//
// What is rare is out of line, in turn.cpp, so that the common turn stays short.
#pragma once

#include <string_view>
#include <utility>

#include "core/host.hpp"
#include "core/mailbox.hpp"

namespace jzx::core {

class Turn {
 public:
  Turn(Host& the_host, Actor& the_actor) noexcept
      : host(the_host), actor(the_actor), budget_(the_host.messages_per_turn) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // The next message to handle, or nullptr: the kind then returns pause(). Ends the one before.
  [[nodiscard]] Envelope* take() noexcept {
    if (in_hand_ != nullptr) finish();
    // A hint; the decision is the state word's, after the turn.
    if (budget_ == 0 || actor.has_note(kExitHint)) return nullptr;
    // relaxed: a flag on its own; whoever set it waits for the turn to end.
    if (host.halted.load(std::memory_order_relaxed)) [[unlikely]]
      return nullptr;
    in_hand_ = core::take(actor);
    if (in_hand_ == nullptr) return nullptr;
    --budget_;
    if (host.has_siblings) host.note_step(in_hand_->type);
    if ((in_hand_->flags & Envelope::kNotice) == 0) [[likely]]
      return in_hand_;
    // Its cause may have been withdrawn: then it is not for the body.
    return static_cast<Notice*>(in_hand_)->is_void() ? take() : in_hand_;
  }

  // The message in hand cannot be handled by this body.
  void refuse() noexcept;

  // Puts the message in hand, a user's, aside: it still counts as queued. The body keeps it, and
  // gives it back by release() or, when it ends, to drop_held(). nullptr: no more can be held.
  [[nodiscard]] Envelope* hold() noexcept;
  // `count` held messages, chained from the oldest to the newest, come before all other mail.
  void release(Envelope& oldest, Envelope& newest, uint32_t count) noexcept;

  // Why take() had nothing more.
  [[nodiscard]] Outcome pause() const noexcept {
    return budget_ == 0 ? Outcome::budget_spent : Outcome::wants_mail;
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
  Envelope* in_hand_ = nullptr;
  uint32_t budget_;
};

// A body that ends gives up what it held.
void drop_held(Host& host, Actor& actor, Envelope& envelope) noexcept;

// The turn of an actor that runs by hand, for at most so many messages. False: it had nothing to
// do. On a thread that is, for the length of the call, this host's; `actor` is live.
bool run_by_hand(Host& host, Actor& actor, uint32_t messages);

// Something is unusual about the actor. False: it has had its turn.
[[nodiscard]] bool attend(Host& host, Actor& actor);
// The first turn, before any mail.
[[nodiscard]] Outcome start_body(Actor& actor, Turn& turn);
// After the turn of a living actor that is not simply idle now.
void settle(Host& host, Actor& actor, Outcome outcome);

// `resume(turn)` is the kind's resume().
template <class Resume>
inline void run_turn(Host& host, Actor& actor, Resume&& resume) {
  // relaxed, here and below: flags on their own.
  if (actor.attention.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    if (!attend(host, actor)) return;
  }
  Turn turn(host, actor);
  host.set_acting(actor.id());
  const Outcome outcome = actor.status == Status::running ? resume(turn) : start_body(actor, turn);
  host.set_acting(kNobody);
  if (turn.in_hand() != nullptr) [[unlikely]]
    turn.finish();
  // Mostly it has handled all its mail, nothing unusual happened, and it is idle now.
  if (outcome == Outcome::wants_mail && actor.attention.load(std::memory_order_relaxed) == 0 &&
      actor.state.park(taken_count(actor), false)) [[likely]] {
    return;
  }
  settle(host, actor, outcome);
}

}  // namespace jzx::core
