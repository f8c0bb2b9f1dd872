// An observer that passes on to another what it is told; where there is no other, it does what is
// done without an observer.
#pragma once

#include <jzx/observer.hpp>

namespace jzx::runtime {

class ForwardingObserver : public Observer {
 public:
  void actor_started(ActorId id, const char* label) override {
    if (next_observer != nullptr) next_observer->actor_started(id, label);
  }
  void actor_stopped(ActorId id, ExitReason reason, const ExitText& text) override {
    if (next_observer != nullptr) next_observer->actor_stopped(id, reason, text);
  }
  void actor_restarted(ActorId supervisor, ActorId child, uint32_t attempt) override {
    if (next_observer != nullptr) next_observer->actor_restarted(supervisor, child, attempt);
  }
  void supervisor_escalated(ActorId id) override {
    if (next_observer != nullptr) next_observer->supervisor_escalated(id);
  }
  void mailbox_high(ActorId id, uint32_t queued) override {
    if (next_observer != nullptr) next_observer->mailbox_high(id, queued);
  }
  void handler_stalled(ActorId id, const char* message, uint64_t running_ms) override {
    if (next_observer == nullptr) return tell_stall_on_stderr(id, message, running_ms);
    next_observer->handler_stalled(id, message, running_ms);
  }
  void injection_high(uint64_t waiting) override {
    if (next_observer != nullptr) next_observer->injection_high(waiting);
  }
  void mailbox_full(ActorId id) override {
    if (next_observer != nullptr) next_observer->mailbox_full(id);
  }
  void deadlock(ActorId waiter, const char* cycle) override {
    if (next_observer == nullptr) return tell_deadlock_on_stderr(cycle);
    next_observer->deadlock(waiter, cycle);
  }
  void dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) override {
    if (next_observer != nullptr) next_observer->dead_letter(target, envelope, reason);
  }

  Observer* next_observer = nullptr;
};

}  // namespace jzx::runtime
