// CommandScheduler: actors whose every message is a numbered command in one queue, first in, first
// out. What happens is a function of what is dispatched: it can be logged, replayed, and changed on
// its way by interceptors. Time is virtual.
//
//   struct Event { int value; };
//   struct Doubler {
//     jzx::Actions<Event> handle(Event event, jzx::CommandContext<Event>& context) {
//       return context.send(context.output(), Event{2 * event.value});
//     }
//   };
//
//   jzx::CommandScheduler<Event> scheduler;
//   (void)scheduler.start<Doubler>();                 // the root, which gets the input
//   (void)scheduler.dispatch(Event{21});
//   Event event = *scheduler.take_output();           // 42
//
// See command_actor.hpp for actors, and docs/command_scheduler.md for the whole.
//
// Phases: idle (nothing is queued), queued, busy (inside of a run, where a dispatch only adds to
// the queue). The order: all commands in the order of their numbers, what a handler returns
// together at the tail; when the queue is empty one turn of an async actor or a task; when there is
// none, time goes on to the next timer.
//
// The end: when the queue is empty and no actor is alive, or by shutdown(). What was output can
// still be taken, then Errc::closed; a dispatch is refused.
//
// Failures are output too, as errors, in their place: what a handler, a factory, an on_start or a
// task threw or failed with, and spawns that were refused. Error::source() is the type of the
// actor.
//
// Threads: one at a time. It must not be destroyed from inside of its own run.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <jzx/context.hpp>
#include <jzx/sim/codec.hpp>
#include <jzx/sim/command_actor.hpp>
#include <jzx/sim/command_log.hpp>

namespace jzx {

// The command at the head of the queue, as an interceptor sees it. It may change the message in
// place, send it to another, drop it, hold up the line, and add commands at the tail; what it lets
// through keeps its order.
template <class M>
class Interception {
 public:
  explicit Interception(detail::CommandStep& step) noexcept : step_(step) {}
  Interception(const Interception&) = delete;
  Interception& operator=(const Interception&) = delete;

  [[nodiscard]] CommandKind kind() const noexcept { return step_.command.kind; }
  [[nodiscard]] uint64_t sequence() const noexcept { return step_.command.sequence; }
  [[nodiscard]] uint64_t cause() const noexcept { return step_.command.cause; }
  [[nodiscard]] ActorId source() const noexcept { return step_.command.source; }
  [[nodiscard]] ActorId target() const noexcept { return step_.command.target; }
  // When it was queued.
  [[nodiscard]] std::chrono::nanoseconds time() const noexcept {
    return std::chrono::nanoseconds(step_.command.time_ns);
  }
  [[nodiscard]] bool is_injected() const noexcept { return step_.command.is_injected; }

  // Of a send, else nullptr. May be changed.
  [[nodiscard]] M* message() const noexcept {
    return step_.message != nullptr ? &detail::message_in<M>(*step_.message) : nullptr;
  }
  // Is it the spawn of an A?
  template <class A>
  [[nodiscard]] bool spawns() const noexcept {
    return step_.seat != nullptr && &(*step_.seat)->type == &detail::command_actor_type<M, A>;
  }

  // Nobody after this interceptor sees it.
  void drop() noexcept { step_.is_dropped = true; }
  // Of a send, a kill or a fail.
  void redirect(ActorId target) noexcept {
    if (kind() != CommandKind::spawn) step_.command.target = target;
  }
  // The line waits for so long: this one, and with it all that are behind it. Not beyond the end of
  // time, some 146 years.
  void delay(std::chrono::nanoseconds time) noexcept {
    const uint64_t more = time.count() > 0 ? static_cast<uint64_t>(time.count()) : 0;
    step_.delay_ns += std::min(more, ~uint64_t{0} - step_.delay_ns);
  }
  // At the tail; because of this one, from nobody. Interceptors see those too: is_injected(). All
  // of what one call injects, or nothing: if it does not fit into the queue, or was made with
  // another scheduler, the interceptor fails, as one that throws.
  [[nodiscard]] Actions<M> actions() const noexcept { return Actions<M>(step_.core, 0); }
  void inject(Actions<M> actions) {
    detail::CommandList more = actions.release_to(step_.core);
    if (!ok(more.error)) step_.injected.error = more.error;
    if (more.first == nullptr) return;
    (step_.injected.first == nullptr ? step_.injected.first : step_.injected.last->next) =
        more.first;
    step_.injected.last = more.last;
    step_.injected.count += more.count;
  }
  // Of a spawn: what the function returns is the actor.
  template <class F>
  void replace_actor(F factory) {
    if (step_.seat == nullptr) return;
    detail::CommandSeat* other = detail::make_seat<M, std::invoke_result_t<F&>>(std::move(factory));
    // One that replaced it before, here, is nobody's plan.
    if (replaced_) delete *step_.seat;
    *step_.seat = other;
    replaced_ = true;
  }

