#include "kinds/handlers/handlers.hpp"

#include <limits>
#include <new>
#include <type_traits>

#include <jzx/context.hpp>

#include "async/waits_for.hpp"
#include "core/guard.hpp"
#include "core/host.hpp"
#include "kinds/handlers/extras.hpp"

namespace jzx::detail {

// Of a handler that is given the only message of an actor. The Turn itself is made when something
// asks for it, which is rare: what a turn takes is, above all, stores.
struct OnlySeat {
  explicit OnlySeat(core::Host& the_host) noexcept : host(the_host) {}

  core::Host& host;
  union {
    core::Turn turn;
  };
};
static_assert(std::is_trivially_destructible_v<core::Turn>);

}  // namespace jzx::detail

namespace jzx::kinds {

namespace {

using core::Actor;
using core::Outcome;
using core::Turn;
using detail::ActorType;

const ActorType& type_of(const Actor& actor) noexcept {
  return *static_cast<const ActorType*>(actor.body.words[0]);
}
detail::Port& port_of(const core::Host& host) noexcept {
  return *static_cast<detail::Port*>(host.port);
}

// The turn that a context belongs to; nullptr: it is ending, and has none.
[[gnu::noinline]] Turn* turn_of(Context& context) noexcept {
  if (!context.has_turn()) {
    auto& seat = *static_cast<detail::OnlySeat*>(context.seat());
    Actor& actor = *seat.host.system.actors.find(context.self().id());
    context.note_turn(new (&seat.turn) Turn(seat.host, actor, *context.envelope()));
  }
  return static_cast<Turn*>(context.seat());
}

// What the handler wished through its context.
Outcome obey(Turn& turn, const Context& context) noexcept {
  if (context.wish() == Context::Wish::stop) return Outcome::stopped;
  const bool is_panic = context.wish() == Context::Wish::panic;
  return turn.fail(is_panic ? ExitReason::panic : ExitReason::fail, context.why());
}

// An actor has one of four of them, after what it has done so far: once its on_start has returned
// its on_stop will be called; once it has extras they stand in front of its instance.
class HandlersKind final : public core::Kind {
 public:
  constexpr HandlersKind(bool has_started, bool is_extended) noexcept
      : Kind(is_extended ? &core::run_actor : &run_own),
        has_started_(has_started),
        is_extended_(is_extended) {}

  Outcome start(Actor& actor, Turn& turn) const override;

  Outcome resume(Actor& actor, Turn& turn) const override {
    return guard(
        turn, [&] { return is_extended_ ? go_on(actor, turn) : handle_mail<false>(actor, turn); });
  }

  Outcome stop(Actor& actor, Turn& turn) const override {
    if (!is_extended_) return Outcome::stopped;
    // They would only be told in vain again, until the actor is killed.
    const bool is_deaf = extras_of(actor).handlings.are_deaf() && core::has_time_left(actor);
    return is_deaf ? Outcome::suspended : stop_handlings(actor, turn);
  }

  // Those that wait are told once more.
  Outcome kill(Actor& actor, Turn& turn) const override {
    const Outcome outcome = stop(actor, turn);
    if (outcome == Outcome::stopped) return outcome;
    if (!extras_of(actor).handlings.are_between_waits()) return outcome;
    return give_up_handlings(actor, turn.host), Outcome::failed;
  }

  void destroy(Actor& actor, core::Host& host, ExitReason reason) const noexcept override;

  // One with extras may be in the middle of something.
  bool waits_in_part(const Actor& actor) const noexcept override {
    return is_extended(actor) && !extras_of(actor).handlings.is_empty();
  }
  void show_put_aside(const Actor& actor, See see, void* context) const override {
    if (!is_extended(actor)) return;
    const Envelope* one = extras_of(actor).oldest;
    for (; one != nullptr; one = one->next) see(context, *one);
  }
  bool goes_on_without_mail(Actor& actor) const noexcept override {
    if (!is_extended_) return false;
    Handlings& handlings = extras_of(actor).handlings;
    return handlings.is_ending() || handlings.next_ready() != nullptr;
  }
  core::Throw can_throw(Actor& actor) const noexcept override {
    if (is_extended_) {
      Handlings& handlings = extras_of(actor).handlings;
      if (handlings.is_ending()) return core::Throw::nowhere;
      if (detail::Handling* next = handlings.next_ready()) {
        return next->can_throw() ? core::Throw::in_wait : core::Throw::nowhere;
      }
      if (handlings.block_mail()) return core::Throw::nowhere;
    }
    return core::has_mail(actor) ? core::Throw::at_message : core::Throw::nowhere;
  }
  Outcome resume_throwing(Actor& actor, Turn& turn) const override {
    detail::Handling* next = is_extended_ ? extras_of(actor).handlings.next_ready() : nullptr;
    if (next != nullptr) {
      next->throw_when_run();
      return resume(actor, turn);
    }
    if (turn.take() == nullptr) return turn.pause();
    return panic(turn, core::kThrownText);
  }

