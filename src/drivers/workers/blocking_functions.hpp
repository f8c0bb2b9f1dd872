// The functions of spawn_blocking() that were taken and have not ended, as numbers. They are no
// actors, and in the blocking pool they look like those that run there; a shutdown waits for both.
//
//   accept ──▶ waiting ── begin ──▶ running ── end ──▶ gone
//
// One word, so that a function is either refused by a shutdown or waited for.
//
// Threads: any.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace jzx::drivers {

class BlockingFunctions {
 public:
  struct Left {
    uint32_t waiting = 0;  // for a thread
    uint32_t running = 0;
    [[nodiscard]] bool nobody() const noexcept { return waiting == 0 && running == 0; }
  };

  // False: a shutdown has begun.
  [[nodiscard]] bool accept() noexcept {
    uint64_t word = word_.load(std::memory_order_relaxed);  // the exchange decides
    do {
      if ((word & kRefused) != 0) return false;
      // relaxed: whatever the function needs goes by the pool.
    } while (!word_.compare_exchange_weak(word, word + kWaiting, std::memory_order_relaxed));
    return true;
  }
  // There is no thread for one that was accepted.
  void call_off() noexcept { take(kWaiting); }
  void begin() noexcept {
    // relaxed: only numbers change.
    word_.fetch_add(kRunning - kWaiting, std::memory_order_relaxed);
  }
  void end() noexcept { take(kRunning); }

  // From now on.
  void refuse() noexcept {
    word_.fetch_or(kRefused, std::memory_order_relaxed);  // accept() decides on the same word
  }

  [[nodiscard]] Left left() const noexcept {
    // acquire: what those did that have ended is seen; pairs with take().
    const uint64_t word = word_.load(std::memory_order_acquire);
    return {static_cast<uint32_t>(word % kRunning),
            static_cast<uint32_t>(word % kRefused / kRunning)};
  }

 private:
  static constexpr uint64_t kWaiting = 1;
  static constexpr uint64_t kRunning = uint64_t{1} << 32;
  static constexpr uint64_t kRefused = uint64_t{1} << 63;

  void take(uint64_t one) noexcept {
    // release: what the function did; pairs with left().
    [[maybe_unused]] const uint64_t before = word_.fetch_sub(one, std::memory_order_release);
    JZX_ASSERT(one == kWaiting ? before % kRunning != 0 : before % kRefused >= kRunning);
  }

  base::Atomic<uint64_t> word_{0};
};

}  // namespace jzx::drivers
