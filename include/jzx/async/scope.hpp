// A scope: tasks that run beside one another, and of which none outlives the scope.
//
//   jzx::Task<int> total = jzx::scope([](jzx::Scope& scope) -> jzx::Task<int> {
//     scope.spawn(write_log());                            // its failure is the scope's
//     auto a = scope.start(fetch(1));                      // a Future<int>; its failure is in it
//     auto b = scope.start(fetch(2));
//     auto both = jzx::all(std::move(a), std::move(b));
//     auto [x, y] = co_await co_await both;
//     co_return x + y;
//   });
//
// A scope is a task itself: await it, spawn it, or call get() in a fiber or on a thread. Its tasks
// run wherever it does, in turn, each until it waits: no two of them at the same time, so what they
// share needs no lock. For tasks that use several cores see jzx::spawn_async().
//
// It ends when its function and all its tasks have ended, with what the function returned. When the
// function or a spawned task fails, all others are asked to stop, and the scope ends with the first
// error. When the scope is asked to stop, all are. stop() asks all tasks to stop but not the
// function: to have been stopped by it is no failure.
//
// A task may be spawned by the function, and by the tasks of the scope.
//
//   with_timeout(5s, task)       a task that is asked to stop when the time is up; see timeout.hpp
//   with_stop(token, task)       a task that is asked to stop when the std::stop_token is
//   co_await jzx::stop_token()   a std::stop_token that tells when this task is asked to stop
//   all(task, task), race, any, all_settled     run them in a scope; those that are not needed any
//                                               more are asked to stop before they run again
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <jzx/async/combinators.hpp>
#include <jzx/async/task.hpp>
#include <jzx/detail/nursery.hpp>

namespace jzx {

class Scope {
 public:
  explicit Scope(detail::Nursery& nursery) noexcept : nursery_(nursery) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // The value is dropped; an error ends the scope.
  template <class T>
  void spawn(Task<T> task) {
    add<Spawned<T>>(std::move(task));
  }
  // What the task returns is the future's; to drop or to cancel that does not stop the task. It is
  // rejected without memory.
  template <class T>
  [[nodiscard]] Future<T> start(Task<T> task) {
    return start_as(std::move(task), nullptr);
  }
  void stop() {
    is_stopped_ = true;
    nursery_.stop_all(body_);
  }

  // ---- for the library ----

  // Cancelling this future, where the scope runs, asks the task to stop.
  template <class T>
  [[nodiscard]] Future<T> start_stoppable(Task<T> task) {
    return start_as(std::move(task), &StartState<T>::stop);
  }
  void set_body(const detail::ChildChain& body) noexcept { body_ = &body; }
  void note_error(const Error& error) {
    if (error_.has_value() || (is_stopped_ && error.code() == Errc::cancelled)) return;
    error_.emplace(error);
    nursery_.stop_all();
  }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

 private:
  template <class T>
  struct Spawned final : detail::ChildChain {
    Spawned(Scope& the_scope, Task<T>&& the_task) noexcept
        : ChildChain(the_scope.nursery_, &finish), scope(the_scope), task(std::move(the_task)) {}
    static void finish(ChildChain& chain) {
      auto& self = static_cast<Spawned&>(chain);
      Scope& scope = self.scope;
      const Error error = self.task.take().error();
      end(self);
      if (!ok(error.code())) scope.note_error(error);
    }
    void cannot_begin(const Error& error) { scope.note_error(error); }
    Scope& scope;
    Task<T> task;
  };
  // The future of a task that was started. Its chain has ended when the result is there.
  template <class T>
  struct StartState final : detail::FutureState<T> {
    StartState() noexcept : detail::FutureState<T>(detail::Stage::pending, sizeof(StartState)) {}
    ~StartState() = delete;  // the state ends by itself
    static void stop(detail::FutureCore& core) {
      if (detail::ChildChain* chain = static_cast<StartState&>(core).chain) chain->request_stop();
    }
    detail::ChildChain* chain = nullptr;
  };
  template <class T>
  struct Started final : detail::ChildChain {
    Started(Scope& the_scope, Task<T>&& the_task, StartState<T>& the_state) noexcept
        : ChildChain(the_scope.nursery_, &finish), task(std::move(the_task)), state(the_state) {
      state.chain = this;
    }
    static void finish(ChildChain& chain) {
      auto& self = static_cast<Started&>(chain);
      StartState<T>& state = self.state;
      state.put_result(self.task.take());
      state.chain = nullptr;
      end(self);
      state.settle();
    }
    void cannot_begin(const Error& error) {
      state.chain = nullptr;
      state.put_result(error);
      state.settle();
    }
    Task<T> task;
    StartState<T>& state;
  };
  template <class T>
  [[nodiscard]] Future<T> start_as(Task<T>&& task, detail::FutureCore::Cancel cancel) {
    static_assert(alignof(StartState<T>) <= detail::kFutureAlignment);
    void* block = detail::take_future_block(sizeof(StartState<T>));
    if (block == nullptr) return Future<T>::failed(Errc::no_memory);
    auto& state = *::new (block) StartState<T>;
    state.detail::FutureCore::cancel = cancel;
    Future<T> future(&state);
    add<Started<T>>(std::move(task), state);
    return future;
  }
  template <class Chain>
  static void end(Chain& chain) noexcept {
    chain.~Chain();
    detail::give_future_block(&chain, sizeof(Chain));
  }

