// A handler that is a coroutine, while it runs: the narrow place between the templates and the
// library. Not for users; see actor.hpp.
//
// The record holds the task, the root of its chain, and where the answer goes. Its message stays
// where it is until the handler is done, so that the handler may refer to it. It is a block of the
// thread's cache, and ends with the handler.
//
// Threads: the actor's own turns; it is woken from anywhere.
#pragma once

#include <coroutine>
#include <memory>
#include <new>
#include <utility>

#include <jzx/async/task.hpp>
#include <jzx/envelope.hpp>

namespace jzx::detail {

struct Handling;

struct HandlingType {
  std::coroutine_handle<> (*begin)(Handling& handling) noexcept;
  // It has ended: answers the ask, or tells the context of an error.
  void (*finish)(Handling& handling, Context& context);
  void (*destroy)(Handling& handling) noexcept;
};

struct Handling : TaskRoot {
  JZX_API explicit Handling(const HandlingType& the_type) noexcept;

  const HandlingType& type;
  // ---- the library's ----
  Handling* next = nullptr;  // among those that were woken
  Handling* older = nullptr;
  Handling* newer = nullptr;
  Envelope* envelope = nullptr;  // put aside while the handler waits
  void* owner = nullptr;         // where it is listed
  void* actor = nullptr;         // who is to be woken
  void* host = nullptr;
  uint32_t generation = 0;
};

// Memory for the record of one more handler of the actor whose turn it is; nullptr and the error.
[[nodiscard]] JZX_API void* begin_handling(Context& context, size_t size, Errc& error) noexcept;
// Runs it as far as it gets. It is the library's from here on.
JZX_API void run_handling(Context& context, Handling& handling);
// The handler of a plain message ended with this error, and so does its actor.
JZX_API void fail_handler(Context& context, const Error& error) noexcept;

// Whoever asked the question in this envelope does not wait for the reply any more.
JZX_API void note_late_reply(Envelope& envelope) noexcept;

// Settles the promise in a question with a value, or an error.
template <class R, class... Args>
void settle_ask(Envelope& question, Promise<R>& promise, Args&&... args) {
  if (!promise.settle_if_wanted(std::forward<Args>(args)...)) [[unlikely]]
    note_late_reply(question);
}

// The message that is being handled.
[[nodiscard]] Envelope& envelope_of(const Context& context) noexcept;

// What the handler's end means to who asked; for a plain message the promise is null.
template <class R>
void report_result(Context& context, Promise<R>* promise, Result<R>&& result,
                   bool is_stop_requested) {
  if (promise == nullptr) {
    if (!result.ok()) fail_handler(context, result.error());
    return;
  }
  // Its actor ends: the promise, which ends with the message, says why.
  if (is_stop_requested && result.error().code() == Errc::cancelled) return;
  settle_ask(envelope_of(context), *promise, std::move(result));
}

template <class R>
struct TypedHandling final : Handling {
  TypedHandling(Task<R>&& the_task, Promise<R>* the_promise) noexcept
      : Handling(kType), task(std::move(the_task)), promise(the_promise) {}

  Task<R> task;
  Promise<R>* promise;  // in the message

 private:
  static TypedHandling& typed(Handling& handling) noexcept {
    return static_cast<TypedHandling&>(handling);
  }
  static std::coroutine_handle<> begin(Handling& self) noexcept {
    return typed(self).task.begin(self, nullptr);
  }
  static void finish(Handling& self, Context& context) {
    report_result(context, typed(self).promise, typed(self).task.take(), self.is_stop_requested());
  }
  static void destroy(Handling& self) noexcept {
    typed(self).~TypedHandling();
    give_future_block(&self, sizeof(TypedHandling));
  }

  static constexpr HandlingType kType{&begin, &finish, &destroy};
};

// A handler returned this task: runs it, now and in later turns.
template <class R>
void handle_by_task(Context& context, Task<R>&& task, Promise<R>* promise) {
  if (!task.can_begin()) return report_result(context, promise, task.take(), false);
  Errc error = Errc::ok;
  void* block = begin_handling(context, sizeof(TypedHandling<R>), error);
  if (block == nullptr) return report_result(context, promise, Result<R>(Error(error)), false);
  run_handling(context, *::new (block) TypedHandling<R>(std::move(task), promise));
}

// ---- what a handler returns ----

template <class T>
struct Returned {
  using Reply = T;
  static constexpr bool is_task = false;
};
template <class R>
struct Returned<Task<R>> {
  using Reply = R;
  static constexpr bool is_task = true;
};
template <class T>
inline constexpr bool is_task = Returned<std::remove_cvref_t<T>>::is_task;

}  // namespace jzx::detail
