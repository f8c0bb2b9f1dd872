// OpenFlags as the kernel wants them.
#pragma once

#include <fcntl.h>

#include <cerrno>

#include "io/operation.hpp"

namespace jzx::io {

// Never those that block: a FIFO that nobody has opened yet, a terminal. -EINVAL: neither to read
// nor to write, or there is no such flag.
[[nodiscard]] inline int open_flags(uint32_t flags) noexcept {
  constexpr uint32_t kAll = kRead | kWrite | kCreate | kExclusive | kTruncate | kAppend;
  if ((flags & (kRead | kWrite)) == 0 || (flags & ~kAll) != 0) return -EINVAL;
  int result = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  result |= (flags & kRead) == 0 ? O_WRONLY : (flags & kWrite) == 0 ? O_RDONLY : O_RDWR;
  if ((flags & kCreate) != 0) result |= O_CREAT;
  if ((flags & kExclusive) != 0) result |= O_EXCL;
  if ((flags & kTruncate) != 0) result |= O_TRUNC;
  if ((flags & kAppend) != 0) result |= O_APPEND;
  return result;
}

}  // namespace jzx::io
