// What command actors see of their scheduler: lists of actions, contexts, inboxes, outboxes. Part
// of sim/command_actor.hpp, which explains them.
//
// Threads: that of the scheduler.
#pragma once

#include <chrono>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <jzx/async/self.hpp>
#include <jzx/async/task.hpp>
#include <jzx/detail/commands/core.hpp>
#include <jzx/detail/message.hpp>

namespace jzx {

template <class M>
class CommandContext;
template <class M>
class Inbox;
template <class M>
class Outbox;

namespace detail {

// Its own constant, so that a message that came through the queue can be told from others.
template <class M>
inline constexpr MessageType command_message{type_name<M>.data(),   &message_type<M>,
                                             destroy_or_nothing<M>, nullptr,
                                             &message_type<M>,      !fits_inline<M>};

template <class M, class A, class F>
[[nodiscard]] CommandSeat* make_seat(F&& factory);

// Makes an A of the arguments that were kept.
template <class A, class Tuple>
[[nodiscard]] A make_of(Tuple& arguments) {
  return std::apply(
      [](auto&... each) {
        if constexpr (std::is_constructible_v<A, decltype(std::move(each))...>) {
          return A(std::move(each)...);
        } else {
          return A{std::move(each)...};  // a struct without constructors
        }
      },
      arguments);
}

}  // namespace detail

// What a handler wants done, in this order: messages, spawns, ends. Queued as a whole when it is
// returned, or emitted; otherwise nothing of it happens.
template <class M>
class [[nodiscard]] Actions {
 public:
  // None; to be returned. Others begin with context.actions().
  Actions() noexcept = default;
  Actions(Actions&& other) noexcept
      : core_(other.core_),
        self_(other.self_),
        list_(std::exchange(other.list_, detail::CommandList{})) {}
  Actions& operator=(Actions&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(self_, other.self_);
    std::swap(list_, other.list_);
    return *this;
  }
  ~Actions() {
    if (list_.first != nullptr) detail::end_commands(*core_, list_);
  }

  // ---- all of these return the list, to go on with ----

  template <class T = M>
  Actions& send(ActorId target, T&& message) & {
    return add_send(target, std::forward<T>(message)), *this;
  }
  template <class T = M>
  Actions&& send(ActorId target, T&& message) && {
    return add_send(target, std::forward<T>(message)), std::move(*this);
  }

  // An actor of type A with these arguments, which are kept until its first turn.
  template <class A, class... Args>
  Actions& spawn(ActorId reserved, Args&&... args) & {
    return add_spawn<A>(reserved, 0, keep<A>(std::forward<Args>(args)...)), *this;
  }
  template <class A, class... Args>
  Actions&& spawn(ActorId reserved, Args&&... args) && {
    return add_spawn<A>(reserved, 0, keep<A>(std::forward<Args>(args)...)), std::move(*this);
  }
  // What the function returns is the actor; it is called in the actor's first turn.
  template <class F>
  Actions& spawn_with(ActorId reserved, F factory) & {
    return add_spawn<std::invoke_result_t<F&>>(reserved, 0, std::move(factory)), *this;
  }
  template <class F>
  Actions&& spawn_with(ActorId reserved, F factory) && {
    return add_spawn<std::invoke_result_t<F&>>(reserved, 0, std::move(factory)), std::move(*this);
  }
  // A successor: if this actor gets the scheduler's input, the new one does from then on. Who hands
  // over also kills itself, before or after.
  template <class A, class... Args>
  Actions& hand_off(ActorId reserved, Args&&... args) & {
    return add_spawn<A>(reserved, self_, keep<A>(std::forward<Args>(args)...)), *this;
  }
  template <class A, class... Args>
  Actions&& hand_off(ActorId reserved, Args&&... args) && {
    return add_spawn<A>(reserved, self_, keep<A>(std::forward<Args>(args)...)), std::move(*this);
  }

  // Ends it when this is processed: from then on nothing from it counts, unless it killed itself.
  Actions& kill(ActorId target) & { return add(detail::make_kill(core(), target)), *this; }
  Actions&& kill(ActorId target) && {
    return add(detail::make_kill(core(), target)), std::move(*this);
  }
  // The same, with reason fail and this text, of which the output hears.
  Actions& fail(ActorId target, std::string_view why) & {
    return add(detail::make_fail(core(), target, why)), *this;
  }
  Actions&& fail(ActorId target, std::string_view why) && {
    return add(detail::make_fail(core(), target, why)), std::move(*this);
  }

