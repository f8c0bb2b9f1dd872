// Which signals can be listened to: of the process, and in a simulation.
#pragma once

#include <csignal>
#include <cstdint>

namespace jzx::io {

// False: there is no such signal, it cannot be caught, or it means that the code under it cannot go
// on.
[[nodiscard]] constexpr bool can_be_heard(int64_t signal) noexcept {
  switch (signal) {
    case SIGKILL:
    case SIGSTOP:
    case SIGSEGV:
    case SIGFPE:
    case SIGBUS:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGSYS:
      return false;
    default:
      return signal > 0 && signal < NSIG;
  }
}

}  // namespace jzx::io
