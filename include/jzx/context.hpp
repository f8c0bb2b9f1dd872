// Context: what a handler sees of the world while it runs: who it is, who sent the message, and all
// that can be done in its system. Good for the length of the call only.
#pragma once

#include <new>
#include <string_view>

#include <jzx/system.hpp>

namespace jzx {

class Context final : public SystemFace {
 public:
  [[nodiscard]] Pid self() const noexcept { return Pid(port_, self_); }
  // The same, typed: context.self(*this).
  template <class A>
  [[nodiscard]] ActorRef<A> self(const A& /*the actor itself*/) const noexcept {
    return ActorRef<A>(self());
  }

  // Who sent the message; empty if that was no actor.
  [[nodiscard]] Pid sender() const noexcept { return sender_ == 0 ? Pid() : Pid(port_, sender_); }
  // Sends to the sender.
  template <class M>
  Errc reply(M&& message) const {
    return sender().send(std::forward<M>(message));
  }
  template <class Target, class M>
  Errc send(const Target& target, M&& message) const {
    return target.send(std::forward<M>(message));
  }

  // The actor ends well, or badly, when the handler returns.
  void stop() noexcept { wish_ = Wish::stop; }
  using SystemFace::stop;
  void fail(std::string_view why) noexcept {
    wish_ = Wish::fail;
    new (&why_) ExitText(why);
  }

  // ---- of this actor ----

  Errc link(Pid other) { return SystemFace::link(self(), other); }
  using SystemFace::link;
  Errc monitor(Pid target, MonitorRef* out = nullptr) {
    return SystemFace::monitor(self(), target, out);
  }
  using SystemFace::monitor;
  Errc trap_exit(bool on) { return SystemFace::trap_exit(self(), on); }
  Errc watch_fd(int fd, uint32_t interest) { return SystemFace::watch_fd(fd, self(), interest); }
  using SystemFace::watch_fd;

  // A child: stopped with this actor, which hears of its end (ChildExit).
  template <class A, class... Args>
  ActorRef<A> spawn_child(Args&&... args) {
    SpawnOptions options;
    options.supervisor = self();
    return spawn_with<A>(options, std::forward<Args>(args)...);
  }

  // ---- for the library ----

  enum class Wish : uint8_t { go_on, stop, fail };
  Context(detail::Port& port, ActorId self) noexcept : SystemFace(&port), self_(self) {}
  ~Context() = default;
  void begin(ActorId sender) noexcept { sender_ = sender; }
  [[nodiscard]] Wish wish() const noexcept { return wish_; }
  // After fail().
  [[nodiscard]] std::string_view why() const noexcept { return why_.view(); }

 private:
  ActorId self_;
  ActorId sender_ = 0;
  Wish wish_ = Wish::go_on;
  // In a union, since it is long to clear and rarely needed: there after fail().
  union {
    ExitText why_;
  };
};

}  // namespace jzx
