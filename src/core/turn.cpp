#include "core/turn.hpp"

#include <limits>

#include "core/message_timer.hpp"

namespace jzx::core {

Outcome Kind::start(Actor&, Turn&) const { return Outcome::wants_mail; }
Outcome Kind::stop(Actor&, Turn&) const { return Outcome::stopped; }
Outcome Kind::kill(Actor& actor, Turn& turn) const { return stop(actor, turn); }

Outcome Turn::fail(ExitReason reason, std::string_view text) noexcept {
  host.exit_reason = reason;
  host.exit_text = ExitText(text);
  return Outcome::failed;
}

bool Turn::is_for_body(Host& host, Actor& actor, const Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kTapped) != 0 && host.tap != nullptr) {
    host.tap->taken(actor, envelope);
  }
  if ((envelope.flags & Envelope::kNotice) != 0) host.name_step(type_of_notice(envelope));
  return !is_withdrawn(envelope);
}

void Turn::refuse() noexcept {
  Envelope* envelope = std::exchange(in_hand_, nullptr);
  if ((envelope->flags & Envelope::kSystem) != 0) {
    host.discard(*envelope);
  } else {
    host.dead_letter(actor.id(), *envelope, DeadLetterReason::not_handled);
  }
}

void Actor::set_kind(const System& system, const Kind& other) noexcept {
  Bonds hold(system.is_shared, *this);
  kind = &other;
  set_run(other.run);
}

namespace {

// It counts as queued again.
void count_held(Actor& actor, const Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kSystem) != 0) {
    give_back(actor, 1);
  } else {
    // relaxed: only the consumer writes it. A sender may have seen the higher number, and let in
    // one message more than fits.
    actor.handled.store(handled_count(actor) - 1, std::memory_order_relaxed);
  }
  ++actor.held;
}

// It no longer does.
void uncount_held(Actor& actor, const Envelope& envelope) noexcept {
  JZX_ASSERT(actor.held > 0);
  --actor.held;
  actor.handled.store(handled_count(actor) + 1, std::memory_order_relaxed);  // as above
  if ((envelope.flags & Envelope::kSystem) != 0) {
    // release: after `handled`, as in take_from_inbox().
    actor.system_queued.fetch_sub(1, std::memory_order_release);
    keep_look_fresh(actor);
  }
}

}  // namespace

Envelope* Turn::hold() noexcept {
  if (actor.held == std::numeric_limits<uint16_t>::max()) return nullptr;
  count_held(actor, *in_hand_);
  return std::exchange(in_hand_, nullptr);
}

bool Turn::take_held(Envelope& envelope) noexcept {
  JZX_ASSERT(in_hand_ == nullptr);
  uncount_held(actor, envelope);
  host.note_step(type_to_show(envelope));
  if (is_withdrawn(envelope)) return host.finish(envelope), false;
  in_hand_ = &envelope;
  return true;
}

void Turn::finish_held(Envelope& envelope) noexcept {
  uncount_held(actor, envelope);
  host.finish(envelope);
}

void Turn::release(Envelope& oldest, Envelope& newest, uint32_t count) noexcept {
  JZX_ASSERT(count <= actor.held);
  actor.inbox.put_back(oldest, newest);
  actor.held = static_cast<uint16_t>(actor.held - count);
}

void drop_held(Host& host, Actor& actor, Envelope& envelope, DeadLetterReason reason) noexcept {
  uncount_held(actor, envelope);
  if ((envelope.flags & Envelope::kSystem) != 0) return host.discard(envelope);
  host.dead_letter(actor.id(), envelope, reason);
}

void drop_held(Host& host, Actor& actor, Envelope& envelope) noexcept {
  const bool is_closing = host.system.is_closing.load(std::memory_order_relaxed);  // a flag
  drop_held(host, actor, envelope,
            is_closing ? DeadLetterReason::closing : DeadLetterReason::target_gone);
}

bool run_by_hand(Host& host, Actor& actor, uint32_t messages) {
  JZX_ASSERT(actor.home() == base::kByHand);
  // acquire: what the one before did in its turn is seen; whoever takes the note away has the turn.
  const uint8_t before =
      actor.attention.fetch_and(static_cast<uint8_t>(~kReadyByHand), std::memory_order_acq_rel);
  if ((before & kReadyByHand) == 0) return false;
  if (messages == 0) return actor.note_ready_by_hand(), false;
  // It may be polled from inside another's handler.
  const ActorId outer = host.acting();
  const MessageType* outer_step = host.handling();
  // For exactly so many, however long they take.
  const uint32_t usual = std::exchange(host.messages_per_turn, messages);
  const uint64_t next_look = std::exchange(host.look_at_step, Host::kNoLook);
  actor.run(host);
  host.messages_per_turn = usual;
  host.look_at_step = next_look;
  host.set_acting(outer);
  host.note_other_step(outer_step);
  return true;
}

