// Task: a C++20 coroutine that waits without a stack of its own. Lazy: it begins when it is
// awaited, spawned or run.
//
//   jzx::Task<User> fetch_user(int id) {
//     jzx::Result<Response> response = co_await http_get(id);      // a task, or a future
//     if (!response) co_return response.error();
//     co_return parse_user(*response);
//   }
//
//   runtime.spawn_async(fetch_user(1))     an actor of its own; a Future<User>
//   fetch_user(1).get()                    in a fiber, or on a thread that may block
//   co_await fetch_user(1)                 in another task: a Result<User>
//
// Errors are values: awaiting a task or a future gives a Result. Awaiting a Result gives its value;
// an error ends the task with it, so that
//
//     User user = co_await co_await fetch_user(1);                 // or this task ends with why
//     not
//
// A task returns a value, an Error, or a Result. A Task<void> that fails says `co_await
// jzx::fail(error)`. What a task throws is an error that carries the exception: `or_throw()` of the
// result throws it again.
//
// Cancelling is asking: the future that the task waits for is asked for an early end, and answers
// Errc::cancelled, or with what won the race; every later wait answers Errc::cancelled at once. So
// a task ends from the inside, its destructors run, and nothing is lost that had been received.
// `co_await jzx::stop_requested()` tells. No frame goes away while something still knows it.
//
// No chain and no loop of awaits needs stack. Frames come from a cache of the thread; without
// memory for one the task ends with Errc::no_memory before it has begun.
//
// With g++ 12 await named variables rather than temporaries with destructors: it is known to end
// some of those twice, or never.
//
// Threads: a task runs wherever its actor does, on one thread at a time; perhaps on another after
// each wait.
#pragma once

#include <chrono>
#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include <jzx/detail/task_root.hpp>
#include <jzx/future.hpp>

namespace jzx {

class Self;
template <class T>
class Task;

namespace detail {

class Port;
struct TaskPromise;
template <class T>
struct TypedTaskPromise;
class NurseryBell;    // see nursery.hpp
class TokenQuestion;  // see scope.hpp

// ---- the end of a task ----

struct TaskEnd {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> ended) const noexcept {
    return ended.promise().leave();
  }
  void await_resume() const noexcept {}
};

// ---- what a task can await ----

template <class T>
class FutureAwaiter {
 public:
  explicit FutureAwaiter(Future<T>& future) noexcept : future_(future) {}
  [[nodiscard]] bool await_ready() const noexcept {
    return !future_.is_valid() || future_.is_ready();
  }
  template <class Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> task) {
    state_ = future_.release_pending();
    if (state_ == nullptr) return false;  // it came meanwhile
    root_ = task.promise().root;
    if (root_->wait_edge != nullptr && state_->is_ask) [[unlikely]] {
      if (!begin_wait(root_->wait_edge, *state_)) {
        state_->drop();
        how_ = How::deadlock;
        return false;
      }
    }
    how_ = How::waited;
    switch (root_->wait_for(*state_, task)) {
      case TaskRoot::Waiting::suspended:
        return true;
      case TaskRoot::Waiting::came:
        return false;
      case TaskRoot::Waiting::taken_back:
        break;
    }
    root_->forget_awaited();
    return false;
  }
  [[nodiscard, gnu::always_inline]] Result<T> await_resume() {
    return how_ == How::at_once ? future_.take() : resume_after_wait();
  }

 private:
  enum class How : uint8_t { at_once, waited, deadlock };

  // Not inlined: so that the other way is, and is short.
  [[nodiscard, gnu::noinline]] Result<T> resume_after_wait() {
    if (how_ == How::deadlock) [[unlikely]]
      return deadlock_error();
    if (root_->wait_edge != nullptr) [[unlikely]]
      end_wait(root_->wait_edge);
    if (root_->was_taken_back()) [[unlikely]]
      return without_result();
    return state_->take_result();
  }
  [[nodiscard]] Result<T> without_result() {
    if (!root_->take_throw()) return Error(Errc::cancelled);
    { const Result<T> ended = state_->take_result(); }
    throw_on_purpose();
  }

  Future<T>& future_;
  How how_ = How::at_once;
  // Of one that waits.
  FutureState<T>* state_;
  TaskRoot* root_;
};

template <class T>
class TaskAwaiter {
 public:
  explicit TaskAwaiter(Task<T>& task) noexcept : task_(task) {}
  [[nodiscard]] bool await_ready() const noexcept { return !task_.can_begin(); }
  template <class Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> parent) noexcept {
    TaskRoot& root = *parent.promise().root;
    return root.go_on_with(task_.begin(root, parent));
  }
  [[nodiscard]] Result<T> await_resume() { return task_.take(); }

 private:
  Task<T>& task_;
};

// The value, or the end of the task that awaits it.
template <class T>
class ResultAwaiter {
 public:
  explicit ResultAwaiter(Result<T>& result) noexcept : result_(result) {}
  [[nodiscard]] bool await_ready() const noexcept { return result_.ok(); }
  template <class Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> task) {
    task.promise().put_result(result_.error());
    return task.promise().leave();
  }
  decltype(auto) await_resume() {
    if constexpr (!std::is_void_v<T>) return std::move(result_).value();
  }

 private:
  Result<T>& result_;
};

