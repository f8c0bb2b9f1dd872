// A wait that does not last for ever.
//
//   auto answer = with_timeout(5s, actor.ask(Question{}));     a future, for every way to wait
//   auto result = co_await with_timeout(5s, fetch(1));         a task, of a task
//   future.get_for(5s), task.get_for(5s)                       in a fiber or on a thread
//
// When the time is up it cancels what it waits for, waits for the end of that, and answers
// Errc::timed_out; or with the value, if that came after all. What is waited for may use memory of
// whoever waits, so it never answers before that has ended.
//
// The time is that of the system whose code calls, as with jzx::sleep(); elsewhere give it a
// timer:   with_timeout(runtime.sleep(5s), future).
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

#include <jzx/async/combinators.hpp>
#include <jzx/async/sleep.hpp>
#include <jzx/async/task.hpp>
#include <jzx/detail/nursery.hpp>
#include <jzx/future.hpp>

namespace jzx {
namespace detail {

template <class T>
struct MakeTimed {
  using Storage = NoStorage;
  static constexpr Decides kDecides = Decides::any;

  template <class Whole>
  static void put(Whole& whole, Storage& /*storage*/) {
    put_by<PackOf<T, void>>(whole, "with_timeout", [&] {
      Result<T> result = whole.template take<T>(0);
      const Result<void> timer = whole.template take<void>(1);
      if (result || whole.decider() == 0) return whole.put_result(std::move(result));
      // A timer that could not be, or that was cancelled with the whole, says why.
      whole.put_result(timer ? Error(Errc::timed_out, {}, "with_timeout") : timer.error());
    });
  }
};

inline Task<void> sleep_in_task(std::chrono::milliseconds time) {
  auto nap = jzx::sleep(time);
  Result<void> result = co_await nap;
  co_await result;
}
inline Task<void> wait_in_task(Future<void> timer) {
  Result<void> result = co_await timer;
  co_await result;
}

template <class T>
Task<T> limited_by(Task<void> limit, Task<T> task) {
  Nursery nursery;
  KeptChain<T> work(nursery, std::move(task));
  KeptChain<void> clock(nursery, std::move(limit));
  bool is_up = false;
  while (nursery.run_ready()) {
    if (work.has_ended()) {
      clock.request_stop();
    } else if (clock.has_ended()) {
      is_up = true;
      work.request_stop();
    }
    co_await nursery.bell();
  }
  if (is_up && !work.result()) {
    if (clock.result()) {
      work.result() = Error(Errc::timed_out, {}, "with_timeout");
    } else if (clock.result().error().code() != Errc::cancelled) {
      work.result() = clock.result().error();  // why there was no timer
    }
  }
  if constexpr (std::is_void_v<T>) {
    co_await work.result();
  } else {
    co_return std::move(work.result());
  }
}

}  // namespace detail

// Until the timer is up, which is any future.
template <class T>
[[nodiscard]] Future<T> with_timeout(Future<void> timer, Future<T> future) {
  return detail::GatherState<T, detail::MakeTimed<T>>::of(std::move(future), std::move(timer));
}
template <class T>
[[nodiscard]] Future<T> with_timeout(std::chrono::milliseconds time, Future<T> future) {
  if (future.is_ready()) return future;
  return with_timeout(jzx::sleep(time), std::move(future));
}

// The same for a task, which is asked to stop. Its time begins when it does; a timer that is given
// runs already.
template <class T>
Task<T> with_timeout(std::chrono::milliseconds time, Task<T> task) {
  return detail::limited_by(detail::sleep_in_task(time), std::move(task));
}
template <class T>
Task<T> with_timeout(Future<void> timer, Task<T> task) {
  return detail::limited_by(detail::wait_in_task(std::move(timer)), std::move(task));
}

}  // namespace jzx
