// Signals of the process, as file descriptors that can be watched. Each listener has an eventfd;
// the handler, which is the process's and the same for all signals, adds one to every eventfd of
// that signal:
//
//   signal, on any thread ── handler: write to the eventfd of each listener ──▶ their reactors
//
// A handler and no signalfd: that works only where every thread of the process blocks the signal,
// and threads that were there before us, or that a library makes, do not. So masks are left as they
// are; a thread that blocks the signal does not get it, and another one does.
//
// The disposition is the process's, so this is the one thing that systems share: it is ours while
// anybody listens, and the one before is put back by the last, unless somebody has put in another
// since. System calls that the handler interrupts are restarted where the kernel can (SA_RESTART),
// and it runs on the alternate stack of a thread that has one.
//
// The handler only walks a list of atomics and writes; it takes no lock. Why it never touches a
// listener that has ended: it counts itself in before it reads the list. Who ends takes himself out
// of the list first, and then waits until nobody is counted in. Both are sequentially consistent:
// either the handler no longer finds the listener, or it was seen inside and is waited for. Only
// then the fd is closed, so that no byte goes to whoever gets that number next.
//
// A child after fork() has the handler and the fds too; what is sent to the child is not told here.
//
// Threads: any. Not from a signal handler.
#pragma once

#include <cstdint>

#include "base/allocator.hpp"

namespace jzx::io {

class SignalSource {
 public:
  // Readable when there is something to take.
  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] int signal() const noexcept { return signal_; }
  // How many deliveries since the last time.
  [[nodiscard]] virtual uint32_t take() noexcept = 0;
  // Closes the fd; there is no source any more.
  virtual void end() noexcept = 0;

 protected:
  SignalSource(int fd, int signal) noexcept : fd_(fd), signal_(signal) {}
  ~SignalSource() = default;

  const int fd_;
  const int signal_;
};

// nullptr and -errno. -EINVAL: there is no such signal, it cannot be caught (SIGKILL, SIGSTOP), or
// it means that the code under it cannot go on (SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGTRAP, SIGABRT,
// SIGSYS).
[[nodiscard]] SignalSource* listen_to_signal(int signal, const base::Allocator& allocator,
                                             int& error) noexcept;

}  // namespace jzx::io
