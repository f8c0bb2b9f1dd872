// See turn.hpp. The life of a turn:
//
//   queue ──▶ run_actor ──▶ start / resume / stop ──▶ Outcome ──▶ settle ──▶ idle
//                                                                       ├──▶ queue again
//                                                                       └──▶ ending (lifecycle)
#include "core/turn.hpp"

#include "core/lifecycle.hpp"
#include "core/message_timer.hpp"

namespace jzx::core {

Outcome Kind::start(Actor&, Turn&) const { return Outcome::wants_mail; }
Outcome Kind::stop(Actor&, Turn&) const { return Outcome::stopped; }

Envelope* Turn::skip_void() noexcept {
  return (in_hand_->flags & Envelope::kVoid) != 0 ? take() : in_hand_;
}

void Turn::refuse() noexcept {
  Envelope* envelope = std::exchange(in_hand_, nullptr);
  if ((envelope->flags & Envelope::kSystem) != 0) {
    host.discard(*envelope);
  } else {
    host.dead_letter(actor.id(), *envelope, DeadLetterReason::not_handled);
  }
}

namespace {

// The first turn, before any mail.
[[gnu::noinline]] Outcome start_body(Actor& actor, Turn& turn) {
  JZX_ASSERT(actor.status == Status::init);
  actor.status = Status::running;
  actor.unnote(kNotRunning);
  const Outcome started = actor.kind->start(actor, turn);
  // Mail may be waiting already; the next turn takes it.
  return started == Outcome::wants_mail ? Outcome::budget_spent : started;
}

// After the turn of a living actor that is not simply idle now. Out of line, as is all that is rare,
// so that run_actor() stays short.
[[gnu::noinline]] void settle(Host& host, Actor& actor, Outcome outcome) {
  if (actor.has_note(kTimersWaiting)) deliver_waiting_timers(host, actor);
  switch (outcome) {
    case Outcome::wants_mail:
      if (!actor.state.park(handled_count(actor), false)) host.submit(actor);
      break;
    case Outcome::suspended:
      if (!actor.state.suspend(false)) host.submit(actor);
      break;
    case Outcome::budget_spent:
      host.submit(actor);
      break;
    case Outcome::stopped:
      begin_end(host, actor, ExitReason::normal, {});
      break;
    case Outcome::failed:
      begin_end(host, actor, host.exit_reason, host.exit_text);
      break;
  }
}

// Something is unusual. False: the actor has had its turn.
[[gnu::noinline]] bool attend(Host& host, Actor& actor) {
  if (actor.has_note(kFullNoted)) {
    actor.unnote(kFullNoted);
    if (host.system.observer != nullptr) host.system.observer->mailbox_full(actor.id());
  }
  if (actor.status > Status::running) return continue_end(host, actor), false;
  if (actor.state.exit_requested()) return obey_exit_request(host, actor), false;
  actor.unnote(kExitHint);  // it was meant for one who lived here before
  return true;
}

}  // namespace

void run_actor(base::Runnable& runnable, base::Executor& executor) {
  auto& actor = static_cast<Actor&>(runnable);
  auto& host = static_cast<Host&>(executor);
  // relaxed: flags on their own.
  if (actor.attention.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    if (!attend(host, actor)) return;
  }
  Turn turn(host, actor);
  host.current_id = actor.id();
  const Outcome outcome = actor.status == Status::running ? actor.kind->resume(actor, turn)
                                                          : start_body(actor, turn);
  host.current_id = kNobody;
  if (turn.in_hand() != nullptr) [[unlikely]] turn.finish();
  // Mostly it has handled all its mail, nothing unusual happened, and it is idle now.
  if (outcome == Outcome::wants_mail && actor.attention.load(std::memory_order_relaxed) == 0 &&
      actor.state.park(handled_count(actor), false)) [[likely]] {
    return;
  }
  settle(host, actor, outcome);
}

}  // namespace jzx::core
