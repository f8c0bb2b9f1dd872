// The root of a chain of coroutines that await one another: who runs them, what they wait for, and
// whether they were asked to stop. Not for users.
//
//   whoever runs it ──run()──▶ task ──awaits──▶ task ──awaits──▶ a future
//        ▲                                                         │
//        └──────────────────────── wake() ◀────────────────────────┘
//
// Of a chain one coroutine runs at a time, and it waits for one future at a time: so there is one
// tether, and cancelling the chain is cancelling that future. The coroutine then goes on with what
// the future answers, and every later wait of the chain answers Errc::cancelled at once: a chain
// ends by itself, from the inside, and no frame is destroyed while something still knows it.
//
// A coroutine does not resume another one from inside itself: it says who is next and returns to
// run(), which is a loop. So no chain and no loop of awaits needs stack, whatever the compiler
// makes of tail calls. The next one is said on the runner's stack, and not in the root: a coroutine
// that waits may be woken, and the root run by another thread, before this one is back in its loop.
//
// A chain that was asked to stop and awaits again all the same gets its answer at once, but not
// for ever: now and then it is suspended all the same, and woken at once, so that others get their
// turns and whoever runs it sees that it does not listen.
//
// The bell: who wakes still uses the runner while he does so. The runner does not go on before it
// has rung, which is a few instructions of another thread away, and so cannot end under it.
//
// Threads: run() by one at a time; wake() by whoever settles the future, once for each wait;
// request_stop() by any, while the root is there.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <utility>

#include <jzx/detail/future_state.hpp>
#include <jzx/detail/tether.hpp>

namespace jzx::detail {

JZX_API void yield_thread() noexcept;

// Somebody who is told when the chain is asked to stop.
struct StopWatch {
  void (*stop)(StopWatch& self);
  void (*destroy)(StopWatch& self) noexcept;
};

// Where deadlocks are looked for: the chain is about to wait for an answer. False: who is to answer
// waits for it, and deadlock_error() on this thread says so. `edge` is the library's.
[[nodiscard]] JZX_API bool begin_wait(void* edge, FutureCore& core) noexcept;
// The answer is there, or is waited for no more. Before who gave it goes on.
JZX_API void end_wait(void* edge) noexcept;
[[nodiscard]] JZX_API Error deadlock_error() noexcept;

// A simulated fault: see TaskRoot::throw_when_run().
[[noreturn]] JZX_API void throw_on_purpose();

class TaskRoot {
 public:
  // Sees to it that the root is run soon.
  using WakeFn = void (*)(TaskRoot& root) noexcept;

  explicit TaskRoot(WakeFn function) noexcept : wake_(function) {}
  TaskRoot(const TaskRoot&) = delete;
  TaskRoot& operator=(const TaskRoot&) = delete;
  ~TaskRoot() {
    if (StopWatch* watch = stop_watch()) watch->destroy(*watch);
  }

  // ---- for the runner ----

  ActorId sender = 0;  // of the message that the chain handles, if it does
  // There if nothing else can answer for who runs the chain, and deadlocks are looked for.
  void* wait_edge = nullptr;

  void begin(std::coroutine_handle<> first) noexcept {
    waiting_ = first;
    first_ = first.address();
    bell_.store(Bell::rung, std::memory_order_relaxed);  // the runner's own
  }
  // Has what the chain waits for come, or has it not begun?
  [[nodiscard]] bool can_go_on() noexcept {
    for (;;) {
      const Bell now = bell_.load(std::memory_order_acquire);  // pairs with wake()
      if (now != Bell::ringing) return now == Bell::rung;
      yield_thread();
    }
  }
  // When it can go on. True: the first coroutine of the chain has ended.
  [[nodiscard]] bool run() {
    Run run{std::exchange(waiting_, nullptr)};
    bell_.store(Bell::quiet, std::memory_order_relaxed);  // the runner's own, until it waits
    run_ = &run;
    is_between_waits_ = false;
    do {
      run.transfers_left = kTransfers;
      std::exchange(run.next, nullptr).resume();
    } while (run.next != nullptr);
    return run.is_done;
  }

  // For simulated faults: could the await that the next run() ends throw? Then it can be made to.
  // Not the bell of a nursery, whose coroutine has chains to wait for; not what was asked to stop.
  [[nodiscard]] bool can_throw() noexcept {
    return can_go_on() && awaited_ != nullptr && awaited_->block_size != 0 && !is_stop_requested();
  }
  void throw_when_run() noexcept {
    awaited_ = nullptr;
    throws_ = true;
  }

  // ---- for the coroutines of the chain ----

  // Both answer whom the coroutine that suspends is to transfer to.
  [[nodiscard]] std::coroutine_handle<> go_on_with(std::coroutine_handle<> next) noexcept {
    if (--run_->transfers_left != 0) [[likely]]
      return next;
    run_->next = next;
    return std::noop_coroutine();
  }
  [[nodiscard]] std::coroutine_handle<> is_done() noexcept {
    run_->is_done = true;
    return std::noop_coroutine();
  }

  enum class Waiting : uint8_t {
    suspended,   // leave; the coroutine is resumed when the result is there
    came,        // it is there
    taken_back,  // it was cancelled, and the state is no longer the caller's
  };
  [[nodiscard]] Waiting wait_for(FutureCore& core, std::coroutine_handle<> who) {
    waiting_ = who;
    awaited_ = &core;
    new (core.slot) TaskRoot*(this);
    core.resume = &arrive;
    if (!tether_.tie()) return wait_cancelled(core);
    if (!leave_cancellable(core)) return Waiting::suspended;
    return tether_.untie() ? Waiting::came : Waiting::suspended;
  }
  void forget_awaited() noexcept { awaited_ = nullptr; }
  // After a wait: the future was taken back, and has no result.
  [[nodiscard]] bool was_taken_back() const noexcept { return awaited_ == nullptr; }
  // The same, but it has one, and the await is to throw instead. Once.
  [[nodiscard]] bool take_throw() noexcept { return std::exchange(throws_, false); }
  [[nodiscard]] bool is_stop_requested() const noexcept { return tether_.is_cancelled(); }

