// Pid: a reference to an actor of whatever type. A plain value; it never becomes another actor's,
// and a send to one that ended says so.
//
// Sends may come from any thread while the actor's loop exists. A message is moved, and one that is
// refused is gone: keep a copy if you mean to try again.
#pragma once

#include <functional>
#include <utility>

#include <jzx/detail/message.hpp>

namespace jzx {

class Pid {
 public:
  constexpr Pid() noexcept = default;
  constexpr Pid(detail::Port* port, ActorId id) noexcept : port_(port), id_(id) {}

  // Sends a message of any type. If the actor turns out to have no handler for it, it is
  // dead-lettered. See Handles in actor.hpp for how an actor says what it takes from a Pid.
  template <class M>
  Errc send(M&& message) const {
    using Type = std::remove_cvref_t<M>;
    if constexpr (detail::check_message<Type>()) {
      if (port_ == nullptr) return Errc::no_such_actor;
      return detail::send_message(*port_, id_, detail::message_type<Type>,
                                  std::forward<M>(message));
    } else {
      return Errc::invalid_arg;
    }
  }

  // As send, for those who do not ask.
  template <class M>
  const Pid& operator<<(M&& message) const {
    (void)send(std::forward<M>(message));
    return *this;
  }

  [[nodiscard]] constexpr ActorId id() const noexcept { return id_; }
  [[nodiscard]] constexpr detail::Port* port() const noexcept { return port_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return id_ != 0; }
  [[nodiscard]] friend constexpr bool operator==(const Pid&, const Pid&) noexcept = default;

 private:
  detail::Port* port_ = nullptr;
  ActorId id_ = 0;
};

}  // namespace jzx

template <>
struct std::hash<jzx::Pid> {
  size_t operator()(const jzx::Pid& pid) const noexcept { return std::hash<uint64_t>()(pid.id()); }
};
