// Makes the reactor of a worker. See contract.hpp for what a reactor is.
#pragma once

#include "base/allocator.hpp"
#include "io/contract.hpp"

namespace jzx::io {

// `automatic` takes the environment variable JZX_REACTOR (io_uring or epoll) if it is set, else
// io_uring where the kernel allows it, else epoll.
enum class Backend : uint8_t { automatic, io_uring, epoll };

// nullptr with errno set: the backend cannot be had here, or memory ran out (ENOMEM).
[[nodiscard]] ReactorPtr make_reactor(Backend backend, const base::Allocator& allocator) noexcept;

}  // namespace jzx::io