  // Those of another list, after these.
  Actions& append(Actions other) {
    if (other.list_.first == nullptr) return *this;
    if (core_ == nullptr) return *this = std::move(other);
    detail::CommandList more = other.release_to(*core_);
    if (!ok(more.error)) list_.error = more.error;
    if (more.first == nullptr) return *this;
    (list_.first == nullptr ? list_.first : list_.last->next) = more.first;
    list_.last = more.last;
    list_.count += more.count;
    return *this;
  }

  [[nodiscard]] size_t size() const noexcept { return list_.count; }
  [[nodiscard]] bool empty() const noexcept { return list_.count == 0; }

  // ---- for the library ----

  Actions(detail::CommandCore& core, ActorId self) noexcept : core_(&core), self_(self) {}
  // For the queue of this scheduler, which must be their own.
  [[nodiscard]] detail::CommandList release_to(const detail::CommandCore& core) noexcept {
    if (core_ != &core && list_.first != nullptr) [[unlikely]] {
      detail::end_commands(*core_, list_);
      list_.error = Errc::actor_not_local;
    }
    return std::exchange(list_, detail::CommandList{});
  }

 private:
  [[nodiscard]] detail::CommandCore& core() const noexcept {
    if (core_ == nullptr) [[unlikely]]
      detail::no_actions_here();
    return *core_;
  }
  void add(Envelope* command) noexcept {
    if (command == nullptr) [[unlikely]] {
      list_.error = Errc::no_memory;
    } else {
      detail::append(list_, *command);
    }
  }
  template <class T>
  void add_send(ActorId target, T&& message) {
    Envelope* command = detail::take_command(core());
    if (command == nullptr) [[unlikely]]
      return add(nullptr);
    command->sender = target;
    if constexpr (detail::fits_inline<M> && std::is_nothrow_constructible_v<M, T&&>) {
      new (command->storage) M(std::forward<T>(message));
    } else if (!put(*command, std::forward<T>(message))) {
      return add(nullptr);
    }
    detail::append(list_, *command);
  }
  // False: no memory, and the envelope is gone; also if the constructor throws.
  template <class T>
  [[nodiscard]] bool put(Envelope& command, T&& message) {
    struct Undo {
      ~Undo() {
        if (command != nullptr) detail::give_command(core, *command);
      }
      detail::CommandCore& core;
      Envelope* command;
    } undo{core(), &command};
    if (!detail::put_message(detail::port_of(core()), command, M(std::forward<T>(message)))) {
      return false;
    }
    undo.command = nullptr;
    return true;
  }
  template <class A, class... Args>
  [[nodiscard]] static auto keep(Args&&... args) {
    return [kept = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)]() mutable {
      return detail::make_of<A>(kept);
    };
  }
  template <class A, class F>
  void add_spawn(ActorId reserved, ActorId predecessor, F factory) {
    add(detail::make_spawn(core(), reserved, detail::make_seat<M, A>(std::move(factory)),
                           predecessor));
  }

  detail::CommandCore* core_ = nullptr;
  ActorId self_ = 0;
  detail::CommandList list_;
};

namespace detail {

// What contexts and outboxes have in common.
template <class M>
class CommandFace {
 public:
  [[nodiscard]] ActorId self() const noexcept { return self_; }
  // Where messages from outside go, whoever gets them; and where those for the outside go.
  [[nodiscard]] ActorId input() const noexcept { return input_of(*core_); }
  [[nodiscard]] ActorId output() const noexcept { return output_of(*core_); }
  // Virtual, from 0.
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept {
    return std::chrono::nanoseconds(now_of(*core_));
  }

  [[nodiscard]] Actions<M> actions() const noexcept { return Actions<M>(*core_, self_); }

  // The handle of an actor that is to be spawned by the actions of this call. 0: no memory, or too
  // many actors.
  [[nodiscard]] ActorId reserve() const noexcept {
    ActorId id = 0;
    return ok(reserve_actor(*core_, self_, id)) ? id : 0;
  }

  // Everything else that actors can do: timers, tasks, names, links, monitors; see system.hpp. What
  // is sent by these ways to a command actor becomes a command when it arrives.
  [[nodiscard]] Self system() const noexcept { return Self(&port_of(*core_), self_, sender_); }

 protected:
  CommandFace(CommandCore& core, ActorId self, ActorId sender) noexcept
      : core_(&core), self_(self), sender_(sender) {}
  ~CommandFace() = default;

  CommandCore* core_;
  ActorId self_;
  ActorId sender_;
};

}  // namespace detail

