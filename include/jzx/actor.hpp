// Typed actors: a plain struct with `on(Message)` overloads.
//
//   struct Counter {
//     int value = 0;
//     void on(Add add) { value += add.by; }             // a command
//     int on(Get) { return value; }                      // its value answers an ask
//     void on(Stop, jzx::Context& context) { context.stop(); }
//   };
//
// Optional: `on_start(Context&)` before the first message, `on_stop(Context&, ExitReason)` at the
// end (not if on_start never returned, nor when the whole loop is destroyed), and `on(const
// Down&)`, `on(const Exit&)`, `on(const ChildExit&)`, `on(const IoEvent&)` for what the system
// tells. A handler runs to its end and must not block. One that throws ends the actor with reason
// panic and the exception's text.
//
// A handler may be a coroutine, and wait in the middle:
//
//     jzx::Task<User> on(Fetch fetch) {                  // an ask is answered with a User
//       auto response = http_get(fetch.url);
//       Result<Response> got = co_await response;
//       co_return parse(co_await got);                   // or the ask is rejected with the error
//     }
//
// The actor takes its next message when the handler is done, so that nothing changes under it; what
// it handles counts as queued until then. With `static constexpr bool interleaves = true;` it takes
// messages while handlers wait: of its handlers one runs at a time, in the actor's own turn, and
// another may have run wherever one awaits. An error that a coroutine handler ends with rejects the
// ask; if nobody asked the actor ends with it: reason fail, or panic for an exception. When the
// actor is to end, by whatever reason, its handlers are asked to stop (see task.hpp), and it ends
// when they have. In place of a Context, which is good for the length of a call only, a coroutine
// handler has `co_await jzx::this_actor()`; it cannot be stashed.
//
// Sends through an ActorRef find the handler at compile time. For sends through an untyped Pid the
// actor lists what it takes:   using Messages = jzx::Messages<Add, Stop>;
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <jzx/detail/handling.hpp>
#include <jzx/detail/message.hpp>
#include <jzx/future.hpp>

namespace jzx {

template <class... M>
struct Messages {};

namespace detail {

template <class A, class M>
concept HandlesAlone = requires(A& actor, M&& message) {
  actor.on(std::move(message));
};
template <class A, class M>
concept HandlesWithContext = requires(A& actor, M&& message, Context& context) {
  actor.on(std::move(message), context);
};

}  // namespace detail

// Does actor A have a handler for a message of type M?
template <class A, class M>
concept Handles = detail::HandlesAlone<A, M> || detail::HandlesWithContext<A, M>;

namespace detail {

// Stands for a message of exactly this type: no handler gets it by a conversion.
template <class M>
struct Exactly {
  template <class T>
  requires std::same_as<std::remove_cv_t<T>, M>
  operator T&&() const noexcept;  // NOLINT: it is one, as far as handlers can tell
};

// Handlers with a context come first, but not one that converts before one that fits.
template <class A, class M>
consteval bool wants_context() {
  if constexpr (HandlesWithContext<A, M> && HandlesAlone<A, M>) {
    return HandlesWithContext<A, Exactly<M>> || !HandlesAlone<A, Exactly<M>>;
  } else {
    return HandlesWithContext<A, M>;
  }
}

template <class A, class M>
decltype(auto) call_handler(A& actor, M&& message, Context& context) {
  if constexpr (wants_context<A, M>()) {
    return actor.on(std::move(message), context);
  } else {
    return actor.on(std::move(message));
  }
}

template <class A, class M>
using ReturnOf = std::remove_cvref_t<decltype(call_handler(std::declval<A&>(), std::declval<M>(),
                                                           std::declval<Context&>()))>;
// What an ask is answered with: what the handler returns, or what its task does.
template <class A, class M>
using ReplyOf = typename Returned<ReturnOf<A, M>>::Reply;

// A context is gone when a coroutine goes on.
template <class A, class M>
consteval bool check_context() {
  constexpr bool is_fine = !(is_task<ReturnOf<A, M>> && wants_context<A, M>());
  static_assert(is_fine,
                "jzx: a handler that is a coroutine cannot take a Context&, which is good for the "
                "length of a call only: use `co_await jzx::this_actor()`");
  return is_fine;
}

// Asked where a message is sent to an actor, as check_message().
template <class A, class M>
consteval bool check_handler() {
  static_assert(Handles<A, M>,
                "jzx: this actor has no handler for this message; give the actor (A) an "
                "`on(Message)` for the type of the message (M)");
  if constexpr (Handles<A, M>) {
    return check_message<M>() && check_context<A, M>();
  } else {
    return false;
  }
}

// ---- messages bound to the handler that was found at compile time ----

template <class A, class M>
void handle_message(void* actor, Context& context, Envelope& envelope) {
  const auto call = [&]() -> decltype(auto) {
    return call_handler(*static_cast<A*>(actor), std::move(message_in<M>(envelope)), context);
  };
  if constexpr (is_task<ReturnOf<A, M>>) {
    handle_by_task<ReplyOf<A, M>>(context, call(), nullptr);
  } else {
    (void)call();
  }
}

// A Context is for handlers that take one, and for coroutines.
template <class A, class M>
inline constexpr bool is_handled_alone = !wants_context<A, M>() && !is_task<ReturnOf<A, M>>;

template <class A, class M>
void handle_and_end_message(void* actor, Envelope& envelope) {
  (void)static_cast<A*>(actor)->on(std::move(message_in<M>(envelope)));
  if constexpr (!needs_no_end<M>) destroy_message<M>(envelope);
}

template <class A, class M>
consteval auto handle_and_end_or_nothing() -> void (*)(void*, Envelope&) {
  if constexpr (is_handled_alone<A, M>) return &handle_and_end_message<A, M>;
  return nullptr;
}

template <class A, class M>
inline constexpr MessageType typed_message{type_name<M>.data(),
                                           &message_type<M>,
                                           destroy_or_nothing<M>,
                                           &handle_message<A, M>,
                                           &message_type<M>,
                                           !fits_inline<M>,
                                           handle_and_end_or_nothing<A, M>()};

// A message that wants an answer. If it is never handled, or the handler throws, it is destroyed
// with the promise in it, and the asker gets an error.
template <class M, class R>
struct Ask {
  M message;
  Promise<R> promise;
};

// The question in the first word, the promise in the second, as they lie in an Ask.
template <class M, class R>
struct MessageWords<Ask<M, R>> {
  static constexpr bool fits = MessageWords<M>::fits && fits_inline<Ask<M, R>> &&
                               sizeof(M) <= sizeof(uint64_t) &&
                               sizeof(Promise<R>) == sizeof(uint64_t);

