// The clock of a simulated node. All nodes share one virtual time, which moves only when the
// simulator moves it; each may be wrong about it by an offset of its own.
//
// Threads: one.
#pragma once

#include "base/clock.hpp"

namespace jzx::drivers::sim {

// The time of the whole simulation.
class VirtualTime final : public base::Clock {
 public:
  uint64_t now_ns() noexcept override { return now_ns_; }
  // Nobody waits for real.
  uint64_t allowed_wait_ns(uint64_t) noexcept override { return 0; }
  // Not back.
  void move_to(uint64_t ns) noexcept {
    if (ns > now_ns_) now_ns_ = ns;
  }
  static constexpr uint64_t kStart = 1'000'000'000;  // not 0: who forgets to ask should be wrong

 private:
  uint64_t now_ns_ = kStart;
};

class NodeClock final : public base::Clock {
 public:
  explicit NodeClock(VirtualTime& time) noexcept : time_(time) {}

  uint64_t now_ns() noexcept override { return time_.now_ns() + ahead_ns_; }
  uint64_t allowed_wait_ns(uint64_t) noexcept override { return 0; }

  // It shows more than there is; a clock that is monotonic cannot be put back.
  void jump_ahead(uint64_t ns) noexcept { ahead_ns_ += ns; }
  // When this clock will show that time.
  [[nodiscard]] uint64_t true_time(uint64_t shown_ns) const noexcept {
    return shown_ns == base::kNever ? base::kNever
           : shown_ns > ahead_ns_   ? shown_ns - ahead_ns_
                                    : 0;
  }

 private:
  VirtualTime& time_;
  uint64_t ahead_ns_ = 0;
};

}  // namespace jzx::drivers::sim
