// Self: the actor that a task runs in, and all that can be done in its system. What a coroutine
// handler has in place of a Context, which is good for the length of a call only: a Self may be
// kept, and copied, for as long as the system is there.
//
//   jzx::Task<void> on(Order order) {
//     jzx::Self self = co_await jzx::this_actor();
//     …
//     self.sender().send(Done{});
//   }
//
// Threads: as SystemFace.
#pragma once

#include <jzx/system.hpp>

namespace jzx {

class Self final : public SystemFace {
 public:
  Self(detail::Port* port, ActorId id, ActorId sender) noexcept
      : SystemFace(port), id_(id), sender_(sender) {}
  Self(const Self& other) noexcept : Self(other.port_, other.id_, other.sender_) {}
  Self& operator=(const Self& other) noexcept {
    port_ = other.port_;
    id_ = other.id_;
    sender_ = other.sender_;
    return *this;
  }
  ~Self() = default;

  // Empty outside of actors: in a task that a plain thread runs.
  [[nodiscard]] Pid pid() const noexcept { return id_ != 0 ? Pid(port_, id_) : Pid(); }
  // The same, typed: self.ref(*this).
  template <class A>
  [[nodiscard]] ActorRef<A> ref(const A& /*the actor itself*/) const noexcept {
    return ActorRef<A>(pid());
  }
  // Who sent the message that is being handled; empty if that was no actor, or there is none.
  [[nodiscard]] Pid sender() const noexcept { return sender_ != 0 ? Pid(port_, sender_) : Pid(); }
  // Sends to the sender.
  template <class M>
  Errc reply(M&& message) const {
    return sender().send(std::forward<M>(message));
  }

  // The actor is asked to end: the handler's next wait answers Errc::cancelled, if it has one.
  Errc stop() { return SystemFace::stop(pid()); }
  using SystemFace::stop;
  Errc link(Pid other) { return SystemFace::link(pid(), other); }
  using SystemFace::link;
  Errc monitor(Pid target, MonitorRef* out = nullptr) {
    return SystemFace::monitor(pid(), target, out);
  }
  using SystemFace::monitor;
  Errc trap_exit(bool on) { return SystemFace::trap_exit(pid(), on); }
  using SystemFace::trap_exit;

  // A child: stopped with this actor, which hears of its end (ChildExit).
  template <class A, class... Args>
  ActorRef<A> spawn_child(Args&&... args) {
    SpawnOptions options;
    options.supervisor = pid();
    return spawn_with<A>(options, std::forward<Args>(args)...);
  }

 private:
  ActorId id_;
  ActorId sender_;
};

inline Self detail::SelfAnswer::await_resume() const noexcept {
  Port* port = nullptr;
  const ActorId id = acting_here(port);
  return Self(port, id, sender_);
}

}  // namespace jzx
