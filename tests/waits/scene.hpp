// A kind of wait as the suite of this folder sees it: how one begins to wait, what ends the wait,
// and what is left afterwards.
//
//   Scene mutex(Stage&) { … return scene([it] { return it->mutex.lock(); }, [it] { unlock }); }
//
// The first function makes the future or the task that is waited for; from it come the four ways to
// wait. A new kind of wait is one such function, and one line in the list of its file.
//
// Threads: `trigger` and what is asked afterwards on the test's, the waits wherever they are.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <jzx/jzx.hpp>

#include "support/place.hpp"

namespace jzx::testing {

using namespace std::chrono_literals;

// ---- the ways to wait ----

// Each answers Errc::ok, or why not; Errc::unknown: with a value that is not the right one.
struct Ways {
  std::function<Errc()> block;                           // a fiber, a thread
  std::function<Task<Errc>()> await;                     // a coroutine
  std::function<Future<Errc>(SystemFace&)> as_a_future;  // a handler, and who runs a loop
};

struct AnyValue {
  template <class T>
  bool operator()(const T& /*value*/) const {
    return true;
  }
};

template <class T, class Right>
[[nodiscard]] Errc code_of(const Result<T>& result, const Right& right) {
  if (!result) return result.error().code();
  if constexpr (!std::is_void_v<T>) {
    if (!right(result.value())) return Errc::unknown;
  }
  return Errc::ok;
}

template <class T>
[[nodiscard]] Future<T> future_of(SystemFace& /*system*/, Future<T> future) {
  return future;
}
template <class T>
[[nodiscard]] Future<T> future_of(SystemFace& system, Task<T> task) {
  return system.spawn_async(std::move(task));
}
template <class T, class Right>
[[nodiscard]] Future<Errc> code_in(Future<T> future, Right right) {
  return future.then([right](const Result<T>& result) { return code_of(result, right); });
}

// Begun inside of the task, so that it is the task's own wait.
template <class Make, class Right>
Task<Errc> await_one(Make make, Right right) {
  auto waiting = make();
  auto result = co_await waiting;
  co_return code_of(result, right);
}

template <class Make, class Right>
[[nodiscard]] Ways ways(Make make, Right right) {
  return {
      .block =
          [=] {
            auto waiting = make();
            return code_of(waiting.get(), right);
          },
      .await = [=] { return await_one(make, right); },
      .as_a_future = [=](SystemFace& system) { return code_in(future_of(system, make()), right); }};
}

// ---- a wait ----

struct Scene {
  Ways plain;
  Ways limited;          // to a moment
  Ways limited_outside;  // the same, by the timer of a system that whoever waits is not part of
  std::function<void()> trigger;
  // Does it take nothing and keep nothing, when it is all over? Asked after trigger().
  std::function<bool()> is_whole;
};

struct Always {
  bool operator()() const { return true; }
};

template <class Make, class Right = AnyValue>
[[nodiscard]] Scene scene(Stage& stage, Make make, std::function<void()> trigger,
                          std::function<bool()> is_whole = Always{}, Right right = {}) {
  SystemFace& system = stage.system();
  const auto limited = [make] { return with_timeout(1ms, make()); };
  const auto outside = [make, &system] {
    return with_timeout(system.sleep(1ms), future_of(system, make()));
  };
  return {.plain = ways(make, right),
          .limited = ways(limited, right),
          .limited_outside = ways(outside, right),
          .trigger = std::move(trigger),
          .is_whole = std::move(is_whole)};
}

// ---- what kinds there are ----

enum class Trait : unsigned {
  // It begins, does not end before trigger(), and one that was cancelled can be begun again and has
  // lost nothing: the usual one.
  usual = 0,
  ends_by_itself = 1,  // there is nothing to trigger, and whether a cancel comes in time is open
  never_ends = 2,      // it is there to be cancelled
  once_only = 4,       // it cannot be begun again
  on_workers = 8,      // a loop has no such thing
  takes = 16,          // what came is the waiter's, and goes with it
};

struct Kind {
  const char* name;
  Scene (*make)(Stage&);
  Trait trait = Trait::usual;
  [[nodiscard]] bool is(Trait which) const {
    return (static_cast<unsigned>(trait) & static_cast<unsigned>(which)) != 0;
  }
};
constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

// future_kinds.cpp, lock_kinds.cpp, channel_kinds.cpp, stream_kinds.cpp, system_kinds.cpp
[[nodiscard]] std::vector<Kind> future_kinds();
[[nodiscard]] std::vector<Kind> lock_kinds();
[[nodiscard]] std::vector<Kind> channel_kinds();
[[nodiscard]] std::vector<Kind> stream_kinds();
[[nodiscard]] std::vector<Kind> system_kinds();

}  // namespace jzx::testing
