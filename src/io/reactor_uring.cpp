#include "io/reactor_uring.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace jzx::io {
namespace {

constexpr unsigned kRingEntries = 64;

// A timeout near the end of the kernel's clock may overflow when it is added to the time, and the
// wait would not wait. Nobody minds one that comes back early once a year.
constexpr uint64_t kLongestWaitNs = uint64_t{365} * 24 * 3600 * 1'000'000'000;

// User data of requests whose completion nobody waits for; poll ids start above it.
constexpr uint64_t kNobody = 0;

int open_ring(io_uring& ring) noexcept {
  // Completions are wanted at system calls, never by interrupting the thread.
  int error = io_uring_queue_init(kRingEntries, &ring, IORING_SETUP_COOP_TASKRUN);
  // Before Linux 5.19 the flag is unknown, and the ring good all the same.
  if (error == -EINVAL) error = io_uring_queue_init(kRingEntries, &ring, 0);
  if (error != 0) return error;
  // A wait with a timeout that is no request of its own: Linux 5.11.
  if ((ring.features & IORING_FEAT_EXT_ARG) != 0) return 0;
  io_uring_queue_exit(&ring);
  return -ENOSYS;
}

}  // namespace

UringReactor::~UringReactor() {
  if (ring_is_open_) io_uring_queue_exit(&ring_);
}

int UringReactor::open() noexcept {
  if (const int error = open_ring(ring_); error != 0) return error;
  ring_is_open_ = true;
  return readiness_.open();
}

int UringReactor::watch(Watch& watch) { return readiness_.watch(watch); }

int UringReactor::unwatch(Watch& watch) { return readiness_.unwatch(watch); }

void UringReactor::submit(Operation& operation) {
  unsupported_.add(operation);
  readiness_.wake();  // the next wait() has something to tell, and pollable_fd() shows it
}

void UringReactor::cancel(Operation&) {}

int UringReactor::wait(uint64_t timeout_ns) {
  int error = timeout_ns == 0 ? 0 : sleep(timeout_ns);
  if (error == 0) error = readiness_.tell(0);
  unsupported_.complete_all();
  return error;
}

void UringReactor::wake() noexcept { readiness_.wake(); }

int UringReactor::pollable_fd() const noexcept { return readiness_.fd(); }

const char* UringReactor::name() const noexcept { return "io_uring"; }

int UringReactor::sleep(uint64_t timeout_ns) noexcept {
  take_completions();
  if (const int error = arm_poll(); error != 0) return error;

  // Always with a timeout: without one liburing goes back to sleep after a signal.
  const uint64_t longest = std::min(timeout_ns, kLongestWaitNs);
  __kernel_timespec timeout{};
  timeout.tv_sec = static_cast<int64_t>(longest / 1'000'000'000);
  timeout.tv_nsec = static_cast<int64_t>(longest % 1'000'000'000);
  io_uring_cqe* first = nullptr;
  const int result = io_uring_submit_and_wait_timeout(&ring_, &first, 1, &timeout, nullptr);
  take_completions();
  return result >= 0 || result == -ETIME || result == -EINTR ? 0 : result;
}

int UringReactor::arm_poll() noexcept {
  const pthread_t self = pthread_self();
  if (poll_armed_ && pthread_equal(poll_armed_by_, self)) return 0;

  if (io_uring_sq_space_left(&ring_) < 2) return -EBUSY;
  if (poll_armed_) {
    io_uring_sqe* remove = io_uring_get_sqe(&ring_);
    io_uring_prep_poll_remove(remove, poll_id_);
    io_uring_sqe_set_data64(remove, kNobody);
  }
  io_uring_sqe* poll = io_uring_get_sqe(&ring_);
  io_uring_prep_poll_add(poll, readiness_.fd(), POLLIN);
  io_uring_sqe_set_data64(poll, ++poll_id_);
  poll_armed_ = true;
  poll_armed_by_ = self;
  return 0;
}

void UringReactor::take_completions() noexcept {
  io_uring_cqe* completion = nullptr;
  unsigned head = 0;
  unsigned count = 0;
  io_uring_for_each_cqe(&ring_, head, completion) {
    // Whatever its result: the request is over, and the set itself is asked what is ready.
    if (completion->user_data == poll_id_) poll_armed_ = false;
    ++count;
  }
  io_uring_cq_advance(&ring_, count);
}

}  // namespace jzx::io
