// The reactor on io_uring: the epoll reactor, with a ring whose completions end the same wait.
//
//   wait() ── epoll fd of the ReadinessSet ──┬──▶ watched fds
//                                            ├──▶ eventfd of wake()
//                                            └──▶ ring fd: readable while completions are queued
//
// The ring sits in the set and not the set in the ring. A watch is then the same thing on both
// reactors, pollable_fd() shows completions too, and a thread sleeps and is woken as fast as on
// epoll alone: a ring that polled the set would first have to finish that poll on the woken thread,
// which doubles the time of a wake-up. Nor are watches polled by the ring: its poll request would
// hold a reference on the file, and close() of a watched socket would not tell the peer.
//
// No completion is missed and no wake-up lost, since wait() decides nothing before it sleeps:
//   asleep        the one system call that looks at the set also sleeps, and the kernel queues it
//                 for the ring's, the eventfd's and the watches' events before it looks.
//   between two   the ring's registration is level-triggered: while anything is in the completion
//   waits         queue, or has overflowed from it into the kernel, the set is ready, whatever was
//                 told before. wait() need not even empty the queue.
//   half done     what the kernel has yet to finish on this thread interrupts the system call, and
//                 is in the queue when that has returned. So the queue is looked at after every
//                 sleep, and not only when the ring is told ready; that the ring was told ready
//                 for nothing costs an early return and no more.
// The same holds for wake(): see waker.hpp.
//
// The ring does not declare a single issuer, because the thread that runs a loop may change between
// two waits.
//
// Threads and lifetime: as in contract.hpp.
#pragma once

#include <liburing.h>

#include "base/allocator.hpp"
#include "io/reactor_epoll.hpp"

namespace jzx::io {

class UringReactor final : public EpollReactor {
 public:
  explicit UringReactor(const base::Allocator& allocator) noexcept : EpollReactor(allocator) {}
  ~UringReactor() override;

  // Once, before anything else. 0 or -errno: the kernel makes no ring, or one that does nothing
  // or may lose completions (-ENOSYS).
  [[nodiscard]] int open() noexcept;

  [[nodiscard]] int wait(uint64_t timeout_ns) override;
  [[nodiscard]] const char* name() const noexcept override;

  [[nodiscard]] int ring_fd() const noexcept { return ring_.ring_fd; }

 private:
  void take_completions() noexcept;

  io_uring ring_{};
  bool ring_is_open_ = false;
};

}  // namespace jzx::io
