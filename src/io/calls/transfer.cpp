// Bytes that come and go: read, write and their vectors.
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "io/calls/handles.hpp"
#include "io/calls/perform.hpp"

namespace jzx::io {
namespace {

// A Slice is an iovec, so that an array of them needs no copy.
static_assert(sizeof(Slice) == sizeof(iovec) && offsetof(Slice, size) == offsetof(iovec, iov_len));

// Newer than the C library's headers: no signal for a pipe that nobody reads. Linux 6.18.
constexpr int kNoSignal = 0x100;

// For the length of a write this thread gets no SIGPIPE: it is blocked, and one that the write
// raised is taken back. One that was pending before stays.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() noexcept {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    if (!was_pending_) ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    if (was_pending_) return;
    const timespec no_time{};
    while (::sigtimedwait(&pipe_, nullptr, &no_time) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_;
};

int64_t write_pipe(int fd, const iovec* slices, int count) noexcept {
  const int64_t answer = answer_of([&] { return ::pwritev2(fd, slices, count, -1, kNoSignal); });
  if (answer != -EOPNOTSUPP && answer != -EINVAL && answer != -ENOSYS) return answer;
  const WithoutPipeSignal quiet;
  return answer_of([&] { return ::writev(fd, slices, count); });
}

int64_t transfer_slices(Operation& operation, const iovec* slices, int count) noexcept {
  const int fd = fd_of(operation.handle);
  const HandleKind kind = kind_of(operation.handle);
  const bool is_write = side_of(operation.opcode) == kWriteSide;
  if (is_socket(kind)) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(slices);
    message.msg_iovlen = static_cast<size_t>(count);
    return is_write
               ? answer_of([&] { return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT); })
               : answer_of([&] { return ::recvmsg(fd, &message, MSG_DONTWAIT); });
  }
  if (!is_write) return answer_of([&] { return ::readv(fd, slices, count); });
  if (kind == HandleKind::pipe) return write_pipe(fd, slices, count);
  return answer_of([&] { return ::writev(fd, slices, count); });
}

int64_t transfer(Operation& operation) noexcept {
  const int fd = fd_of(operation.handle);
  const bool is_socket_ = is_socket(kind_of(operation.handle));
  switch (operation.opcode) {
    case Opcode::read:
      return is_socket_ ? answer_of([&] {
        return ::recv(fd, operation.buffer, operation.size, MSG_DONTWAIT);
      })
                        : answer_of([&] { return ::read(fd, operation.buffer, operation.size); });
    case Opcode::write:
      if (is_socket_) {
        return answer_of([&] {
          return ::send(fd, operation.buffer, operation.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        });
      } else {
        const iovec slice{operation.buffer, operation.size};
        return transfer_slices(operation, &slice, 1);
      }
    default:
      if (operation.size == 0 || operation.size > kMaxSlices) return -EINVAL;
      return transfer_slices(operation, static_cast<const iovec*>(operation.buffer),
                             static_cast<int>(operation.size));
  }
}

}  // namespace

int64_t perform_transfer(Operation& operation) noexcept {
  const int64_t answer = transfer(operation);
  return answer == -EAGAIN ? kNotReady : answer;
}

}  // namespace jzx::io
