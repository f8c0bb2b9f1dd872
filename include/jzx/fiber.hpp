// Fibers: actors that are straight-line code. A fiber has a stack of its own, so it can wait in the
// middle of whatever it does: in a loop, in a helper, in a destructor's neighbour.
//
//   runtime.spawn_fn([] {
//     for (;;) {
//       jzx::receive([](Ping ping) { ping.from << Pong{}; },
//                    [](const jzx::Down& down) { … });
//     }
//   });
//
// These functions know which fiber calls them. Outside of one they throw std::logic_error (and end
// the program, where the library was built without exceptions).
//
// A receive takes the oldest message that one of its functions is for, and leaves the others, in
// order, for later receives. It finds it without looking at those of other types. What a function
// returns answers an ask. Messages that wait count toward the mailbox's capacity.
//
// A fiber that is asked to end, by a stop or kill or by the end of one it is linked to, unwinds:
// the wait it is in throws, destructors run, and then everybody is told. What is thrown is no
// std::exception; a `catch (...)` should pass it on. One that does not has been killed all the
// same, and its next wait throws again. A wait in a destructor that runs meanwhile answers
// Wait::killed instead. A frame that is noexcept must not wait: what is thrown would end the
// process. Where the library was built without exceptions every wait answers Wait::killed, and the
// body must return.
//
// After a wait a fiber may be on another thread: thread_local variables, errno, and locks that
// belong to a thread are not kept across one. Placement::pinned() keeps it on one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <jzx/context.hpp>
#include <jzx/detail/fiber.hpp>

namespace jzx {

// ---- who and where ----

[[nodiscard]] inline Pid self() {
  const detail::FiberIdentity who = detail::identify_fiber("self");
  return Pid(who.port, who.self);
}
// Of the message received last; empty if that was no actor.
[[nodiscard]] inline Pid sender() {
  const detail::FiberIdentity who = detail::identify_fiber("sender");
  return who.sender == 0 ? Pid() : Pid(who.port, who.sender);
}

// All that can be done in the system of the fiber that calls.
class FiberSystem final : public SystemFace {
 public:
  explicit FiberSystem(const char* what = "FiberSystem")
      : SystemFace(detail::port_of_fiber(what)) {}
};

// ---- sending ----

template <class Target, class M>
Errc send(const Target& target, M&& message) {
  return target.send(std::forward<M>(message));
}

// To the sender of the message received last.
template <class M>
Errc reply(M&& message) {
  return sender().send(std::forward<M>(message));
}

// ---- patterns of a receive ----

// A message of any type of a user's, for the function of a receive.
class AnyMessage {
 public:
  explicit AnyMessage(Envelope& envelope) noexcept : envelope_(envelope) {}
  [[nodiscard]] const char* type_name() const noexcept { return envelope_.type->inner->name; }
  // nullptr: it is of another type.
  template <class M>
  [[nodiscard]] M* as() const noexcept {
    if (detail::key_of(envelope_) != detail::receive_key<M>()) return nullptr;
    return &detail::received<M>(envelope_);
  }

 private:
  Envelope& envelope_;
};

template <class Guard, class F>
struct GuardedFunction {
  Guard guard;
  F function;
};

// A function for those messages only that the guard, a predicate, accepts. A guard must not wait.
template <class Guard, class F>
[[nodiscard]] auto when(Guard guard, F function) {
  return GuardedFunction<Guard, F>{std::move(guard), std::move(function)};
}

template <class F>
struct AfterFunction {
  F function;
};

// What receive_for() calls when the time is up.
template <class F>
[[nodiscard]] auto after(F function) {
  return AfterFunction<F>{std::move(function)};
}

namespace detail {

// ---- an alternative of a receive ----

template <class F>
struct Alternative {
  static_assert(HasHandlerShape<F>,
                "jzx: receive() takes functions whose message type can be seen: lambdas with one "
                "plain parameter, not generic ones");
  using Message = typename HandlerShape<F>::Message;
  static constexpr bool takes_any = std::is_same_v<Message, AnyMessage>;

  static ReceivePattern pattern(F&) noexcept {
    return {takes_any ? nullptr : receive_key<Message>(), nullptr, nullptr};
  }
  static void call(F& function, FiberSeat& fiber, Envelope& envelope);
};

template <class Guard, class F>
struct Alternative<GuardedFunction<Guard, F>> {
  using Function = GuardedFunction<Guard, F>;
  using Message = typename Alternative<F>::Message;
  static_assert(std::is_invocable_r_v<bool, Guard&, const Message&>,
                "jzx: the guard of when() must take what its function takes, and answer a bool");

