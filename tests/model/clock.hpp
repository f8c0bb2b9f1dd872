// Vector clocks: for every thread of a model run, how much of what it did is known to have happened
// before. One operation of another thread happens before the present one exactly if its stamp is
// covered by the present thread's clock.
#pragma once

#include <algorithm>
#include <cstdint>

namespace jzx::base::model {

inline constexpr uint32_t kMaxThreads = 5;  // the body of the test, and four that it starts

// When an operation was done, in its own thread's time. Time 0 is before all operations.
struct Stamp {
  uint32_t thread = 0;
  uint32_t time = 0;
};

struct Clock {
  uint32_t time[kMaxThreads] = {};

  void join(const Clock& other) noexcept {
    for (uint32_t i = 0; i < kMaxThreads; ++i) time[i] = std::max(time[i], other.time[i]);
  }
  [[nodiscard]] bool covers(Stamp stamp) const noexcept { return stamp.time <= time[stamp.thread]; }
  // Does it cover everything that `other` does?
  [[nodiscard]] bool covers(const Clock& other) const noexcept {
    for (uint32_t i = 0; i < kMaxThreads; ++i) {
      if (other.time[i] > time[i]) return false;
    }
    return true;
  }
};

}  // namespace jzx::base::model
