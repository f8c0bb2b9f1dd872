// The typed bodies of command actors: a struct or a function, sync or async, behind CommandSeat.
// Not for users.
#pragma once

#include <coroutine>
#include <new>
#include <type_traits>
#include <utility>

#include <jzx/detail/commands/actions.hpp>

namespace jzx::detail {

// Version 14 of clang-format does not know how to lay out these.
// clang-format off
template <class A, class M>
concept HandlesCommands =
    requires(A& actor, M&& message, CommandContext<M>& context) {
      actor.handle(std::move(message), context);
    } || requires(A& actor, M&& message) { actor.handle(std::move(message)); };
template <class A, class M>
concept CallableWithCommands =
    std::is_invocable_v<A&, M, CommandContext<M>&> || std::is_invocable_v<A&, M>;
template <class A, class M>
concept RunsByInbox = requires(A& actor, Inbox<M> inbox, Outbox<M> outbox) {
  { actor.run(inbox, outbox) } -> std::same_as<Task<void>>;
};
template <class A, class M>
concept CallableWithInbox = std::is_invocable_r_v<Task<void>, A&, Inbox<M>, Outbox<M>>;
// clang-format on

template <class A, class M>
inline constexpr bool is_async_actor = RunsByInbox<A, M> || CallableWithInbox<A, M>;

template <class A, class M>
consteval bool check_command_actor() {
  constexpr bool is_one =
      is_async_actor<A, M> || HandlesCommands<A, M> || CallableWithCommands<A, M>;
  static_assert(is_one,
                "jzx: this is no command actor (A) for messages of this type (M): give it a "
                "`jzx::Actions<M> handle(M, jzx::CommandContext<M>&)` or a "
                "`jzx::Task<void> run(jzx::Inbox<M>, jzx::Outbox<M>)`");
  return is_one;
}

template <class M, class A>
inline constexpr CommandActorType command_actor_type{type_name<A>.data(), is_async_actor<A, M>};

// Calls it, and keeps the actions that it returns, if it does.
template <class M, class F>
void keep_actions(CommandCall& call, F&& function) {
  using R = std::invoke_result_t<F>;
  static_assert(std::is_void_v<R> || std::is_same_v<R, Actions<M>>,
                "jzx: a handler of a command actor returns nothing, or jzx::Actions<M> for the "
                "scheduler's type of message (M)");
  if constexpr (std::is_void_v<R>) {
    function();
  } else {
    call.actions = function().release_to(call.core);
  }
}

// The user's actor, made late, and its hooks.
template <class M, class A, class F, class Base>
class SeatOf : public Base {
 public:
  explicit SeatOf(F factory) : Base(command_actor_type<M, A>), factory_(std::move(factory)) {}
  ~SeatOf() override {
    if (is_made_) actor_.~A();
  }

  void stop(ExitReason reason) override {
    if constexpr (requires(A & a) { a.on_stop(reason); }) {
      actor_.on_stop(reason);
    } else if constexpr (requires(A & a) { a.on_stop(); }) {
      actor_.on_stop();
    }
  }

  bool move_message(Envelope& from, Envelope& to) override {
    if (from.type->key != &message_type<M>) return false;
    return put_message(port_of(*this->core), to, std::move(message_in<M>(from)));
  }

 protected:
  void make() {
    new (static_cast<void*>(&actor_)) A(factory_());
    is_made_ = true;
  }

  union {
    A actor_;
  };

 private:
  F factory_;
  bool is_made_ = false;
};

template <class M, class A, class F>
class SyncSeat final : public SeatOf<M, A, F, CommandSeat> {
 public:
  using SeatOf<M, A, F, CommandSeat>::SeatOf;

  void start(CommandCall& call) override {
    this->make();
    A& actor = this->actor_;
    CommandContext<M> context(call);
    if constexpr (requires { actor.on_start(context); }) {
      keep_actions<M>(call, [&]() -> decltype(auto) { return actor.on_start(context); });
    } else if constexpr (requires { actor.on_start(); }) {
      keep_actions<M>(call, [&]() -> decltype(auto) { return actor.on_start(); });
    }
  }

  void handle(CommandCall& call, Envelope& message) override {
    A& actor = this->actor_;
    M& given = message_in<M>(message);
    CommandContext<M> context(call);
    if constexpr (requires { actor.handle(std::move(given), context); }) {
      keep_actions<M>(call,
                      [&]() -> decltype(auto) { return actor.handle(std::move(given), context); });
    } else if constexpr (requires { actor.handle(std::move(given)); }) {
      keep_actions<M>(call, [&]() -> decltype(auto) { return actor.handle(std::move(given)); });
    } else if constexpr (std::is_invocable_v<A&, M, CommandContext<M>&>) {
      keep_actions<M>(call, [&]() -> decltype(auto) { return actor(std::move(given), context); });
    } else {
      keep_actions<M>(call, [&]() -> decltype(auto) { return actor(std::move(given)); });
    }
  }
};

template <class M, class A, class F>
class AsyncSeat final : public SeatOf<M, A, F, AsyncCommandSeat> {
 public:
  using SeatOf<M, A, F, AsyncCommandSeat>::SeatOf;

  void start(CommandCall& call) override {
    this->make();
    Inbox<M> inbox(call.core, call.self);
    Outbox<M> outbox(call.core, call.self);
    if constexpr (RunsByInbox<A, M>) {
      task_ = this->actor_.run(inbox, outbox);
    } else {
      task_ = this->actor_(inbox, outbox);
    }
  }
  void handle(CommandCall&, Envelope&) override {}

  std::coroutine_handle<> first() noexcept override {
    return task_.can_begin() ? task_.begin(*this, nullptr) : nullptr;
  }
  Error finish() override { return task_.take().error(); }

 private:
  Task<void> task_;
};

template <class M, class A, class F>
[[nodiscard]] CommandSeat* make_seat(F&& factory) {
  using Factory = std::decay_t<F>;
  if constexpr (!check_command_actor<A, M>()) {
    return nullptr;
  } else if constexpr (is_async_actor<A, M>) {
    return new AsyncSeat<M, A, Factory>(std::forward<F>(factory));
  } else {
    return new SyncSeat<M, A, Factory>(std::forward<F>(factory));
  }
}

}  // namespace jzx::detail
