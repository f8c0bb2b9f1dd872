// The reactor on io_uring: it waits in the ring, where completions of operations and the
// readiness of watches arrive by one door.
//
//   ring ── one poll request ──▶ epoll fd of the ReadinessSet ──▶ watched fds, eventfd of wake()
//
// Watches stay in the epoll set, and the ring polls only the set, because a poll request in a
// ring holds a reference on its file: a socket polled by the ring would not really be closed by
// close(), and the peer not told, until somebody also unwatched it. It also makes a watch the
// same thing on both reactors, and wait(0) one epoll_wait without a look at the ring.
//
// The poll request is one-shot and is put back only by a wait() that may block, in the system
// call that waits. It never stands for events by itself: after every wait the set is asked. So
// a completion that came late, twice or for nothing costs an early return and no more.
//
// The kernel finishes a poll request on the thread that submitted it, and interrupts that thread's
// sleeping system calls for it. The thread that runs a loop may change between two waits, so a
// request left by another thread is taken back and replaced; this is also why the ring does not
// declare a single issuer.
//
// Threads and lifetime: as in contract.hpp.
#pragma once

#include <liburing.h>
#include <pthread.h>

#include "base/allocator.hpp"
#include "io/contract.hpp"
#include "io/readiness_set.hpp"
#include "io/unsupported_operations.hpp"

namespace jzx::io {

class UringReactor final : public Reactor {
 public:
  explicit UringReactor(const base::Allocator& allocator) noexcept : readiness_(allocator) {}
  ~UringReactor() override;

  // Once, before anything else. 0 or -errno; -ENOSYS also where the kernel's ring cannot do
  // what is needed.
  [[nodiscard]] int open() noexcept;

  [[nodiscard]] int watch(Watch& watch) override;
  int unwatch(Watch& watch) override;
  void submit(Operation& operation) override;
  void cancel(Operation& operation) override;
  [[nodiscard]] int wait(uint64_t timeout_ns) override;
  void wake() noexcept override;
  [[nodiscard]] int pollable_fd() const noexcept override;
  [[nodiscard]] const char* name() const noexcept override;

 private:
  // Sleeps in the ring until the readiness set has an event or the time is over. 0 or -errno.
  [[nodiscard]] int sleep(uint64_t timeout_ns) noexcept;
  [[nodiscard]] int arm_poll() noexcept;
  void take_completions() noexcept;

  ReadinessSet readiness_;
  UnsupportedOperations unsupported_;
  io_uring ring_{};
  bool ring_is_open_ = false;
  bool poll_armed_ = false;
  pthread_t poll_armed_by_{};
  // The present poll request's user data: moves on with each, so that an old one's completion is
  // not taken for it.
  uint64_t poll_id_ = 0;
};

}  // namespace jzx::io