  // How often it has waited after it was asked to stop.
  [[nodiscard]] uint32_t waits_in_vain() const noexcept { return waits_in_vain_; }
  // It was told often enough.
  [[nodiscard]] bool is_deaf() const noexcept { return waits_in_vain_ >= kDeaf; }
  // At the end of its system nothing but leaving it as it is ends it.
  [[nodiscard]] bool is_hopeless() const noexcept {
    return is_between_waits_ && waits_in_vain_ >= 10 * kDeaf;
  }
  // It does not listen, and lets others run before it is told again: it waits for nothing.
  [[nodiscard]] bool is_between_waits() const noexcept { return is_between_waits_; }
  // One more wait in vain, by a coroutine that would go on at once. True: it is suspended instead,
  // and goes on later.
  [[nodiscard]] bool rests(std::coroutine_handle<> who) noexcept {
    if (++waits_in_vain_ % kWaitsInATurn != 0) return false;
    is_between_waits_ = true;
    waiting_ = who;
    wake();
    return true;
  }

  // One for the chain; it goes with the root.
  void set_stop_watch(StopWatch& watch) {
    watch_.store(&watch, std::memory_order_relaxed);  // published by the next line
    if (tether_.look_cancelled()) watch.stop(watch);
  }
  // relaxed: the chain's own, or ordered by the tether.
  [[nodiscard]] StopWatch* stop_watch() const noexcept {
    return watch_.load(std::memory_order_relaxed);
  }

  // ---- for who is about to settle what the chain waits for ----

  // nullptr: it is no chain that waits, or not yet.
  [[nodiscard]] static const TaskRoot* waiting_for(const FutureCore& core) noexcept {
    if (!core.handover.is_left() || core.resume != &arrive) return nullptr;
    return *std::launder(reinterpret_cast<TaskRoot* const*>(core.slot));
  }
  // What waking and running it will look at.
  [[nodiscard]] const void* waiting_frame() const noexcept { return waiting_.address(); }
  [[nodiscard]] const void* first_frame() const noexcept { return first_; }
  const void* runner = nullptr;  // if it is known

  // ---- for who wants it to end ----

  void request_stop() {
    const bool is_tied = tether_.begin_cancel();
    if (StopWatch* watch = stop_watch()) watch->stop(*watch);
    if (!is_tied) return;
    leave_edge();
    const bool is_taken_back = cancel_core(*awaited_);
    if (is_taken_back) awaited_ = nullptr;
    switch (tether_.end_cancel(is_taken_back)) {
      case Cancelled::nothing:
        return;
      case Cancelled::go_on:
      case Cancelled::taken_back:
        return wake();
    }
  }

 private:
  enum class Bell : uint32_t { quiet, ringing, rung };
  // What run() shares with the coroutines, on its stack.
  struct Run {
    std::coroutine_handle<> next;
    uint32_t transfers_left = 0;
    bool is_done = false;
  };
  // Few: without tail calls they nest, and a sanitizer's frames are large for a fiber's stack.
  static constexpr uint32_t kTransfers = 8;
  static constexpr uint32_t kWaitsInATurn = 16;
  static constexpr uint32_t kDeaf = 1024;

  // It was asked to stop before it began to wait.
  [[nodiscard]] Waiting wait_cancelled(FutureCore& core) {
    tether_.hold_cancelled();
    leave_edge();
    const bool can_cancel = core.cancel != nullptr;
    if (can_cancel) core.cancel(core);
    const bool is_there = leave_cancellable(core);
    const bool is_over = is_there || (!can_cancel && core.handover.take_back());
    const bool is_taken_back = is_over && !is_there;
    switch (tether_.end_cancel(is_over)) {
      case Cancelled::nothing:
        return Waiting::suspended;
      case Cancelled::go_on:
        return rests(waiting_) ? Waiting::suspended : Waiting::came;
      case Cancelled::taken_back:
        break;
    }
    if (is_taken_back) awaited_ = nullptr;
    if (rests(waiting_)) return Waiting::suspended;
    return is_taken_back ? Waiting::taken_back : Waiting::came;
  }
  // Nobody may look at the future by the edge once it may be the promise's end's.
  void leave_edge() noexcept {
    if (wait_edge != nullptr) [[unlikely]]
      end_wait(wait_edge);
  }
  void wake() noexcept {
    leave_edge();
    bell_.store(Bell::ringing, std::memory_order_relaxed);  // the call below publishes it
    wake_(*this);
    // release: the runner is not used any more; pairs with can_go_on().
    bell_.store(Bell::rung, std::memory_order_release);
  }
  static FutureCore* arrive(FutureCore& core) {
    TaskRoot& root = *core.in_slot<TaskRoot*>();
    if (root.tether_.arrive()) root.wake();
    return nullptr;
  }

  WakeFn wake_;
  std::coroutine_handle<> waiting_;
  const void* first_ = nullptr;
  Run* run_ = nullptr;
  FutureCore* awaited_ = nullptr;
  Tether<> tether_;
  std::atomic<Bell> bell_{Bell::quiet};
  bool throws_ = false;
  bool is_between_waits_ = false;
  uint32_t waits_in_vain_ = 0;
  std::atomic<StopWatch*> watch_{nullptr};
};

}  // namespace jzx::detail
