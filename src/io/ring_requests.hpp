// Operations as requests of io_uring, and their answers as results.
//
// Threads: the reactor's own, under its lock.
#pragma once

#include <liburing.h>

#include "io/calls/socket_address.hpp"
#include "io/operation.hpp"

namespace jzx::io {

// What the kernel reads or writes besides the buffers, until the request has completed.
struct RingExtra {
  SocketAddress address;
  msghdr message{};
  iovec slice{};
};

// Does it go through the ring?
[[nodiscard]] bool is_for_ring(const Operation& operation) noexcept;
// 0, or -errno of one that is wrong whoever does it.
[[nodiscard]] int check_request(const Operation& operation) noexcept;
[[nodiscard]] bool needs_extra(const Operation& operation) noexcept;

// `extra` if it needs one.
void fill_request(io_uring_sqe& request, Operation& operation, RingExtra* extra) noexcept;

// A result as in operation.hpp. Not for answers that ask to try again.
[[nodiscard]] int64_t result_of(Operation& operation, RingExtra* extra, int answer) noexcept;

// Can this kernel do all of them?
[[nodiscard]] bool has_all_requests(io_uring& ring) noexcept;

}  // namespace jzx::io