  const char* name() const noexcept override { return "handlers"; }
  const char* type_name(const Actor& actor) const noexcept override { return type_of(actor).name; }

  [[nodiscard]] static bool is_extended(const Actor& actor) noexcept {
    return static_cast<const HandlersKind*>(actor.kind)->is_extended_;
  }
  [[nodiscard]] static Extras& extras_of(const Actor& actor) noexcept {
    return *static_cast<Extras*>(actor.body.words[1]);
  }
  // Gives the actor extras if it has none. False: no memory.
  [[nodiscard]] static bool extend(core::System& system, Actor& actor) noexcept;

 private:
  using CallAndEnd = decltype(MessageType::handle_and_end);

  // The turn of an actor without extras. Most handlers want no Context: then nothing is made but
  // the call.
  static void run_own(base::Runnable& runnable, base::Executor& executor) {
    auto& actor = static_cast<Actor&>(runnable);
    auto& host = static_cast<core::Host&>(executor);
    core::run_short_turn(
        host, actor, &way_of,
        [&](CallAndEnd way, Envelope& one) { return call(host, actor, way, one); },
        [&](Envelope& only) { run_other(host, actor, only); },
        [&](uint64_t steps_before) { run_more(host, actor, steps_before); });
  }
  [[gnu::noinline]] static void run_more(core::Host& host, Actor& actor, uint64_t steps_before) {
    core::continue_short_turn(
        host, actor, steps_before, &way_of,
        [&](CallAndEnd way, Envelope& one) { return call(host, actor, way, one); },
        [&](uint64_t before) { run_rest(host, actor, before); });
  }
  static CallAndEnd way_of(const MessageType& type) noexcept { return type.handle_and_end; }
  [[gnu::always_inline]] static bool call(core::Host& host, Actor& actor, CallAndEnd way,
                                          Envelope& envelope) {
    const bool is_fine =
        core::guard([&] { return way(actor.body.words[1], envelope), true; },
                    [&](const char* text) { return host.note_panic(text), false; });
    // Not before the exception has ended, which may refer to the actor.
    if (!is_fine) [[unlikely]]
      fail_at(host, actor, envelope);
    return is_fine;
  }
  [[gnu::noinline, gnu::cold]] static void fail_at(core::Host& host, Actor& actor,
                                                   Envelope& envelope) {
    Turn turn(host, actor, envelope);
    core::end_turn(host, actor, turn, Outcome::failed);
  }

  // The same, for a handler that wants a Context.
  [[gnu::noinline]] static void run_other(core::Host& host, Actor& actor, Envelope& only) {
    const MessageType& type = *only.type;
    if (type.handle == nullptr) return run_rest(host, actor, host.steps());
    core::run_only(
        host, actor, only, type, [&](Envelope& one) { return handle_only(host, actor, one); },
        [&] { run_rest(host, actor, host.steps() - 1); });
  }
  [[gnu::always_inline]] static bool handle_only(core::Host& host, Actor& actor, Envelope& only) {
    detail::OnlySeat seat(host);
    Context context(port_of(host), actor.id(), seat, only);
    const bool has_thrown =
        core::guard([&] { return only.type->handle(actor.body.words[1], context, only), false; },
                    [&](const char* text) { return host.note_panic(text), true; });
    if (!has_thrown && context.wish() == Context::Wish::go_on) [[likely]] {
      // It is still in hand: to put it aside would have been a wish.
      if (only.type->destroy != nullptr) only.type->destroy(only);
      return true;
    }
    end_only(actor, context, has_thrown);
    return false;
  }
  // Not inlined, so that the common turn keeps nothing for it.
  [[gnu::noinline]] static void end_only(Actor& actor, Context& context, bool has_thrown) {
    Turn& turn = *turn_of(context);
    const Outcome outcome = has_thrown
                                ? end(actor, turn, Outcome::failed)
                                : guard(turn, [&] { return obey_and_go_on(actor, turn, context); });
    core::end_turn(turn.host, actor, turn, outcome);
  }

