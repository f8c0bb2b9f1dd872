// A timer that gives a waiting fiber a turn. Whoever leaves the wait takes it back first, and then
// it is not being fired either.
//
// Threads: the fiber's; it fires on the thread of the host that it was armed with.
#pragma once

#include <cstdint>
#include <utility>

#include "core/host.hpp"

namespace jzx::kinds {

class Deadline {
 public:
  Deadline() noexcept {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {}

  [[nodiscard]] bool is_armed() const noexcept { return home_ != nullptr; }
  void arm(core::Host& host, core::Actor& actor, uint64_t delay_ms) {
    new (&timer_) WakeUp(actor);
    home_ = &host.timer_home();
    home_->arm(timer_, delay_ms);
  }
  void cancel() {
    if (home_ != nullptr) (void)std::exchange(home_, nullptr)->disarm(timer_);
  }
  // And it was armed. relaxed: whoever fires it wakes the actor after that, and a wait looks again
  // when it was woken.
  [[nodiscard]] bool has_passed() const noexcept {
    return is_armed() && timer_.has_passed.load(std::memory_order_relaxed);
  }

 private:
  struct WakeUp final : base::Timer {
    explicit WakeUp(core::Actor& the_actor) noexcept
        : Timer(&fired), actor(the_actor), generation(core::generation_of(the_actor.id())) {}

    static void fired(base::Timer& timer, base::Executor& executor) {
      auto& self = static_cast<WakeUp&>(timer);
      self.has_passed.store(true, std::memory_order_relaxed);  // as above
      core::Actor& actor = self.actor;
      auto& host = static_cast<core::Host&>(executor);
      if (host.wake(actor, self.generation) == core::Wake::submit) host.submit(actor);
    }

    core::Actor& actor;
    const uint32_t generation;
    base::Atomic<bool> has_passed{false};
  };

  core::Host* home_ = nullptr;  // of the timer, while it is armed
  // In a union, since it is long to make, and most fibers end without one: there since it was
  // armed.
  union {
    WakeUp timer_;
  };
};

}  // namespace jzx::kinds
