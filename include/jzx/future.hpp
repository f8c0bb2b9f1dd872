// Future and Promise: one value, or one error, handed over once, from any thread to any thread. A
// promise that is dropped unresolved rejects its future, so that nobody waits for ever.
//
//   auto [future, promise] = jzx::promise<int>();
//
// A future is what everything that takes time returns, and it is waited for in the way of whoever
// waits:
//
//   a coroutine          Result<int> result = co_await std::move(future);      see task.hpp
//   a fiber, a thread    Result<int> result = future.get();
//   a handler            future.then([](jzx::Result<int> result) { … });
//
// Handlers run to their end and do not wait: there get() is refused at once if the result is not
// there yet. On a loop's own thread see Loop::run_until.
//
// Chains, as in JavaScript: then() for a value, catch_error() for an error, finally() for both,
// map_error(). What their function returns is the next result; a future that it returns is waited
// for; what it throws is an error. See combinators.hpp for several futures at once.
//
// cancel() asks for an early end. The result then comes soon: Errc::cancelled, or what won the
// race. Whether dropping a future cancels is said where the future is made: those of locks,
// channels, timers and I/O do; a promise, an ask and a task that was spawned go on. A chain does as
// the future that it begins with.
//
// The two ends share one block from a cache of the thread, and need no counter to know who gives it
// back; see detail/future_state.hpp. A promise takes its block when it is made: without memory that
// throws std::bad_alloc, and ends a program that is compiled without exceptions. Asks do not throw:
// their future is rejected with Errc::no_memory.
//
// Threads: the ends may be on different threads; each is used by one at a time.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <jzx/detail/export.hpp>
#include <jzx/detail/future_link.hpp>
#include <jzx/detail/future_state.hpp>
#include <jzx/result.hpp>

namespace jzx {

namespace detail {

enum class WaitEnd : uint8_t {
  done,       // the result is there
  refused,    // a handler runs on this thread, which does not wait
  killed,     // the fiber that waited is to end; the state is no longer the future's
  late,       // the result is there, but was asked for an early end when the time was up
  timed_out,  // the time is up, and the state is no longer the future's
  deadlock,   // who is to answer waits for the one who waits; the state is as it was
};
// Waits in the way of whoever calls: a fiber is suspended, a thread blocks. `discard` ends a state
// that nobody waits for any more.
[[nodiscard]] JZX_API WaitEnd await_result(FutureCore& core, FutureCore::Resume discard) noexcept;
[[nodiscard]] JZX_API WaitEnd await_result_for(FutureCore& core, FutureCore::Resume discard,
                                               std::chrono::milliseconds time) noexcept;
// What a promise that is dropped rejects its future with: why its actor ended, if it did (code
// no_such_actor, "the actor ended: panic: too far").
[[nodiscard]] JZX_API Error why_broken() noexcept;
[[nodiscard]] JZX_API Error deadlock_error() noexcept;
// After WaitEnd::killed: unwinds the fiber, or returns if that is being done.
JZX_API void unwind_fiber();

}  // namespace detail

template <class T>
struct FutureAndPromise;

template <class T>
class Promise;

template <class T>
class [[nodiscard]] Future {
 public:
  Future() noexcept = default;
  Future(Future&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)),
        failure_(std::exchange(other.failure_, Errc::ok)) {}
  Future& operator=(Future&& other) noexcept {
    Future(std::move(other)).swap(*this);
    return *this;
  }
  ~Future() {
    if (state_ != nullptr) state_->drop();
  }

  // A future that has its result already.
  explicit Future(Result<T> result) : state_(State::make_settled(std::move(result))) {}
  // One that was rejected with this error; it needs no memory.
  [[nodiscard]] static Future failed(Errc error) noexcept {
    Future future;
    future.failure_ = error;
    return future;
  }
  // The same with a text; without memory for one, only the code.
  [[nodiscard]] static Future failed(const Error& error) noexcept {
    State* made = State::try_make(detail::Stage::settled);
    if (made == nullptr) return failed(error.code());
    made->put_result(error);
    return Future(made);
  }

  [[nodiscard]] bool is_valid() const noexcept { return state_ != nullptr || !ok(failure_); }
  [[nodiscard]] bool is_ready() const noexcept {
    return state_ != nullptr ? state_->handover.is_settled() : !ok(failure_);
  }

  // Waits for the result and takes it; the future is then empty. Inside a handler a result that is
  // not there yet is an error, at once. A fiber that is asked to end meanwhile unwinds.
  Result<T> get() {
    if (state_ == nullptr || state_->handover.is_settled()) return take();
    return take_after(detail::await_result(*state_, &State::discard));
  }
  // The same, but not much longer than this: then what it waits for is asked for an early end, and
  // the answer is Errc::timed_out, or the value if that won. The future is empty in any case.
  Result<T> get_for(std::chrono::milliseconds time) {
    if (state_ == nullptr || state_->handover.is_settled()) return take();
    return take_after(detail::await_result_for(*state_, &State::discard, time));
  }

