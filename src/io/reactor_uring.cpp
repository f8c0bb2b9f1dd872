#include "io/reactor_uring.hpp"

#include <array>
#include <cerrno>

namespace jzx::io {
namespace {

constexpr unsigned kRingEntries = 64;

int make_ring(io_uring& ring) noexcept {
  // Completions are wanted at system calls, never by interrupting the thread.
  const int error = io_uring_queue_init(kRingEntries, &ring, IORING_SETUP_COOP_TASKRUN);
  // Before Linux 5.19 the flag is unknown, and the ring good all the same.
  return error == -EINVAL ? io_uring_queue_init(kRingEntries, &ring, 0) : error;
}

// Sends a request round that does nothing: there are kernels and sandboxes that hand out rings and
// refuse to use them. 0 or -errno.
int try_out(io_uring& ring) noexcept {
  if ((ring.features & IORING_FEAT_NODROP) == 0) return -ENOSYS;
  io_uring_prep_nop(io_uring_get_sqe(&ring));
  if (const int submitted = io_uring_submit(&ring); submitted < 0) return submitted;
  io_uring_cqe* completion = nullptr;
  if (io_uring_peek_cqe(&ring, &completion) != 0) return -ENOSYS;
  const int result = completion->res;
  io_uring_cqe_seen(&ring, completion);
  return result;
}

}  // namespace

UringReactor::~UringReactor() {
  if (ring_is_open_) io_uring_queue_exit(&ring_);
}

int UringReactor::open() noexcept {
  if (const int error = make_ring(ring_); error != 0) return error;
  ring_is_open_ = true;
  if (const int error = try_out(ring_); error != 0) return error;
  if (const int error = EpollReactor::open(); error != 0) return error;
  return readiness_.attach(ring_.ring_fd);
}

int UringReactor::wait(uint64_t timeout_ns) {
  const int error = EpollReactor::wait(timeout_ns);
  take_completions();
  return error;
}

const char* UringReactor::name() const noexcept { return "io_uring"; }

void UringReactor::take_completions() noexcept {
  // One batch: more has the next wait() return at once. Also brings back what has overflowed into
  // the kernel, once there is room for it.
  std::array<io_uring_cqe*, 2 * kRingEntries> batch;
  const unsigned count = io_uring_peek_batch_cqe(&ring_, batch.data(), batch.size());
  io_uring_cq_advance(&ring_, count);
}

}  // namespace jzx::io