 private:
  detail::CommandStep& step_;
  bool replaced_ = false;
};

template <class M>
class CommandScheduler {
 public:
  explicit CommandScheduler(const CommandOptions& options = {})
      : core_(detail::make_command_core(options, detail::command_message<M>, kCodec)) {
    if (core_ == nullptr) detail::throw_no_memory();
  }
  // What is queued and not taken is dead-lettered, or ends; no actor has a last word. See
  // shutdown().
  ~CommandScheduler() { detail::end_command_core(*core_); }
  CommandScheduler(const CommandScheduler&) = delete;
  CommandScheduler& operator=(const CommandScheduler&) = delete;

  // ---- actors from outside ----

  // The first actor, which gets the input; its handle.
  template <class A, class... Args>
  Result<ActorId> start(Args&&... args) {
    return put(actions().template spawn<A>(reserve(), std::forward<Args>(args)...));
  }
  template <class F>
  Result<ActorId> start_with(F factory) {
    return put(actions().spawn_with(reserve(), std::move(factory)));
  }
  // A function as an actor: sync if it takes a message, async if it takes an inbox and an outbox.
  template <class F>
  Result<ActorId> start_fn(F function) {
    return start_with([function = std::move(function)]() mutable { return std::move(function); });
  }
  // For an actor that is spawned by dispatch(). 0: too many actors, no memory, or it has ended.
  [[nodiscard]] ActorId reserve() noexcept {
    last_reserved_ = 0;
    reserve_error_ = detail::reserve_actor(*core_, 0, last_reserved_);
    return last_reserved_;
  }

  // ---- input: the number of the (first) command; never processed before it returns ----

  template <class T = M>
  Result<uint64_t> dispatch(T&& message) requires std::is_constructible_v<M, T&&> {
    return dispatch_to(input(), std::forward<T>(message));
  }
  template <class T = M>
  Result<uint64_t> dispatch_to(ActorId target, T&& message) {
    return dispatch(actions().send(target, std::forward<T>(message)));
  }
  Result<uint64_t> dispatch(Actions<M> batch) {
    detail::CommandList list = batch.release_to(*core_);
    return detail::dispatch(*core_, list);
  }
  Result<uint64_t> kill(ActorId target) { return dispatch(actions().kill(target)); }
  Result<uint64_t> fail(ActorId target, std::string_view why) {
    return dispatch(actions().fail(target, why));
  }
  [[nodiscard]] Actions<M> actions() const noexcept { return Actions<M>(*core_, 0); }

  // ---- running; none of them from inside ----

  // Until nothing is left to do, however late.
  RunReport run() { return detail::run(*core_, detail::RunWhat::all, 0); }
  // Until nothing is left to do at this moment; and for so long.
  RunReport run_ready() { return detail::run(*core_, detail::RunWhat::ready, 0); }
  RunReport run_for(std::chrono::nanoseconds time) {
    return detail::run(*core_, detail::RunWhat::until,
                       time.count() > 0 ? static_cast<uint64_t>(time.count()) : 0);
  }
  // The next command, or turn. False: there is none.
  bool step() {
    const RunReport report = detail::run(*core_, detail::RunWhat::one, ~uint64_t{0});
    return report.commands + report.steps != 0;
  }

  // ---- output ----

  // The next one, in the order of asking; a failure is an error. Errc::closed: all are taken, and
  // the scheduler has ended. Who drops the future, or cancels it, has taken nothing.
  [[nodiscard]] Future<M> next_output() {
    return detail::wait_for_command<M>(
        [&](detail::CommandWaiter& waiter) { detail::wait_for_output(*core_, waiter); });
  }
  // The same, after running for as long as it takes. Errc::empty: there is none to come.
  // Errc::timed_out: there is none within the turn budget.
  [[nodiscard]] Result<M> take_output() {
    constexpr const char* kSource = "take_output";
    Future<M> next = next_output();
    for (detail::RunWhat what = detail::RunWhat::one; !next.is_ready();) {
      const RunReport report = detail::run(*core_, what, ~uint64_t{0});
      what = detail::RunWhat::one_more;
      if (next.is_ready() || report.commands + report.steps != 0) continue;
      switch (report.end) {
        case RunEnd::refused:
          return Error(Errc::invalid_arg, "it would run inside of a run: use next_output()",
                       kSource);
        case RunEnd::budget_spent:
          return Error(Errc::timed_out, "the turn budget is spent: is it a runaway? See run()",
                       kSource);
        default:
          return Error(Errc::empty, {}, kSource);
      }
    }
    return next.get();
  }
  // What is there already.
  [[nodiscard]] Result<M> try_output() {
    Future<M> next = detail::wait_for_command<M>(
        [&](detail::CommandWaiter& waiter) { detail::try_output(*core_, waiter); });
    return next.get();
  }

