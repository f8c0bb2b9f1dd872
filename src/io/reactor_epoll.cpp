#include "io/reactor_epoll.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "io/calls/handles.hpp"

namespace jzx::io {
namespace {

constexpr uint32_t kMostHandles = 1u << 30;
constexpr size_t kWorthExpecting = 4;  // completions at once

constexpr uint32_t interest_of(HandleKind kind, Side side, bool has_datagrams) noexcept {
  const bool tells_little =
      kind == HandleKind::stream || (has_datagrams && kind == HandleKind::datagram);
  if (tells_little) return kReadable | kWritable;
  return side == kReadSide ? kReadable : kWritable;
}

size_t size_of_slices(const Operation& operation) noexcept {
  const auto* slices = static_cast<const Slice*>(operation.buffer);
  size_t size = 0;
  for (size_t i = 0; i < operation.size; ++i) size += slices[i].size;
  return size;
}

// Did fewer bytes pass than were asked for?
bool is_short(const Operation& operation) noexcept {
  if (operation.result <= 0 || !is_byte_stream(kind_of(operation.handle))) return false;
  switch (operation.opcode) {
    case Opcode::read:
    case Opcode::write:
      return static_cast<size_t>(operation.result) < operation.size;
    case Opcode::read_vector:
    case Opcode::write_vector:
      return static_cast<size_t>(operation.result) < size_of_slices(operation);
    default:
      return false;
  }
}

int64_t close_file(Handle handle) noexcept {
  // An interrupted close has closed.
  return ::close(fd_of(handle)) == 0 || errno == EINTR ? 0 : -errno;
}

}  // namespace

HandleState::HandleState() noexcept : Watch(&EpollReactor::became_ready, &expected) {}

void HandleState::expected(const Watch& watch) {
  for (const Operation* operation : static_cast<const HandleState&>(watch).waiting) {
    if (operation != nullptr) operation->expect(Operation::Step::itself);
  }
}

EpollReactor::EpollReactor(const base::Allocator& allocator) noexcept
    : allocator_(allocator), readiness_(allocator), states_(allocator, kMostHandles) {}

EpollReactor::~EpollReactor() {
  while (Operation* operation = finished_.pop_front()) {
    if (operation->opcode == Opcode::close) (void)close_file(operation->handle);
  }
  for (uint32_t fd = 0; fd < states_.size(); ++fd) {
    if (SignalSource* source = states_[fd].source; source != nullptr) source->end();
  }
}

int EpollReactor::open() noexcept { return readiness_.open(); }

int EpollReactor::watch(Watch& watch) { return readiness_.watch(watch); }

int EpollReactor::unwatch(Watch& watch) { return readiness_.unwatch(watch); }

void EpollReactor::share(std::mutex& mutex) noexcept {
  shared_ = &mutex;
  readiness_.share(mutex);
}

// ---- operations ----

Submitted EpollReactor::submit(Operation& operation) {
  switch (manner_of(operation)) {
    case Manner::at_once:
      return done_with(operation, io::perform(operation));
    case Manner::waits: {
      const auto held = hold();
      return start_waiting(operation);
    }
    case Manner::blocks: {
      const auto held = hold();
      return start_blocking(operation);
    }
    case Manner::special:
      return operation.opcode == Opcode::close ? close(operation) : open_signal(operation);
    case Manner::unknown:
      break;
  }
  return done_with(operation, -ENOSYS);
}

bool EpollReactor::try_now(Operation& operation) {
  if (manner_of(operation) != Manner::waits) return false;
  const auto held = hold();
  HandleState* state = nullptr;
  const Side side = side_of(operation.opcode);
  if (const int refusal = look_up(operation, side, state); refusal != 0) {
    operation.result = refusal;
    return true;
  }
  return state->may_be_ready[side] && attempt(operation, *state, side);
}

void EpollReactor::perform(Operation& operation) noexcept {
  const int64_t result = io::perform(operation);
  operation.result = result == kNotReady ? -EAGAIN : result;
}

int EpollReactor::look_up(Operation& operation, Side side, HandleState*& out) noexcept {
  if (const int error = state_for(operation.handle, out); error != 0) return error;
  if (out->waiting[side] != nullptr) return -EBUSY;
  if (out->closing != nullptr) return -ECANCELED;
  operation.is_under_way = false;
  return 0;
}

Submitted EpollReactor::start_waiting(Operation& operation) {
  HandleState* state = nullptr;
  const Side side = side_of(operation.opcode);
  const int refusal = look_up(operation, side, state);
  return refusal != 0 ? done_with(operation, refusal) : start(operation, *state, side);
}

Submitted EpollReactor::start(Operation& operation, HandleState& state, Side side) {
  if (state.may_be_ready[side] && attempt(operation, state, side)) return Submitted::done;
  return await_readiness(operation, state, side);
}

bool EpollReactor::attempt(Operation& operation, HandleState& state, Side side) noexcept {
  operation.result = io::perform(operation);
  const bool is_done = operation.result != kNotReady;
  if (!is_done || (!state.hung_up && is_short(operation))) state.may_be_ready[side] = false;
  return is_done;
}

Submitted EpollReactor::await_readiness(Operation& operation, HandleState& state, Side side) {
  const int error = register_for(operation.handle, state, side);
  if (error != 0) return done_with(operation, error);
  state.waiting[side] = &operation;
  begin(operation, Operation::State::waiting);
  return Submitted::pending;
}

int EpollReactor::register_for(Handle handle, HandleState& state, Side side) noexcept {
  uint32_t wanted = interest_of(kind_of(handle), side, reads_datagrams_);
  if (state.is_registered) wanted |= state.interest;
  if (state.is_registered && wanted == state.interest) return 0;
  state.reactor = this;
  state.fd = fd_of(handle);
  state.interest = wanted;
  const int error = readiness_.watch(state);
  state.is_registered = error == 0;
  return error;
}

// From inside wait(), under the lock.
void EpollReactor::became_ready(Watch& watch, uint32_t readiness) {
  auto& state = static_cast<HandleState&>(watch);
  const bool is_over = (readiness & (kError | kHangup)) != 0;
  if (is_over) state.hung_up = true;
  if (is_over || (readiness & kReadable) != 0) state.may_be_ready[kReadSide] = true;
  if (is_over || (readiness & kWritable) != 0) state.may_be_ready[kWriteSide] = true;
  for (const Side side : {kReadSide, kWriteSide}) {
    Operation* operation = state.waiting[side];
    if (operation == nullptr || !state.may_be_ready[side]) continue;
    if (operation->state != Operation::State::waiting) continue;  // the ring's
    if (!state.reactor->attempt(*operation, state, side)) continue;
    state.waiting[side] = nullptr;
    state.reactor->finish(*operation, operation->result);
  }
}

void EpollReactor::cancel(Operation& operation) {
  const auto held = hold();
  switch (operation.state) {
    case Operation::State::idle:
    case Operation::State::ending:
    case Operation::State::completing:
      return;
    default:
      break;
  }
  HandleState* state = nullptr;
  if (operation.opcode != Opcode::open) (void)state_for(operation.handle, state);
  stop(operation, state);
}

void EpollReactor::stop(Operation& operation, HandleState* state) {
  state->waiting[side_of(operation.opcode)] = nullptr;
  finish(operation, -ECANCELED);
  readiness_.wake();
}

// A file may take its time to close, so that is not done under the lock.
Submitted EpollReactor::close(Operation& operation) {
  SignalSource* source = nullptr;
  {
    const auto held = hold();
    HandleState* state = nullptr;
    const int error = state_for(operation.handle, state);
    if (error != 0 || state->closing != nullptr) {
      return done_with(operation, error != 0 ? error : -EBADF);
    }
    for (const Side side : {kReadSide, kWriteSide}) {
      Operation* one = state->waiting[side];
      if (one != nullptr && one->state != Operation::State::ending) stop(*one, state);
    }
    if (state->in_ring != 0) {
      state->closing = &operation;
      begin(operation, Operation::State::ending);
      return Submitted::pending;
    }
    source = forget(*state);
  }
  if (source != nullptr) return source->end(), done_with(operation, 0);
  return done_with(operation, close_file(operation.handle));
}

SignalSource* EpollReactor::forget(HandleState& state) noexcept {
  readiness_.forget(state);
  SignalSource* source = state.source;
  state.clear();
  return source;
}

Submitted EpollReactor::open_signal(Operation& operation) noexcept {
  const auto held = hold();
  int error = 0;
  SignalSource* source = listen_to_signal(static_cast<int>(operation.value), allocator_, error);
  if (source == nullptr) return done_with(operation, error);
  const Handle handle = make_handle(source->fd(), HandleKind::signal);
  HandleState* state = nullptr;
  error = state_for(handle, state);
  if (error != 0) return source->end(), done_with(operation, error);
  state->source = source;
  return done_with(operation, handle.value);
}

int EpollReactor::state_for(Handle handle, HandleState*& out) noexcept {
  const int fd = fd_of(handle);
  if (fd < 0) return -EBADF;
  const auto index = static_cast<uint32_t>(fd);
  if (index >= states_.size()) {
    // A number that is no fd must not make the table as long as it is high.
    if (::fcntl(fd, F_GETFD) < 0) return -errno;
    while (index >= states_.size()) {
      if (!states_.grow()) return -ENOMEM;
    }
  }
  out = &states_[index];
  return 0;
}

// ---- completions ----

void EpollReactor::begin(Operation& operation, Operation::State state) noexcept {
  operation.state = state;
  change_pending(1);
}

void EpollReactor::finish(Operation& operation, int64_t result) noexcept {
  operation.result = result;
  operation.state = Operation::State::completing;
  finished_.push_back(operation);
  ++finished_count_;
  has_finished_.store(true, std::memory_order_relaxed);  // it changes under the lock
}

size_t EpollReactor::complete_all() {
  if (!has_finished()) return 0;
  size_t count = 0;
  base::List<Operation, InOperationList> batch;
  {
    const auto held = hold();
    batch.splice_back(finished_);
    count = std::exchange(finished_count_, 0);
    change_pending(-count);
    has_finished_.store(false, std::memory_order_relaxed);  // as in finish()
  }
  if (count >= kWorthExpecting) {
    for (const auto step : {Operation::Step::waiter, Operation::Step::rest}) {
      for (Operation* one = batch.front(); one != nullptr; one = batch.after(*one)) {
        one->expect(step);
      }
    }
  }
  if (count > 0 && before_completions_.tell != nullptr) {
    before_completions_.tell(before_completions_.ctx);
  }
  while (Operation* operation = batch.pop_front()) {
    // One that had to wait for others to end: they have, before it in this list.
    if (operation->opcode == Opcode::close) operation->result = close_file(operation->handle);
    operation->complete();
  }
  return count;
}

// ---- waiting ----

int EpollReactor::wait(uint64_t timeout_ns) {
  const int error = readiness_.tell(has_finished() ? 0 : timeout_ns);
  complete_all();
  return error;
}

void EpollReactor::wake() noexcept { readiness_.wake(); }

int EpollReactor::pollable_fd() const noexcept { return readiness_.fd(); }

const char* EpollReactor::name() const noexcept { return "epoll"; }

}  // namespace jzx::io
