// How much work the big tests do: all of it in a plain build, a part of it under a
// sanitizer, where each step costs ten times as much and shows the same mistakes.
#pragma once

#include <cstddef>

namespace jzx::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
inline constexpr bool kUnderSanitizer = true;
#else
inline constexpr bool kUnderSanitizer = false;
#endif
#else
inline constexpr bool kUnderSanitizer = false;
#endif

// `full` steps in a plain build, `full / divisor` (at least 1) under a sanitizer.
constexpr size_t scaled(size_t full, size_t divisor = 20) {
  if (!kUnderSanitizer) return full;
  return full / divisor > 0 ? full / divisor : 1;
}

}  // namespace jzx::testing