// What a handler sees; good for the length of the call.
template <class M>
class CommandContext final : public detail::CommandFace<M> {
 public:
  explicit CommandContext(detail::CommandCall& call) noexcept
      : detail::CommandFace<M>(call.core, call.self, call.sender), sequence_(call.sequence) {}
  CommandContext(const CommandContext&) = delete;
  CommandContext& operator=(const CommandContext&) = delete;

  // Who sent the message; 0: it came from outside.
  [[nodiscard]] ActorId sender() const noexcept { return this->sender_; }
  // The number of the command that is handled.
  [[nodiscard]] uint64_t sequence() const noexcept { return sequence_; }

  // Lists of one.
  template <class T = M>
  [[nodiscard]] Actions<M> send(ActorId target, T&& message) const {
    return this->actions().send(target, std::forward<T>(message));
  }
  [[nodiscard]] Actions<M> kill(ActorId target) const { return this->actions().kill(target); }
  [[nodiscard]] Actions<M> fail(std::string_view why) const {
    return this->actions().fail(this->self_, why);
  }

 private:
  uint64_t sequence_;
};

namespace detail {

// A future of the next message.
template <class M>
struct CommandWait final : FutureState<M>, CommandWaiter {
  // nullptr: no memory.
  [[nodiscard]] static CommandWait* try_make() noexcept {
    void* block = take_future_block(sizeof(CommandWait));
    return block == nullptr ? nullptr : ::new (block) CommandWait;
  }

 private:
  CommandWait() noexcept : FutureState<M>(Stage::pending, sizeof(CommandWait)) {
    this->FutureCore::cancel = &cancelled;
    this->cancel_on_drop = true;
    this->CommandWaiter::give = &given;
    this->CommandWaiter::fail = &failed;
  }
  ~CommandWait() = delete;  // the state ends by itself

  static void given(CommandWaiter& waiter, Envelope& message) {
    auto& self = static_cast<CommandWait&>(waiter);
#ifdef __cpp_exceptions
    try {
      self.put_result(std::in_place, std::move(message_in<M>(message)));
    } catch (...) {  // moving it failed; whoever waits has to hear something
      self.put_result(Error::of_exception("next"));
    }
#else
    self.put_result(std::in_place, std::move(message_in<M>(message)));
#endif
    self.settle();
  }
  static void failed(CommandWaiter& waiter, const Error& error) {
    auto& self = static_cast<CommandWait&>(waiter);
    self.put_result(error);
    self.settle();
  }
  static void cancelled(FutureCore& core) {
    auto& self = static_cast<CommandWait&>(core);
    if (self.list == nullptr) return;  // it has its result
    leave(self);
    failed(self, Error(Errc::cancelled));
  }
};

template <class M, class Enter>
[[nodiscard]] Future<M> wait_for_command(Enter&& enter) {
  CommandWait<M>* waiting = CommandWait<M>::try_make();
  if (waiting == nullptr) return Future<M>::failed(Errc::no_memory);
  Future<M> future(waiting);
  enter(static_cast<CommandWaiter&>(*waiting));
  return future;
}

}  // namespace detail

// The messages of an async actor, in order.
template <class M>
class Inbox {
 public:
  // The next one; Errc::cancelled: the actor is to end. Who drops the future, or cancels it, has
  // taken nothing.
  [[nodiscard]] Future<M> next() const {
    return detail::wait_for_command<M>(
        [&](detail::CommandWaiter& waiter) { detail::wait_for_inbox(*core_, actor_, waiter); });
  }

  // ---- for the library ----
  Inbox(detail::CommandCore& core, ActorId actor) noexcept : core_(&core), actor_(actor) {}

 private:
  detail::CommandCore* core_;
  ActorId actor_;
};

// What an async actor does. May be copied, and used for as long as the scheduler is there: when the
// actor has ended, or was told to, it refuses.
template <class M>
class Outbox final : public detail::CommandFace<M> {
 public:
  // The whole batch, or nothing of it. Errc::killed: the actor is to end; nothing from it counts
  // any more. Errc::mailbox_full: the command queue is full.
  Errc emit(Actions<M> batch) const {
    detail::CommandList list = batch.release_to(*this->core_);
    return detail::emit(*this->core_, this->self_, list);
  }
  // Batches of one.
  template <class T = M>
  Errc send(ActorId target, T&& message) const {
    return emit(this->actions().send(target, std::forward<T>(message)));
  }
  Errc kill(ActorId target) const { return emit(this->actions().kill(target)); }

  // ---- for the library ----
  Outbox(detail::CommandCore& core, ActorId self) noexcept
      : detail::CommandFace<M>(core, self, 0) {}
};

}  // namespace jzx
