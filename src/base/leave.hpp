// Memory that is left as it is, on purpose: somebody may still refer to it, and nobody will tell
// when that is over. The leak sanitizer is told; otherwise these do nothing.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace jzx::base {

// With all that it refers to.
inline void leave_for_good([[maybe_unused]] const void* memory) noexcept {
#ifdef __SANITIZE_ADDRESS__
  __lsan_ignore_object(memory);
#endif
}

// What is referred to from a stack that is left.
#ifdef __SANITIZE_ADDRESS__
[[gnu::no_sanitize_address]]
#endif
inline void
leave_for_good_what_is_on([[maybe_unused]] const std::byte* low,
                          [[maybe_unused]] const std::byte* top) noexcept {
#ifdef __SANITIZE_ADDRESS__
  const auto* end = reinterpret_cast<const uintptr_t*>(top);
  for (const auto* word = reinterpret_cast<const uintptr_t*>(low); word < end; ++word) {
    if (*word != 0) __lsan_ignore_object(reinterpret_cast<const void*>(*word));
  }
#endif
}

}  // namespace jzx::base