namespace {

// Foreign senders were refused since the last time.
void tell_full(Host& host, Actor& actor) {
  actor.unnote(kFullNoted);
  if (Observer* observer = host.system.observer()) observer->mailbox_full(actor.id());
}

uint32_t user_queue(const Actor& actor) noexcept {
  // relaxed: a snapshot.
  const uint32_t system = actor.system_queued.load(std::memory_order_relaxed);
  const uint32_t queued = queued_count(actor);
  return queued > system ? queued - system : 0;
}

// Senders wait for room, and there may be some now. If not, there will be after a later turn, and
// the note stays for that. It goes before the senders are looked up: who comes after that notes it
// again, and makes sure of another turn.
void call_senders(Host& host, Actor& actor) noexcept {
  const uint32_t limit = actor.user_limit();
  const uint32_t queued = user_queue(actor);
  if (queued >= limit) return;
  actor.unnote(kSenderWaits);
  if (host.system.waiting_senders.call(actor.id(), limit - queued)) actor.note(kSenderWaits);
}

}  // namespace

void settle(Host& host, Actor& actor, Turn& turn, Outcome outcome) {
  if (outcome == Outcome::failed) {
    // Who asked what it failed at hears why.
    const Ending because(host, host.exit_reason, host.exit_text);
    const Aside aside(host, callback_step);
    turn.finish();
  } else {
    turn.finish();
  }
  if (actor.attention.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    if (actor.has_note(kFullNoted)) tell_full(host, actor);
    if (actor.has_note(kSenderWaits)) call_senders(host, actor);
    if (actor.has_note(kTimersWaiting)) deliver_waiting_timers(host, actor);
  }
  switch (outcome) {
    case Outcome::wants_mail:
      if (!rest(actor, false)) host.requeue(actor);
      break;
    case Outcome::suspended:
      if (!suspend(actor, false)) host.requeue(actor);
      break;
    case Outcome::budget_spent:
      host.submit_again(actor, is_fed_by_others(actor));
      break;
    case Outcome::stopped:
      begin_end(host, actor, ExitReason::normal, kNoText);
      break;
    case Outcome::failed:
      begin_end(host, actor, host.exit_reason, host.exit_text);
      break;
  }
}

namespace {

// Down to the actor's share, the oldest first. What the system sent is kept, in order.
void drop_oldest(Host& host, Actor& actor) {
  const uint32_t share = actor.user_limit() / 2;
  Envelope* oldest_kept = nullptr;
  Envelope* newest_kept = nullptr;
  uint32_t kept_count = 0;
  uint32_t queued = user_queue(actor);
  // What the body has put aside came before all that is queued.
  for (; queued > share; --queued) {
    Envelope* oldest = actor.kind->give_up_oldest(actor);
    if (oldest == nullptr) break;
    drop_held(host, actor, *oldest, DeadLetterReason::overload);
  }
  while (queued > share) {
    Envelope* envelope = take(actor);
    if (envelope == nullptr) break;  // on its way
    if ((envelope->flags & Envelope::kSystem) == 0) {
      host.dead_letter(actor.id(), *envelope, DeadLetterReason::overload);
      --queued;
    } else {
      (kept_count == 0 ? oldest_kept : newest_kept->next) = envelope;
      newest_kept = envelope;
      ++kept_count;
    }
  }
  if (kept_count == 0) return;
  actor.inbox.put_back(*oldest_kept, *newest_kept);
  give_back(actor, kept_count);
}

void tell_if_high(Host& host, Actor& actor) {
  if (actor.relations == nullptr || actor.relations->high_water == 0) return;
  Relations& relations = *actor.relations;
  const uint32_t queued = user_queue(actor);
  if (queued < relations.high_water / 2 + 1) relations.is_high = false;
  if (queued < relations.high_water || relations.is_high) return;
  relations.is_high = true;
  if (Observer* observer = host.system.observer()) observer->mailbox_high(actor.id(), queued);
}

// The high-water mark, and then what is too much: the mark may be above the share.
void measure(Host& host, Actor& actor) {
  tell_if_high(host, actor);
  if (actor.overload.load(std::memory_order_relaxed) == Overload::drop_oldest) {
    drop_oldest(host, actor);
  }
}

}  // namespace

bool attend(Host& host, Actor& actor) {
  if (actor.has_note(kFullNoted)) tell_full(host, actor);
  if (actor.status > Status::running) return continue_end(host, actor), false;
  // Where others may ask meanwhile, the hint goes before the look: one that comes after it stays
  // for the next turn.
  if (host.system.is_shared && actor.has_note(kExitHint)) actor.take_exit_hint();
  if (actor.state.exit_requested()) {
    host.note_other_step(&end_step);
    return obey_exit_request(host, actor), false;
  }
  if (!host.system.is_shared) actor.unnote(kExitHint);
  if (actor.has_note(kMeasured)) measure(host, actor);
  return true;  // the hint was meant for one who lived here before
}

void run_unusual_turn(Host& host, Actor& actor) {
  if (!attend(host, actor)) return;
  Turn turn(host, actor);
  host.set_acting(actor.id());
  end_turn(host, actor, turn, actor.kind->resume(actor, turn));
}

void run_first_turn(base::Runnable& runnable, base::Executor& executor) {
  auto& actor = static_cast<Actor&>(runnable);
  run_first(static_cast<Host&>(executor), actor,
            [&](Turn& turn) { return actor.kind->start(actor, turn); });
}

void run_actor(base::Runnable& runnable, base::Executor& executor) {
  auto& actor = static_cast<Actor&>(runnable);
  run_turn(static_cast<Host&>(executor), actor,
           [&](Turn& turn) { return actor.kind->resume(actor, turn); });
}

}  // namespace jzx::core
