// Files, pipes, and descriptors that come from elsewhere.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/calls/handles.hpp"
#include "io/calls/open_flags.hpp"
#include "io/calls/perform.hpp"

namespace jzx::io {
namespace {

int64_t kind_of_socket(int fd) noexcept {
  int type = 0;
  int domain = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return -errno;
  size = sizeof domain;
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return -errno;
  if (type != SOCK_STREAM) return static_cast<int64_t>(HandleKind::datagram);
  return static_cast<int64_t>(domain == AF_UNIX ? HandleKind::local : HandleKind::stream);
}

int64_t kind_of_fd(int fd) noexcept {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return -errno;
  if (S_ISSOCK(about.st_mode)) return kind_of_socket(fd);
  if (S_ISFIFO(about.st_mode)) return static_cast<int64_t>(HandleKind::pipe);
  const bool is_file = S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode);
  return static_cast<int64_t>(is_file ? HandleKind::file : HandleKind::device);
}

int64_t add_flags(int fd, int get, int set, int flags) noexcept {
  const int before = ::fcntl(fd, get);
  if (before < 0) return -errno;
  return (before & flags) == flags || ::fcntl(fd, set, before | flags) == 0 ? 0 : -errno;
}

int64_t adopt(int64_t number) noexcept {
  const int fd = static_cast<int>(number);
  const int64_t kind = number != fd ? -EBADF : kind_of_fd(fd);
  if (kind < 0) return kind;
  if (static_cast<HandleKind>(kind) != HandleKind::file) {
    if (const int64_t error = add_flags(fd, F_GETFL, F_SETFL, O_NONBLOCK); error < 0) return error;
  }
  if (const int64_t error = add_flags(fd, F_GETFD, F_SETFD, FD_CLOEXEC); error < 0) return error;
  return make_handle(fd, static_cast<HandleKind>(kind)).value;
}

int64_t open_path(const Operation& operation) noexcept {
  const int flags = open_flags(operation.flags);
  if (flags < 0) return flags;
  const int64_t fd = answer_of([&] {
    return ::open(static_cast<const char*>(operation.buffer), flags,
                  static_cast<mode_t>(operation.value));
  });
  return fd < 0 ? fd : handle_of_file(static_cast<int>(fd));
}

int64_t make_pipe(Operation& operation) noexcept {
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return -errno;
  auto* handles = static_cast<Handle*>(operation.buffer);
  for (int i = 0; i < 2; ++i) handles[i] = make_handle(ends[i], HandleKind::pipe);
  return 0;
}

}  // namespace

int64_t handle_of_file(int fd) noexcept {
  int64_t kind = kind_of_fd(fd);
  // What is no question of readiness has to block: not every file system can do otherwise.
  if (kind == static_cast<int64_t>(HandleKind::file)) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) kind = -errno;
  }
  if (kind >= 0) return make_handle(fd, static_cast<HandleKind>(kind)).value;
  ::close(fd);
  return kind;
}

int64_t perform_on_file(Operation& operation) noexcept {
  const int fd = fd_of(operation.handle);
  switch (operation.opcode) {
    case Opcode::open:
      return open_path(operation);
    case Opcode::read_at:
      return answer_of(
          [&] { return ::pread(fd, operation.buffer, operation.size, operation.offset); });
    case Opcode::write_at:
      return answer_of(
          [&] { return ::pwrite(fd, operation.buffer, operation.size, operation.offset); });
    case Opcode::sync:
      return answer_of([&] { return ::fsync(fd); });
    case Opcode::sync_data:
      return answer_of([&] { return ::fdatasync(fd); });
    case Opcode::truncate:
      return answer_of([&] { return ::ftruncate(fd, operation.value); });
    case Opcode::file_size: {
      struct stat about {};
      return ::fstat(fd, &about) == 0 ? about.st_size : -errno;
    }
    case Opcode::remove:
      return ::unlink(static_cast<const char*>(operation.buffer)) == 0 ? 0 : -errno;
    case Opcode::pipe:
      return make_pipe(operation);
    case Opcode::adopt:
      return adopt(operation.value);
    default:
      return -ENOSYS;
  }
}

}  // namespace jzx::io