  // What is not for a short turn, or is left of one.
  [[gnu::noinline]] static void run_rest(core::Host& host, Actor& actor, uint64_t steps_before) {
    host.set_acting(actor.id());
    Turn turn(host, actor, steps_before);
    core::end_turn(host, actor, turn, guard(turn, [&] { return handle_mail(actor, turn); }));
  }

  // core::guard() for user code in the turn of an actor.
  template <class Body>
  [[nodiscard]] static Outcome guard(Turn& turn, Body&& body) noexcept {
    return core::guard(std::forward<Body>(body),
                       [&turn](const char* text) { return panic(turn, text); });
  }
  // Out of line, and of the turn alone, so that the common turn keeps nothing for it.
  [[gnu::noinline, gnu::cold]] static Outcome panic(Turn& turn, const char* text) noexcept {
    return end(turn.actor, turn, turn.fail(ExitReason::panic, text));
  }

  static void* instance_of(const Actor& actor) noexcept {
    return is_extended(actor) ? extras_of(actor).instance : actor.body.words[1];
  }

  // The actor may have got extras in the middle of its turn.
  static Outcome handle_mail(Actor& actor, Turn& turn) {
    return is_extended(actor) ? handle_mail<true>(actor, turn) : handle_mail<false>(actor, turn);
  }
  template <bool extended>
  [[gnu::noinline]] static Outcome handle_mail(Actor& actor, Turn& turn) {
    core::Host& host = turn.host;
    const ActorType& type = type_of(actor);
    void* instance = extended ? extras_of(actor).instance : actor.body.words[1];
    Context context(port_of(host), actor.id(), &turn, nullptr);
    if (extended && extras_of(actor).handlings.block_mail()) return Outcome::suspended;
    while (Envelope* envelope = turn.take(host, actor)) {
      if (!extended && envelope->type->handle_and_end != nullptr) {
        envelope->type->handle_and_end(instance, *envelope);
        turn.finish_ended(host);
        continue;
      }
      context.begin(envelope);
      if (!extended || !handle_otherwise(actor, context, *envelope)) {
        handle(type, instance, turn, context, *envelope);
      }
      if (context.wish() == Context::Wish::go_on) [[likely]]
        continue;
      if (context.wish() != Context::Wish::rearrange) return end(actor, turn, obey(turn, context));
      rearrange(actor, turn, context);
      if (extended && extras_of(actor).handlings.block_mail()) return Outcome::suspended;
      // What it has become is another kind from the next turn on, and here already.
      if (!extended && is_extended(actor)) return turn.finish(), handle_mail<true>(actor, turn);
    }
    return turn.pause();
  }

  // The handler of the only message has returned and wishes something: the end, or a change.
  [[gnu::noinline]] static Outcome obey_and_go_on(Actor& actor, Turn& turn, Context& context) {
    if (context.wish() != Context::Wish::rearrange) return end(actor, turn, obey(turn, context));
    rearrange(actor, turn, context);
    turn.finish();
    return handle_mail(actor, turn);
  }

  static void handle(const ActorType& type, void* instance, Turn& turn, Context& context,
                     Envelope& envelope) {
    if (envelope.type->handle != nullptr) [[likely]] {
      envelope.type->handle(instance, context, envelope);
    } else if ((envelope.flags & Envelope::kSystem) != 0) {
      const RawMessage& raw = envelope.as<RawMessage>();
      type.on_system(instance, context, raw.tag, raw.data);
    } else if (!handle_untyped(type, instance, context, envelope)) {
      turn.refuse();
    }
  }

