// Operations as plain system calls, on the calling thread. What does not block is done at once;
// what waits for somebody else answers kNotReady, since its handle does not block; what has to ask
// a disk, a name server or another program blocks.
//
// Threads: any; nothing is shared but the handle's file.
#pragma once

#include <cerrno>
#include <cstdint>

#include "io/operation.hpp"

namespace jzx::io {

// How a reactor has to do an opcode.
enum class Manner : uint8_t {
  at_once,  // it does not block
  waits,    // until its handle is ready
  blocks,   // for as long as a disk or another machine takes
  special,  // close, open_signal: the reactor knows more than the kernel
  unknown,
};
[[nodiscard]] Manner manner_of(const Operation& operation) noexcept;

// Which of a handle's two sides an operation that waits waits for.
enum Side : uint8_t { kReadSide = 0, kWriteSide = 1 };
[[nodiscard]] Side side_of(Opcode opcode) noexcept;

// No errno that an operation ends with.
inline constexpr int64_t kNotReady = -EINPROGRESS;

// A result as in operation.hpp, -errno, or kNotReady of one that waits. Never -EINTR.
[[nodiscard]] int64_t perform(Operation& operation) noexcept;

// The handle of an fd that the kernel made; a result. Closes the fd if that fails.
[[nodiscard]] int64_t handle_of_file(int fd) noexcept;

// ---- by what they work on; called by perform() ----
[[nodiscard]] int64_t perform_on_socket(Operation& operation) noexcept;
[[nodiscard]] int64_t perform_transfer(Operation& operation) noexcept;
[[nodiscard]] int64_t perform_on_file(Operation& operation) noexcept;
[[nodiscard]] int64_t perform_on_process(Operation& operation) noexcept;
[[nodiscard]] int64_t resolve(Resolution& resolution) noexcept;

// The answer of a system call that may be interrupted: never -EINTR.
template <class Call>
[[nodiscard]] int64_t answer_of(Call call) noexcept {
  for (;;) {
    const int64_t answer = call();
    if (answer >= 0) return answer;
    if (errno != EINTR) return -errno;
  }
}

}  // namespace jzx::io
