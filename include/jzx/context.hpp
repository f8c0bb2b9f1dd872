// Context: what a handler sees of the world while it runs: who it is, who sent the message, and all
// that can be done in its system. Good for the length of the call only.
#pragma once

#include <new>
#include <string_view>

#include <jzx/async/self.hpp>
#include <jzx/detail/become.hpp>
#include <jzx/system.hpp>

namespace jzx {

namespace detail {
struct OnlySeat;
}

class Context final : public SystemFace {
 public:
  [[nodiscard]] Pid self() const noexcept { return Pid(port_, self_); }
  // The same, typed: context.self(*this).
  template <class A>
  [[nodiscard]] ActorRef<A> self(const A& /*the actor itself*/) const noexcept {
    return ActorRef<A>(self());
  }

  // Who sent the message; empty if that was no actor.
  [[nodiscard]] Pid sender() const noexcept {
    return envelope_ == nullptr || envelope_->sender == 0 ? Pid() : Pid(port_, envelope_->sender);
  }
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

  // A handler runs to its end and must not wait. What Future::get() and the like answer when they
  // run is said here when it is compiled.
  template <class Awaited>
  void block_on(Awaited&& /*future or task*/) const {
    static_assert(sizeof(Awaited) == 0,
                  "jzx: a handler must not wait: use then(), or make the handler a coroutine, or "
                  "place the actor on a blocking thread and use get()");
  }

  // ---- later, and otherwise ----

  // Puts the message that is being handled aside, until unstash_all(). Handlers take their message
  // by value, so it is given back here:   context.stash(std::move(message));
  // It still counts as queued; when the actor ends, also in this very handler, it is dead-lettered.
  // An ask is answered when it is handled at last. invalid_arg: this is not the type of the message
  // being handled, or too many are put aside.
  template <class M>
  Errc stash(M&& message) {
    using Type = std::remove_cvref_t<M>;
    static_assert(std::is_nothrow_move_constructible_v<Type>,
                  "jzx: only messages that move without throwing can be stashed");
    if (envelope_ == nullptr || envelope_->type->inner != &detail::message_type<Type> ||
        !(is_stashing_ || detail::can_stash(*this))) {
      return Errc::invalid_arg;
    }
    Type kept(std::forward<M>(message));  // a copy may throw: before anything has changed
    auto* place = static_cast<Type*>(detail::inner_message(*envelope_));
    place->~Type();
    new (place) Type(std::move(kept));
    // At once, so that it is not lost if the handler throws.
    if (!is_stashing_) detail::put_aside(*this);
    is_stashing_ = true;
    note_change();
    return Errc::ok;
  }
  // All that was put aside comes before all other mail, in its old order, when the handler returns.
  void unstash_all() noexcept {
    wants_unstash_ = true;
    note_change();
  }

  // From the next message on these functions handle what they name, and the actor's own handlers
  // the rest:   context.become(*this, [this](Knock) { … }, [this](Close, Context& context) { … });
  // What the system tells (Down, Exit, ChildExit, IoEvent, SignalEvent) and TimerEvent are named in
  // the same way.
  // May be repeated; unbecome() goes back by one. no_memory.
  template <class A, class... F>
  Errc become(A& /*self*/, F... handlers) {
    using Made = detail::BehaviourFor<A, F...>;
    void* memory = detail::allocate(*port_, sizeof(Made));
    if (memory == nullptr) return Errc::no_memory;
    return detail::push_behaviour(*this, *new (memory) Made(std::move(handlers)...));
  }
  // False: these are the actor's own handlers already.
  bool unbecome() noexcept { return detail::pop_behaviour(*this); }

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

  // A task of this actor: an actor of its own that is asked to stop with this one, which waits for
  // its end. This one is not told when it ends; that is what the future is for. Handlers and tasks
  // run at the same time: they share nothing but messages.
  template <class T>
  Future<T> spawn_async(Task<T> task, Pid* out = nullptr) {
    ActorId id = 0;
    Future<T> future = detail::spawn_child_async(*port_, self_, std::move(task), &id);
    if (out != nullptr) *out = id != 0 ? Pid(port_, id) : Pid();
    return future;
  }

  // ---- for the library ----

  enum class Wish : uint8_t { go_on, rearrange, stop, fail, panic };
  Context(detail::Port& port, ActorId self, void* seat, Envelope* envelope) noexcept
      : SystemFace(&port), self_(self), envelope_(envelope), seat_(seat) {}
  // Of one whose turn is still to be made, if somebody asks for it.
  Context(detail::Port& port, ActorId self, detail::OnlySeat& seat, Envelope& envelope) noexcept
      : SystemFace(&port), has_turn_(false), self_(self), envelope_(&envelope), seat_(&seat) {}
  ~Context() = default;
  void begin(Envelope* envelope) noexcept { envelope_ = envelope; }
  [[nodiscard]] void* seat() const noexcept { return seat_; }
  [[nodiscard]] bool has_turn() const noexcept { return has_turn_; }
  void note_turn(void* turn) noexcept {
    has_turn_ = true;
    seat_ = turn;
  }
  [[nodiscard]] Envelope* envelope() const noexcept { return envelope_; }
  [[nodiscard]] detail::Port& port() const noexcept { return *port_; }
  // The message being handled has been put aside.
  [[nodiscard]] bool is_stashing() const noexcept { return is_stashing_; }
  // Something about the actor's mail or behaviour has changed.
  void note_change() noexcept {
    if (wish_ == Wish::go_on) wish_ = Wish::rearrange;
  }
  void end_change() noexcept {
    if (wish_ == Wish::rearrange) wish_ = Wish::go_on;
  }
  [[nodiscard]] bool take_unstash() noexcept { return std::exchange(wants_unstash_, false); }
  void end_stash() noexcept { is_stashing_ = false; }
  [[nodiscard]] Wish wish() const noexcept { return wish_; }
  // What a coroutine handler ended with.
  void fail_with(const Error& error) noexcept {
    fail(error.message());
    if (error.code() == Errc::exception) wish_ = Wish::panic;
  }
  // After fail().
  [[nodiscard]] std::string_view why() const noexcept { return why_.view(); }

 private:
  // Right behind the two errors of the base: one store for all eight bytes.
  bool is_stashing_ = false;
  bool wants_unstash_ = false;
  Wish wish_ = Wish::go_on;
  bool has_turn_ = true;
  ActorId self_;
  Envelope* envelope_;  // of the message being handled
  void* seat_;          // the library's: the turn, or what it can be made of
  // In a union, since it is long to clear and rarely needed: there after fail().
  union {
    ExitText why_;
  };
};

inline Envelope& detail::envelope_of(const Context& context) noexcept {
  return *context.envelope();
}
inline bool detail::is_stashing(const Context& context) noexcept { return context.is_stashing(); }

}  // namespace jzx
