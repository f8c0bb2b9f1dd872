#include "io/reactor_uring.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include "io/calls/handles.hpp"
#include "io/ring_requests.hpp"

namespace jzx::io {
namespace {

constexpr unsigned kRingEntries = 64;
constexpr unsigned kCompletions = 1024;   // of a whole tick, so that they seldom overflow
constexpr unsigned kBatch = 256;          // completions that are taken at once
constexpr uint64_t kNobody = 0;           // whose completion tells nothing
constexpr uint64_t kRetryNs = 1'000'000;  // when the kernel has had no memory for a request

// The address of this is a name of the thread.
thread_local char thread_name;

int make_ring(io_uring& ring) noexcept {
  // Completions are wanted at system calls, never by interrupting the thread. Before Linux 5.19 the
  // flag is unknown, and the ring good all the same.
  int error = 0;
  for (const unsigned flags : {IORING_SETUP_COOP_TASKRUN, 0u}) {
    io_uring_params parameters{};
    parameters.flags = flags | IORING_SETUP_CQSIZE;
    parameters.cq_entries = kCompletions;
    error = io_uring_queue_init_params(kRingEntries, &ring, &parameters);
    if (error != -EINVAL) break;
  }
  return error;
}

// Sends a request round that does nothing: there are kernels and sandboxes that hand out rings and
// refuse to use them. 0 or -errno.
int try_out(io_uring& ring) noexcept {
  if ((ring.features & IORING_FEAT_NODROP) == 0 || !has_all_requests(ring)) return -ENOSYS;
  io_uring_prep_nop(io_uring_get_sqe(&ring));
  if (const int submitted = io_uring_submit(&ring); submitted < 0) return submitted;
  io_uring_cqe* completion = nullptr;
  if (io_uring_peek_cqe(&ring, &completion) != 0) return -ENOSYS;
  const int result = completion->res;
  io_uring_cqe_seen(&ring, completion);
  return result;
}

bool is_stream_write(const Operation& operation) noexcept {
  return operation.opcode == Opcode::write && is_stream_socket(kind_of(operation.handle));
}

RingExtra* extra_of(const Operation& operation) noexcept {
  return static_cast<RingExtra*>(operation.note);
}

}  // namespace

UringReactor::UringReactor(const base::Allocator& allocator) noexcept
    : EpollReactor(allocator), extras_(allocator, sizeof(RingExtra), alignof(RingExtra), 16) {
  reads_datagrams_ = false;
}

UringReactor::~UringReactor() {
  if (ring_is_open_) empty_ring();
  while (Operation* operation = queued_.pop_front()) give_extra(*operation);
  if (ring_is_open_) io_uring_queue_exit(&ring_);
}

void UringReactor::empty_ring() noexcept {
  while (cancels_.pop_front() != nullptr) {
  }
  // The kernel may still write to buffers: everything that waits is cancelled, and what does not
  // wait ends by itself.
  for (uint32_t fd = 0; in_kernel_ > 0 && fd < states_.size(); ++fd) {
    for (Operation* operation : states_[fd].waiting) {
      if (operation == nullptr || operation->state < Operation::State::in_kernel) continue;
      io_uring_sqe* request = next_request();
      while (request == nullptr) request = next_request();
      io_uring_prep_cancel(request, operation, 0);
      io_uring_sqe_set_data64(request, kNobody);
      operation->state = Operation::State::ending;
    }
  }
  while (in_kernel_ > 0) {
    (void)io_uring_submit_and_wait(&ring_, 1);
    take_completions();
  }
}

int UringReactor::open() noexcept {
  if (const int error = make_ring(ring_); error != 0) return error;
  ring_is_open_ = true;
  if (const int error = try_out(ring_); error != 0) return error;
  if (const int error = EpollReactor::open(); error != 0) return error;
  return readiness_.attach(ring_.ring_fd);
}

int UringReactor::wait(uint64_t timeout_ns) {
  // relaxed: only this thread compares equal.
  own_thread_.store(&thread_name, std::memory_order_relaxed);
  const bool has_gathered = gathered_ != 0;
  flush();
  // Gathered writes are done by now, and those who wait for them go on before the set is asked; but
  // not twice in a row, so that nobody waits for ever.
  const bool is_done_here = has_gathered && !skipped_set_ && io_uring_cq_ready(&ring_) != 0;
  int error = 0;
  if (!is_done_here) {
    if (has_finished()) timeout_ns = 0;
    error = readiness_.tell(was_refused_ ? std::min(timeout_ns, kRetryNs) : timeout_ns);
  }
  skipped_set_ = is_done_here;
  take_completions();
  told_together_ = complete_all();
  return error;
}

const char* UringReactor::name() const noexcept { return "io_uring"; }

// ---- operations ----

Submitted UringReactor::submit(Operation& operation) {
  const Submitted submitted = EpollReactor::submit(operation);
  if (is_own_thread() && gathered_ >= kMostGathered) flush();
  return submitted;
}

bool UringReactor::try_now(Operation& operation) {
  return !is_for_ring(operation) && !is_to_gather(operation) && EpollReactor::try_now(operation);
}

Submitted UringReactor::start(Operation& operation, HandleState& state, Side side) {
  const bool is_gathered = is_to_gather(operation);
  if (!is_gathered && !is_for_ring(operation)) {
    return EpollReactor::start(operation, state, side);
  }
  if (is_gathered) ++gathered_;
  const Submitted submitted = enqueue(operation, &state);
  if (submitted == Submitted::pending) state.waiting[side] = &operation;
  return submitted;
}

Submitted UringReactor::start_blocking(Operation& operation) {
  if (!is_for_ring(operation)) return Submitted::must_block;
  HandleState* state = nullptr;
  if (operation.opcode != Opcode::open) {
    const int error = state_for(operation.handle, state);
    if (error != 0) return done_with(operation, error);
    if (state->closing != nullptr) return done_with(operation, -ECANCELED);
  }
  return enqueue(operation, state);
}

Submitted UringReactor::enqueue(Operation& operation, HandleState* state) noexcept {
  if (const int error = check_request(operation); error != 0) return done_with(operation, error);
  operation.note = nullptr;
  if (needs_extra(operation)) {
    void* memory = extras_.take();
    if (memory == nullptr) return done_with(operation, -ENOMEM);
    operation.note = new (memory) RingExtra;
  }
  if (state != nullptr) ++state->in_ring;
  begin(operation, Operation::State::queued);
  queued_.push_back(operation);
  leave_for_flush();
  return Submitted::pending;
}

void UringReactor::stop(Operation& operation, HandleState* state) {
  switch (operation.state) {
    case Operation::State::queued: {
      operation.unlink();
      // A write that is only late because others go with it is made now: one that need not wait
      // does not notice that it was cancelled.
      const int64_t result = is_stream_write(operation) ? io::perform(operation) : kNotReady;
      let_go(operation, state, result == kNotReady ? -ECANCELED : result);
      return readiness_.wake();
    }
    case Operation::State::in_kernel:
      operation.state = Operation::State::ending;
      cancels_.push_back(operation);
      return leave_for_flush();
    default:
      return EpollReactor::stop(operation, state);
  }
}

// ---- towards the kernel ----

bool UringReactor::is_own_thread() const noexcept {
  return own_thread_.load(std::memory_order_relaxed) == &thread_name;  // only this one's is equal
}

bool UringReactor::is_to_gather(const Operation& operation) const noexcept {
  return is_stream_write(operation) && is_shared() && is_own_thread() &&
         told_together_ >= kWorthGathering;
}

void UringReactor::leave_for_flush() noexcept {
  has_queued_.store(true, std::memory_order_relaxed);  // it changes under the lock
  if (is_shared() && !is_own_thread()) readiness_.wake();
}

io_uring_sqe* UringReactor::next_request() noexcept {
  io_uring_sqe* request = io_uring_get_sqe(&ring_);
  if (request != nullptr) return request;
  (void)io_uring_submit(&ring_);
  return io_uring_get_sqe(&ring_);
}

bool UringReactor::hand_over_queued() noexcept {
  while (Operation* operation = cancels_.front()) {
    io_uring_sqe* request = next_request();
    if (request == nullptr) return false;
    operation->unlink();
    io_uring_prep_cancel(request, operation, 0);
    io_uring_sqe_set_data64(request, kNobody);
  }
  while (Operation* operation = queued_.front()) {
    io_uring_sqe* request = next_request();
    if (request == nullptr) return false;
    operation->unlink();
    operation->state = Operation::State::in_kernel;
    fill_request(*request, *operation, extra_of(*operation));
    io_uring_sqe_set_data(request, operation);
    ++in_kernel_;
  }
  return true;
}

void UringReactor::flush() noexcept {
  // relaxed: who sets it on another thread wakes us after that.
  if (has_queued_.load(std::memory_order_relaxed)) {
    const auto held = hold();
    const bool is_all = hand_over_queued();
    has_queued_.store(!is_all, std::memory_order_relaxed);  // it changes under the lock
    gathered_ = 0;
  }
  if (io_uring_sq_ready(&ring_) != 0) (void)io_uring_submit(&ring_);
  was_refused_ = io_uring_sq_ready(&ring_) != 0;
}

// ---- and back ----

void UringReactor::take_completions() noexcept {
  // One batch: more has the next wait() return at once. Also brings back what has overflowed into
  // the kernel, once there is room for it.
  std::array<io_uring_cqe*, kBatch> batch;
  const unsigned count = io_uring_peek_batch_cqe(&ring_, batch.data(), batch.size());
  if (count == 0) return;
  {
    const auto held = hold();
    for (unsigned i = 0; i < count; ++i) {
      if (batch[i]->user_data == kNobody) continue;
      --in_kernel_;
      complete(*static_cast<Operation*>(io_uring_cqe_get_data(batch[i])), batch[i]->res);
    }
  }
  io_uring_cq_advance(&ring_, count);
}

HandleState* UringReactor::state_of(const Operation& operation) noexcept {
  HandleState* state = nullptr;
  if (operation.opcode != Opcode::open) (void)state_for(operation.handle, state);
  return state;
}

void UringReactor::complete(Operation& operation, int answer) noexcept {
  const bool is_ending = operation.state == Operation::State::ending;
  if (operation.is_linked()) operation.unlink();  // from the cancels: they come too late
  HandleState* state = state_of(operation);
  const bool was_interrupted = answer == -EINTR || answer == -ECANCELED ||
                               (answer == -ECONNABORTED && operation.opcode == Opcode::accept);
  if (was_interrupted && !is_ending) {
    // By nobody of ours: the thread that handed it over has exited, or got a signal.
    operation.state = Operation::State::queued;
    queued_.push_back(operation);
    return leave_for_flush();
  }
  const bool is_refused = answer == -EAGAIN || answer == -EINPROGRESS;
  if (is_refused && !is_ending) return try_without_ring(operation, state);
  const bool is_cancelled = was_interrupted || is_refused;
  const int64_t result =
      is_cancelled ? -ECANCELED : result_of(operation, extra_of(operation), answer);
  let_go(operation, state, result);
}

// There are kernels and file systems whose rings do not wait for an fd that does not block.
void UringReactor::try_without_ring(Operation& operation, HandleState* state) noexcept {
  const Side side = side_of(operation.opcode);
  operation.is_under_way = operation.opcode == Opcode::connect;
  int64_t result = io::perform(operation);
  const int error = result == kNotReady ? register_for(operation.handle, *state, side) : 0;
  if (error != 0) result = error;
  if (result != kNotReady) return let_go(operation, state, result);
  give_extra(operation);
  --state->in_ring;
  operation.state = Operation::State::waiting;
}

void UringReactor::give_extra(Operation& operation) noexcept {
  if (operation.note != nullptr) extras_.give(operation.note);
  operation.note = nullptr;
}

void UringReactor::let_go(Operation& operation, HandleState* state, int64_t result) noexcept {
  give_extra(operation);
  if (state == nullptr) return finish(operation, result);
  const Side side = side_of(operation.opcode);
  if (state->waiting[side] == &operation) state->waiting[side] = nullptr;
  --state->in_ring;
  finish(operation, result);
  if (state->in_ring != 0 || state->closing == nullptr) return;
  Operation& closing = *state->closing;
  (void)forget(*state);  // signals do not go through the ring
  finish(closing, 0);
}

}  // namespace jzx::io
