// When a busy worker looks at the clock, and for how long it may go on.
//
// A message takes ten nanoseconds or a second, and nobody knows beforehand. A look at the clock
// takes about ten nanoseconds, so there is not one after every message: the next look comes after
// as many messages as took two microseconds by the last one, at most kMost. So looks cost about
// half a percent of the time of quick messages, and every slow message is followed by one. Each
// tick begins anew, with a look after its first message. Only slow messages that follow quick ones
// in the same half millisecond are seen late: after kMost of them at most. From then on each has
// its own.
//
// Two things end by time:
//   the tick   kTick after it began; then I/O and timers have their say
//   the slice  what one actor gets of a tick while others are ready, at a time
//
// A slice is over after two looks at least: no stretch between two looks counts for more than half
// of it. A thread that has lost its core for a while cannot be told from one slow message, and the
// order in which the actors of a loop run should not depend on that. A tick that is over ends no
// turn: so the order stays.
//
// Quick time only (base/time/clock.hpp). Threads: the worker's own.
#pragma once

#include <algorithm>
#include <cstdint>

namespace jzx::drivers {

class Pace {
 public:
  // Half a millisecond: with the turn that is under way, timers and I/O wait for about one.
  static constexpr uint64_t kTick = 500'000;
  static constexpr uint64_t kSlice = 100'000;
  static constexpr uint64_t kBetweenLooks = 2'000;
  static constexpr uint32_t kMost = 32;

  void begin_tick(uint64_t now_ns) noexcept {
    tick_ends_ns_ = now_ns + kTick;
    looked_ns_ = now_ns;
    slice_used_ns_ = 0;
    stretch_ = 1;
    is_tick_over_ = false;
  }

  // A look, after so many messages or turns since the one before. `is_same_slice`: who runs now ran
  // then.
  void look(uint64_t now_ns, uint64_t done, bool is_same_slice) noexcept {
    const uint64_t took_ns = now_ns - looked_ns_;
    if (took_ns <= kBetweenLooks) {
      stretch_ = std::min(2 * stretch_, kMost);
    } else {
      stretch_ = std::clamp(static_cast<uint32_t>(done * kBetweenLooks / took_ns), 1u, kMost);
    }
    if (!is_same_slice) slice_used_ns_ = 0;
    slice_used_ns_ += std::min(took_ns, kSlice / 2);
    is_slice_over_ = slice_used_ns_ >= kSlice;
    if (is_slice_over_) slice_used_ns_ = 0;
    is_tick_over_ = now_ns >= tick_ends_ns_;
    looked_ns_ = now_ns;
  }

  // By the last look.
  [[nodiscard]] uint32_t stretch() const noexcept { return stretch_; }
  [[nodiscard]] bool is_tick_over() const noexcept { return is_tick_over_; }
  [[nodiscard]] bool is_slice_over() const noexcept { return is_slice_over_; }

 private:
  uint64_t tick_ends_ns_ = 0;
  uint64_t looked_ns_ = 0;
  uint64_t slice_used_ns_ = 0;
  uint32_t stretch_ = 1;
  bool is_tick_over_ = false;
  bool is_slice_over_ = false;
};

}  // namespace jzx::drivers
