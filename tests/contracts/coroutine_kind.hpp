// A throwaway kind that proves the contracts fit coroutine actors: a handler is a C++20 coroutine;
// the actor takes its next message only when it is done. The real one (Task, pooled frames,
// cancellation) is a later step's.
//
// Threads: as core::Kind.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <utility>

#include "contracts/held_message.hpp"
#include "contracts/signal.hpp"
#include "core/guard.hpp"
#include "core/lifecycle.hpp"

namespace jzx::contracts {

// A handler under way. Lazy: the kind starts it.
class Handling {
 public:
  struct promise_type {
    Handling get_return_object() {
      return Handling(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }

    std::exception_ptr error;
    Signal* awaited = nullptr;
  };

  Handling() = default;
  Handling(Handling&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handling& operator=(Handling&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handling() {
    if (handle_) handle_.destroy();
  }

  [[nodiscard]] bool is_under_way() const { return handle_ != nullptr; }
  // A wake may be an old one: what it waits for decides.
  [[nodiscard]] bool can_go_on() const {
    const Signal* awaited = handle_.promise().awaited;
    return awaited == nullptr || awaited->is_raised();
  }
  // True: done. Throws what the handler threw.
  bool go_on() {
    handle_.promise().awaited = nullptr;
    handle_.resume();
    if (!handle_.done()) return false;
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    return true;
  }

 private:
  explicit Handling(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

// co_await until(signal, actor)
struct Until {
  Signal& signal;
  core::Actor& actor;

  [[nodiscard]] bool await_ready() const {
    signal.wait_from(actor);
    return signal.is_raised();
  }
  void await_suspend(std::coroutine_handle<Handling::promise_type> handle) const {
    handle.promise().awaited = &signal;
  }
  void await_resume() const {}
};

// The body: how to handle a message, and the one that is being handled. The handler may refer to
// its message for as long as it runs.
struct CoroutineBody {
  std::function<Handling(core::Actor&, const RawMessage&)> handler;
  Handling handling;
  Envelope* message = nullptr;
};

class CoroutineKind final : public core::Kind {
 public:
  core::Outcome resume(core::Actor& actor, core::Turn& turn) const override {
    return core::guard(turn, [&] { return handle_mail(actor, turn); });
  }
  // Nothing to wait for: a frame is destroyed where it stands.
  core::Outcome stop(core::Actor& actor, core::Turn& turn) const override {
    give_up(body_of(actor), turn.host, actor);
    return core::Outcome::stopped;
  }
  void destroy(core::Actor& actor, core::Host& host, ExitReason) const noexcept override {
    CoroutineBody& body = body_of(actor);
    give_up(body, host, actor);
    delete &body;
  }
  const char* name() const noexcept override { return "coroutine"; }

 private:
  static CoroutineBody& body_of(core::Actor& actor) {
    return *static_cast<CoroutineBody*>(actor.body.words[0]);
  }

  static core::Outcome handle_mail(core::Actor& actor, core::Turn& turn) {
    CoroutineBody& body = body_of(actor);
    for (uint32_t budget = turn.host.messages_per_turn; budget > 0;) {
      if (body.handling.is_under_way()) {
        if (!body.handling.can_go_on() || !body.handling.go_on()) {
          return core::Outcome::suspended;
        }
        body.handling = Handling();
        finish_held(turn.host, actor, *std::exchange(body.message, nullptr));
        --budget;
      }
      if (actor.state.exit_requested()) break;
      body.message = take_held(actor);
      if (body.message == nullptr) return core::Outcome::wants_mail;
      body.handling = body.handler(actor, body.message->as<RawMessage>());
    }
    return core::Outcome::budget_spent;
  }

  static void give_up(CoroutineBody& body, core::Host& host, core::Actor& actor) {
    body.handling = Handling();  // its destructors may still look at the message
    if (body.message != nullptr) abandon_held(host, actor, *std::exchange(body.message, nullptr));
  }
};

inline constexpr CoroutineKind coroutine_kind;

[[nodiscard]] inline ActorId spawn_coroutine(
    core::Host& host, std::function<Handling(core::Actor&, const RawMessage&)> handler,
    uint32_t mailbox_cap = 0) {
  core::SpawnOptions options;
  options.kind = &coroutine_kind;
  options.body.words[0] = new CoroutineBody{std::move(handler), {}, nullptr};
  options.mailbox_cap = mailbox_cap;
  ActorId id = core::kNobody;
  return core::spawn(host, options, id) == Errc::ok ? id : core::kNobody;
}

}  // namespace jzx::contracts