  // ---- interceptors: each command passes them in the order in which they were added ----

  // An interceptor that throws, or whose actions are refused, is told to the output, and not called
  // again.
  void intercept(std::function<void(Interception<M>&)> interceptor) {
    detail::add_interceptor(*core_, [function = std::move(interceptor)](detail::CommandStep& step) {
      Interception<M> interception(step);
      function(interception);
    });
  }
  // Lets through what the function answers true for.
  void filter(std::function<bool(const Interception<M>&)> wants) {
    intercept([wants = std::move(wants)](Interception<M>& command) {
      if (!wants(command)) command.drop();
    });
  }
  // Whenever an A is to be spawned, what the function returns takes its place.
  template <class A, class F>
  void mock(F factory) {
    intercept([factory](Interception<M>& command) {
      if (command.template spawns<A>()) command.replace_actor(factory);
    });
  }

  // ---- the end ----

  // Refuses all input, ends all actors (their stop hooks run; the newest first) and dead-letters
  // what is queued. From inside of a run: as soon as the command at work is done.
  void shutdown() noexcept { detail::shutdown(*core_); }
  [[nodiscard]] bool is_ended() const noexcept { return detail::is_ended(*core_); }

  // ---- looking ----

  [[nodiscard]] SchedulerPhase phase() const noexcept { return detail::phase_of(*core_); }
  [[nodiscard]] ActorId input() const noexcept { return detail::input_of(*core_); }
  [[nodiscard]] ActorId output() const noexcept { return detail::output_of(*core_); }
  [[nodiscard]] size_t queued() const noexcept { return detail::queued_of(*core_); }
  [[nodiscard]] size_t live_actors() const noexcept { return detail::actors_of(*core_); }
  // Virtual time, from 0.
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept {
    return std::chrono::nanoseconds(detail::now_of(*core_));
  }
  // The system that the actors live in: for other actors and tasks beside them.
  [[nodiscard]] Self system() const noexcept { return Self(&detail::port_of(*core_), 0, 0); }
  [[nodiscard]] Pid pid(ActorId actor) const noexcept {
    return Pid(&detail::port_of(*core_), actor);
  }

  // ---- the log; CommandOptions::keeps_log ----

  [[nodiscard]] const CommandLog& log() const noexcept { return detail::log_of(*core_); }
  // Runs as the one that was logged did: what came from outside is dispatched again, and every
  // command is compared. The scheduler must be new, with the same options, interceptors and start.
  RunReport replay(const CommandLog& log) { return detail::replay(*core_, log); }

 private:
  [[nodiscard]] Result<ActorId> put(Actions<M> spawn) {
    if (!ok(reserve_error_)) return Error(reserve_error_, {}, "start");
    const Result<uint64_t> sent = dispatch(std::move(spawn));
    if (!sent) return sent.error();
    return last_reserved_;
  }

  template <class C>
  static constexpr detail::CommandCodec codec_by(bool is_comparable) {
    return {[](Envelope& message) { return C::encode(detail::message_in<M>(message)); },
            [](detail::Port& port, Envelope& envelope, std::string_view text) {
              std::optional<M> message = C::decode(text);
              return message && detail::put_message(port, envelope, std::move(*message));
            },
            is_comparable};
  }
  static constexpr detail::CommandCodec make_codec() {
    if constexpr (HasCodec<M>) {
      return codec_by<Codec<M>>(true);
    } else if constexpr (std::is_trivially_copyable_v<M>) {
      return codec_by<ByteCodec<M>>(std::has_unique_object_representations_v<M>);
    } else {
      return {};
    }
  }
  static constexpr detail::CommandCodec kCodec = make_codec();

  detail::CommandCore* core_;
  ActorId last_reserved_ = 0;
  Errc reserve_error_ = Errc::ok;
};

}  // namespace jzx