struct Failure {
  Error error;
};
class FailureAwaiter {
 public:
  explicit FailureAwaiter(const Error& error) noexcept : error_(error) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> task) {
    task.promise().put_result(error_);
    return task.promise().leave();
  }
  void await_resume() const noexcept {}

 private:
  const Error& error_;
};

struct StopQuestion {};
class StopAnswer {
 public:
  explicit StopAnswer(bool answer) noexcept : answer_(answer) {}
  [[nodiscard]] bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  [[nodiscard]] bool await_resume() const noexcept { return answer_; }

 private:
  bool answer_;
};

// Whose code runs on this thread, and in which system; 0: no actor's.
[[nodiscard]] JZX_API ActorId acting_here(Port*& port) noexcept;

struct SelfQuestion {};
class SelfAnswer {
 public:
  explicit SelfAnswer(ActorId sender) noexcept : sender_(sender) {}
  [[nodiscard]] bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  [[nodiscard]] Self await_resume() const noexcept;

 private:
  ActorId sender_;
};

// ---- the promise of the coroutine ----

struct TaskPromise {
  static void* operator new(size_t size) noexcept { return take_future_block(size); }
  static void operator delete(void* block, size_t size) noexcept { give_future_block(block, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  TaskEnd final_suspend() noexcept { return {}; }

  // It will not be resumed any more; whom to transfer to.
  [[nodiscard]] std::coroutine_handle<> leave() noexcept {
    return continuation ? root->go_on_with(continuation) : root->is_done();
  }

  template <class U>
  FutureAwaiter<U> await_transform(Future<U>&& future) noexcept {
    return FutureAwaiter<U>(future);
  }
  template <class U>
  FutureAwaiter<U> await_transform(Future<U>& future) noexcept {
    return FutureAwaiter<U>(future);
  }
  template <class U>
  TaskAwaiter<U> await_transform(Task<U>&& task) noexcept {
    return TaskAwaiter<U>(task);
  }
  template <class U>
  TaskAwaiter<U> await_transform(Task<U>& task) noexcept {
    return TaskAwaiter<U>(task);
  }
  template <class U>
  ResultAwaiter<U> await_transform(Result<U>&& result) noexcept {
    return ResultAwaiter<U>(result);
  }
  template <class U>
  ResultAwaiter<U> await_transform(Result<U>& result) noexcept {
    return ResultAwaiter<U>(result);
  }
  FailureAwaiter await_transform(Failure&& failure) noexcept {
    return FailureAwaiter(failure.error);
  }
  template <class B>
  requires std::is_same_v<B, NurseryBell>
  auto await_transform(B& bell) noexcept { return bell.awaiter(); }
  template <class Q>
  requires std::is_same_v<Q, TokenQuestion>
  auto await_transform(Q) noexcept { return Q::ask(*root); }
  StopAnswer await_transform(StopQuestion) noexcept {
    return StopAnswer(root->is_stop_requested());
  }
  SelfAnswer await_transform(SelfQuestion) noexcept { return SelfAnswer(root->sender); }

  TaskRoot* root = nullptr;
  std::coroutine_handle<> continuation;  // who awaits it; none: it is the first of its chain
};

template <class T>
struct TaskResult : TaskPromise {
  TaskResult() noexcept {}
  ~TaskResult() {
    if (has_result) std::destroy_at(&result);
  }
  template <class... Args>
  void put_result(Args&&... args) {
    std::construct_at(&result, std::forward<Args>(args)...);
    has_result = true;
  }
  void unhandled_exception() noexcept { put_result(Error::of_exception("task")); }

  bool has_result = false;
  union {
    Result<T> result;
  };
};

template <class T>
struct TypedTaskPromise : TaskResult<T> {
  Task<T> get_return_object() noexcept;
  static Task<T> get_return_object_on_allocation_failure() noexcept;

  void return_value(T&& value) { this->put_result(std::in_place, std::move(value)); }
  void return_value(const T& value) { this->put_result(std::in_place, value); }
  void return_value(const Error& error) { this->put_result(error); }
  void return_value(Result<T>&& given) { this->put_result(std::move(given)); }
  template <class U>
  requires std::is_constructible_v<T, U>
  void return_value(U&& value) { this->put_result(std::in_place, std::forward<U>(value)); }
};
template <>
struct TypedTaskPromise<void> : TaskResult<void> {
  Task<void> get_return_object() noexcept;
  static Task<void> get_return_object_on_allocation_failure() noexcept;
  void return_void() noexcept { put_result(); }
};

// Runs the chain in the way of whoever calls: a fiber is suspended, a thread blocks. A fiber that
// is asked to end meanwhile asks the chain to stop, and comes back when that has ended.
[[nodiscard]] JZX_API WaitEnd run_to_end(std::coroutine_handle<> first, TaskRoot*& root);
// The same; when the time is up it asks the chain to stop, and the end is late.
[[nodiscard]] JZX_API WaitEnd run_to_end_for(std::coroutine_handle<> first, TaskRoot*& root,
                                             std::chrono::milliseconds time);

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TypedTaskPromise<T>;

  Task() noexcept = default;
  Task(Task&& other) noexcept
      : task_(std::exchange(other.task_, nullptr)),
        failure_(std::exchange(other.failure_, Errc::invalid_arg)) {}
  Task& operator=(Task&& other) noexcept {
    if (this == &other) return *this;
    end();
    task_ = std::exchange(other.task_, nullptr);
    failure_ = std::exchange(other.failure_, Errc::invalid_arg);
    return *this;
  }
  ~Task() { end(); }

  // It has not begun, and can.
  [[nodiscard]] bool is_valid() const noexcept { return task_ != nullptr; }

  // Runs it to its end, and gives what it returned. A fiber is suspended meanwhile, a thread
  // blocks. Handlers do not wait: refused there; spawn it instead.
  Result<T> get() {
    if (!can_begin()) return take();
    return take_after(detail::run_to_end(task_, task_.promise().root));
  }
  // The same, but when the time is up it is asked to stop; the answer is then Errc::timed_out, or
  // the value if that came after all. It never answers before the task has ended.
  Result<T> get_for(std::chrono::milliseconds time) {
    if (!can_begin()) return take();
    return take_after(detail::run_to_end_for(task_, task_.promise().root, time));
  }

  // ---- for the library ----

  explicit Task(std::coroutine_handle<promise_type> task) noexcept : task_(task) {}
  explicit Task(Errc failure) noexcept : failure_(failure) {}

  [[nodiscard]] bool can_begin() const noexcept {
    return task_ != nullptr && task_.promise().root == nullptr;
  }
  // The coroutine, to be resumed by the root; afterwards `then` is.
  [[nodiscard]] std::coroutine_handle<> begin(detail::TaskRoot& root,
                                              std::coroutine_handle<> then) noexcept {
    task_.promise().root = &root;
    task_.promise().continuation = then;
    return task_;
  }
  // When it has ended, or could not begin: what it returned, or why not. The task is empty then.
  [[nodiscard]] Result<T> take() {
    if (task_ == nullptr) return error_of_none();
    struct End {
      ~End() { task.end(); }
      Task& task;
    } const last{*this};
    if (!task_.promise().has_result) {
      return Error(Errc::invalid_arg, "the task has begun elsewhere", "task");
    }
    return std::move(task_.promise().result);
  }

 private:
  [[nodiscard]] Result<T> take_after(detail::WaitEnd end_of_wait) {
    switch (end_of_wait) {
      case detail::WaitEnd::done:
        break;
      case detail::WaitEnd::late:
      case detail::WaitEnd::timed_out: {
        Result<T> result = take();
        if (!result) return Error(Errc::timed_out, {}, "get_for");
        return result;
      }
      case detail::WaitEnd::refused:
        return Error(Errc::invalid_arg,
                     "get() would wait inside a handler, which runs to its end: spawn_async() it");
      case detail::WaitEnd::killed:
        end();
        detail::unwind_fiber();
        return Error(Errc::killed);
      case detail::WaitEnd::deadlock:
        break;  // a chain hears of it where it waits
    }
    return take();
  }

  void end() noexcept {
    if (task_ != nullptr) std::exchange(task_, nullptr).destroy();
  }
  // Of one without a coroutine.
  [[nodiscard]] Error error_of_none() const noexcept {
    return Error(failure_,
                 failure_ == Errc::invalid_arg
                     ? "the task is empty: its result was taken, or it was moved from"
                     : "",
                 "task");
  }

  std::coroutine_handle<promise_type> task_;
  Errc failure_ = Errc::invalid_arg;  // of one without a coroutine
};

template <class T>
Task<T> detail::TypedTaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TypedTaskPromise>::from_promise(*this));
}
template <class T>
Task<T> detail::TypedTaskPromise<T>::get_return_object_on_allocation_failure() noexcept {
  return Task<T>(Errc::no_memory);
}
inline Task<void> detail::TypedTaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TypedTaskPromise>::from_promise(*this));
}
inline Task<void>
detail::TypedTaskPromise<void>::get_return_object_on_allocation_failure() noexcept {
  return Task<void>(Errc::no_memory);
}

// ---- inside of a task ----

// Ends the task that awaits it with this error:   co_await jzx::fail(error);
[[nodiscard]] inline detail::Failure fail(const Error& error) noexcept { return {error}; }
[[nodiscard]] inline detail::Failure fail(Errc code, std::string_view text = {}) noexcept {
  return {Error(code, text)};
}

// Was the task asked to stop?   if (co_await jzx::stop_requested()) …
[[nodiscard]] inline detail::StopQuestion stop_requested() noexcept { return {}; }

// The actor that the task runs in, see self.hpp:   jzx::Self self = co_await jzx::this_actor();
[[nodiscard]] inline detail::SelfQuestion this_actor() noexcept { return {}; }

}  // namespace jzx
