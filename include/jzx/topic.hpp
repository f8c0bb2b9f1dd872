// Topic<M>: publish and subscribe, by name. Who publishes does not know who listens.
//
//   auto prices = jzx::topic<Price>(loop, "prices");
//   prices.subscribe(chart);                      // an ActorRef: checked at compile time
//   prices.subscribe(context.self());             // a Pid: the actor lists Price in its Messages
//   jzx::Delivery sent = prices.publish(Price{42});
//
// A topic is named by its name and its type of message: topics of two types with one name have
// nothing to do with each other. Topics belong to a system. Everything that group.hpp says of
// groups holds: members that end, order, threads.
#pragma once

#include <string_view>
#include <vector>

#include <jzx/group.hpp>

namespace jzx {

template <class M>
class Topic {
  static_assert(std::is_same_v<M, std::remove_cvref_t<M>>,
                "jzx: a topic is of a plain type of message, without const or reference");

 public:
  // Of no system: nobody can subscribe.
  Topic() noexcept = default;
  // False in a boolean context if it could not be made; see Group.
  Topic(const SystemFace& face, std::string_view name) noexcept {
    if constexpr (detail::check_copyable<M>()) {
      if (detail::Port* port = detail::port_of(face)) {
        set_ = detail::MembersRef(detail::find_members(*port, &detail::message_type<M>, name));
      }
    }
  }

  // Who has subscribed already is still sent each message once. Errors as Group::join().
  template <class A>
  Errc subscribe(const ActorRef<A>& actor) const noexcept {
    if constexpr (detail::check_handler<A, M>()) {
      return set_.add(actor.pid(), &detail::typed_message<A, M>);
    } else {
      return Errc::invalid_arg;
    }
  }
  Errc subscribe(Pid actor) const noexcept { return set_.add(actor, nullptr); }
  // no_such_actor: it has not subscribed.
  Errc unsubscribe(Pid actor) const noexcept { return set_.remove(actor); }

  // A copy for each subscriber, in the order in which they came. Who is full does not stop the
  // rest.
  Delivery publish(const M& message) const {
    return detail::send_to_all(set_, detail::message_type<M>, message);
  }

  [[nodiscard]] bool has_subscriber(Pid actor) const noexcept { return set_.contains(actor); }
  [[nodiscard]] size_t subscriber_count() const noexcept { return set_.size(); }
  [[nodiscard]] std::vector<Pid> subscribers() const { return set_.list(); }

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(set_); }
  [[nodiscard]] friend bool operator==(const Topic&, const Topic&) noexcept = default;

 private:
  detail::MembersRef set_;
};

// The topic of this type and name in this system; it is made when it is first asked for.
template <class M>
[[nodiscard]] Topic<M> topic(const SystemFace& face, std::string_view name) noexcept {
  return Topic<M>(face, name);
}

}  // namespace jzx