  // Asks for an early end. Without anybody to ask, the future is rejected with Errc::cancelled at
  // once, and what the promise brings later is dropped.
  void cancel() {
    if (state_ == nullptr || state_->handover.is_settled()) return;
    if (state_->cancel != nullptr) return state_->cancel(*state_);
    std::exchange(state_, nullptr)->drop();
    failure_ = Errc::cancelled;
  }

  // A function of the whole result, of type Result<T>. If it returns nothing, this is the end of
  // the chain: it is called once, at once if the result is there, else on the thread that resolves
  // it, which for an ask is the one that runs the actor. It may be move-only, and must not throw.
  // Up to 48 bytes of captures need no memory; larger ones throw std::bad_alloc without it, and the
  // future is as it was.
  template <class F>
  requires detail::TakesResult<F, T> &&
      std::is_void_v<std::invoke_result_t<std::decay_t<F>, Result<T>>>
  void then(F&& callback) {
    if (state_ == nullptr || state_->handover.is_settled()) [[unlikely]] {
      std::decay_t<F> now(std::forward<F>(callback));  // which may throw
      return call_now(std::move(*this), now);
    }
    state_->put_callback(std::forward<F>(callback));
    std::exchange(state_, nullptr)->continue_when_settled();
  }
  // Otherwise, what it returns is the result of the future that this returns.
  template <class F>
  requires detail::TakesResult<F, T> &&
      (!std::is_void_v<std::invoke_result_t<std::decay_t<F>, Result<T>>>)  //
      [[nodiscard]] auto then(F&& function) {
    using R = std::invoke_result_t<std::decay_t<F>, Result<T>>;
    return link<detail::LinkedValue<R>, detail::ResultStep>(std::forward<F>(function));
  }
  // A function of the value; an error passes by. What the function returns is the next result.
  template <class F>
  requires(!detail::TakesResult<F, T> && detail::TakesValue<F, T>)  //
      [[nodiscard]] auto then(F&& function) {
    using R = typename detail::ValueCall<std::decay_t<F>, T>::type;
    return link<detail::LinkedValue<R>, detail::ThenStep>(std::forward<F>(function));
  }
  // A function of the error, which returns a T, a Result<T> or a Future<T>; a value passes by.
  template <class F>
  requires std::is_invocable_v < std::decay_t<F>,
  const Error& > [[nodiscard]] Future catch_error(F&& function) {
    return link<T, detail::CatchStep>(std::forward<F>(function));
  }
  // A function without parameters, called in any case; the result passes by.
  template <class F>
  requires std::is_invocable_v<std::decay_t<F>>
  [[nodiscard]] Future finally(F&& function) {
    return link<T, detail::FinallyStep>(std::forward<F>(function));
  }
  // A function that makes another error of an error.
  template <class F>
  requires std::is_invocable_r_v < Error, std::decay_t<F>,
  const Error& > [[nodiscard]] Future map_error(F&& function) {
    return link<T, detail::MapErrorStep>(std::forward<F>(function));
  }

  // ---- for the library ----

  explicit Future(detail::FutureState<T>* state) noexcept : state_(state) {}
  // The state, if the result is not there yet: the caller is the future's end now.
  [[nodiscard]] detail::FutureState<T>* release_pending() noexcept {
    if (state_ == nullptr || state_->handover.is_settled()) return nullptr;
    return std::exchange(state_, nullptr);
  }
  // The same, pending or settled; nullptr: there is none, because of `failure`.
  [[nodiscard]] detail::FutureState<T>* release(Errc& failure) noexcept {
    failure = state_ == nullptr && ok(failure_) ? Errc::invalid_arg : failure_;
    failure_ = Errc::ok;
    return std::exchange(state_, nullptr);
  }
  // What is there, or why nothing is and will be.
  [[nodiscard]] Result<T> take() {
    if (state_ != nullptr) return std::exchange(state_, nullptr)->take_result();
    return detail::error_of_none(ok(failure_) ? Errc::invalid_arg
                                              : std::exchange(failure_, Errc::ok));
  }

 private:
  using State = detail::FutureState<T>;

