#include "core/message_timer.hpp"

#include "core/send.hpp"

namespace jzx::core {

namespace {

// True: delivered, and the id is stale from here on. False: no room.
bool try_deliver(Host& host, MessageTimer& timer) noexcept {
  Actor& target = *timer.target;
  const Admission admission = admit_user(target, target.state.generation());
  if (admission == Admission::full) return false;
  static_cast<base::ListNode<InTargetTimers>&>(timer).unlink();
  TimerMap::invalidate(timer);
  ++host.counters.accepted;
  if (admission == Admission::gone) {
    // Asked to end, but its turn has not come yet.
    host.dead_letter(target.id(), timer, DeadLetterReason::target_gone);
  } else if (enqueue(target, timer, admission)) {
    host.submit(target);
  }
  return true;
}

void timer_fired(base::Timer& base_timer, base::Executor& executor) {
  auto& timer = static_cast<MessageTimer&>(base_timer);
  auto& host = static_cast<Host&>(executor);
  Actor& target = *timer.target;
  // Behind those that wait already, so that timers keep their order.
  if (!target.has_note(kTimersWaiting) && try_deliver(host, timer)) return;
  static_cast<base::ListNode<InTargetTimers>&>(timer).unlink();
  target.relations->waiting_timers.push_back(timer);
  target.note(kTimersWaiting);
}

void dead_letter_all(Host& host, Actor& target, base::List<MessageTimer, InTargetTimers>& list,
                     DeadLetterReason reason) noexcept {
  while (MessageTimer* timer = list.pop_front()) {
    if (timer->is_armed()) host.disarm(*timer);
    TimerMap::invalidate(*timer);  // the observer may try to cancel it
    ++host.counters.accepted;
    host.dead_letter(target.id(), *timer, reason);
  }
}

}  // namespace

MessageTimer::MessageTimer() noexcept : base::Timer(&timer_fired) {}

MessageTimer* make_timer(Host& host, ActorId target, Errc& error) noexcept {
  Actor* actor = host.system.find_open(target);
  if (actor == nullptr) {
    error = Errc::no_such_actor;
    return nullptr;
  }
  error = Errc::no_memory;
  if (host.system.relations_of(*actor) == nullptr) return nullptr;
  MessageTimer* timer = host.timers.take();
  if (timer == nullptr) return nullptr;
  timer->target = actor;
  timer->flags = Envelope::kTimer;
  timer->sender = host.current_id;
  error = Errc::ok;
  return timer;
}

uint64_t arm_timer(Host& host, MessageTimer& timer, uint64_t delay_ms) noexcept {
  timer.target->relations->timers.push_back(timer);
  host.arm(timer, delay_ms);
  return host.timers.id_of(timer);
}

Errc cancel_timer(Host& host, uint64_t id) noexcept {
  MessageTimer* timer = host.timers.find(id);
  if (timer == nullptr) return Errc::timer_invalid;
  if (timer->is_armed()) host.disarm(*timer);
  static_cast<base::ListNode<InTargetTimers>*>(timer)->unlink();
  if (timer->type->destroy != nullptr) timer->type->destroy(*timer);
  host.timers.give(*timer);
  return Errc::ok;
}

void deliver_waiting_timers(Host& host, Actor& actor) noexcept {
  auto& waiting = actor.relations->waiting_timers;
  while (MessageTimer* timer = waiting.front()) {
    if (!try_deliver(host, *timer)) return;
  }
  actor.unnote(kTimersWaiting);
}

void abandon_timers(Host& host, Actor& target, DeadLetterReason reason) noexcept {
  if (target.relations == nullptr) return;
  dead_letter_all(host, target, target.relations->waiting_timers, reason);
  dead_letter_all(host, target, target.relations->timers, reason);
  target.unnote(kTimersWaiting);
}

}  // namespace jzx::core
