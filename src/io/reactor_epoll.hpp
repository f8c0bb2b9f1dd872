// The reactor on epoll alone. An operation is a system call that is made when it is likely to
// succeed: at once, or when an edge tells that its handle is ready. Works on every kernel we run
// on. The reactor on io_uring is this one and a ring.
//
//   submit ── known to be not ready? ── no ──▶ the call ── it succeeds: done
//                    │ yes                        │ it would have to wait
//                    ▼                            ▼
//              pending: registered once, edge-triggered ── edge, in wait(): the call ──▶ complete
//
// An echo server pays one read, one write and its share of a wait for a request: the read that
// the edge brings is short, so the next one is pending without a call. On io_uring it does not even
// pay for the write, see reactor_uring.hpp.
//
// A TCP socket is registered for both directions at once. A Unix socket or a pipe tells its writer
// of every byte that the other end takes, so those are registered for what is waited for only.
//
// The calls are made under the lock of share(): with it they stand in one order with the edges, so
// that "not ready" cannot be written down after the edge that says otherwise. None of them blocks.
//
// Threads and lifetime: as in contract.hpp.
#pragma once

#include "base/allocator.hpp"
#include "base/atomic.hpp"
#include "base/chunked_array.hpp"
#include "io/contract.hpp"
#include "io/handle_state.hpp"
#include "io/readiness_set.hpp"

namespace jzx::io {

class EpollReactor : public Reactor {
 public:
  explicit EpollReactor(const base::Allocator& allocator) noexcept;
  ~EpollReactor() override;
  EpollReactor(const EpollReactor&) = delete;
  EpollReactor& operator=(const EpollReactor&) = delete;

  // Once, before anything else. 0 or -errno.
  [[nodiscard]] int open() noexcept;

  [[nodiscard]] int watch(Watch& watch) override;
  int unwatch(Watch& watch) override;
  void share(std::mutex& mutex) noexcept override;
  [[nodiscard]] Submitted submit(Operation& operation) override;
  [[nodiscard]] bool try_now(Operation& operation) override;
  void cancel(Operation& operation) override;
  void perform(Operation& operation) noexcept override;
  [[nodiscard]] size_t pending_count() const noexcept override {
    return pending_.load(std::memory_order_relaxed);  // a number on its own
  }
  void tell_before_completions(const BeforeCompletions& whom) noexcept override {
    before_completions_ = whom;
  }
  [[nodiscard]] int wait(uint64_t timeout_ns) override;
  void wake() noexcept override;
  [[nodiscard]] int pollable_fd() const noexcept override;
  [[nodiscard]] const char* name() const noexcept override;

 protected:
  // ---- what the ring does otherwise; under the lock ----

  // One that waits, on a side that nobody waits for.
  [[nodiscard]] virtual Submitted start(Operation& operation, HandleState& state, Side side);
  // One that blocks.
  [[nodiscard]] virtual Submitted start_blocking(Operation&) { return Submitted::must_block; }
  // One that is pending, and can still be cancelled. An open has no state.
  virtual void stop(Operation& operation, HandleState* state);

  // ---- what it needs for that; under the lock ----

  // 0 or -errno: it is no handle, or there is no memory.
  [[nodiscard]] int state_for(Handle handle, HandleState*& out) noexcept;
  // True: it is done, and has its result.
  [[nodiscard]] bool attempt(Operation& operation, HandleState& state, Side side) noexcept;
  [[nodiscard]] Submitted await_readiness(Operation& operation, HandleState& state, Side side);
  // 0 or -errno.
  [[nodiscard]] int register_for(Handle handle, HandleState& state, Side side) noexcept;
  // Now pending.
  void begin(Operation& operation, Operation::State state) noexcept;
  // To be completed by the next complete_all().
  void finish(Operation& operation, int64_t result) noexcept;
  // Nothing is pending on it any more: forgotten, but still to be closed, without the lock. A
  // signal's source is to be ended instead.
  [[nodiscard]] SignalSource* forget(HandleState& state) noexcept;

  [[nodiscard]] std::unique_lock<std::mutex> hold() noexcept {
    return shared_ != nullptr ? std::unique_lock(*shared_) : std::unique_lock<std::mutex>();
  }

  // Without the lock: what finished, as far as it has when this is called. How many.
  size_t complete_all();
  [[nodiscard]] bool has_finished() const noexcept {
    // relaxed: who sets it on another thread wakes us after that.
    return has_finished_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] bool is_shared() const noexcept { return shared_ != nullptr; }

  base::Allocator allocator_;
  ReadinessSet readiness_;
  base::ChunkedArray<HandleState, 64> states_;  // by fd: they are small and dense
  // False: the ring does that, and edges for it would be told in vain.
  bool reads_datagrams_ = true;

 private:
  friend HandleState;
  static void became_ready(Watch& watch, uint32_t readiness);
  // The state of its handle, for one that waits. 0, or -errno: it cannot begin.
  [[nodiscard]] int look_up(Operation& operation, Side side, HandleState*& out) noexcept;
  [[nodiscard]] Submitted start_waiting(Operation& operation);
  [[nodiscard]] Submitted open_signal(Operation& operation) noexcept;
  [[nodiscard]] Submitted close(Operation& operation);
  void change_pending(size_t change) noexcept {
    // relaxed, and no locked instruction: it changes under the lock.
    pending_.store(pending_.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }

  base::List<Operation, InOperationList> finished_;
  size_t finished_count_ = 0;
  BeforeCompletions before_completions_;
  std::mutex* shared_ = nullptr;
  base::Atomic<size_t> pending_{0};
  base::Atomic<bool> has_finished_{false};
};

[[nodiscard]] inline Submitted done_with(Operation& operation, int64_t result) noexcept {
  operation.result = result;
  return Submitted::done;
}

}  // namespace jzx::io
