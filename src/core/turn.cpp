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

void Turn::refuse() noexcept {
  Envelope* envelope = std::exchange(in_hand_, nullptr);
  if ((envelope->flags & Envelope::kSystem) != 0) {
    host.discard(*envelope);
  } else {
    host.dead_letter(actor.id(), *envelope, DeadLetterReason::not_handled);
  }
}

namespace {

Outcome run_body(Actor& actor, Turn& turn) {
  if (actor.status == Status::running) [[likely]] return actor.kind->resume(actor, turn);
  JZX_ASSERT(actor.status == Status::init);
  actor.status = Status::running;
  const Outcome started = actor.kind->start(actor, turn);
  // Mail may be waiting already; the next turn takes it.
  return started == Outcome::wants_mail ? Outcome::budget_spent : started;
}

// After a turn of a living actor: what was it asked, and what does its body want?
void settle(Host& host, Actor& actor, Outcome outcome) {
  if (actor.has_waiting_timers) [[unlikely]] deliver_waiting_timers(host, actor);
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

}  // namespace

void run_actor(base::Runnable& runnable, base::Executor& executor) {
  auto& actor = static_cast<Actor&>(runnable);
  auto& host = static_cast<Host&>(executor);
  if (actor.full_noted.load(std::memory_order_relaxed)) [[unlikely]] {  // a flag on its own
    actor.full_noted.store(false, std::memory_order_relaxed);
    if (host.system.observer != nullptr) host.system.observer->mailbox_full(actor.id());
  }
  if (actor.status > Status::running) return continue_end(host, actor);
  if (actor.state.exit_requested()) return obey_exit_request(host, actor);

  Turn turn(host, actor);
  host.current = &actor;
  const Outcome outcome = run_body(actor, turn);
  turn.finish();
  host.current = nullptr;
  settle(host, actor, outcome);
}

}  // namespace jzx::core
