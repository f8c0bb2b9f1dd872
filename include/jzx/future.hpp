// Future and Promise: one value, or one error, handed over once, from any thread to any thread. A
// promise that is dropped unresolved rejects its future, so that nobody waits for ever.
//
//   auto [future, promise] = jzx::promise<int>();
//
// get() blocks a plain thread, or one of a runtime's blocking pool. Handlers run to their end and
// do not wait: there get() is refused at once if the result is not there yet; use then(), or on a
// loop Loop::run_until. Combinators and coroutines come with step 4.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <jzx/detail/export.hpp>
#include <jzx/result.hpp>

namespace jzx {

namespace detail {

// Does this thread run actors that must not wait: a loop, or a worker?
[[nodiscard]] JZX_API bool must_not_wait() noexcept;

// What the two ends share. `stage` decides who does what: the side that comes second runs the
// callback.
//
//   empty ──▶ has_result ──▶ done          the promise came first
//     └─────▶ has_callback ──▶ done        the future's callback came first
template <class T>
struct FutureState {
  enum Stage : uint32_t { empty, has_result, has_callback, done };

  std::atomic<uint32_t> stage{empty};
  std::optional<Result<T>> result;
  std::function<void(Result<T>)> callback;

  void set_result(Result<T> value) {
    result.emplace(std::move(value));
    uint32_t expected = empty;
    // release: publishes the result; acquire: sees the callback. Pairs with set_callback() and
    // with wait().
    if (stage.compare_exchange_strong(expected, has_result, std::memory_order_acq_rel)) {
      stage.notify_all();
      return;
    }
    stage.store(done, std::memory_order_release);
    std::exchange(callback, nullptr)(std::move(*result));
  }

  void set_callback(std::function<void(Result<T>)> function) {
    callback = std::move(function);
    uint32_t expected = empty;
    // release: publishes the callback; acquire: sees the result. Pairs with set_result().
    if (stage.compare_exchange_strong(expected, has_callback, std::memory_order_acq_rel)) return;
    stage.store(done, std::memory_order_relaxed);  // nobody else looks any more
    std::exchange(callback, nullptr)(std::move(*result));
  }

  [[nodiscard]] bool is_ready() const noexcept {
    // acquire: pairs with the release in set_result().
    return stage.load(std::memory_order_acquire) == has_result;
  }

  void wait() const noexcept {
    while (!is_ready()) stage.wait(empty, std::memory_order_acquire);
  }
};

}  // namespace detail

template <class T>
class Promise;

template <class T>
class [[nodiscard]] Future {
 public:
  Future() noexcept = default;
  Future(Future&&) noexcept = default;
  Future& operator=(Future&&) noexcept = default;

  // A future that has its result already.
  explicit Future(Result<T> result) : state_(std::make_shared<detail::FutureState<T>>()) {
    state_->set_result(std::move(result));
  }

  [[nodiscard]] bool is_valid() const noexcept { return state_ != nullptr; }
  [[nodiscard]] bool is_ready() const noexcept { return is_valid() && state_->is_ready(); }

  // Waits for the result and takes it; the future is then empty. Inside a handler a result that is
  // not there yet is an error, at once.
  Result<T> get() {
    if (!is_valid()) return Error(Errc::invalid_arg, "the future is empty");
    if (!is_ready() && detail::must_not_wait()) {
      return Error(Errc::invalid_arg,
                   "get() would wait inside a handler, which runs to its end: use then()");
    }
    state_->wait();
    const std::shared_ptr<detail::FutureState<T>> state = std::move(state_);
    return std::move(*state->result);
  }

  // Calls back once with the result: at once if it is there, else on the thread that resolves it,
  // which for an ask is the one that runs the actor. The callback must not throw. The future is
  // then empty.
  void then(std::function<void(Result<T>)> callback) {
    if (!is_valid()) return callback(Error(Errc::invalid_arg, "the future is empty"));
    std::exchange(state_, nullptr)->set_callback(std::move(callback));
  }

 private:
  friend class Promise<T>;
  explicit Future(std::shared_ptr<detail::FutureState<T>> state) noexcept
      : state_(std::move(state)) {}

  std::shared_ptr<detail::FutureState<T>> state_;
};

template <class T>
class Promise {
 public:
  Promise() : state_(std::make_shared<detail::FutureState<T>>()) {}
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&& other) noexcept {
    if (this != &other) {
      drop();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~Promise() { drop(); }

  // Once.
  [[nodiscard]] Future<T> future() { return Future<T>(state_); }

  // The first of these counts; afterwards the promise is empty.
  void resolve(typename Result<T>::Value value) { settle(Result<T>(std::move(value))); }
  void resolve() requires std::is_void_v<T> { settle(Result<T>(Nothing{})); }
  void reject(const Error& error) { settle(Result<T>(error)); }

 private:
  void settle(Result<T> result) {
    if (state_ != nullptr) std::exchange(state_, nullptr)->set_result(std::move(result));
  }
  void drop() {
    if (state_ != nullptr) reject(Error(Errc::no_such_actor, "broken promise: nobody answered"));
  }

  std::shared_ptr<detail::FutureState<T>> state_;
};

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

template <class T>
struct FutureAndPromise {
  Future<T> future;
  Promise<T> promise;
};

template <class T>
[[nodiscard]] FutureAndPromise<T> promise() {
  Promise<T> made;
  Future<T> future = made.future();
  return {std::move(future), std::move(made)};
}

}  // namespace jzx