  // There is no memory for the chain.
  void cannot_add() { note_error(Error(Errc::no_memory, {}, "scope")); }
  template <class T>
  void cannot_add(StartState<T>& state) {
    state.put_result(Error(Errc::no_memory, {}, "scope"));
    state.settle();
  }

  template <class Chain, class T, class... Args>
  void add(Task<T>&& task, Args&&... args) {
    static_assert(alignof(Chain) <= detail::kFutureAlignment);
    void* block = detail::take_future_block(sizeof(Chain));
    if (block == nullptr) return cannot_add(std::forward<Args>(args)...);
    auto& chain = *::new (block) Chain(*this, std::move(task), std::forward<Args>(args)...);
    if (!chain.task.can_begin()) {
      chain.cannot_begin(chain.task.take().error());
      return end(chain);
    }
    nursery_.add(chain, chain.task.begin(chain, nullptr));
  }

  detail::Nursery& nursery_;
  const detail::ChildChain* body_ = nullptr;
  std::optional<Error> error_;
  bool is_stopped_ = false;
};

namespace detail {

template <class T>
struct TaskValue {};
template <class T>
struct TaskValue<Task<T>> {
  using type = T;
};

// The function's own task.
template <class T>
struct ScopeBody final : KeptChain<T> {
  ScopeBody(Nursery& nursery, Scope& the_scope, Task<T>&& task) noexcept
      : KeptChain<T>(nursery, std::move(task), &ended), scope(the_scope) {
    scope.set_body(*this);
  }
  static void ended(KeptChain<T>& chain) {
    if (!chain.result()) static_cast<ScopeBody&>(chain).scope.note_error(chain.result().error());
  }
  Scope& scope;
};

}  // namespace detail

// The function is called when the scope begins, and stays as long as it.
template <class F>
requires requires { typename detail::TaskValue<std::invoke_result_t<F&, Scope&>>::type; }
std::invoke_result_t<F&, Scope&> scope(F function) {
  using T = typename detail::TaskValue<std::invoke_result_t<F&, Scope&>>::type;
  detail::Nursery nursery;
  Scope own(nursery);
  detail::ScopeBody<T> body(nursery, own, function(own));
  while (nursery.run_ready()) co_await nursery.bell();
  if (own.error().has_value()) body.result() = *own.error();
  if constexpr (std::is_void_v<T>) {
    co_await body.result();
  } else {
    co_return std::move(body.result());
  }
}

// ---- std::stop_token ----

namespace detail {

struct TokenWatch final : StopWatch {
  TokenWatch() noexcept
      : StopWatch{[](StopWatch& self) { static_cast<TokenWatch&>(self).source.request_stop(); },
                  [](StopWatch& self) noexcept { delete &static_cast<TokenWatch&>(self); }} {}
  std::stop_source source;
};

class TokenQuestion {
 public:
  class Answer {
   public:
    explicit Answer(TaskRoot& root) noexcept : root_(root) {}
    [[nodiscard]] bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    [[nodiscard]] std::stop_token await_resume() const {
      if (root_.stop_watch() == nullptr) root_.set_stop_watch(*new TokenWatch);
      return static_cast<TokenWatch*>(root_.stop_watch())->source.get_token();
    }

