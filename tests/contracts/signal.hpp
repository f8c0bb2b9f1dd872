// Something a suspended body waits for, as a future, a timer or an I/O operation will be: it
// happens once, and then wakes whoever waits for it through the state word.
//
// Threads: raise() by any; the rest by the turn of the actor that waits.
#pragma once

#include <atomic>

#include "core/host.hpp"

namespace jzx::contracts {

class Signal {
 public:
  // From any thread; `host` is where the actor is to run.
  void raise(core::Host& host, bool on_its_thread = true) {
    // seq_cst, here and below: whoever comes second, the raiser or the waiter, sees the other.
    is_raised_.store(true, std::memory_order_seq_cst);
    core::Actor* waiter = waiter_.load(std::memory_order_seq_cst);
    if (waiter == nullptr) return;
    switch (waiter->state.wake(generation_)) {
      case core::Wake::submit:
        on_its_thread ? host.submit(*waiter) : host.post(*waiter);
        break;
      case core::Wake::already_queued:  // the running turn looks again before it waits
      case core::Wake::gone:            // killed meanwhile
        break;
    }
  }

  [[nodiscard]] bool is_raised() const { return is_raised_.load(std::memory_order_seq_cst); }

  // Before the first look at is_raised(). One actor per signal.
  void wait_from(core::Actor& actor) {
    if (waiter_.load(std::memory_order_relaxed) != nullptr) return;  // only this thread sets it
    generation_ = core::generation_of(actor.id());
    waiter_.store(&actor, std::memory_order_seq_cst);
  }

 private:
  std::atomic<bool> is_raised_{false};
  uint32_t generation_ = 0;
  std::atomic<core::Actor*> waiter_{nullptr};
};

}  // namespace jzx::contracts
