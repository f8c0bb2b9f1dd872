// The clock of a simulated node. All nodes share one virtual time, which moves only when the
// simulator moves it; each may be wrong about it by an offset of its own, and run at a rate of its
// own.
//
// Threads: one.
#pragma once

#include <algorithm>

#include "base/time/clock.hpp"

namespace jzx::drivers::sim {

// The time of the whole simulation.
class VirtualTime final : public base::Clock {
 public:
  uint64_t now_ns() noexcept override { return now_ns_; }
  // Nobody waits for real.
  uint64_t allowed_wait_ns(uint64_t) noexcept override { return 0; }
  // Not back, and not beyond its end.
  void move_to(uint64_t ns) noexcept { now_ns_ = std::max(now_ns_, std::min(ns, kEnd)); }
  static constexpr uint64_t kStart = 1'000'000'000;  // not 0: who forgets to ask should be wrong
  // After 146 years. So early that a clock which runs too fast, has jumped, and is asked for a
  // later time still counts without overflow.
  static constexpr uint64_t kEnd = base::kNever / 4;

 private:
  uint64_t now_ns_ = kStart;
};

class NodeClock final : public base::Clock {
 public:
  explicit NodeClock(VirtualTime& time) noexcept
      : time_(time), since_ns_(time.now_ns()), shown_ns_(time.now_ns()) {}

  uint64_t now_ns() noexcept override {
    return shown_ns_ + scaled(time_.now_ns() - since_ns_, rate_, kMillion);
  }
  uint64_t allowed_wait_ns(uint64_t) noexcept override { return 0; }

  // It shows more than there is; a clock that is monotonic cannot be put back. All jumps together
  // are not longer than time itself.
  void jump_ahead(uint64_t ns) noexcept {
    ns = std::min(ns, VirtualTime::kEnd - jumped_ns_);
    jumped_ns_ += ns;
    shown_ns_ += ns;
  }

  // From now on it runs by so many millionths too fast, or too slow; 0: as it should. What it has
  // gained or lost until then it keeps.
  void set_skew(int32_t per_million) noexcept {
    shown_ns_ = now_ns();
    since_ns_ = time_.now_ns();
    rate_ = static_cast<uint64_t>(kMillion + std::clamp(per_million, -kMostSkew, kMostSkew));
  }
  [[nodiscard]] int32_t skew() const noexcept { return static_cast<int32_t>(rate_) - kMillion; }

  // When this clock shows that time for the first time; not before its rate was last changed.
  [[nodiscard]] uint64_t true_time(uint64_t shown_ns) const noexcept {
    if (shown_ns == base::kNever) return base::kNever;
    if (shown_ns <= shown_ns_) return since_ns_;
    // Rounded up: the first nanosecond at which now_ns(), which rounds down, shows it.
    const uint64_t left_ns = shown_ns - shown_ns_;
    const uint64_t least_ns = scaled(left_ns, kMillion, rate_);
    const uint64_t wait_ns = least_ns + (scaled(least_ns, rate_, kMillion) < left_ns ? 1 : 0);
    constexpr uint64_t kFarthest = base::kNever - 1;
    return wait_ns < kFarthest - since_ns_ ? since_ns_ + wait_ns : kFarthest;
  }

  static constexpr int32_t kMostSkew = 500'000;

 private:
  static constexpr int32_t kMillion = 1'000'000;

  // ns * times / by, rounded down, without overflow on the way; as much as there is, if that is
  // too much.
  [[nodiscard]] static uint64_t scaled(uint64_t ns, uint64_t times, uint64_t by) noexcept {
    const uint64_t whole = ns / by;
    if (whole >= base::kNever / times) return base::kNever - 1;
    return whole * times + ns % by * times / by;
  }

  VirtualTime& time_;
  uint64_t since_ns_;  // when its rate was last changed
  uint64_t shown_ns_;  // what it showed then, and what it has jumped since
  uint64_t jumped_ns_ = 0;
  uint64_t rate_ = kMillion;
};

}  // namespace jzx::drivers::sim
