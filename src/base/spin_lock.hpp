// A lock for critical sections of a few instructions that several threads rarely meet in:
// one locked instruction to enter, a plain store to leave. Not fair, not recursive.
#pragma once

#include "base/atomic.hpp"

namespace jzx::base {

class SpinLock {
 public:
  void lock() noexcept {
    // acquire: what the previous holder did is seen; pairs with the release in unlock().
    while (held_.exchange(true, std::memory_order_acquire)) [[unlikely]] wait();
  }
  [[nodiscard]] bool try_lock() noexcept {
    // relaxed: a look first, so that a held lock's line is not taken from its holder. acquire: as
    // in lock().
    return !held_.load(std::memory_order_relaxed) &&
           !held_.exchange(true, std::memory_order_acquire);
  }
  // release: pairs with the acquire in lock().
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  // Out of line, so that to lock is a handful of instructions where it is inlined.
  [[gnu::noinline]] void wait() const noexcept {
    int spins = 0;
    // relaxed: only a hint that trying again may pay.
    while (held_.load(std::memory_order_relaxed)) {
      spin_hint();
      if (++spins > 100) yield_thread();  // the holder may have lost its core
    }
  }

  Atomic<bool> held_{false};
};

}  // namespace jzx::base
