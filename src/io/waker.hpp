// Ends another thread's wait: an eventfd that the waiter has in its epoll set, and a flag in
// front of it, so that any number of wake-ups between two waits cost one system call.
//
//   waker thread                                waiting thread
//   work published                              epoll_wait … tells of the eventfd
//   pending_: false → true   (release)          pending_: → false   (acquire)
//   was it false? write the eventfd             looks for work
//
// No wake-up is lost. All changes of pending_ are read-modify-writes, so they have one order, and
// each wake() stands in it either before or after the waiter's next take():
//   before  take() reads a value that this wake() wrote or that follows it in its release
//           sequence, so the waiter, which looks for work only after take(), sees the work.
//   after   the first wake() after a take() finds false and writes, and so does nobody else until
//           the next take(): the next epoll_wait returns. take() is called only when the
//           eventfd's event was taken, which follows the write, so it never erases a true whose
//           write is still to come.
// This is why wake() may not look at the flag with a cheap load first: a load that sees true
// publishes nothing.
//
// The eventfd is registered edge-triggered, so each write is an edge of its own, and nobody reads
// it, except when its counter is full: see write().
//
// Threads: wake() from any; the rest by the waiting thread.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace jzx::io {

class Waker {
 public:
  Waker() noexcept = default;
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;
  ~Waker() {
    if (event_fd_ >= 0) ::close(event_fd_);
  }

  // Once, before anything else. 0 or -errno.
  [[nodiscard]] int open() noexcept {
    event_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return event_fd_ < 0 ? -errno : 0;
  }

  [[nodiscard]] int fd() const noexcept { return event_fd_; }

  void wake() noexcept {
    // release: publishes what the caller did before; pairs with the acquire in take().
    if (pending_.exchange(true, std::memory_order_release)) return;
    write();
  }

  // The eventfd's event was taken: from now on a wake() writes again.
  void take() noexcept {
    // acquire: pairs with the release in wake(). An exchange and not a store, since a store
    // would not read what the last wake() wrote.
    pending_.exchange(false, std::memory_order_acquire);
  }

 private:
  // All other wakers rely on this write. A signal may interrupt it; a full counter refuses it, and
  // is emptied, which makes the next write an edge again. It may itself run in a signal handler.
  void write() noexcept {
    const int outer_errno = errno;
    while (::eventfd_write(event_fd_, 1) != 0) {
      if (errno == EINTR) continue;
      eventfd_t count = 0;
      if (errno == EAGAIN) {
        (void)::eventfd_read(event_fd_, &count);
        continue;
      }
      JZX_ASSERT(errno == 0);  // nothing else can refuse it
      // relaxed: it publishes nothing. The next wake() is to try again.
      pending_.exchange(false, std::memory_order_relaxed);
      break;
    }
    errno = outer_errno;
  }

  int event_fd_ = -1;
  base::Atomic<bool> pending_{false};
};

}  // namespace jzx::io
