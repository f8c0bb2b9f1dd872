// How an actor changes its behaviour: a set of functions that stands in front of its own handlers.
// See Context::become().
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <jzx/actor.hpp>

namespace jzx::detail {

// ---- what a function takes ----

template <class F>
struct HandlerShape : HandlerShape<decltype(&F::operator())> {};
template <class R, class C, class M>
struct HandlerShape<R (C::*)(M)> {
  using Message = std::remove_cvref_t<M>;
  static constexpr bool returns_task = is_task<R>;
  static constexpr bool wants_context = false;
};
template <class R, class C, class M>
struct HandlerShape<R (C::*)(M) const> : HandlerShape<R (C::*)(M)> {};
template <class R, class C, class M>
struct HandlerShape<R (C::*)(M) noexcept> : HandlerShape<R (C::*)(M)> {};
template <class R, class C, class M>
struct HandlerShape<R (C::*)(M) const noexcept> : HandlerShape<R (C::*)(M)> {};
template <class R, class C, class M>
struct HandlerShape<R (C::*)(M, Context&)> {
  using Message = std::remove_cvref_t<M>;
  static constexpr bool returns_task = is_task<R>;
  static constexpr bool wants_context = true;
};
template <class R, class C, class M>
struct HandlerShape<R (C::*)(M, Context&) const> : HandlerShape<R (C::*)(M, Context&)> {};
template <class R, class C, class M>
struct HandlerShape<R (C::*)(M, Context&) noexcept> : HandlerShape<R (C::*)(M, Context&)> {};
template <class R, class C, class M>
struct HandlerShape<R (C::*)(M, Context&) const noexcept> : HandlerShape<R (C::*)(M, Context&)> {};

template <class F>
concept HasHandlerShape = requires {
  &F::operator();
};

// ---- what is no message of anybody ----

// How to know an event by its envelope, and what to do before it is handled.
template <class M>
struct EventIn {
  static constexpr bool is_event = false;
};
template <class M>
requires(signal_tag<M> != 0)  //
    struct EventIn<M> {
  static constexpr bool is_event = true;
  static bool is_in(Envelope& envelope) noexcept {
    return (envelope.flags & Envelope::kSystem) != 0 &&
           envelope.as<RawMessage>().tag == signal_tag<M>;
  }
  static const M* begin(Context&, Envelope& envelope) noexcept {
    return static_cast<const M*>(envelope.as<RawMessage>().data);
  }
};

// ---- a behaviour, erased ----

class Behaviour {
 public:
  virtual ~Behaviour() = default;
  // False: it has no function for this message.
  virtual bool handle(Context& context, Envelope& envelope) = 0;
  // Ends it and gives its memory back.
  virtual void dispose(Port& port) noexcept = 0;

  Behaviour* below = nullptr;  // what it stands in front of
};

template <class A, class... F>
class BehaviourFor final : public Behaviour {
 public:
  static_assert((HasHandlerShape<F> && ...),
                "jzx: become() takes functions whose message type can be seen: lambdas with a "
                "plain parameter, not generic ones");
  static_assert((Handles<A, typename HandlerShape<F>::Message> && ...),
                "jzx: become() can only stand in for handlers that the actor has: give it an "
                "on(Message) for each");

  explicit BehaviourFor(F... handlers) : handlers_(std::move(handlers)...) {}

  bool handle(Context& context, Envelope& envelope) override {
    return std::apply([&](F&... handler) { return (call(handler, context, envelope) || ...); },
                      handlers_);
  }
  void dispose(Port& port) noexcept override {
    this->~BehaviourFor();
    release(port, this, sizeof(BehaviourFor));
  }

 private:
  template <class Fn>
  static bool call(Fn& handler, Context& context, Envelope& envelope) {
    using M = typename HandlerShape<Fn>::Message;
    static_assert(!(HandlerShape<Fn>::wants_context && HandlerShape<Fn>::returns_task),
                  "jzx: a function in become() that is a coroutine cannot take a Context&, which "
                  "is good for the length of a call only: use `co_await jzx::this_actor()`");
    if constexpr (EventIn<M>::is_event) {
      if (EventIn<M>::is_in(envelope)) return call_for_event<M>(handler, context, envelope), true;
    }
    if (envelope.type->inner != &message_type<M>) return false;
    const auto invoke = [&]() -> decltype(auto) {
      M& message = *static_cast<M*>(inner_message(envelope));
      if constexpr (HandlerShape<Fn>::wants_context) {
        return handler(std::move(message), context);
      } else {
        return handler(std::move(message));
      }
    };
    using R = ReplyOf<A, M>;
    using Question = Ask<M, R>;
    if (envelope.type->key == &message_type<Question>) {
      static_assert(
          std::is_convertible_v<decltype(invoke()), R> ||
              std::is_same_v<decltype(invoke()), Task<R>>,
          "jzx: a function in become() must return what the actor's own on(Message) does");
      answer<R>(context, message_in<Question>(envelope).promise, invoke);
    } else {
      call_untold(context, invoke);
    }
    return true;
  }

  template <class M, class Fn>
  static void call_for_event(Fn& handler, Context& context, Envelope& envelope) {
    const M* event = EventIn<M>::begin(context, envelope);
    if (event == nullptr) return;
    // As it lies there, so that a coroutine may refer to it; or one of its own.
    const auto invoke = [&](auto&&... more) -> decltype(auto) {
      if constexpr (std::is_invocable_v<Fn&, const M&, decltype(more)...>) {
        return handler(*event, more...);
      } else {
        return handler(M(*event), more...);
      }
    };
    call_untold(context, [&]() -> decltype(auto) {
      if constexpr (HandlerShape<Fn>::wants_context) {
        return invoke(context);
      } else {
        return invoke();
      }
    });
  }

  std::tuple<F...> handlers_;
};

// The behaviour is the actor's, whatever the answer.
JZX_API Errc push_behaviour(Context& context, Behaviour& behaviour) noexcept;
JZX_API bool pop_behaviour(Context& context) noexcept;
[[nodiscard]] JZX_API bool can_stash(Context& context) noexcept;
// The message in hand, after can_stash().
JZX_API void put_aside(Context& context) noexcept;

}  // namespace jzx::detail
