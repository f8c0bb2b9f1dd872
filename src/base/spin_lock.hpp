// A lock for critical sections of a few instructions that several threads rarely meet in:
// one locked instruction to enter, a plain store to leave. Not fair, not recursive.
#pragma once

#include <atomic>
#include <thread>

namespace jzx::base {

class SpinLock {
 public:
  void lock() noexcept {
    // acquire: what the previous holder did is seen; pairs with the release in unlock().
    while (held_.exchange(true, std::memory_order_acquire)) {
      int spins = 0;
      // relaxed: only a hint that trying again may pay.
      while (held_.load(std::memory_order_relaxed)) {
        if (++spins > 100) std::this_thread::yield();  // the holder may have lost its core
      }
    }
  }
  // release: pairs with the acquire in lock().
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace jzx::base