  static bool handle_untyped(const ActorType& type, void* instance, Context& context,
                             Envelope& envelope) {
    for (size_t i = 0; i < 2 * type.handler_count; ++i) {
      if (type.handlers[i].key != envelope.type->key) continue;
      type.handlers[i].handle(instance, context, envelope);
      return true;
    }
    return false;
  }

  static bool handle_otherwise(Actor& actor, Context& context, Envelope& envelope) {
    for (detail::Behaviour* one = extras_of(actor).behaviour; one != nullptr; one = one->below) {
      if (one->handle(context, envelope)) return true;
    }
    return false;
  }

  // The handler has returned: what it wanted to be brought back, or ended.
  static void rearrange(Actor& actor, Turn& turn, Context& context) noexcept {
    context.end_change();
    const bool wants_unstash = context.take_unstash();
    if (!is_extended(actor)) return;  // it brought back what it never put aside
    Extras& extras = extras_of(actor);
    extras.end_retired(context.port());
    context.end_stash();
    if (wants_unstash) extras.unstash_all(turn);
  }

  // ---- handlers that are coroutines, and wait ----

  // The turn of an actor with extras.
  static Outcome go_on(Actor& actor, Turn& turn) {
    Handlings& handlings = extras_of(actor).handlings;
    if (handlings.is_empty()) [[likely]]
      return handle_mail<true>(actor, turn);
    if (!is_turn_of_mail(actor, turn)) {
      const Outcome outcome = run_ready(actor, turn);
      if (outcome != Outcome::wants_mail) return end(actor, turn, outcome);
    }
    if (handlings.is_ending()) return end(actor, turn, Outcome::stopped);
    const Outcome pause = handle_mail<true>(actor, turn);
    return pause == Outcome::wants_mail && handlings.has_ready() ? Outcome::budget_spent : pause;
  }

  // A budget of one cannot be shared: it goes to handlers and to mail by turns.
  static bool is_turn_of_mail(Actor& actor, const Turn& turn) noexcept {
    Handlings& handlings = extras_of(actor).handlings;
    return turn.host.messages_per_turn == 1 && !handlings.block_mail() && core::has_mail(actor) &&
           handlings.give_way();
  }

  // Those whose waits are over, though half of the budget is for mail. wants_mail: none of them
  // wants the end of the actor.
  static Outcome run_ready(Actor& actor, Turn& turn) {
    Extras& extras = extras_of(actor);
    Context context(port_of(turn.host), actor.id(), &turn, nullptr);
    for (uint32_t left = (turn.host.messages_per_turn + 1) / 2; left > 0; --left) {
      detail::Handling* handling = extras.handlings.take_ready();
      if (handling == nullptr) break;
      turn.host.note_step(core::type_to_show(*handling->envelope));
      handling->host = &turn.host;
      if (!handling->run()) {  // it waits again
        if (turn.has_spent_budget()) break;
        continue;
      }
      extras.handlings.remove(*handling);
      // The message ends after the handler, which may refer to it.
      struct Finish {
        ~Finish() { turn.finish_held(envelope); }
        Turn& turn;
        Envelope& envelope;
      } const last{turn, *handling->envelope};
      context.begin(handling->envelope);
      finish_handling(*handling, context);
      if (context.wish() > Context::Wish::rearrange) return obey(turn, context);
      if (turn.has_spent_budget()) break;
    }
    extras.end_retired(context.port());
    return Outcome::wants_mail;
  }

  // The actor ends: at once, or when the handlers that wait have.
  [[gnu::noinline]] static Outcome end(Actor& actor, Turn& turn, Outcome how) noexcept {
    if (!is_extended(actor)) return how;
    Handlings& handlings = extras_of(actor).handlings;
    if (handlings.is_empty() && !handlings.is_ending()) return how;
    handlings.begin_end(turn.host, how);
    const core::Ending because(turn.host, handlings.exit_reason(), handlings.exit_text());
    turn.finish();
    if (const Outcome outcome = stop_handlings(actor, turn); outcome != Outcome::stopped) {
      return outcome;
    }
    return handlings.end(turn);
  }

