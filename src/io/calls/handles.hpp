// What the number of a handle means to the two reactors: a file descriptor, and what it is one of.
//
//   value:  kind (high 32) | fd (low 32)
//
// The kind says which system call to make and what a short answer means, without asking the kernel
// each time. It is known when the handle is made: nobody else makes any.
#pragma once

#include <cstdint>

#include "io/operation.hpp"

namespace jzx::io {

enum class HandleKind : uint8_t {
  stream,    // TCP
  local,     // Unix stream
  datagram,  // UDP, Unix
  pipe,
  file,    // regular, directory, block device: no readiness
  device,  // terminals and whatever else
  process,
  signal,
};

[[nodiscard]] constexpr Handle make_handle(int fd, HandleKind kind) noexcept {
  return Handle{(static_cast<int64_t>(kind) << 32) | fd};
}
[[nodiscard]] constexpr int fd_of(Handle handle) noexcept {
  return handle.value < 0 ? -1 : static_cast<int>(handle.value & INT32_MAX);
}
[[nodiscard]] constexpr HandleKind kind_of(Handle handle) noexcept {
  return static_cast<HandleKind>(handle.value >> 32);
}
[[nodiscard]] constexpr bool is_socket(HandleKind kind) noexcept {
  return kind <= HandleKind::datagram;
}
[[nodiscard]] constexpr bool is_stream_socket(HandleKind kind) noexcept {
  return kind <= HandleKind::local;
}
// Bytes without borders: one who got fewer than there was room for has emptied, or filled, it.
[[nodiscard]] constexpr bool is_byte_stream(HandleKind kind) noexcept {
  return kind == HandleKind::stream || kind == HandleKind::local || kind == HandleKind::pipe;
}

}  // namespace jzx::io
