#include "core/turn.hpp"

#include "core/lifecycle.hpp"
#include "core/message_timer.hpp"

namespace jzx::core {

Outcome Kind::start(Actor&, Turn&) const { return Outcome::wants_mail; }
Outcome Kind::stop(Actor&, Turn&) const { return Outcome::stopped; }

Outcome Turn::fail(ExitReason reason, std::string_view text) noexcept {
  host.exit_reason = reason;
  host.exit_text = ExitText(text);
  return Outcome::failed;
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

// Foreign senders were refused since the last time.
void tell_full(Host& host, Actor& actor) {
  actor.unnote(kFullNoted);
  if (Observer* observer = host.system.observer()) observer->mailbox_full(actor.id());
}

}  // namespace

Outcome start_body(Actor& actor, Turn& turn) {
  JZX_ASSERT(actor.status == Status::init);
  actor.status = Status::running;
  actor.unnote(kNotRunning);
  const Outcome started = actor.kind->start(actor, turn);
  // Mail may be waiting already; the next turn takes it.
  return started == Outcome::wants_mail ? Outcome::budget_spent : started;
}

void settle(Host& host, Actor& actor, Outcome outcome) {
  if (actor.has_note(kFullNoted)) tell_full(host, actor);
  if (actor.has_note(kTimersWaiting)) deliver_waiting_timers(host, actor);
  switch (outcome) {
    case Outcome::wants_mail:
      if (!actor.state.park(taken_count(actor), false)) host.submit(actor);
      break;
    case Outcome::suspended:
      if (!actor.state.suspend(false)) host.submit(actor);
      break;
    case Outcome::budget_spent:
      host.submit_again(actor);
      break;
    case Outcome::stopped:
      begin_end(host, actor, ExitReason::normal, kNoText);
      break;
    case Outcome::failed:
      begin_end(host, actor, host.exit_reason, host.exit_text);
      break;
  }
}

bool attend(Host& host, Actor& actor) {
  if (actor.has_note(kFullNoted)) tell_full(host, actor);
  if (actor.status > Status::running) return continue_end(host, actor), false;
  if (actor.state.exit_requested()) return obey_exit_request(host, actor), false;
  actor.unnote(kExitHint);  // it was meant for one who lived here before
  return true;
}

void run_actor(base::Runnable& runnable, base::Executor& executor) {
  auto& actor = static_cast<Actor&>(runnable);
  run_turn(static_cast<Host&>(executor), actor,
           [&](Turn& turn) { return actor.kind->resume(actor, turn); });
}

}  // namespace jzx::core