  // stopped: there are none any more.
  static Outcome stop_handlings(Actor& actor, Turn& turn) noexcept {
    Handlings& handlings = extras_of(actor).handlings;
    if (handlings.is_empty()) return Outcome::stopped;
    handlings.request_stop();
    // How they end is of no interest: it ends for a reason of its own.
    (void)core::guard([&] { return run_ready(actor, turn); },
                      [](const char*) { return Outcome::failed; });
    if (handlings.is_empty()) return Outcome::stopped;
    return handlings.has_ready() ? Outcome::budget_spent : Outcome::suspended;
  }

  // What they wait for may only end with a look at the outside world.
  static void end_with_system(Actor& actor, core::Host& host) noexcept {
    Turn turn(host, actor);
    while (stop_handlings(actor, turn) != Outcome::stopped) {
      if (extras_of(actor).handlings.are_hopeless()) return give_up_handlings(actor, host);
      host.system.look_outside();
    }
  }

  static void give_up_handlings(Actor& actor, core::Host& host) noexcept {
    extras_of(actor).handlings.give_up(
        [&](Envelope& envelope) { core::drop_held(host, actor, envelope); });
  }

  static const HandlersKind& kind_for(bool has_started, bool is_extended) noexcept;

  bool has_started_;
  bool is_extended_;
};

constexpr HandlersKind unstarted(false, false);
constexpr HandlersKind started(true, false);
constexpr HandlersKind unstarted_extended(false, true);
constexpr HandlersKind started_extended(true, true);

const HandlersKind& HandlersKind::kind_for(bool has_started, bool is_extended) noexcept {
  if (has_started) return is_extended ? started_extended : started;
  return is_extended ? unstarted_extended : unstarted;
}

Outcome HandlersKind::start(Actor& actor, Turn& turn) const {
  return core::guard(turn, [&] {
    Context context(port_of(turn.host), actor.id(), &turn, nullptr);
    type_of(actor).on_start(instance_of(actor), context);
    rearrange(actor, turn, context);
    if (!has_started_) actor.set_kind(turn.host.system, kind_for(true, is_extended(actor)));
    return context.wish() == Context::Wish::go_on ? Outcome::wants_mail : obey(turn, context);
  });
}

bool HandlersKind::extend(core::System& system, Actor& actor) noexcept {
  const auto& kind = *static_cast<const HandlersKind*>(actor.kind);
  if (kind.is_extended_) return true;
  auto* extras = system.allocator.create<Extras>(actor.body.words[1], type_of(actor).interleaves);
  if (extras == nullptr) return false;
  actor.body.words[1] = extras;
  actor.set_kind(system, kind_for(kind.has_started_, true));
  return true;
}

void HandlersKind::destroy(Actor& actor, core::Host& host, ExitReason reason) const noexcept {
  const ActorType& type = type_of(actor);
  detail::Port& port = port_of(host);
  if (is_extended_ && !extras_of(actor).handlings.is_empty()) end_with_system(actor, host);
  // When the whole system ends, no user code runs but destructors.
  const bool is_closing = host.system.is_closing.load(std::memory_order_relaxed);  // a flag
  if (type.on_stop != nullptr && has_started_ && !is_closing) {
    (void)core::guard(
        [&] {
          Context context(port, actor.id(), nullptr, nullptr);
          type.on_stop(instance_of(actor), context, reason);
          return true;
        },
        [](const char*) { return false; });  // it is ending, and for a reason of its own
  }
  if (is_extended_) {
    Extras& extras = extras_of(actor);
    while (extras.oldest != nullptr) {
      Envelope& envelope = *extras.oldest;
      extras.oldest = envelope.next;
      core::drop_held(host, actor, envelope);
    }
    while (extras.behaviour != nullptr) {
      detail::Behaviour* gone = extras.behaviour;
      extras.behaviour = gone->below;
      gone->dispose(port);
    }
    extras.end_retired(port);
    actor.body.words[1] = extras.instance;
    host.system.allocator.destroy(&extras);
  }
  type.destroy(actor.body.words[1], port);
}

}  // namespace

void describe_handlers(const ActorType& type, void* instance,
                       core::SpawnOptions& options) noexcept {
  options.kind = &handlers_kind_for(type);
  options.body = body_for(type, instance);
  options.first_turn = type.on_start != nullptr;
}

const core::Kind& handlers_kind_for(const ActorType& type) noexcept {
  // Whether on_start has returned is of interest to on_stop only.
  return type.on_start != nullptr && type.on_stop != nullptr ? unstarted : started;
}

}  // namespace jzx::kinds

