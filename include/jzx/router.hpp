// Router<A>: one reference to several actors of a type, of which each message goes to one.
//
//   jzx::Router<Worker> workers(loop, jzx::Routing::smallest_mailbox, {a, b, c});
//   workers.send(Job{7});
//   jzx::Future<int> answer = workers.ask(Count{});
//
// It is no actor: whoever sends picks the receiver, and the message goes straight there, without
// a copy. If that one has ended or is full, the next one gets it, and so on around; only if nobody
// takes it is it refused. Who has ended is forgotten. An ask whose receiver ends before it answers
// is an error, and not asked again: it may have been half done.
//
// What one thread sends may overtake itself, unless it goes to the same receiver.
//
// A router is a value that is copied freely; copies share the actors and the turn of round_robin.
// Threads: any, for a loop too, while the system exists; a Router itself may outlive it, unused.
#pragma once

#include <vector>

#include <jzx/group.hpp>

namespace jzx {

enum class Routing : uint8_t {
  round_robin,  // one after the other
  random,       // any, all alike
  // The one with the fewest messages waiting as far as can be seen at this moment; among equals
  // one that is not at work, in turn. Looks at all of them for each message.
  smallest_mailbox,
};

namespace detail {

// In place of finish_send(): to one of the set.
JZX_API Errc finish_routed(Members& set, Routing routing, Envelope& envelope) noexcept;

// As send_message().
template <class M>
Errc route_message(const MembersRef& set, Routing routing, const MessageType& type, M&& message) {
  if (!set) return Errc::no_such_actor;
  return send_in_envelope(port_of(*set), type, std::forward<M>(message), [&](Envelope& envelope) {
    return finish_routed(*set, routing, envelope);
  });
}

}  // namespace detail

template <class A>
class Router {
 public:
  // To nobody, of no system.
  Router() noexcept = default;
  // False in a boolean context if there is no memory for it, or no system. Of the actors, those
  // that have ended are left out.
  Router(const SystemFace& face, Routing routing, const std::vector<ActorRef<A>>& actors = {})
      : routing_(routing) {
    detail::Port* port = detail::port_of(face);
    if (port == nullptr) return;
    set_ = detail::MembersRef(detail::make_members(*port));
    for (const ActorRef<A>& actor : actors) (void)add(actor);
  }

  // Errors as Group::join() and Group::leave().
  Errc add(const ActorRef<A>& actor) const noexcept { return set_.add(actor.pid(), nullptr); }
  Errc remove(const ActorRef<A>& actor) const noexcept { return set_.remove(actor.pid()); }

  // no_such_actor: there is nobody left; mailbox_full: all are full.
  template <class M>
  Errc send(M&& message) const {
    using Type = std::remove_cvref_t<M>;
    if constexpr (detail::check_handler<A, Type>()) {
      return detail::route_message(set_, routing_, detail::typed_message<A, Type>,
                                   std::forward<M>(message));
    } else {
      return Errc::invalid_arg;
    }
  }

  template <class M>
  const Router& operator<<(M&& message) const {
    (void)send(std::forward<M>(message));
    return *this;
  }

  // As ActorRef::ask().
  template <class M>
  [[nodiscard]] auto ask(M&& message) const {
    using Type = std::remove_cvref_t<M>;
    if constexpr (detail::check_handler<A, Type>()) {
      return detail::ask_by<A>({}, std::forward<M>(message),
                               [&](const MessageType& type, auto&& ask) {
                                 return detail::route_message(set_, routing_, type, std::move(ask));
                               });
    } else {
      return Future<void>();
    }
  }

  // A copy for each, as Group::broadcast().
  template <class M>
  Delivery broadcast(const M& message) const {
    if constexpr (detail::check_handler<A, M>() && detail::check_copyable<M>()) {
      return detail::send_to_all(set_, detail::typed_message<A, M>, message);
    } else {
      return {};
    }
  }

  [[nodiscard]] Routing routing() const noexcept { return routing_; }
  [[nodiscard]] size_t size() const noexcept { return set_.size(); }
  [[nodiscard]] std::vector<ActorRef<A>> members() const {
    std::vector<ActorRef<A>> result;
    for (const Pid& pid : set_.list()) result.emplace_back(pid);
    return result;
  }

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(set_); }
  [[nodiscard]] friend bool operator==(const Router&, const Router&) noexcept = default;

  // ---- for the library ----
  [[nodiscard]] const detail::MembersRef& set() const noexcept { return set_; }

 private:
  detail::MembersRef set_;
  Routing routing_ = Routing::round_robin;
};

}  // namespace jzx
