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
// What goes through the ring: accepting, connecting, datagrams, reading from pipes, and files,
// which are truly asynchronous here. Stream sockets are read when an edge tells so, as on epoll: a
// read that waits in the ring costs the kernel more than the edge and the call. Writing is tried at
// once, since it nearly always succeeds, and else waits for an edge; but
//
//   gathering   while many are served together (several completions in one wait()), their writes to
//               stream sockets are left for one system call: the kernel's part of a write is small
//               next to the way there and back. Handed over at the next wait() or when there are
//               kMostGathered, so that the first of them does not wait for more turns than that.
//               Only for a worker's own thread: that is sure to come back. One that is cancelled
//               or closed before is made at once, so gathering shows in nothing but time.
//
// The rest waits for an edge, as everything does on epoll.
//
//   submit ──▶ queued_ ── flush(): one system call for all ──▶ the kernel ──▶ completion ──▶ finish
//   cancel ──▶ cancels_ ──┘
//
// Only the reactor's own thread hands over: the kernel ends what belongs to a thread that exits,
// and finishes requests on the thread that made them, which elsewhere may be busy or blocked. So
// another thread leaves its operation in the queue and wakes this one. A loop may be run by another
// thread later, and what is cancelled because the one before has exited is handed over again.
// For the same reason the ring does not declare a single issuer.
//
// A close waits until the kernel has let go of what was pending on the handle, so that no request
// meets a number that has become another file's.
//
// Threads and lifetime: as in contract.hpp. The rings themselves are touched by the reactor's own
// thread only; the two lists are under the lock.
#pragma once

#include <liburing.h>

#include "base/allocator.hpp"
#include "base/slab.hpp"
#include "io/reactor_epoll.hpp"

namespace jzx::io {

class UringReactor final : public EpollReactor {
 public:
  explicit UringReactor(const base::Allocator& allocator) noexcept;
  ~UringReactor() override;

  // Once, before anything else. 0 or -errno: the kernel makes no ring, or one that does nothing,
  // may lose completions, or cannot do what we need (-ENOSYS).
  [[nodiscard]] int open() noexcept;

  [[nodiscard]] int wait(uint64_t timeout_ns) override;
  [[nodiscard]] Submitted submit(Operation& operation) override;
  [[nodiscard]] bool try_now(Operation& operation) override;
  void flush() noexcept override;
  [[nodiscard]] const char* name() const noexcept override;

  [[nodiscard]] int ring_fd() const noexcept { return ring_.ring_fd; }

 private:
  static constexpr size_t kWorthGathering = 4;
  static constexpr size_t kMostGathered = 32;

  // ---- EpollReactor; under the lock ----
  [[nodiscard]] Submitted start(Operation& operation, HandleState& state, Side side) override;
  [[nodiscard]] Submitted start_blocking(Operation& operation) override;
  void stop(Operation& operation, HandleState* state) override;

  // Nothing is the kernel's any more after this.
  void empty_ring() noexcept;

  // ---- towards the kernel ----
  [[nodiscard]] Submitted enqueue(Operation& operation, HandleState* state) noexcept;
  [[nodiscard]] bool is_own_thread() const noexcept;
  // A write that is better handed over with others than made at once.
  [[nodiscard]] bool is_to_gather(const Operation& operation) const noexcept;
  // Something is to be handed over by the reactor's own thread.
  void leave_for_flush() noexcept;
  [[nodiscard]] io_uring_sqe* next_request() noexcept;
  // False: there is no room now.
  [[nodiscard]] bool hand_over_queued() noexcept;

  // ---- and back ----
  void take_completions() noexcept;
  void complete(Operation& operation, int answer) noexcept;
  void try_without_ring(Operation& operation, HandleState* state) noexcept;
  // The kernel no longer knows it: finishes it, and the close that has waited for it.
  void let_go(Operation& operation, HandleState* state, int64_t result) noexcept;
  void give_extra(Operation& operation) noexcept;
  [[nodiscard]] HandleState* state_of(const Operation& operation) noexcept;

  io_uring ring_{};
  bool ring_is_open_ = false;
  bool was_refused_ = false;  // the kernel did not take all requests the last time
  bool skipped_set_ = false;  // the last wait() did not look at the set
  size_t in_kernel_ = 0;      // requests that still have to complete
  size_t told_together_ = 0;  // completions of the last wait()
  size_t gathered_ = 0;       // writes that were left for flush()
  base::Slab extras_;         // what some requests need besides the operation
  base::List<Operation, InOperationList> queued_;
  base::List<Operation, InOperationList> cancels_;
  base::Atomic<bool> has_queued_{false};  // one of the two lists is not empty
  base::Atomic<const void*> own_thread_{nullptr};
};

}  // namespace jzx::io