  static ReceivePattern pattern(Function& function) noexcept {
    return {Alternative<F>::takes_any ? nullptr : receive_key<Message>(), &accepts,
            &function.guard};
  }
  static void call(Function& function, FiberSeat& fiber, Envelope& envelope) {
    Alternative<F>::call(function.function, fiber, envelope);
  }

 private:
  static bool accepts(void* guard, Envelope& envelope) {
    if constexpr (Alternative<F>::takes_any) {
      const AnyMessage any(envelope);
      return (*static_cast<Guard*>(guard))(any);
    } else {
      return (*static_cast<Guard*>(guard))(std::as_const(received<Message>(envelope)));
    }
  }
};

// The message is the receive's until the function has returned, however it returns.
class Receiving {
 public:
  Receiving(FiberSeat& fiber, Envelope& envelope) noexcept : fiber_(fiber), envelope_(&envelope) {}
  ~Receiving() { end(); }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;
  void end() noexcept {
    if (envelope_ != nullptr) end_receive(fiber_, *std::exchange(envelope_, nullptr));
  }

 private:
  FiberSeat& fiber_;
  Envelope* envelope_;
};

template <class F>
void Alternative<F>::call(F& function, FiberSeat& fiber, Envelope& envelope) {
  Receiving receiving(fiber, envelope);
  if constexpr (takes_any) {
    AnyMessage any(envelope);
    (void)function(any);
  } else if constexpr (is_signal<Message>) {
    // A copy: the record is the system's, and may be needed again while the function waits.
    const Message signal = received<Message>(envelope);
    receiving.end();
    (void)function(signal);
  } else {
    using R = std::remove_cvref_t<decltype(function(std::declval<Message>()))>;
    Message& message = received<Message>(envelope);
    if (envelope.type->key == &message_type<Ask<Message, R>>) {
      Promise<R>& promise = message_in<Ask<Message, R>>(envelope).promise;
      if constexpr (std::is_void_v<R>) {
        function(std::move(message));
        settle_ask(envelope, promise, std::in_place);
      } else {
        settle_ask(envelope, promise, std::in_place, function(std::move(message)));
      }
    } else {
      (void)function(std::move(message));
    }
  }
}

template <class... F>
Wait receive_one(int64_t timeout_ms, F&... functions) {
  static_assert(sizeof...(F) > 0, "jzx: a receive needs a function to give the message to");
  const ReceivePattern patterns[] = {Alternative<F>::pattern(functions)...};
  Receive receive{patterns, sizeof...(F), timeout_ms};
  FiberSeat& fiber = begin_receive(receive);
  while (receive.envelope == nullptr) {
    if (!receive.is_waiting) return receive.why;
    leave_stack(fiber);
    look_for_mail(fiber, receive);
  }
  size_t i = 0;
  (void)((i++ == receive.which ? (Alternative<F>::call(functions, fiber, *receive.envelope), true)
                               : false) ||
         ...);
  // The function may have called exit(), and come back.
  return fiber.is_asked_to_end ? Wait::killed : Wait::done;
}

template <class T>
inline constexpr bool is_after = false;
template <class F>
inline constexpr bool is_after<AfterFunction<F>> = true;

// The last of the functions may be what to do when the time is up.
template <class... F>
Wait receive_until_after(int64_t timeout_ms, std::tuple<F&...> functions) {
  constexpr size_t last = sizeof...(F) - 1;
  using Last = std::remove_cvref_t<std::tuple_element_t<last, std::tuple<F...>>>;
  if constexpr (is_after<Last>) {
    static_assert(last > 0,
                  "jzx: receive_for() without a function to give a message to is "
                  "sleep_for()");
    const Wait result = [&]<size_t... I>(std::index_sequence<I...>) {
      return receive_one(timeout_ms, std::get<I>(functions)...);
    }
    (std::make_index_sequence<last>());
    if (result == Wait::timed_out) std::get<last>(functions).function();
    return result;
  } else {
    return std::apply([&](F&... each) { return receive_one(timeout_ms, each...); }, functions);
  }
}

[[nodiscard]] constexpr int64_t receive_timeout(std::chrono::milliseconds time) noexcept {
  return time.count() > 0 ? time.count() : 0;
}

}  // namespace detail

// ---- receiving ----

// Waits for a message that one of the functions is for, and calls that.
template <class... F>
Wait receive(F&&... functions) {
  return detail::receive_one(detail::kForEver, functions...);
}

// Waits for a message of this type, and gives it back; nothing if the fiber is to end and was not
// unwound.
template <class M>
[[nodiscard]] std::optional<M> receive() {
  std::optional<M> result;
  receive([&](M message) { result.emplace(std::move(message)); });
  return result;
}
// The same, but not longer than this: nothing if the time is up.
template <class M>
[[nodiscard]] std::optional<M> receive_for(std::chrono::milliseconds time) {
  std::optional<M> result;
  auto take = [&](M message) { result.emplace(std::move(message)); };
  detail::receive_one(detail::receive_timeout(time), take);
  return result;
}

// The same, but not longer than this: then Wait::timed_out. 0: only what is there. The last of the
// functions may be after(…), to be called in that case.
template <class... F>
Wait receive_for(std::chrono::milliseconds time, F&&... functions) {
  return detail::receive_until_after(detail::receive_timeout(time), std::tie(functions...));
}

// Waits for a message that the predicate accepts; both take the same type.
template <class Guard, class F>
Wait receive_if(Guard&& guard, F&& function) {
  return receive(when(std::forward<Guard>(guard), std::forward<F>(function)));
}

// ---- waiting ----

// Lets others have their turn.
inline Wait yield() {
  detail::FiberSeat& fiber = detail::begin_yield();
  detail::leave_stack(fiber);
  return detail::end_wait(fiber);
}
// Not shorter than this.
inline Wait sleep_for(std::chrono::milliseconds time) {
  detail::FiberSeat& fiber = detail::running_fiber("sleep_for");
  detail::begin_sleep(fiber, time.count());
  Wait why = Wait::done;
  while (detail::is_sleeping(fiber, why)) detail::leave_stack(fiber);
  return why;
}

// ---- ending ----

// Ends the fiber from wherever it is: unwinds, and then tells. Where the library was built without
// exceptions this returns, and the body must too.
inline void exit(ExitReason reason, std::string_view text = {}) {
  detail::exit_fiber(detail::running_fiber("exit"), reason, text);
}

// Ends another actor, before its next message.
inline Errc stop(Pid actor) { return FiberSystem("stop").stop(actor); }
inline Errc kill(Pid actor) { return FiberSystem("kill").kill(actor); }

// ---- bonds ----

inline Errc trap_exit(bool on) { return FiberSystem("trap_exit").trap_exit(self(), on); }
inline Errc link(Pid other) { return FiberSystem("link").link(self(), other); }
inline Errc unlink(Pid other) { return FiberSystem("unlink").unlink(self(), other); }
inline Errc monitor(Pid target, MonitorRef* out = nullptr) {
  return FiberSystem("monitor").monitor(self(), target, out);
}
inline Errc demonitor(MonitorRef ref) { return FiberSystem("demonitor").demonitor(ref); }

// ---- more fibers ----

// An empty Pid if it cannot be: no memory, or the limit of actors is reached.
template <class F>
Pid spawn_fn(F&& body) {
  return FiberSystem("spawn_fn").spawn_fn(std::forward<F>(body));
}
template <class F>
Pid spawn_fn_with(const SpawnOptions& options, F&& body) {
  return FiberSystem("spawn_fn_with").spawn_fn_with(options, std::forward<F>(body));
}
template <class F, class... Args>
requires detail::FiberFunction<F, Args...> Pid spawn(F&& body, Args&&... args) {
  return FiberSystem("spawn").spawn(std::forward<F>(body), std::forward<Args>(args)...);
}
// Linked to the one that calls before it runs.
template <class F>
Pid spawn_link(F&& body) {
  SpawnOptions options;
  options.link = self();
  return spawn_fn_with(options, std::forward<F>(body));
}
template <class F>
Pid spawn_monitor(F&& body, MonitorRef* out = nullptr) {
  SpawnOptions options;
  options.monitor = self();
  options.monitor_ref = out;
  return spawn_fn_with(options, std::forward<F>(body));
}

}  // namespace jzx
