// Counts restarts in a sliding window: never more than `intensity` in any `period`. A ring of the
// times of the restarts that are still inside the window; the oldest leave as time goes by, so a
// crash costs the same after ten restarts as after ten thousand.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/allocator.hpp"

namespace jzx::supervise {

class RestartWindow {
 public:
  RestartWindow(const base::Allocator& allocator, uint32_t intensity, uint64_t period_ns) noexcept
      : allocator_(allocator), intensity_(intensity), period_ns_(period_ns) {}
  ~RestartWindow() { allocator_.release(times_); }
  RestartWindow(const RestartWindow&) = delete;
  RestartWindow& operator=(const RestartWindow&) = delete;

  // Would a restart now be one too many?
  [[nodiscard]] bool is_full(uint64_t now_ns) noexcept {
    while (count_ > 0 && now_ns - times_[first_] >= period_ns_) {
      first_ = (first_ + 1) & (capacity_ - 1);
      --count_;
    }
    return count_ >= intensity_;
  }

  // May there be a restart now? Counts it if so. A restart that cannot be counted, for want of
  // memory, is refused: the promise is "never more".
  [[nodiscard]] bool allow(uint64_t now_ns) noexcept {
    if (is_full(now_ns)) return false;
    if (count_ == capacity_ && !grow()) return false;
    times_[(first_ + count_) & (capacity_ - 1)] = now_ns;
    ++count_;
    return true;
  }

 private:
  [[nodiscard]] bool grow() noexcept {
    const uint32_t capacity = capacity_ == 0 ? 8 : capacity_ * 2;
    if (capacity == 0) return false;
    auto* times = static_cast<uint64_t*>(allocator_.allocate(capacity * sizeof(uint64_t)));
    if (times == nullptr) return false;
    for (uint32_t i = 0; i < count_; ++i) times[i] = times_[(first_ + i) & (capacity_ - 1)];
    allocator_.release(times_);
    times_ = times;
    capacity_ = capacity;
    first_ = 0;
    return true;
  }

  base::Allocator allocator_;
  uint64_t* times_ = nullptr;
  uint32_t capacity_ = 0;  // a power of two, or 0
  uint32_t first_ = 0;
  uint32_t count_ = 0;
  uint32_t intensity_;
  uint64_t period_ns_;
};

}  // namespace jzx::supervise
