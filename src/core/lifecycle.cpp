#include "core/lifecycle.hpp"

#include <cstdio>
#include <utility>

#include "core/bonds.hpp"
#include "core/message_timer.hpp"
#include "core/names.hpp"
#include "core/send.hpp"
#include "core/turn.hpp"

namespace jzx::core {

namespace {

void set_stopping(Actor& actor) noexcept {
  actor.status = Status::stopping;
  actor.state.close();
}

// It does not end within this turn: the next one must see that it is not running. Most actors end
// at once, and are spared this locked instruction.
void end_in_a_later_turn(Host& host, Actor& actor, bool may_rest) noexcept {
  actor.note(kEnding);
  if (!may_rest || !rest(actor, true)) host.requeue(actor);
}

// kNobody: it has none.
ActorId youngest_child(System& system, Actor& actor) noexcept {
  Bonds hold(system.is_shared, actor);
  if (actor.relations == nullptr || actor.relations->children.empty()) return kNobody;
  return actor.relations->children.back()->actor->id();
}

bool has_children(System& system, Actor& actor) noexcept {
  return youngest_child(system, actor) != kNobody;
}

// Under the own lock: others may look at it there. Its timer does not fire any more.
Child* give_up_child_record(System& system, Actor& actor) noexcept {
  Child* child = nullptr;
  {
    Bonds hold(system.is_shared, actor);
    child = std::exchange(actor.child, nullptr);
  }
  if (child->limit_home != nullptr) (void)child->limit_home->disarm(*child);
  return child;
}

// ---- how long it may take ----

Child::Limit limit_of(const Actor& actor) noexcept {
  if (actor.child == nullptr) return Child::Limit::none;
  return actor.child->limit.load(std::memory_order_relaxed);  // as it says
}
bool is_out_of_time(const Actor& actor) noexcept { return limit_of(actor) >= Child::Limit::is_up; }

ExitText why_killed(const Actor& actor) noexcept {
  if (limit_of(actor) == Child::Limit::is_parents) return ExitText("killed with its parent");
  char text[sizeof(ExitText)];
  std::snprintf(text, sizeof(text), "it had not ended %u ms after it was asked to",
                actor.child->stop_within_ms);
  return ExitText(text);
}

void wake_child(Host& host, Actor& actor, ActorId id) noexcept {
  if (host.wake(actor, generation_of(id)) == Wake::submit) host.submit(actor);
}

// The child is there: its timer is disarmed before its end is over.
void time_is_up(base::Timer& timer, base::Executor& executor) {
  auto& child = static_cast<Child&>(timer);
  child.limit.store(Child::Limit::is_up, std::memory_order_relaxed);  // the next line publishes it
  wake_child(static_cast<Host&>(executor), *child.actor, child.actor->id());
}

void begin_limit(Host& host, ActorId id) noexcept {
  Actor* actor = host.system.actors.find(id);
  if (actor == nullptr) return;
  Bonds hold(host.system.is_shared, *actor);
  if (!host.system.is_live(*actor, id) || actor->child == nullptr) return;
  Child& child = *actor->child;
  if (child.stop_within_ms == kNoStopLimit || child.limit_home != nullptr) return;
  if (is_out_of_time(*actor)) return;  // with its parent
  child.limit.store(Child::Limit::ticking, std::memory_order_relaxed);
  child.limit_home = &host.timer_home();
  child.limit_home->arm(child, child.stop_within_ms);
}

// With its parent, which is killed itself.
void kill_child(Host& host, ActorId id) noexcept {
  Actor* actor = host.system.actors.find(id);
  if (actor == nullptr) return;
  {
    Bonds hold(host.system.is_shared, *actor);
    if (!host.system.is_live(*actor, id) || actor->child == nullptr) return;
    if (is_out_of_time(*actor)) return;
    actor->child->limit.store(Child::Limit::is_parents, std::memory_order_relaxed);
  }
  (void)request_exit(host, id, ExitReason::killed);
  wake_child(host, *actor, id);  // it may have been asked before, and wait
}

// The parent is not told.
void drop_child_record(Host& host, Actor& actor) noexcept {
  if (actor.child == nullptr) return;
  Child* child = give_up_child_record(host.system, actor);
  Actor& parent = *child->parent;
  Wake wake = Wake::gone;
  {
    Bonds hold(host.system.is_shared, parent);
    child->unlink();
    // A parent that stops meanwhile waits for the end of this child, which nobody will tell it of.
    const uint32_t generation = parent.state.generation();
    if (!parent.state.is_open(generation)) wake = host.wake(parent, generation);
  }
  end_child_record(*child, host);
  if (wake == Wake::submit) host.submit(parent);
}

void tell_parent(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  if (actor.child == nullptr) return;
  if (actor.child->is_quiet) return drop_child_record(host, actor);
  Child* child = give_up_child_record(host.system, actor);
  child->exit = ChildExit{actor.id(), reason, text};
  child->address(SystemTag::child_exit, actor.id(), &child->exit, kSizeOfChildExit,
                 &end_child_record);
  Actor& parent = *child->parent;
  Admission admission = Admission::gone;
  {
    Bonds hold(host.system.is_shared, parent);
    child->unlink();
    admission = admit_notice(parent);  // before the parent may think that it has no children left
  }
  deliver_notice(host, parent, *child, admission);
}

void free_label(Host& host, Actor& actor) noexcept {
  host.system.allocator.release(const_cast<char*>(actor.label));
  actor.label = nullptr;
}

void free_belongings(Host& host, Actor& actor) noexcept {
  if (actor.relations != nullptr) {
    Relations* relations = nullptr;
    {
      Bonds hold(host.system.is_shared, actor);
      relations = std::exchange(actor.relations, nullptr);
    }
    host.system.give_relations(*relations);
  }
  free_label(host, actor);
}

// Its state word is closed: senders that wait for room are to go. relaxed, in has_note(): seen with
// the state word, which the sender changed after the note.
void send_senders_away(Host& host, Actor& actor, ActorId id) noexcept {
  if (actor.has_note(kSenderWaits)) host.system.waiting_senders.call_all(id);
}

// Most actors end like this: nobody has a bond with them, and all mail is handled. Then the id is
// no good from now on, and there is little left to do. False: nothing has happened.
bool retire_alone(System& system, Actor& actor) noexcept {
  if (actor.child != nullptr) return false;
  Bonds hold(system.is_shared, actor);
  if (actor.relations != nullptr || !give_up_slot(actor)) return false;
  actor.bonds_closed.store(true, std::memory_order_relaxed);  // under the lock
  return true;
}

// The slot is free again once nobody is between admission and enqueueing.
void retire(Host& host, Actor& actor) noexcept {
  // Mostly its mail was drained when it began to end, and nothing has come since.
  if (!give_up_slot(actor)) {
    drain_mailbox(host, actor, DeadLetterReason::target_gone);
    if (!give_up_slot(actor)) return end_in_a_later_turn(host, actor, false);
  }
  send_senders_away(host, actor, actor.id());
  // Not before: whoever waits until nobody is left may rely on it that all mail was seen to.
  host.count_end();
  host.system.actors.give(host.own_slots(), actor);
}

// Most actors have no bonds when they end; then none will be made, and that is all there is to do.
bool close_bonds_if_none(System& system, Actor& actor) noexcept {
  Bonds hold(system.is_shared, actor);
  if (actor.relations != nullptr) return false;
  actor.bonds_closed.store(true, std::memory_order_relaxed);  // under the lock
  return true;
}

// From here on its lists only get shorter.
void close_bonds(System& system, Actor& actor) noexcept {
  Bonds hold(system.is_shared, actor);
  actor.bonds_closed.store(true, std::memory_order_relaxed);  // under the lock
}

// Inlined: one call less for everybody who ends.
[[gnu::always_inline]] inline void destroy_body(Host& host, Actor& actor,
                                                ExitReason reason) noexcept {
  {
    const LastActs in_its_name(host, actor.id());
    if (actor.label == nullptr) [[likely]]
      actor.kind->destroy(actor, host, reason);
    else
      destroy_labelled(host, actor, reason);
  }
  if (actor.relations == nullptr) {
    actor.kind = nullptr;  // its bonds are closed, so nobody looks
  } else {
    Bonds hold(host.system.is_shared, actor);
    actor.kind = nullptr;
  }
}

// Everything but the slot.
void end_actor(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  const Ending because(host, reason, text);
  destroy_body(host, actor, reason);
  actor.status = reason == ExitReason::normal ? Status::stopped : Status::failed;
  // relaxed: only we close them.
  if (!actor.bonds_closed.load(std::memory_order_relaxed)) close_bonds(host.system, actor);
  if (actor.relations != nullptr) {
    // One may have come from another thread after its mail was drained.
    abandon_timers(host, actor, DeadLetterReason::target_gone);
    host.release_watches(actor);
    drop_name(host, actor);
  }
  if (Observer* observer = host.system.observer()) {
    observer->actor_stopped(actor.id(), reason, text);
  }
  if (actor.relations != nullptr) tell_bonds(host, actor, reason, text);
  tell_parent(host, actor, reason, text);
  free_belongings(host, actor);
}

// After retire_alone().
void end_alone(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  send_senders_away(host, actor, actor.id());
  {
    const Ending because(host, reason, text);
    destroy_body(host, actor, reason);
  }
  actor.status = reason == ExitReason::normal ? Status::stopped : Status::failed;
  if (Observer* observer = host.system.observer()) {
    observer->actor_stopped(actor.id(), reason, text);
  }
  if (actor.label != nullptr) [[unlikely]]
    free_label(host, actor);
  host.count_end();
  host.system.actors.give(host.own_slots(), actor);
}

void finish_end(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  end_actor(host, actor, reason, text);
  retire(host, actor);
}

void abort_actor(Host& host, Actor& actor) noexcept {
  drop_child_record(host, actor);  // its parent is called off too, or never knew it
  set_stopping(actor);
  actor.note(kEnding);  // it may be in a run queue
  for (ActorId child = kNobody; (child = youngest_child(host.system, actor)) != kNobody;) {
    abort_actor(host, *host.system.actors.find(child));
  }
  abandon_timers(host, actor, DeadLetterReason::target_gone);
  end_actor(host, actor, ExitReason::killed, ExitText("the start was called off"));
  // One that waits for its first turn elsewhere, or to which another thread is just sending (that
  // one owns its inbox), gives up its mail and retires when its turn comes.
  if (schedule_if_idle(actor) || host.take_back(actor)) retire(host, actor);
}

// ---- the end of a system: one thread is left ----

Actor& youngest_descendant(System& system, Actor& actor) noexcept {
  Actor* youngest = &actor;
  while (has_children(system, *youngest)) youngest = youngest->relations->children.back()->actor;
  return *youngest;
}

// Ends an actor without children, and tells nobody.
void abandon(Host& host, Actor& actor) noexcept {
  actor.status = Status::stopping;  // once: see abandon_early()
  destroy_body(host, actor, ExitReason::killed);
  close_bonds(host.system, actor);
  host.count_end();
  drop_child_record(host, actor);
  if (actor.relations != nullptr) {
    host.release_watches(actor);
    drop_name(host, actor);
    drop_bonds(host, actor);
  }
  free_belongings(host, actor);
}

// Children before their parents, and each generation walked once, however long the line is.
void abandon_family(Host& host, Actor& head) noexcept {
  for (Actor* actor = &youngest_descendant(host.system, head);;) {
    Actor* parent = actor == &head ? nullptr : actor->child->parent;
    abandon(host, *actor);
    if (parent == nullptr) return;
    actor = &youngest_descendant(host.system, *parent);
  }
}

// One child at a time, the youngest first; its end brings us back here.
void end_youngest(Host& host, Actor& actor, ActorId youngest) noexcept {
  if (is_out_of_time(actor)) {
    kill_child(host, youngest);
  } else {
    // no_such_actor: it was asked before, and is on its way out.
    (void)stop_child(host, youngest);
  }
  end_in_a_later_turn(host, actor, true);
}

// Of one with bonds, or with mail.
[[gnu::noinline]] void begin_long_end(Host& host, Actor& actor, ExitReason reason,
                                      const ExitText& text) noexcept {
  const Ending because(host, reason, text);
  set_stopping(actor);
  send_senders_away(host, actor, actor.id());  // now, and not when its children have ended
  const bool is_alone = close_bonds_if_none(host.system, actor);
  if (!is_alone) abandon_timers(host, actor, DeadLetterReason::target_gone);
  drain_mailbox(host, actor, DeadLetterReason::target_gone);
  if (is_alone) return finish_end(host, actor, reason, text);
  const ActorId youngest = youngest_child(host.system, actor);
  if (youngest == kNobody) return finish_end(host, actor, reason, text);
  actor.relations->exit_reason = reason;
  actor.relations->exit_text = text;
  end_youngest(host, actor, youngest);
}

}  // namespace

Child::Child() noexcept : Timer(&time_is_up) {}

void end_child_record(Notice& record, Host& host) {
  auto& child = static_cast<Child&>(record);
  child.~Child();
  host.system.children.give(&child);
}

void drain_mailbox(Host& host, Actor& actor, DeadLetterReason reason) noexcept {
  Envelope* envelope = take(actor);
  if (envelope == nullptr) return;
  const Aside aside(host, callback_step);  // of those who wait for an answer
  for (; envelope != nullptr; envelope = take(actor)) {
    if ((envelope->flags & Envelope::kSystem) != 0) {
      host.discard(*envelope);
    } else {
      host.dead_letter(actor.id(), *envelope, reason);
    }
  }
}

void abort_start(Host& host, ActorId id) noexcept {
  abort_actor(host, *host.system.actors.find(id));
}

Errc request_exit(Host& host, ActorId id, ExitReason reason) noexcept {
  Actor* actor = host.system.actors.find(id);
  if (actor == nullptr) return Errc::no_such_actor;
  if (host.tap != nullptr) [[unlikely]]
    host.tap->exit_requested(id, reason);
  const Wake wake = actor->state.request_exit(generation_of(id), reason);
  if (wake == Wake::gone) return Errc::no_such_actor;
  actor->note_exit();  // before it can run by our doing
  send_senders_away(host, *actor, id);
  if (wake == Wake::submit) host.submit(*actor);
  return Errc::ok;
}

Errc stop_child(Host& host, ActorId child) noexcept {
  begin_limit(host, child);
  return request_exit(host, child, ExitReason::normal);
}

// Who is above it is there, with its record, for as long as it is: everybody waits for its
// children.
bool has_time_left(const Actor& actor) noexcept {
  for (const Actor* one = &actor; one->child != nullptr; one = one->child->parent) {
    if (limit_of(*one) == Child::Limit::ticking) return true;
  }
  return false;
}

void obey_exit_request(Host& host, Actor& actor) noexcept {
  Turn turn(host, actor);
  host.set_acting(actor.id());
  const Ending because(host, actor.state.requested_reason(), kNoText);
  const bool is_late = is_out_of_time(actor);
  const Outcome outcome = is_late ? actor.kind->kill(actor, turn) : actor.kind->stop(actor, turn);
  turn.finish();
  host.set_acting(kNobody);
  if (is_late && outcome == Outcome::failed) {
    return begin_end(host, actor, ExitReason::killed, why_killed(actor));
  }
  if (outcome == Outcome::stopped || outcome == Outcome::failed) {
    return begin_end(host, actor, actor.state.requested_reason(), kNoText);
  }
  actor.note_exit();  // its next turn is for this too
  if (outcome != Outcome::suspended || !suspend(actor, true)) host.requeue(actor);
}

void begin_end(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  if (host.tap != nullptr) [[unlikely]]
    host.tap->ending(actor);
  if (!retire_alone(host.system, actor)) return begin_long_end(host, actor, reason, text);
  end_alone(host, actor, reason, text);
}

void continue_end(Host& host, Actor& actor) noexcept {
  if (actor.status != Status::stopping) return retire(host, actor);
  if (is_out_of_time(actor)) {
    actor.relations->exit_reason = ExitReason::killed;
    actor.relations->exit_text = why_killed(actor);
  }
  const Ending because(host, actor.relations->exit_reason, actor.relations->exit_text);
  drain_mailbox(host, actor, DeadLetterReason::target_gone);
  const ActorId youngest = youngest_child(host.system, actor);
  if (youngest != kNobody) return end_youngest(host, actor, youngest);
  finish_end(host, actor, actor.relations->exit_reason, actor.relations->exit_text);
}

void abandon_early(Host& host, ActorId id) noexcept {
  Actor* actor = host.system.actors.find(id);
  if (actor == nullptr || actor->id() != id || actor->kind == nullptr) return;
  if (actor->status > Status::running || has_children(host.system, *actor)) return;
  abandon(host, *actor);
}

void abandon_all(Host& host) noexcept {
  System& system = host.system;
  // First everything a user may want back, while all actors are still whole.
  system.actors.for_each_slot([&](Actor& actor) {
    actor.state.close();
    abandon_timers(host, actor, DeadLetterReason::closing);
    drain_mailbox(host, actor, DeadLetterReason::closing);
  });
  system.actors.for_each_slot([&](Actor& actor) {
    if (actor.kind != nullptr) abandon_family(host, actor);
  });
}

}  // namespace jzx::core