  static void put(Ask<M, R>&& ask, uint64_t* words) noexcept {
    MessageWords<M>::put(ask.message, words);
    alignas(Promise<R>) std::byte place[sizeof(Promise<R>)];
    new (place) Promise<R>(std::move(ask.promise));
    std::memcpy(words + 1, place, sizeof(place));
  }
};

// Does the handler that runs want to see its message again later?
[[nodiscard]] bool is_stashing(const Context& context) noexcept;

// Resolves the promise of an ask with what the handler returns, unless it put the question aside.
template <class R, class Handle>
void answer(Context& context, Promise<R>& promise, Handle&& handle) {
  if constexpr (is_task<decltype(handle())>) {
    handle_by_task<R>(context, handle(), &promise);
  } else if constexpr (std::is_void_v<R>) {
    handle();
    if (!is_stashing(context)) settle_ask(envelope_of(context), promise, std::in_place);
  } else {
    R reply = handle();
    if (!is_stashing(context)) {
      settle_ask(envelope_of(context), promise, std::in_place, std::move(reply));
    }
  }
}

template <class A, class M>
void handle_ask(void* actor, Context& context, Envelope& envelope) {
  auto& ask = message_in<Ask<M, ReplyOf<A, M>>>(envelope);
  answer<ReplyOf<A, M>>(context, ask.promise, [&]() -> decltype(auto) {
    return call_handler(*static_cast<A*>(actor), std::move(ask.message), context);
  });
}

template <class A, class M>
void handle_and_end_ask(void* instance, Envelope& envelope) {
  using Reply = ReplyOf<A, M>;
  A& actor = *static_cast<A*>(instance);
  auto& ask = message_in<Ask<M, Reply>>(envelope);
  if constexpr (std::is_void_v<Reply>) {
    actor.on(std::move(ask.message));
    settle_ask(envelope, ask.promise, std::in_place);
  } else {
    Reply reply = actor.on(std::move(ask.message));
    settle_ask(envelope, ask.promise, std::in_place, std::move(reply));
  }
  destroy_message<Ask<M, Reply>>(envelope);
}

template <class A, class M>
consteval auto handle_and_end_ask_or_nothing() -> void (*)(void*, Envelope&) {
  if constexpr (is_handled_alone<A, M>) return &handle_and_end_ask<A, M>;
  return nullptr;
}

template <class A, class M>
inline constexpr MessageType typed_ask{type_name<M>.data(),
                                       &message_type<Ask<M, ReplyOf<A, M>>>,
                                       destroy_or_nothing<Ask<M, ReplyOf<A, M>>>,
                                       &handle_ask<A, M>,
                                       &message_type<M>,
                                       !fits_inline<Ask<M, ReplyOf<A, M>>>,
                                       handle_and_end_ask_or_nothing<A, M>()};

// The same, for whoever has a function for it.
template <class M, class R>
inline constexpr MessageType untyped_ask{
    type_name<M>.data(), &message_type<Ask<M, R>>, destroy_or_nothing<Ask<M, R>>, nullptr,
    &message_type<M>,    !fits_inline<Ask<M, R>>};

// The future of an ask that send(type, ask) sends, to `asked` if that is known. A refused ask is
// destroyed with its promise; the reason is worth more than "nobody answered".
template <class Reply, class M, class Send>
[[nodiscard]] Future<Reply> ask_as(const Pid& asked, M&& message, const MessageType& type,
                                   Send&& send) {
  auto [future, promise] = Promise<Reply>::try_make(asked);
  if (!future.is_valid()) return Future<Reply>::failed(Errc::no_memory);
  const Errc sent =
      send(type, Ask<std::remove_cvref_t<M>, Reply>{std::forward<M>(message), std::move(promise)});
  return ok(sent) ? std::move(future) : Future<Reply>::failed(sent);
}
template <class A, class M, class Send>
[[nodiscard]] auto ask_by(const Pid& asked, M&& message, Send&& send) {
  using Type = std::remove_cvref_t<M>;
  return ask_as<ReplyOf<A, Type>>(asked, std::forward<M>(message), typed_ask<A, Type>,
                                  std::forward<Send>(send));
}

// ---- the type of an actor, erased ----

struct HandlerEntry {
  const MessageType* key;
  void (*handle)(void* actor, Context& context, Envelope& envelope);
};

struct ActorType {
  const char* name;
  size_t state_size;
  void (*destroy)(void* actor, Port& port) noexcept;
  void (*on_start)(void* actor, Context& context);                    // null: has none
  void (*on_stop)(void* actor, Context& context, ExitReason reason);  // null: has none
  void (*on_system)(void* actor, Context& context, uint32_t tag, void* payload);
  const HandlerEntry* handlers;  // for untyped sends, and then as many for untyped asks
  size_t handler_count;
  bool interleaves;  // it takes messages while handlers wait
};

// Calls a handler whose reply nobody wants.
template <class Handle>
void call_untold(Context& context, Handle&& handle) {
  if constexpr (is_task<decltype(handle())>) {
    handle_by_task<typename Returned<decltype(handle())>::Reply>(context, handle(), nullptr);
  } else {
    (void)handle();
  }
}

// ---- what the system tells ----

// The tags are those of core::SystemTag.
template <class Signal>
inline constexpr uint32_t signal_tag = 0;  // of what it does not tell
template <>
inline constexpr uint32_t signal_tag<IoEvent> = 0xffff0001u;
template <>
inline constexpr uint32_t signal_tag<ChildExit> = 0xffff0002u;
template <>
inline constexpr uint32_t signal_tag<Down> = 0xffff0004u;
template <>
inline constexpr uint32_t signal_tag<Exit> = 0xffff0005u;
template <>
inline constexpr uint32_t signal_tag<SignalEvent> = 0xffff0006u;

template <class A, class Signal>
void tell(A& actor, Context& context, const void* payload) {
  const auto& signal = *static_cast<const Signal*>(payload);
  if constexpr (requires { actor.on(signal, context); }) {
    static_assert(!is_task<decltype(actor.on(signal, context))>,
                  "jzx: a handler that is a coroutine cannot take a Context&, which is good for "
                  "the length of a call only: use `co_await jzx::this_actor()`");
    actor.on(signal, context);
  } else if constexpr (requires { actor.on(signal); }) {
    call_untold(context, [&]() -> decltype(auto) { return actor.on(signal); });
  } else if constexpr (Handles<A, Signal>) {
    static_assert(check_context<A, Signal>());
    // wants one of its own
    call_untold(context,
                [&]() -> decltype(auto) { return call_handler(actor, Signal(signal), context); });
  }
}

template <class A>
void tell_by_tag(void* instance, Context& context, uint32_t tag, void* payload) {
  A& actor = *static_cast<A*>(instance);
  switch (tag) {
    case signal_tag<IoEvent>:
      return tell<A, IoEvent>(actor, context, payload);
    case signal_tag<ChildExit>:
      return tell<A, ChildExit>(actor, context, payload);
    case signal_tag<Down>:
      return tell<A, Down>(actor, context, payload);
    case signal_tag<Exit>:
      return tell<A, Exit>(actor, context, payload);
    case signal_tag<SignalEvent>:
      return tell<A, SignalEvent>(actor, context, payload);
    default:
      return;
  }
}

template <class A, class List>
struct HandlerTable;
template <class A, class... M>
struct HandlerTable<A, Messages<M...>> {
  static_assert((Handles<A, M> && ...),
                "jzx: the actor lists in its Messages a type that it has no on(Message) for");
  static_assert((check_context<A, M>() && ...));
  static constexpr HandlerEntry entries[2 * sizeof...(M) + 1] = {
      {&message_type<M>, &handle_message<A, M>}...,
      {&message_type<Ask<M, ReplyOf<A, M>>>, &handle_ask<A, M>}...,
      {nullptr, nullptr}};
  static constexpr size_t count = sizeof...(M);
};

template <class A>
struct ListedMessages {
  using type = Messages<>;
};
template <class A>
requires requires { typename A::Messages; }
struct ListedMessages<A> {
  using type = typename A::Messages;
};

template <class A>
consteval bool interleaves() {
  if constexpr (requires { A::interleaves; }) {
    return A::interleaves;
  } else {
    return false;
  }
}

template <class A>
void start_actor(void* actor, Context& context) {
  if constexpr (requires(A & a) { a.on_start(context); }) {
    static_cast<A*>(actor)->on_start(context);
  } else if constexpr (requires(A & a) { a.on_start(); }) {
    static_cast<A*>(actor)->on_start();
  }
}

template <class A>
void stop_actor(void* actor, Context& context, ExitReason reason) {
  if constexpr (requires(A & a) { a.on_stop(context, reason); }) {
    static_cast<A*>(actor)->on_stop(context, reason);
  } else if constexpr (requires(A & a) { a.on_stop(reason); }) {
    static_cast<A*>(actor)->on_stop(reason);
  } else if constexpr (requires(A & a) { a.on_stop(context); }) {
    static_cast<A*>(actor)->on_stop(context);
  } else if constexpr (requires(A & a) { a.on_stop(); }) {
    static_cast<A*>(actor)->on_stop();
  }
}

// Version 14 of clang-format does not know how to lay out a disjunction of requires.
// clang-format off
template <class A>
concept HasOnStart = requires(A& a, Context& c) { a.on_start(c); } ||
                     requires(A& a) { a.on_start(); };
template <class A>
concept HasOnStop = requires(A& a, Context& c, ExitReason r) { a.on_stop(c, r); } ||
                    requires(A& a, ExitReason r) { a.on_stop(r); } ||
                    requires(A& a, Context& c) { a.on_stop(c); } ||
                    requires(A& a) { a.on_stop(); };
// clang-format on

template <class A>
void destroy_actor(void* actor, Port& port) noexcept {
  static_cast<A*>(actor)->~A();
  release(port, actor, sizeof(A));
}

template <class A>
inline constexpr ActorType actor_type{
    type_name<A>.data(),
    sizeof(A),
    &destroy_actor<A>,
    HasOnStart<A> ? &start_actor<A> : nullptr,
    HasOnStop<A> ? &stop_actor<A> : nullptr,
    &tell_by_tag<A>,
    HandlerTable<A, typename ListedMessages<A>::type>::entries,
    HandlerTable<A, typename ListedMessages<A>::type>::count,
    interleaves<A>(),
};

// Memory for an actor and the actor in it; nullptr: no memory. Throws what the constructor throws.
template <class A, class... Args>
[[nodiscard]] A* make_instance(Port& port, Args&&... args) {
  static_assert(alignof(A) <= alignof(std::max_align_t), "jzx: actors may not be over-aligned");
  void* memory = allocate(port, sizeof(A));
  if (memory == nullptr) return nullptr;
  UnkeptMemory undo{port, memory, sizeof(A)};
  A* made = nullptr;
  if constexpr (std::is_constructible_v<A, Args...>) {
    made = new (memory) A(std::forward<Args>(args)...);
  } else {
    made = new (memory) A{std::forward<Args>(args)...};  // a struct without constructors
  }
  undo.memory = nullptr;
  return made;
}

}  // namespace detail
}  // namespace jzx
