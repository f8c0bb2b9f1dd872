// How long to wait before a child is started again: longer after each failure, up to a limit, with
// some jitter so that many children do not come back at the same moment.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/executor.hpp"

namespace jzx::supervise {

struct BackoffSpec {
  uint32_t initial_delay_ms = 0;
  uint32_t max_delay_ms = 0;
  float factor = 1.0f;  // 0 counts as 1: the same delay every time
  uint32_t jitter_ms = 0;

  [[nodiscard]] bool is_valid() const noexcept { return std::isfinite(factor) && factor >= 0.0f; }
};

class Backoff {
 public:
  // The child failed: how long to wait this time.
  [[nodiscard]] uint32_t next_delay_ms(const BackoffSpec& spec, base::Executor& executor) noexcept {
    const double factor = spec.factor == 0.0f ? 1.0 : static_cast<double>(spec.factor);
    const double wanted = current_ms_ == 0.0 ? spec.initial_delay_ms : current_ms_ * factor;
    current_ms_ = std::min<double>(wanted, spec.max_delay_ms);
    return with_jitter(spec, executor);
  }

  // The child has run long enough to be trusted again.
  void reset() noexcept { current_ms_ = 0.0; }

 private:
  // Uniform in [-jitter, +jitter], clamped to [0, max].
  [[nodiscard]] uint32_t with_jitter(const BackoffSpec& spec,
                                     base::Executor& executor) const noexcept {
    const auto whole_ms = static_cast<uint32_t>(std::lround(current_ms_));
    if (spec.jitter_ms == 0) return whole_ms;
    const uint32_t jitter = std::min(spec.jitter_ms, 0x7fffffffu);
    const int64_t delta =
        static_cast<int64_t>(executor.choose(2 * jitter + 1, base::ChoiceSite::backoff_jitter)) -
        jitter;
    return static_cast<uint32_t>(std::clamp<int64_t>(whole_ms + delta, 0, spec.max_delay_ms));
  }

  double current_ms_ = 0.0;  // not rounded, so that small delays grow too
};

}  // namespace jzx::supervise
