#include "core/message_timer.hpp"

#include "core/send.hpp"

namespace jzx::core {

namespace {

// In place of a deadline: it was due, and waits for room.
constexpr uint64_t kWaiting = base::Timer::kUnstamped - 1;

base::ListNode<InTargetTimers>& in_target(MessageTimer& timer) noexcept {
  return static_cast<base::ListNode<InTargetTimers>&>(timer);
}

// From here on its id is stale. The caller owns it.
void invalidate(System& system, MessageTimer& timer) noexcept {
  Timers hold(timer_owner(system, timer));
  TimerMap::invalidate(timer);
}

void dead_letter(Host& host, MessageTimer& timer, DeadLetterReason reason) noexcept {
  ++host.counters.accepted;
  host.dead_letter(timer.target, timer, reason);
}

// Under the target's lock. What to do next with a timer that is due and in no list; `full` if it
// has to wait. Otherwise its id is stale from here on.
Admission admit_timer(System& system, Actor& target, MessageTimer& timer) noexcept {
  const Admission admission = admit_user(target, generation_of(timer.target));
  if (admission != Admission::full) invalidate(system, timer);
  return admission;
}

void deliver(Host& host, Actor& target, MessageTimer& timer, Admission admission) noexcept {
  // gone: asked to end, but its turn has not come yet.
  if (admission == Admission::gone) return dead_letter(host, timer, DeadLetterReason::target_gone);
  ++host.counters.accepted;
  put(host, target, timer, admission);
}

void timer_fired(base::Timer& base_timer, base::Executor& executor) {
  auto& timer = static_cast<MessageTimer&>(base_timer);
  auto& host = static_cast<Host&>(executor);
  System& system = host.system;
  const ActorId target_id = timer.target;
  Actor& target = *system.actors.find(target_id);
  Admission admission = Admission::gone;
  {
    Bonds hold(system.is_shared, target);
    if (in_target(timer).is_linked()) {  // else the target has ended, and left it to us
      in_target(timer).unlink();
      // Behind those that wait already, so that timers keep their order.
      auto& waiting = target.relations->waiting_timers;
      admission = waiting.empty() ? admit_timer(system, target, timer) : Admission::full;
      if (admission == Admission::full) {
        waiting.push_back(timer);
        target.note(kTimersWaiting);
        Timers hold_timers(timer_owner(system, timer));
        timer.deadline_ms = kWaiting;
      }
    } else {
      invalidate(system, timer);
    }
  }
  if (admission != Admission::full) return deliver(host, target, timer, admission);
  // From here on the timer may be gone, and the target too. If that has only worked off its mail
  // meanwhile, it has no turn coming.
  if (system.is_shared && host.wake(target, generation_of(target_id)) == Wake::submit) {
    host.submit(target);
  }
}

// Under the target's lock: takes it out of its host's hands. False: it is being fired.
bool claim(System& system, MessageTimer& timer) noexcept {
  Host& home = timer_owner(system, timer);
  Timers hold(home);
  if (!home.unlink_timer(timer) && timer.deadline_ms != kWaiting) return false;
  TimerMap::invalidate(timer);  // the observer may try to cancel it
  return true;
}

void dead_letter_all(Host& host, Actor& target, base::List<MessageTimer, InTargetTimers>& list,
                     DeadLetterReason reason) noexcept {
  for (;;) {
    MessageTimer* timer = nullptr;
    bool is_ours = false;
    {
      Bonds hold(host.system.is_shared, target);
      timer = list.pop_front();
      if (timer == nullptr) return;
      is_ours = claim(host.system, *timer);
    }
    if (is_ours) dead_letter(host, *timer, reason);
  }
}

}  // namespace

MessageTimer::MessageTimer() noexcept : base::Timer(&timer_fired) {}

MessageTimer* make_timer(Host& host, ActorId target, Errc& error) noexcept {
  Actor* actor = host.system.find_open(target);
  error = actor == nullptr ? Errc::no_such_actor : host.system.make_relations(*actor, target);
  if (!ok(error)) return nullptr;
  Host& home = host.timer_home();
  Timers hold(home);
  MessageTimer* timer = home.timers.take();
  if (timer == nullptr) {
    error = Errc::no_memory;
    return nullptr;
  }
  timer->target = target;
  timer->deadline_ms = 0;
  timer->set_home(home.index);
  timer->sender = host.acting();
  if (host.tap != nullptr) [[unlikely]]
    host.tap->armed(*timer);
  return timer;
}

uint64_t arm_timer(Host& host, MessageTimer& timer, uint64_t delay_ms) noexcept {
  System& system = host.system;
  Host& home = system.is_shared ? timer_owner(system, timer) : host;
  Actor& target = *system.actors.find(timer.target);
  uint64_t id = home.timers.id_of(timer);  // once it is armed it may be gone at any moment
  {
    Bonds hold(system.is_shared, target);
    if (system.is_live(target, timer.target)) {
      target.relations->timers.push_back(timer);
      home.arm(timer, delay_ms);
      return id;
    }
  }
  // The target ended since make_timer().
  invalidate(system, timer);
  dead_letter(host, timer, DeadLetterReason::target_gone);
  return id;
}

namespace {

// The timer with this id, as long as the lock of its host's timers is held.
MessageTimer* find_timer(Host& home, uint64_t id, ActorId& target) noexcept {
  Timers hold(home);
  MessageTimer* timer = home.timers.find(id);
  if (timer != nullptr) target = timer->target;
  return timer;
}

enum class Claim : uint8_t { won, lost, again };

// `target` is the timer's. While that one's lock is held the timer stays bound to it.
Claim claim_by_id(System& system, Host& home, uint64_t id, ActorId target,
                  MessageTimer*& out) noexcept {
  Bonds hold(system.is_shared, *system.actors.find(target));
  ActorId still = target;
  out = find_timer(home, id, still);
  if (out == nullptr) return Claim::lost;
  if (!claim(system, *out)) return Claim::again;  // it is being fired, on another thread
  in_target(*out).unlink();
  return Claim::won;
}

}  // namespace

Errc cancel_timer(Host& host, uint64_t id) noexcept {
  if (!host.system.is_shared) {
    MessageTimer* timer = host.timers.find(id);
    if (timer == nullptr) return Errc::timer_invalid;
    (void)host.unlink_timer(*timer);  // false: it waits for room
    in_target(*timer).unlink();
    if (timer->type->destroy != nullptr) timer->type->destroy(*timer);
    host.timers.give(*timer);
    return Errc::ok;
  }
  Host* home = host.system.timer_host(TimerMap::owner_of(id));
  if (home == nullptr) return Errc::timer_invalid;
  for (;;) {
    ActorId target = kNobody;
    MessageTimer* timer = find_timer(*home, id, target);
    if (timer == nullptr) return Errc::timer_invalid;
    const Claim claimed = claim_by_id(host.system, *home, id, target, timer);
    if (claimed == Claim::lost) return Errc::timer_invalid;
    if (claimed == Claim::won) return host.discard(*timer), Errc::ok;
    base::yield_thread();
  }
}

void deliver_waiting_timers(Host& host, Actor& actor) noexcept {
  for (;;) {
    MessageTimer* timer = nullptr;
    Admission admission = Admission::gone;
    {
      Bonds hold(host.system.is_shared, actor);
      timer = actor.relations->waiting_timers.front();
      if (timer == nullptr) return actor.unnote(kTimersWaiting);
      admission = admit_timer(host.system, actor, *timer);
      if (admission == Admission::full) return;
      in_target(*timer).unlink();
    }
    deliver(host, actor, *timer, admission);
  }
}

void abandon_timers(Host& host, Actor& target, DeadLetterReason reason) noexcept {
  Relations* relations = nullptr;
  {
    Bonds hold(host.system.is_shared, target);
    relations = target.relations;
  }
  if (relations == nullptr) return;
  dead_letter_all(host, target, relations->waiting_timers, reason);
  dead_letter_all(host, target, relations->timers, reason);
  target.unnote(kTimersWaiting);
}

}  // namespace jzx::core
