#include "core/lifecycle.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/bonds.hpp"
#include "core/message_timer.hpp"
#include "core/send.hpp"
#include "core/turn.hpp"

namespace jzx::core {

namespace {

// ---- being born ----

const char* copy_label(const base::Allocator& allocator, const char* label) noexcept {
  const size_t size = std::strlen(label) + 1;
  void* memory = allocator.allocate(size);
  if (memory != nullptr) std::memcpy(memory, label, size);
  return static_cast<const char*>(memory);
}

void child_notice_done(Notice& notice, Host& host) {
  auto& child = static_cast<Child&>(notice);
  child.~Child();
  host.system.children.give(&child);
}

// The record by which the parent will hear of the end; made now so that it cannot fail then.
Child* make_child(System& system, Actor& parent, const SpawnOptions& options) noexcept {
  if (system.relations_of(parent) == nullptr) return nullptr;
  void* memory = system.children.take();
  if (memory == nullptr) return nullptr;
  auto* child = new (memory) Child;
  child->parent = &parent;
  child->mark = options.child_mark;
  child->is_supervisor = options.is_supervisor;
  return child;
}

// ---- ending ----

void drain_mailbox(Host& host, Actor& actor, DeadLetterReason reason) noexcept {
  const ActorId id = actor.id();
  while (Envelope* envelope = take(actor)) {
    if ((envelope->flags & Envelope::kSystem) != 0) {
      host.discard(*envelope);
    } else {
      host.dead_letter(id, *envelope, reason);
    }
  }
}

void set_stopping(Actor& actor) noexcept {
  actor.status = Status::stopping;
  actor.state.close();
}

// It does not end within this turn: the next one must see that it is not running. Most actors end
// at once, and are spared this locked instruction.
void end_in_a_later_turn(Host& host, Actor& actor, bool may_rest) noexcept {
  actor.note(kNotRunning);
  if (!may_rest || !actor.state.park(handled_count(actor), true)) host.submit(actor);
}

bool has_children(const Actor& actor) noexcept {
  return actor.relations != nullptr && !actor.relations->children.empty();
}

void tell_parent(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  Child* child = actor.child;
  if (child == nullptr) return;
  actor.child = nullptr;
  child->unlink();
  child->exit = ChildExit{actor.id(), reason, text};
  child->address(SystemTag::child_exit, actor.id(), &child->exit, kSizeOfChildExit,
                 &child_notice_done);
  send_notice(host, *child->parent, *child);
}

void drop_name(Host& host, Actor& actor) noexcept {
  if (actor.relations->name == nullptr) return;
  host.system.names.remove(*actor.relations->name);
  actor.relations->name = nullptr;
}

void free_belongings(Host& host, Actor& actor) noexcept {
  if (actor.relations != nullptr) {
    actor.relations->~Relations();
    host.system.relations.give(actor.relations);
    actor.relations = nullptr;
  }
  host.system.allocator.release(const_cast<char*>(actor.label));
  actor.label = nullptr;
}

// The slot is free again once nobody is between admission and enqueueing.
void retire(Host& host, Actor& actor) noexcept {
  drain_mailbox(host, actor, DeadLetterReason::target_gone);
  if (actor.state.retire(handled_count(actor))) {
    host.system.actors.give(actor);
  } else {
    end_in_a_later_turn(host, actor, false);
  }
}

void destroy_body(Host& host, Actor& actor, ExitReason reason) noexcept {
  const ActorId outer = std::exchange(host.current_id, actor.id());  // of what on_stop sends
  actor.kind->destroy(actor, host, reason);
  host.current_id = outer;
  actor.kind = nullptr;
}

// Everything but the slot.
void end_actor(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  destroy_body(host, actor, reason);
  actor.status = reason == ExitReason::normal ? Status::stopped : Status::failed;
  --host.system.alive;
  if (actor.relations != nullptr) {
    host.release_watches(actor);
    drop_name(host, actor);
  }
  if (host.system.observer != nullptr) {
    host.system.observer->actor_stopped(actor.id(), reason, text);
  }
  if (actor.relations != nullptr) tell_bonds(host, actor, reason, text);
  tell_parent(host, actor, reason, text);
  free_belongings(host, actor);
}

void finish_end(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  end_actor(host, actor, reason, text);
  retire(host, actor);
}

void drop_child_record(Host& host, Actor& actor) noexcept {
  Child* child = std::exchange(actor.child, nullptr);
  if (child == nullptr) return;
  child->unlink();
  child_notice_done(*child, host);
}

void abort_actor(Host& host, Actor& actor) noexcept {
  drop_child_record(host, actor);  // its parent is called off too, or never knew it
  set_stopping(actor);
  actor.note(kNotRunning);  // it may be in a run queue
  while (has_children(actor)) abort_actor(host, *actor.relations->children.back()->actor);
  abandon_timers(host, actor, DeadLetterReason::target_gone);
  end_actor(host, actor, ExitReason::killed, ExitText("the start was called off"));
  // One that waits for its first turn elsewhere, or to which another thread is just sending (that
  // one owns its inbox), gives up its mail and retires when its turn comes.
  if (!actor.state.is_scheduled() || host.ready.remove(actor)) retire(host, actor);
}

Actor& youngest_descendant(Actor& actor) noexcept {
  Actor* youngest = &actor;
  while (has_children(*youngest)) youngest = youngest->relations->children.back()->actor;
  return *youngest;
}

// Ends an actor without children, and tells nobody.
void abandon(Host& host, Actor& actor) noexcept {
  destroy_body(host, actor, ExitReason::killed);
  --host.system.alive;
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
  for (Actor* actor = &youngest_descendant(head);;) {
    Actor* parent = actor == &head ? nullptr : actor->child->parent;
    abandon(host, *actor);
    if (parent == nullptr) return;
    actor = &youngest_descendant(*parent);
  }
}

// One child at a time, the youngest first; its end brings us back here.
void stop_youngest_child(Host& host, Actor& actor) noexcept {
  Child* youngest = actor.relations->children.back();
  // no_such_actor: it was asked before, and is on its way out.
  (void)request_exit(host, youngest->actor->id(), ExitReason::normal);
  end_in_a_later_turn(host, actor, true);
}

}  // namespace

uint32_t user_share(uint32_t mailbox_cap) noexcept {
  const uint32_t share = mailbox_cap > kSystemReserve ? mailbox_cap - kSystemReserve : 1;
  return std::min(share, StateWord::kMaxUserLimit);
}

Errc spawn(Host& host, const SpawnOptions& options, ActorId& out) noexcept {
  System& system = host.system;
  if (system.is_closing) return Errc::loop_closed;
  Actor* parent = nullptr;
  if (options.parent != kNobody) {
    parent = system.find_open(options.parent);
    if (parent == nullptr) return Errc::no_such_actor;
  }
  Actor* actor = system.actors.take();
  if (actor == nullptr) return system.actors.is_full() ? Errc::max_actors : Errc::no_memory;

  Child* child = parent == nullptr ? nullptr : make_child(system, *parent, options);
  const char* label =
      options.label == nullptr ? nullptr : copy_label(system.allocator, options.label);
  if ((parent != nullptr && child == nullptr) || (options.label != nullptr && label == nullptr)) {
    if (child != nullptr) child_notice_done(*child, host);
    system.allocator.release(const_cast<char*>(label));
    system.actors.give(*actor);
    return Errc::no_memory;
  }

  actor->kind = options.kind;
  actor->set_run(options.kind->run);
  actor->body = options.body;
  // relaxed: published by open().
  actor->user_limit.store(
      user_share(options.mailbox_cap != 0 ? options.mailbox_cap : system.default_mailbox_cap),
      std::memory_order_relaxed);
  actor->label = label;
  actor->child = child;
  actor->status = options.first_turn ? Status::init : Status::running;
  actor->traps_exit = false;
  // relaxed: published by open().
  actor->attention.store(options.first_turn ? kNotRunning : 0, std::memory_order_relaxed);
  if (child != nullptr) {
    child->actor = actor;
    parent->relations->children.push_back(*child);
  }
  ++system.alive;
  out = actor->own_id = make_id(actor->slot, actor->state.next_generation(system.first_generation));
  actor->state.open(generation_of(out), options.first_turn);
  if (options.first_turn) host.submit(*actor);
  if (system.observer != nullptr) system.observer->actor_started(out, label);
  return Errc::ok;
}

void abort_start(Host& host, ActorId id) noexcept {
  Actor* actor = host.system.find_live(id);
  if (actor != nullptr) abort_actor(host, *actor);
}

Errc request_exit(Host& host, ActorId id, ExitReason reason) noexcept {
  Actor* actor = host.system.actors.find(id);
  if (actor == nullptr) return Errc::no_such_actor;
  const Wake wake = actor->state.request_exit(generation_of(id), reason);
  if (wake == Wake::gone) return Errc::no_such_actor;
  actor->note(kExitHint);  // before it can run
  if (wake == Wake::submit) host.submit(*actor);
  return Errc::ok;
}

void obey_exit_request(Host& host, Actor& actor) noexcept {
  Turn turn(host, actor);
  host.current_id = actor.id();
  const Outcome outcome = actor.kind->stop(actor, turn);
  turn.finish();
  host.current_id = kNobody;
  switch (outcome) {
    case Outcome::suspended:
      if (!actor.state.suspend(true)) host.submit(actor);
      break;
    case Outcome::budget_spent:
    case Outcome::wants_mail:
      host.submit(actor);
      break;
    case Outcome::stopped:
    case Outcome::failed:
      begin_end(host, actor, actor.state.requested_reason(), kNoText);
      break;
  }
}

void begin_end(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  set_stopping(actor);
  abandon_timers(host, actor, DeadLetterReason::target_gone);
  drain_mailbox(host, actor, DeadLetterReason::target_gone);
  if (!has_children(actor)) return finish_end(host, actor, reason, text);
  actor.relations->exit_reason = reason;
  actor.relations->exit_text = text;
  stop_youngest_child(host, actor);
}

void continue_end(Host& host, Actor& actor) noexcept {
  if (actor.status != Status::stopping) return retire(host, actor);
  drain_mailbox(host, actor, DeadLetterReason::target_gone);
  if (has_children(actor)) return stop_youngest_child(host, actor);
  finish_end(host, actor, actor.relations->exit_reason, actor.relations->exit_text);
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
