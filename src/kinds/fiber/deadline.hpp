// A timer that gives a waiting fiber a turn. Whoever leaves the wait takes it back first, and then
// it is not being fired either.
//
// Threads: the fiber's; it fires on the thread of the host that it was armed with.
#pragma once

#include <cstdint>
#include <utility>

#include "core/host.hpp"

namespace jzx::kinds {

class Deadline final : private base::Timer {
 public:
  Deadline() noexcept : Timer(&fired) {}

  [[nodiscard]] bool is_armed() const noexcept { return home_ != nullptr; }
  void arm(core::Host& host, core::Actor& actor, uint64_t delay_ms) {
    has_passed_.store(false, std::memory_order_relaxed);  // nobody fires it
    actor_ = &actor;
    generation_ = core::generation_of(actor.id());
    home_ = &host.timer_home();
    home_->arm(*this, delay_ms);
  }
  void cancel() {
    if (home_ != nullptr) (void)std::exchange(home_, nullptr)->disarm(*this);
  }
  // relaxed: whoever fires it wakes the actor after that, and a wait looks again when it was woken.
  [[nodiscard]] bool has_passed() const noexcept {
    return has_passed_.load(std::memory_order_relaxed);
  }

 private:
  static void fired(base::Timer& timer, base::Executor& executor) {
    auto& self = static_cast<Deadline&>(timer);
    self.has_passed_.store(true, std::memory_order_relaxed);  // as above
    core::Actor& actor = *self.actor_;
    if (actor.state.wake(self.generation_) == core::Wake::submit) {
      static_cast<core::Host&>(executor).submit(actor);
    }
  }

  core::Actor* actor_ = nullptr;
  uint32_t generation_ = 0;
  core::Host* home_ = nullptr;
  base::Atomic<bool> has_passed_{false};
};

}  // namespace jzx::kinds
