// ActorRef<A>: a reference to an actor of type A. It takes only messages that A has a handler for,
// and knows at compile time what an ask is answered with.
#pragma once

#include <chrono>

#include <jzx/actor.hpp>
#include <jzx/detail/timed_ask.hpp>
#include <jzx/pid.hpp>

namespace jzx {

namespace detail {

template <class T>
[[nodiscard]] Future<T> wait_for_answer(Pid asked, std::chrono::milliseconds timeout,
                                        Future<T>&& answer) {
  if (!asked) return std::move(answer);
  return TimedAsk<T>::wait(*asked.port(), timeout, std::move(answer));
}

}  // namespace detail

template <class A>
class ActorRef {
 public:
  constexpr ActorRef() noexcept = default;
  constexpr explicit ActorRef(Pid pid) noexcept : pid_(pid) {}

  // From any thread while the actor's loop exists.
  template <class M>
  Errc send(M&& message) const {
    using Type = std::remove_cvref_t<M>;
    if constexpr (detail::check_handler<A, Type>()) {
      if (!pid_) return Errc::no_such_actor;
      return detail::send_message(*pid_.port(), pid_.id(), detail::typed_message<A, Type>,
                                  std::forward<M>(message));
    } else {
      return Errc::invalid_arg;
    }
  }

  template <class M>
  const ActorRef& operator<<(M&& message) const {
    (void)send(std::forward<M>(message));
    return *this;
  }

  // The future gets what the handler returns; an error if the actor cannot be reached, ends first,
  // or throws.
  template <class M>
  [[nodiscard]] auto ask(M&& message) const {
    using Type = std::remove_cvref_t<M>;
    if constexpr (detail::check_handler<A, Type>()) {
      return detail::ask_by<A>(
          pid_, std::forward<M>(message), [&](const MessageType& type, auto&& ask) {
            if (!pid_) return Errc::no_such_actor;
            return detail::send_message(*pid_.port(), pid_.id(), type, std::move(ask));
          });
    } else {
      return Future<void>();
    }
  }

  // The same, but for so long only: then Errc::timed_out. An answer that comes later is dropped,
  // and told to the observer (DeadLetterReason::late_reply). On a loop's thread, or any of a
  // runtime.
  template <class M>
  [[nodiscard]] auto ask_for(std::chrono::milliseconds timeout, M&& message) const {
    return detail::wait_for_answer(pid_, timeout, ask(std::forward<M>(message)));
  }

  [[nodiscard]] constexpr Pid pid() const noexcept { return pid_; }
  constexpr operator Pid() const noexcept { return pid_; }  // NOLINT: every ActorRef is a Pid
  [[nodiscard]] constexpr ActorId id() const noexcept { return pid_.id(); }
  [[nodiscard]] constexpr explicit operator bool() const noexcept {
    return static_cast<bool>(pid_);
  }
  [[nodiscard]] friend constexpr bool operator==(const ActorRef&,
                                                 const ActorRef&) noexcept = default;

 private:
  Pid pid_;
};

// An ask by a plain Pid: the asker says what it is answered with. Who is asked answers with what
// its function for the message returns, if that is of exactly this type; a typed actor has to list
// the message (see actor.hpp). Otherwise, and if the actor cannot be reached or ends first, the
// future gets an error.
template <class Reply, class M>
[[nodiscard]] Future<Reply> ask(Pid target, M&& message) {
  using Type = std::remove_cvref_t<M>;
  if constexpr (detail::check_message<Type>()) {
    return detail::ask_as<Reply>(target, std::forward<M>(message), detail::untyped_ask<Type, Reply>,
                                 [&](const MessageType& type, auto&& question) {
                                   if (!target) return Errc::no_such_actor;
                                   return detail::send_message(*target.port(), target.id(), type,
                                                               std::move(question));
                                 });
  } else {
    return Future<Reply>();
  }
}
// For so long only; see ActorRef::ask_for().
template <class Reply, class M>
[[nodiscard]] Future<Reply> ask_for(std::chrono::milliseconds timeout, Pid target, M&& message) {
  return detail::wait_for_answer(target, timeout, ask<Reply>(target, std::forward<M>(message)));
}

}  // namespace jzx