namespace jzx::detail {

using kinds::HandlersKind;
using kinds::turn_of;

Errc push_behaviour(Context& context, Behaviour& behaviour) noexcept {
  core::Turn* turn = turn_of(context);
  if (turn == nullptr || !HandlersKind::extend(turn->host.system, turn->actor)) {
    behaviour.dispose(context.port());
    return turn == nullptr ? Errc::invalid_arg : Errc::no_memory;
  }
  kinds::Extras& extras = HandlersKind::extras_of(turn->actor);
  behaviour.below = extras.behaviour;
  extras.behaviour = &behaviour;
  context.note_change();
  return Errc::ok;
}

bool pop_behaviour(Context& context) noexcept {
  core::Turn* turn = turn_of(context);
  if (turn == nullptr || !HandlersKind::is_extended(turn->actor)) return false;
  kinds::Extras& extras = HandlersKind::extras_of(turn->actor);
  if (extras.behaviour == nullptr) return false;
  Behaviour* gone = extras.behaviour;  // and perhaps the one that is running
  extras.behaviour = gone->below;
  gone->below = extras.retired;
  extras.retired = gone;
  context.note_change();
  return true;
}

// ---- handlers that are coroutines ----

namespace {

void wake_handling(TaskRoot& root) noexcept {
  auto& handling = static_cast<Handling&>(root);
  static_cast<kinds::Handlings*>(handling.owner)->wake(handling);
  core::Waker{static_cast<core::Actor*>(handling.actor), handling.generation,
              static_cast<core::Host*>(handling.host)}
      .wake();
}

}  // namespace

Handling::Handling(const HandlingType& the_type) noexcept
    : TaskRoot(&wake_handling), type(the_type) {}

void* begin_handling(Context& context, size_t size, Errc& error) noexcept {
  core::Turn& turn = *turn_of(context);
  error = Errc::mailbox_full;  // of messages that are put aside
  if (turn.actor.held == std::numeric_limits<uint16_t>::max()) return nullptr;
  error = Errc::no_memory;
  if (!HandlersKind::is_extended(turn.actor)) {
    if (!HandlersKind::extend(turn.host.system, turn.actor)) return nullptr;
    context.note_change();
  }
  return take_future_block(size);
}

void run_handling(Context& context, Handling& handling) {
  core::Turn& turn = *turn_of(context);
  core::Actor& actor = turn.actor;
  handling.sender = turn.in_hand()->sender;
  handling.owner = &HandlersKind::extras_of(actor).handlings;
  handling.actor = &actor;
  handling.generation = core::generation_of(actor.id());
  handling.host = &turn.host;
  const bool keeps_mail_waiting = !kinds::type_of(actor).interleaves;
  if (turn.host.system.detects_deadlocks && keeps_mail_waiting) [[unlikely]] {
    // Without memory for it, it just waits.
    handling.wait_edge = new (std::nothrow)
        async::WaitEdge{.port = &context.port(),
                        .waiter = actor.id(),
                        .name = actor.label != nullptr ? actor.label : kinds::type_of(actor).name};
  }
  handling.begin(handling.type.begin(handling));
  if (handling.run()) return kinds::finish_handling(handling, context);
  handling.envelope = turn.hold();  // begin_handling() saw that there is room
  HandlersKind::extras_of(actor).handlings.add(handling);
  context.note_change();
}

void fail_handler(Context& context, const Error& error) noexcept { context.fail_with(error); }

ActorId acting_here(Port*& port) noexcept {
  const auto* host = static_cast<core::Host*>(base::Executor::current());
  if (host == nullptr) return core::kNobody;
  port = static_cast<Port*>(host->port);
  return host->acting();
}

bool can_stash(Context& context) noexcept {
  core::Turn* turn = turn_of(context);
  return turn != nullptr && turn->in_hand() != nullptr &&
         turn->actor.held < std::numeric_limits<uint16_t>::max() &&
         HandlersKind::extend(turn->host.system, turn->actor);
}

void put_aside(Context& context) noexcept {
  core::Turn& turn = *turn_of(context);
  HandlersKind::extras_of(turn.actor).stash(*turn.hold());
}

}  // namespace jzx::detail
