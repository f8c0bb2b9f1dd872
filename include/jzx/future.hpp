// Future and Promise: one value, or one error, handed over once, from any thread to any thread. A
// promise that is dropped unresolved rejects its future, so that nobody waits for ever.
//
//   auto [future, promise] = jzx::promise<int>();
//
// get() suspends a fiber, and blocks a plain thread or one of a runtime's blocking pool. Handlers
// run to their end and do not wait: there get() is refused at once if the result is not there yet;
// use then(), or on a loop Loop::run_until. Combinators and coroutines come with step 4.
//
// The two ends share one block from a cache of the thread, and need no counter to know who gives it
// back; see detail/future_state.hpp. A promise takes its block when it is made: without memory that
// throws std::bad_alloc, and ends a program that is compiled without exceptions. Asks do not throw:
// their future is rejected with Errc::no_memory.
//
// Threads: the ends may be on different threads; each is used by one at a time.
#pragma once

#include <exception>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <jzx/detail/export.hpp>
#include <jzx/detail/future_state.hpp>
#include <jzx/result.hpp>

namespace jzx {

namespace detail {

enum class WaitEnd : uint8_t {
  done,     // the result is there
  refused,  // a handler runs on this thread, which does not wait
  killed,   // the fiber that waited is to end; the state is no longer the future's
};
// Waits in the way of whoever calls: a fiber is suspended, a thread blocks. `discard` ends a state
// that nobody waits for any more.
[[nodiscard]] JZX_API WaitEnd await_result(FutureCore& core, FutureCore::Resume discard) noexcept;
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

  [[nodiscard]] bool is_valid() const noexcept { return state_ != nullptr || !ok(failure_); }
  [[nodiscard]] bool is_ready() const noexcept {
    return state_ != nullptr ? state_->handover.is_settled() : !ok(failure_);
  }

  // Waits for the result and takes it; the future is then empty. Inside a handler a result that is
  // not there yet is an error, at once. A fiber that is asked to end meanwhile unwinds.
  Result<T> get() {
    if (state_ != nullptr && !state_->handover.is_settled()) {
      switch (detail::await_result(*state_, &State::discard)) {
        case detail::WaitEnd::done:
          break;
        case detail::WaitEnd::refused:
          return Error(Errc::invalid_arg,
                       "get() would wait inside a handler, which runs to its end: use then()");
        case detail::WaitEnd::killed:
          state_ = nullptr;
          detail::unwind_fiber();
          return Error(Errc::killed);
      }
    }
    return take();
  }

  // Calls back once with the result: at once if it is there, else on the thread that resolves it,
  // which for an ask is the one that runs the actor. The future is then empty. The callback takes a
  // Result<T>, may be move-only, and must not throw. Up to 48 bytes of captures need no memory;
  // larger ones throw std::bad_alloc without it, and the future is as it was.
  template <class F>
  requires std::is_invocable_v<std::decay_t<F>, Result<T>>
  void then(F&& callback) {
    if (state_ != nullptr && !state_->handover.is_settled()) {
      state_->put_callback(std::forward<F>(callback));
      return std::exchange(state_, nullptr)->continue_later();
    }
    std::decay_t<F> now(std::forward<F>(callback));
    std::invoke(std::move(now), take());
  }

 private:
  using State = detail::FutureState<T>;
  friend class Promise<T>;
  explicit Future(State* state) noexcept : state_(state) {}

  void swap(Future& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(failure_, other.failure_);
  }
  // What is there, or why nothing is and will be.
  [[nodiscard]] Result<T> take() {
    if (state_ != nullptr) return std::exchange(state_, nullptr)->take_result();
    if (ok(failure_)) return Error(Errc::invalid_arg, "the future is empty");
    return Error(std::exchange(failure_, Errc::ok));
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

  // Both ends at once; without memory both are empty.
  [[nodiscard]] static FutureAndPromise<T> try_make() noexcept {
    State* state = State::try_make(detail::Stage::pending);
    return {Future<T>(state), Promise(state)};
  }

 private:
  using State = detail::FutureState<T>;
  explicit Promise(State* state) noexcept : state_(state) {}

  template <class... Args>
  void settle(Args&&... args) {
    if (state_ == nullptr) return;
    state_->put_result(std::forward<Args>(args)...);
    std::exchange(state_, nullptr)->settle();
  }
  void drop() {
    if (state_ != nullptr) [[unlikely]]
      reject(Error(Errc::no_such_actor, "broken promise: nobody answered"));
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
  } catch (const std::exception& error) {
    promise.reject(Error(Errc::unknown, error.what()));
  } catch (...) {
    promise.reject(Error(Errc::unknown, "an exception that is no std::exception"));
  }
#else
  call();
#endif
}

}  // namespace detail

}  // namespace jzx
