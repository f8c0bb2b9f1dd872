// Turns what the core tells into the callbacks of jzx_observer.
//
// There is one for each loop or runtime, made with it, so that to set an observer needs no memory.
// Of a runtime the callbacks may be replaced while other threads call them. They are kept twice:
// what is in force is read, the other place is written, and then a version says that this one is in
// force. Nobody waits for a writer; a reader looks again if the version has changed meanwhile. A
// callback may still be called for a moment after it was replaced.
//
// Threads: set() any, one at a time by its lock; the callbacks any.
#pragma once

#include <jzx/jzx.h>

#include <cstdio>
#include <jzx/observer.hpp>
#include <mutex>

#include "base/atomic.hpp"
#include "base/spin_lock.hpp"

namespace jzx::capi {

class CObserver final : public Observer {
 public:
  void set(const jzx_observer& callbacks, void* ctx) noexcept {
    const std::lock_guard hold(setting_);
    const uint32_t next = version_.load(std::memory_order_relaxed) + 1;  // under the lock
    places_[next % 2].write(callbacks, ctx);
    // release: publishes what was written; pairs with find().
    version_.store(next, std::memory_order_release);
  }

  void actor_started(ActorId id, const char* label) override {
    if (const auto found = find(&Place::on_actor_start)) found.call(found.ctx, id, label);
  }
  void actor_stopped(ActorId id, ExitReason reason, const ExitText&) override {
    if (const auto found = find(&Place::on_actor_stop)) {
      found.call(found.ctx, id, static_cast<int>(reason));
    }
  }
  void actor_restarted(ActorId supervisor, ActorId child, uint32_t attempt) override {
    if (const auto found = find(&Place::on_actor_restart)) {
      found.call(found.ctx, supervisor, child, static_cast<int>(attempt));
    }
  }
  void supervisor_escalated(ActorId id) override {
    if (const auto found = find(&Place::on_supervisor_escalate)) found.call(found.ctx, id);
  }
  void mailbox_full(ActorId id) override {
    if (const auto found = find(&Place::on_mailbox_full)) found.call(found.ctx, id);
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
    // A C++ message ends by itself; and so does a reply, since only those can ask.
    if (envelope.type->key != &raw_message_type) return;
    if (const auto found = find(&Place::on_dead_letter)) {
      found.call(found.ctx, target, &envelope.as<jzx_message>());
    }
  }

 private:
  template <class Function>
  using Callback = base::Atomic<Function>;

  // release, all: who reads one of these, while they are written again, reads the version that came
  // before, and looks again; pairs with find().
  struct Place {
    void write(const jzx_observer& callbacks, void* the_ctx) noexcept {
      on_actor_start.store(callbacks.on_actor_start, std::memory_order_release);
      on_actor_stop.store(callbacks.on_actor_stop, std::memory_order_release);
      on_actor_restart.store(callbacks.on_actor_restart, std::memory_order_release);
      on_supervisor_escalate.store(callbacks.on_supervisor_escalate, std::memory_order_release);
      on_mailbox_full.store(callbacks.on_mailbox_full, std::memory_order_release);
      on_dead_letter.store(callbacks.on_dead_letter, std::memory_order_release);
      ctx.store(the_ctx, std::memory_order_release);
    }

    Callback<decltype(jzx_observer::on_actor_start)> on_actor_start{nullptr};
    Callback<decltype(jzx_observer::on_actor_stop)> on_actor_stop{nullptr};
    Callback<decltype(jzx_observer::on_actor_restart)> on_actor_restart{nullptr};
    Callback<decltype(jzx_observer::on_supervisor_escalate)> on_supervisor_escalate{nullptr};
    Callback<decltype(jzx_observer::on_mailbox_full)> on_mailbox_full{nullptr};
    Callback<decltype(jzx_observer::on_dead_letter)> on_dead_letter{nullptr};
    base::Atomic<void*> ctx{nullptr};
  };

  template <class Function>
  struct Found {
    [[nodiscard]] explicit operator bool() const noexcept { return call != nullptr; }
    Function call;
    void* ctx;
  };

  // A callback and the context that was set with it.
  template <class Function>
  [[nodiscard]] Found<Function> find(Callback<Function> Place::*which) const noexcept {
    // acquire: pairs with set().
    uint32_t version = version_.load(std::memory_order_acquire);
    for (;;) {
      const Place& place = places_[version % 2];
      // acquire, both: if they are of a later version, the look at the version below sees that it
      // has begun. Pairs with Place::write().
      const Found<Function> found{(place.*which).load(std::memory_order_acquire),
                                  place.ctx.load(std::memory_order_acquire)};
      const uint32_t now = version_.load(std::memory_order_acquire);
      if (now == version) return found;
      version = now;
    }
  }

  base::SpinLock setting_;
  base::Atomic<uint32_t> version_{0};
  Place places_[2];
};

}  // namespace jzx::capi
