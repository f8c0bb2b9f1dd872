// ActorRef<A>: a reference to an actor of type A. It takes only messages that A has a handler for,
// and knows at compile time what an ask is answered with.
#pragma once

#include <jzx/actor.hpp>
#include <jzx/pid.hpp>

namespace jzx {

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
      return detail::ask_by<A>(std::forward<M>(message), [&](const MessageType& type, auto&& ask) {
        if (!pid_) return Errc::no_such_actor;
        return detail::send_message(*pid_.port(), pid_.id(), type, std::move(ask));
      });
    } else {
      return Future<void>();
    }
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
    return detail::ask_as<Reply>(std::forward<M>(message), detail::untyped_ask<Type, Reply>,
                                 [&](const MessageType& type, auto&& question) {
                                   if (!target) return Errc::no_such_actor;
                                   return detail::send_message(*target.port(), target.id(), type,
                                                               std::move(question));
                                 });
  } else {
    return Future<Reply>();
  }
}

}  // namespace jzx
