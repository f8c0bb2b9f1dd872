// Turns what the core tells into the callbacks of jzx_observer.
#pragma once

#include <jzx/jzx.h>

#include <cstdio>
#include <jzx/observer.hpp>

namespace jzx::capi {

class CObserver final : public Observer {
 public:
  void set(const jzx_observer& callbacks, void* ctx) noexcept {
    callbacks_ = callbacks;
    ctx_ = ctx;
  }

  void actor_started(ActorId id, const char* label) override {
    if (callbacks_.on_actor_start != nullptr) callbacks_.on_actor_start(ctx_, id, label);
  }
  void actor_stopped(ActorId id, ExitReason reason, const ExitText&) override {
    if (callbacks_.on_actor_stop != nullptr) {
      callbacks_.on_actor_stop(ctx_, id, static_cast<int>(reason));
    }
  }
  void actor_restarted(ActorId supervisor, ActorId child, uint32_t attempt) override {
    if (callbacks_.on_actor_restart != nullptr) {
      callbacks_.on_actor_restart(ctx_, supervisor, child, static_cast<int>(attempt));
    }
  }
  void supervisor_escalated(ActorId id) override {
    if (callbacks_.on_supervisor_escalate != nullptr) callbacks_.on_supervisor_escalate(ctx_, id);
  }
  void mailbox_full(ActorId id) override {
    if (callbacks_.on_mailbox_full != nullptr) callbacks_.on_mailbox_full(ctx_, id);
  }
  // The C interface has no callback for these two; what is wrong should be told all the same.
  void handler_stalled(ActorId id, const char* message, uint64_t running_ms) override {
    tell_stall_on_stderr(id, message, running_ms);
  }
  void injection_high(uint64_t waiting) override {
    std::fprintf(stderr, "jzx: %llu actors and jobs from outside wait for a worker\n",
                 static_cast<unsigned long long>(waiting));
  }
  void dead_letter(ActorId target, Envelope& envelope, DeadLetterReason) override {
    if (callbacks_.on_dead_letter == nullptr) return;
    // A C++ message ends by itself; and so does a reply, since only those can ask.
    if (envelope.type->key != &raw_message_type) return;
    callbacks_.on_dead_letter(ctx_, target, &envelope.as<jzx_message>());
  }

  CObserver* older = nullptr;  // see jzx_loop

 private:
  jzx_observer callbacks_{};
  void* ctx_ = nullptr;
};

}  // namespace jzx::capi
