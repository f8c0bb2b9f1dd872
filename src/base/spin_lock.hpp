// A lock for critical sections of a few instructions that several threads rarely meet in:
// one locked instruction to enter, a plain store to leave. Not fair, not recursive.
//
// Where something may block under a lock it is a Mutex, which a model build replaces by one of
// these, so that the checker knows what it orders.
#pragma once

#include <mutex>

#include "base/atomic.hpp"

namespace jzx::base {

// Waits for another thread, which is about to do something; `waits()` says that it has not yet.
template <class Waits>
inline void spin_while(Waits&& waits) noexcept {
  int spins = 0;
  while (waits()) {
    spin_hint();
    if (spins++ < 100) continue;
    spins = 100;
    yield_thread();  // it may have lost its core
  }
}

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
    // relaxed: only a hint that trying again may pay.
    spin_while([this]() noexcept { return held_.load(std::memory_order_relaxed); });
  }

  Atomic<bool> held_{false};
};

#ifdef JZX_MODEL
using Mutex = SpinLock;
#else
using Mutex = std::mutex;
#endif

}  // namespace jzx::base