   private:
    TaskRoot& root_;
  };
  [[nodiscard]] static Answer ask(TaskRoot& root) noexcept { return Answer(root); }
};

}  // namespace detail

// A token that tells when the task that awaits this is asked to stop:
//   std::stop_token token = co_await jzx::stop_token();
// Its callbacks run where the task is asked, before what it waits for has answered. It lasts as
// long as the task's chain: tasks that await one another share it.
[[nodiscard]] inline detail::TokenQuestion stop_token() noexcept { return {}; }

// Asks the task to stop when the token is, from whatever thread.
template <class T>
Task<T> with_stop(std::stop_token token, Task<T> task) {
  detail::Nursery nursery;
  detail::KeptChain<T> work(nursery, std::move(task));
  {
    const std::stop_callback on_stop(std::move(token), [&] { nursery.note_stop(); });
    while (nursery.run_ready()) co_await nursery.bell();
  }
  if constexpr (std::is_void_v<T>) {
    co_await work.result();
  } else {
    co_return std::move(work.result());
  }
}

// ---- tasks beside one another ----

namespace detail {

template <template <class> class Make, class... T>
Task<typename Make<PackOf<T...>>::Value> gather_in(Scope& scope, Task<T>&... tasks) {
  // A list in braces is made in its order, the arguments of a call in any.
  std::tuple<Future<T>...> futures{scope.start_stoppable(std::move(tasks))...};
  auto whole =
      std::apply([](Future<T>&... each) { return gather<Make>(std::move(each)...); }, futures);
  auto result = co_await whole;
  scope.stop();
  if constexpr (std::is_void_v<typename Make<PackOf<T...>>::Value>) {
    co_await result;
  } else {
    co_return result;
  }
}
template <template <class> class Make, class... T>
Task<typename Make<PackOf<T...>>::Value> gather_tasks(Task<T>... tasks) {
  auto run = [&](Scope& scope) { return gather_in<Make, T...>(scope, tasks...); };
  auto whole = jzx::scope(run);
  auto result = co_await whole;
  if constexpr (std::is_void_v<typename Make<PackOf<T...>>::Value>) {
    co_await result;
  } else {
    co_return result;
  }
}
template <template <class> class Make, class T>
Task<typename Make<RangeOf<T>>::Value> gather_list_in(Scope& scope, std::vector<Task<T>>& tasks) {
  std::vector<Future<T>> futures;
  futures.reserve(tasks.size());
  for (Task<T>& task : tasks) futures.push_back(scope.start_stoppable(std::move(task)));
  auto whole = gather_range<Make>(std::move(futures));
  auto result = co_await whole;
  scope.stop();
  if constexpr (std::is_void_v<typename Make<RangeOf<T>>::Value>) {
    co_await result;
  } else {
    co_return result;
  }
}
template <template <class> class Make, class T>
Task<typename Make<RangeOf<T>>::Value> gather_list(std::vector<Task<T>> tasks) {
  auto run = [&](Scope& scope) { return gather_list_in<Make, T>(scope, tasks); };
  auto whole = jzx::scope(run);
  auto result = co_await whole;
  if constexpr (std::is_void_v<typename Make<RangeOf<T>>::Value>) {
    co_await result;
  } else {
    co_return result;
  }
}

}  // namespace detail

template <class... T>
requires(sizeof...(T) > 0) [[nodiscard]] auto all(Task<T>... tasks) {
  return detail::gather_tasks<detail::MakeAll>(std::move(tasks)...);
}
template <class... T>
requires(sizeof...(T) > 0) [[nodiscard]] auto race(Task<T>... tasks) {
  return detail::gather_tasks<detail::MakeRace>(std::move(tasks)...);
}
template <class... T>
requires(sizeof...(T) > 0) [[nodiscard]] auto any(Task<T>... tasks) {
  return detail::gather_tasks<detail::MakeAny>(std::move(tasks)...);
}
template <class... T>
requires(sizeof...(T) > 0) [[nodiscard]] auto all_settled(Task<T>... tasks) {
  return detail::gather_tasks<detail::MakeAllSettled>(std::move(tasks)...);
}
template <class T>
[[nodiscard]] auto all(std::vector<Task<T>> tasks) {
  return detail::gather_list<detail::MakeAll>(std::move(tasks));
}
template <class T>
[[nodiscard]] auto race(std::vector<Task<T>> tasks) {
  return detail::gather_list<detail::MakeRace>(std::move(tasks));
}
template <class T>
[[nodiscard]] auto any(std::vector<Task<T>> tasks) {
  return detail::gather_list<detail::MakeAny>(std::move(tasks));
}
template <class T>
[[nodiscard]] auto all_settled(std::vector<Task<T>> tasks) {
  return detail::gather_list<detail::MakeAllSettled>(std::move(tasks));
}

}  // namespace jzx
