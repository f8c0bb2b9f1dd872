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

static_assert(sizeof(Atomic<uint32_t>) == sizeof(uint32_t));

// Returns at once if the word is not `expected`. `timeout`: relative; nullptr: none.
inline void futex_wait(const Atomic<uint32_t>& word, uint32_t expected,
                       const timespec* timeout) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr, 0);
}

inline void futex_wake(const Atomic<uint32_t>& word, int threads) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

}  // namespace jzx::base