  [[nodiscard]] Result<T> take_after(detail::WaitEnd end) {
    switch (end) {
      case detail::WaitEnd::done:
        break;
      case detail::WaitEnd::late:
        if (state_->result.ok()) break;
        (void)State::discard(*state_);
        [[fallthrough]];
      case detail::WaitEnd::timed_out:
        state_ = nullptr;
        return Error(Errc::timed_out);
      case detail::WaitEnd::refused:
        return Error(Errc::invalid_arg,
                     "get() would wait inside a handler, which runs to its end: use then()");
      case detail::WaitEnd::killed:
        state_ = nullptr;
        detail::unwind_fiber();
        return Error(Errc::killed);
      case detail::WaitEnd::deadlock:
        std::exchange(state_, nullptr)->drop();
        return detail::deadlock_error();
    }
    return take();
  }
  // Not inlined: mostly the result is still to come. Static, and given the future by value, so that
  // the one whose then() calls it need not be in memory.
  template <class F>
  [[gnu::noinline]] static void call_now(Future future, F& callback) {
    std::invoke(std::move(callback), future.take());
  }
  void swap(Future& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(failure_, other.failure_);
  }
  // If there is no memory, or moving the function throws, the future is as it was.
  template <class U, template <class> class Step, class F>
  [[nodiscard]] Future<U> link(F&& function) {
    using Made = detail::LinkState<T, U, Step<std::decay_t<F>>>;
    Made* made = Made::make(Step<std::decay_t<F>>{std::forward<F>(function)});
    Future<U> next(made);
    if (State* upstream = release_pending()) {
      made->cancel_on_drop = upstream->cancel_on_drop;
      detail::go_on(made->wait_for(*upstream, &Made::take_upstream));
    } else {
      detail::go_on(made->go_on_with(take()));
    }
    return next;
  }

  State* state_ = nullptr;
  Errc failure_ = Errc::ok;  // of a future without a state
};

template <class T>
class Promise {
 public:
  Promise() : state_(State::make(detail::Stage::alone)) {}
  Promise(Promise&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Promise& operator=(Promise&& other) noexcept {
    if (this != &other) {
      drop();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~Promise() { drop(); }

  // Once; afterwards, or of a promise that was resolved, it is an empty one.
  [[nodiscard]] Future<T> future() noexcept {
    const bool is_first = state_ != nullptr && state_->handover.claim_future();
    return is_first ? Future<T>(state_) : Future<T>();
  }

  // The first of these counts; afterwards the promise is empty. If moving the value throws, nothing
  // has happened.
  void resolve(typename Result<T>::Value value) { settle(std::in_place, std::move(value)); }
  void resolve() requires std::is_void_v<T> { settle(std::in_place); }
  void reject(const Error& error) { settle(error); }

  // For the library: settles it with a value, or an error. False: nobody wants it any more.
  template <class... Args>
  [[nodiscard]] bool settle_if_wanted(Args&&... args) {
    if (state_ == nullptr) return true;
    state_->put_result(std::forward<Args>(args)...);
    return std::exchange(state_, nullptr)->settle_if_wanted();
  }

  // Both ends at once; without memory both are empty.
  [[nodiscard]] static FutureAndPromise<T> try_make() noexcept {
    return try_make(detail::Stage::pending);
  }
  [[nodiscard]] static FutureAndPromise<T> try_make(const Pid& asked) noexcept {
    return try_make<Pid>(asked);
  }

 private:
  using State = detail::FutureState<T>;
  explicit Promise(State* state) noexcept : state_(state) {}

  template <class Origin>
  [[nodiscard]] static FutureAndPromise<T> try_make(const Origin& origin) noexcept {
    State* state = State::try_make(origin);
    return {Future<T>(state), Promise(state)};
  }
  template <class... Args>
  void settle(Args&&... args) {
    if (state_ == nullptr) return;
    state_->put_result(std::forward<Args>(args)...);
    std::exchange(state_, nullptr)->settle();
  }
  void drop() {
    if (state_ != nullptr) [[unlikely]]
      break_off(std::exchange(state_, nullptr));
  }
  // Not inlined: mostly a promise has been settled when it ends.
  [[gnu::noinline, gnu::cold]] static void break_off(State* state) {
    state->put_result(detail::why_broken());
    state->settle();
  }

  State* state_;
};

template <class T>
struct FutureAndPromise {
  Future<T> future;
  Promise<T> promise;
};

template <class T>
[[nodiscard]] FutureAndPromise<T> promise() {
  FutureAndPromise<T> made = Promise<T>::try_make();
  if (!made.future.is_valid()) detail::throw_no_memory();
  return made;
}

namespace detail {

// Calls the function and settles the promise with what it returns, or throws.
template <class T, class F>
void settle_with(Promise<T>& promise, F& function) {
  const auto call = [&] {
    if constexpr (std::is_void_v<T>) {
      function();
      promise.resolve();
    } else {
      promise.resolve(function());
    }
  };
#ifdef __cpp_exceptions
  try {
    call();
  } catch (...) {
    promise.reject(Error::of_exception());
  }
#else
  call();
#endif
}

}  // namespace detail

}  // namespace jzx
