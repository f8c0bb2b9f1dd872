// The kind of async actors: a task whose inbox is its actor's mailbox. It takes one message in a
// turn, when somebody waits for one; until then its mail counts as queued, and is dead-lettered if
// it ends first.
#include "core/guard.hpp"
#include "core/host.hpp"
#include "runtime/commands/command_core.hpp"

namespace jzx::detail {

using core::Actor;
using core::Outcome;
using core::Turn;

namespace {

AsyncCommandSeat& async_seat_in(const Actor& actor) noexcept {
  return *static_cast<AsyncCommandSeat*>(static_cast<CommandSeat*>(actor.body.words[0]));
}

class AsyncCommandKind final : public core::Kind {
 public:
  Outcome start(Actor& actor, Turn& turn) const override {
    AsyncCommandSeat& seat = async_seat_in(actor);
    if (seat.is_to_fail) return turn.fail(ExitReason::fail, seat.why.view());
    const Outcome outcome = core::guard(turn, [&] {
      CommandCall call(core_of(actor), actor.id(), 0, seat.born);
      seat.start(call);
      seat.has_started = true;
      std::coroutine_handle<> first = seat.first();
      if (first == nullptr) return turn.fail(ExitReason::fail, "no memory for the task");
      seat.cause = seat.born;
      seat.has_begun = true;
      seat.begin(first);
      return Outcome::wants_mail;
    });
    return outcome == Outcome::failed ? outcome : go_on(seat, turn);
  }

  Outcome resume(Actor& actor, Turn& turn) const override {
    AsyncCommandSeat& seat = async_seat_in(actor);
    if (seat.is_to_fail) ask_to_stop(seat);
    return go_on(seat, turn);
  }

  Outcome stop(Actor& actor, Turn& turn) const override {
    AsyncCommandSeat& seat = async_seat_in(actor);
    seat.is_ended = true;
    if (!seat.has_begun) return Outcome::stopped;
    ask_to_stop(seat);
    const Outcome outcome = go_on(seat, turn);
    return outcome == Outcome::failed ? Outcome::stopped : outcome;  // it was asked to end
  }

  void destroy(Actor& actor, core::Host& host, ExitReason reason) const noexcept override {
    AsyncCommandSeat& seat = async_seat_in(actor);
    seat.is_ended = true;
    if (seat.has_begun) end_with_system(actor, host, seat);
    fail_all(seat.waiters, Error(Errc::cancelled));
    sync_command_kind.destroy(actor, host, reason);
  }

  const char* name() const noexcept override { return "async command"; }
  const char* type_name(const Actor& actor) const noexcept override {
    return async_seat_in(actor).type.name;
  }

 private:
  static void ask_to_stop(AsyncCommandSeat& seat) noexcept {
    if (!seat.is_stop_requested()) {
      seat.is_in_turn = true;  // what that wakes is run by us
      seat.request_stop();
    }
    fail_all(seat.waiters, Error(Errc::cancelled));
  }

  static Outcome go_on(AsyncCommandSeat& seat, Turn& turn) noexcept {
    seat.host = &turn.host;
    seat.is_in_turn = true;
    const Outcome outcome = core::guard(turn, [&] {
      for (;;) {
        if (seat.can_go_on()) {
          if (seat.run()) return finish(seat, turn);
          continue;
        }
        if (seat.waiters.first == nullptr) return Outcome::suspended;
        Envelope* envelope = turn.take();
        if (envelope == nullptr) return turn.pause();
        take(seat, turn, *envelope);
      }
    });
    seat.is_in_turn = false;
    return outcome;
  }

  static void take(AsyncCommandSeat& seat, Turn& turn, Envelope& envelope) {
    if ((envelope.flags & Envelope::kSystem) != 0) return;
    CommandCore& core = *seat.core;
    if (envelope.type != &core.message()) {
      if (!core.adopt(seat, envelope)) turn.refuse();
      return;
    }
    seat.cause = seat.causes.front();
    seat.causes.pop_front();
    CommandWaiter& waiter = pop_front(seat.waiters);
    waiter.give(waiter, envelope);
  }

  static Outcome finish(AsyncCommandSeat& seat, Turn& turn) {
    seat.has_begun = false;
    const Error error = seat.finish();
    if (seat.is_to_fail) return turn.fail(ExitReason::fail, seat.why.view());
    if (ok(error.code())) return Outcome::stopped;
    seat.note->error = Error(error.code(), error.message(), seat.type.name);
    return turn.fail(error.code() == Errc::exception ? ExitReason::panic : ExitReason::fail,
                     error.message());
  }

  // What it waits for may only end with a look at the outside world.
  static void end_with_system(Actor& actor, core::Host& host, AsyncCommandSeat& seat) noexcept {
    Turn turn(host, actor);
    ask_to_stop(seat);
    while (go_on(seat, turn) == Outcome::suspended) host.system.look_outside();
  }
};

constexpr AsyncCommandKind async_kind;

void wake_seat(TaskRoot& root) noexcept {
  auto& seat = static_cast<AsyncCommandSeat&>(root);
  if (seat.is_in_turn) return;  // which looks again before it ends
  auto& host = *static_cast<core::Host*>(seat.host);
  core::Waker{host.system.actors.find(seat.id), core::generation_of(seat.id), &host}.wake();
}

}  // namespace

const core::Kind& async_command_kind = async_kind;

AsyncCommandSeat::AsyncCommandSeat(const CommandActorType& the_type)
    : CommandSeat(the_type), TaskRoot(&wake_seat) {}

void wait_for_inbox(CommandCore& core, ActorId id, CommandWaiter& waiter) {
  Actor* actor = core.actors().find_open(id);
  const bool is_there =
      actor != nullptr && actor->kind == &async_kind && !async_seat_in(*actor).is_ended;
  if (!is_there) return waiter.fail(waiter, Error(Errc::cancelled, "the actor is to end", "next"));
  AsyncCommandSeat& seat = async_seat_in(*actor);
  push_back(seat.waiters, waiter);
  // Another task of its own waits for it: it may have mail, which nobody has told it of.
  if (seat.is_in_turn) return;
  if (actor->state.wake(core::generation_of(id)) == core::Wake::submit) core.host().submit(*actor);
}

}  // namespace jzx::detail
