// Where time comes from. Everything reads time through its Executor, and the
// Executor reads it from one Clock, so that a test can own time.
//
// A clock is monotonic. SteadyClock may be read from any thread; ManualClock is
// for one-threaded tests and may be moved from any thread.
//
// Quick time measures how long a stretch of work took, at about half the price of a clock read: it
// runs at the clock's rate to within a percent, and starts at any number. Only the difference of
// two readings of one thread means something.
#pragma once

#include <cstdint>
#include <ctime>
#include <limits>

#include "base/atomic.hpp"

namespace jzx::base {

inline constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
inline constexpr uint64_t kNanosPerMilli = 1'000'000;

class Clock {
 public:
  virtual ~Clock() = default;

  [[nodiscard]] virtual uint64_t now_ns() noexcept = 0;

  // Quick time, see above.
  [[nodiscard]] virtual uint64_t quick_ns() noexcept { return now_ns(); }

  // The caller has nothing to do until `deadline_ns` (kNever: no deadline). Answers
  // how long it may really block; a manual clock may move itself there instead.
  [[nodiscard]] virtual uint64_t allowed_wait_ns(uint64_t deadline_ns) noexcept = 0;
};

class SteadyClock final : public Clock {
 public:
  uint64_t now_ns() noexcept override {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
  }

  uint64_t quick_ns() noexcept override;

  uint64_t allowed_wait_ns(uint64_t deadline_ns) noexcept override {
    if (deadline_ns == kNever) return kNever;
    const uint64_t now = now_ns();
    return deadline_ns > now ? deadline_ns - now : 0;
  }
};

// Stands still until moved. With `jump_when_idle`, a loop with nothing to do moves it
// to the next deadline, so that a run full of timers takes no real time.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(bool jump_when_idle) : jump_when_idle_(jump_when_idle) {}

  void advance_ms(uint64_t ms) { advance_ns(ms * kNanosPerMilli); }
  // Relaxed throughout: the time is a number on its own and orders no other memory.
  void advance_ns(uint64_t ns) { now_ns_.fetch_add(ns, std::memory_order_relaxed); }

  uint64_t now_ns() noexcept override { return now_ns_.load(std::memory_order_relaxed); }

  uint64_t allowed_wait_ns(uint64_t deadline_ns) noexcept override {
    if (deadline_ns == kNever) return kNever;
    uint64_t now = now_ns();
    if (!jump_when_idle_) return deadline_ns > now ? deadline_ns - now : 0;
    // Not a plain store: it could undo a move of another thread, and time would go back.
    while (now < deadline_ns &&
           !now_ns_.compare_exchange_weak(now, deadline_ns, std::memory_order_relaxed)) {
    }
    return 0;
  }

 private:
  // Not zero: a test that forgets to ask the clock should not pass by luck.
  Atomic<uint64_t> now_ns_{1'000'000'000};
  bool jump_when_idle_;
};

}  // namespace jzx::base
