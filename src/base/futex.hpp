// Waits on a word until another thread changes it: the kernel's futex, for this process.
//
// A wake-up may come for no reason, so who waits looks at the word again. Who wakes uses the
// address alone: the word may be gone by then, and then the wake-up reaches nobody, or is one for
// no reason.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

#include "base/atomic.hpp"

namespace jzx::base {

struct Futex {
  static_assert(sizeof(Atomic<uint32_t>) == sizeof(uint32_t));

  // How long to wait at most.
  struct Time {
    bool is_limited = false;
    timespec length{};

    void limit(uint64_t ns) noexcept {
      is_limited = true;
      length.tv_sec = static_cast<time_t>(ns / 1'000'000'000u);
      length.tv_nsec = static_cast<long>(ns % 1'000'000'000u);
    }
  };

  // Returns at once if the word is not `expected`.
  static void wait(const Atomic<uint32_t>& word, uint32_t expected, const Time& time) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected,
              time.is_limited ? &time.length : nullptr, nullptr, 0);
  }
  static void wake(const Atomic<uint32_t>& word, int threads) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
  }
};

}  // namespace jzx::base
