// What can be done in a running system, by a loop or a runtime and from inside a handler alike:
// spawn, stop, link, monitor, names, timers, file descriptors.
//
// Actors of another system can be sent to, but not stopped, linked, monitored, given timers or
// names from here: that is actor_not_local.
//
// Threads: of a loop its own, except that references may be sent to from anywhere; of a runtime
// any. A Context is for its handler's.
#pragma once

#include <atomic>
#include <chrono>
#include <string_view>
#include <vector>

#include <jzx/async/sleep.hpp>
#include <jzx/detail/down_watcher.hpp>
#include <jzx/detail/fiber_body.hpp>
#include <jzx/detail/spawn_choices.hpp>
#include <jzx/detail/spawned_task.hpp>
#include <jzx/handle_pools.hpp>
#include <jzx/supervisor.hpp>

namespace jzx {

// Of the system that gave them. In another one they are almost certainly refused, like the id of a
// timer that has fired or of a monitor that has told.
struct TimerId {
  uint64_t value = 0;
};

struct MonitorRef {
  uint64_t value = 0;
};

struct SpawnOptions {
  const char* name = nullptr;  // a label for people and observers
  uint32_t mailbox_cap = 0;    // 0: the loop's default
  // Hears of the end, and stops the actor with itself, for which that has 5 s; see
  // ChildSpec::stop_within().
  Pid supervisor{};
  Priority priority = Priority::normal;
  Overload overload = Overload::refuse;
  uint32_t high_water = 0;  // queued messages at which a turn tells the observer; 0: never
  Placement placement = Placement::anywhere();
  // Address space for the stack of a fiber, its guard included; 0: 64 KiB. Rounded up to a power of
  // two, 16 KiB to 8 MiB. Memory is taken page by page as it is used.
  size_t stack_size = 0;
  Pid link{};     // is linked to the new actor before that has its first turn
  Pid monitor{};  // monitors it from then on
  MonitorRef* monitor_ref = nullptr;
};

// A type of actor, as the registry of a system knows it.
struct ActorTypeInfo {
  std::string_view name;  // as it is written in C++
  size_t state_size = 0;
  std::vector<std::string_view> messages;  // those it lists for untyped sends
};

// How deep the stacks of one type of fiber have been.
struct FiberStackInfo {
  std::string_view type;  // the type of its function, as it is written in C++
  size_t stack_size = 0;  // bytes it may use, of the largest
  size_t deepest = 0;     // bytes that one has used, rounded up to a page
  uint64_t measured = 0;  // how many ended fibers were looked at: the first few, then one in many
};

namespace detail {

[[nodiscard]] JZX_API Future<void> sleep_in(Port& port, std::chrono::milliseconds time) noexcept;
[[nodiscard]] JZX_API std::vector<FiberStackInfo> stack_marks(Port& port);
[[nodiscard]] JZX_API std::string_view type_name_of(Port& port, ActorId id) noexcept;
[[nodiscard]] JZX_API std::vector<ActorTypeInfo> known_types(Port& port);
// Ends the program if there is no system, and says so.
[[nodiscard]] JZX_API HandlePools& handle_pools_of(Port* port) noexcept;

}  // namespace detail

class SystemFace;

namespace detail {

// The port behind a face; nullptr if it could not be made.
[[nodiscard]] Port* port_of(const SystemFace& face) noexcept;

}  // namespace detail

class SystemFace {
 public:
  // ---- actors ----

  // An empty reference if it cannot be: no memory, or the limit of actors is reached (`error`).
  template <class A, class... Args>
  ActorRef<A> spawn(Args&&... args) {
    return spawn_with<A>(SpawnOptions{}, std::forward<Args>(args)...);
  }
  template <class A, class... Args>
  ActorRef<A> spawn_with(const SpawnOptions& options, Args&&... args) {
    if (port_ == nullptr) return spawn_failed<A>(Errc::loop_closed);
    if (asks_for_others(options)) return spawn_failed<A>(Errc::actor_not_local);
    A* instance = detail::make_instance<A>(*port_, std::forward<Args>(args)...);
    if (instance == nullptr) return spawn_failed<A>(Errc::no_memory);
    ActorId id = 0;
    const Errc error =
        detail::spawn(*port_, detail::actor_type<A>, instance, request_of(options), id);
    if (error == Errc::ok) return ActorRef<A>(Pid(port_, id));
    return spawn_failed<A>(error);
  }

  // A fiber: straight-line code on a stack of its own, which may wait in the middle; see fiber.hpp.
  // It ends when the function returns. An empty Pid if it cannot be (spawn_error()).
  template <class F>
  Pid spawn_fn(F&& body) {
    if (port_ == nullptr) return spawn_failed<void>(Errc::loop_closed);
    return spawn_fiber(0, detail::kUsualRequest, std::forward<F>(body));
  }
  template <class F>
  Pid spawn_fn_with(const SpawnOptions& options, F&& body) {
    if (port_ == nullptr) return spawn_failed<void>(Errc::loop_closed);
    if (asks_for_others(options)) return spawn_failed<void>(Errc::actor_not_local);
    return spawn_fiber(options.stack_size, request_of(options), std::forward<F>(body));
  }
  // The same, with arguments, which are copied or moved to the fiber.
  template <class F, class... Args>
  requires detail::FiberFunction<F, Args...> Pid spawn(F&& body, Args&&... args) {
    return spawn_fn(detail::bind_body(std::forward<F>(body), std::forward<Args>(args)...));
  }

  // A task as an actor of its own, see task.hpp. It ends when the task does, and its future has
  // what the task returned. To kill the actor, or to cancel the future, is to ask the task to stop;
  // to drop the future is not. `out` gets the actor.
  template <class T>
  Future<T> spawn_async(Task<T> task, Pid* out = nullptr) {
    return spawn_async_with(SpawnOptions{}, std::move(task), out);
  }
  template <class T>
  Future<T> spawn_async_with(const SpawnOptions& options, Task<T> task, Pid* out = nullptr) {
    if (port_ == nullptr) return Future<T>::failed(Errc::loop_closed);
    if (asks_for_others(options)) return Future<T>::failed(Errc::actor_not_local);
    ActorId id = 0;
    Future<T> future = detail::spawn_async(*port_, std::move(task), request_of(options), &id);
    if (out != nullptr) *out = id != 0 ? Pid(port_, id) : Pid();
    return future;
  }

  // Why the last spawn gave an empty reference. Where several threads spawn, of any of them.
  [[nodiscard]] Errc spawn_error() const noexcept { return spawn_error_.get(); }

  // Starts a supervisor and its children; an empty reference if that cannot be (`supervise_error`).
  SupervisorRef supervise(const SupervisorOptions& options, const std::vector<ChildSpec>& children,
                          Pid parent = {}) {
    ActorId id = 0;
    const Errc error = port_ == nullptr ? Errc::loop_closed
                       : is_elsewhere(parent)
                           ? Errc::actor_not_local
                           : detail::spawn_supervisor(*port_, options, children, parent.id(), id);
    if (ok(error)) return SupervisorRef(Pid(port_, id));
    supervise_error_.set(error);
    return {};
  }
  // Why the last supervise gave an empty reference; as spawn_error().
  [[nodiscard]] Errc supervise_error() const noexcept { return supervise_error_.get(); }

  // What sort of actor this is, as its type is written in C++; empty if it has ended.
  [[nodiscard]] std::string_view type_name(Pid actor) const {
    if (is_elsewhere(actor) || !actor) return {};
    return detail::type_name_of(*port_, actor.id());
  }
  // Every type of typed actor that was spawned here so far.
  [[nodiscard]] std::vector<ActorTypeInfo> actor_types() const {
    return port_ == nullptr ? std::vector<ActorTypeInfo>() : detail::known_types(*port_);
  }

  // How much stack the fibers of this system have needed, by type: to choose a stack_size by. Those
  // that have ended, and those that are alive.
  [[nodiscard]] std::vector<FiberStackInfo> fiber_stacks() const {
    return port_ == nullptr ? std::vector<FiberStackInfo>() : detail::stack_marks(*port_);
  }

  // Both take effect before its next message.
  Errc stop(Pid actor) { return end(actor, ExitReason::normal); }
  Errc kill(Pid actor) { return end(actor, ExitReason::killed); }

  // The handle pools of this system, one per type; they end with it. The system must be there.
  [[nodiscard]] HandlePools& handle_pools() { return detail::handle_pools_of(port_); }

  // ---- names ----

  Errc register_name(Pid actor, std::string_view name) {
    if (is_elsewhere(actor)) return Errc::actor_not_local;
    return detail::register_name(*port_, actor.id(), name);
  }
  // An empty Pid if nobody has that name.
  [[nodiscard]] Pid whereis(std::string_view name) {
    if (port_ == nullptr) return {};
    ActorId id = 0;
    return ok(detail::whereis(*port_, name, id)) ? Pid(port_, id) : Pid();
  }

  // ---- bonds ----

  Errc link(Pid a, Pid b) {
    if (is_elsewhere(a) || is_elsewhere(b)) return Errc::actor_not_local;
    return detail::link(*port_, a.id(), b.id());
  }
  Errc unlink(Pid a, Pid b) {
    if (is_elsewhere(a) || is_elsewhere(b)) return Errc::actor_not_local;
    return detail::unlink(*port_, a.id(), b.id());
  }
  Errc trap_exit(Pid actor, bool on) {
    if (is_elsewhere(actor)) return Errc::actor_not_local;
    return detail::trap_exit(*port_, actor.id(), on);
  }
  // The watcher gets exactly one Down; at once if the target is gone already.
  Errc monitor(Pid watcher, Pid target, MonitorRef* out = nullptr) {
    if (is_elsewhere(watcher) || is_elsewhere(target)) return Errc::actor_not_local;
    MonitorRef ref;
    const Errc error = detail::monitor(*port_, watcher.id(), target.id(), ref.value);
    if (out != nullptr && error == Errc::ok) *out = ref;
    return error;
  }
  // A monitor as a future: how the actor ends, at once if it has already. To drop the future is to
  // demonitor. It is a small actor of its own that watches.
  [[nodiscard]] Future<Down> when_down(Pid target) {
    if (port_ == nullptr) return Future<Down>::failed(Errc::loop_closed);
    if (is_elsewhere(target)) return Future<Down>::failed(Errc::actor_not_local);
    detail::DownTicket ticket;
    if (ticket.state == nullptr) return Future<Down>::failed(Errc::no_memory);
    detail::DownTicket::State& state = *ticket.state;
    Future<Down> future(&state);
    const auto watcher = spawn<detail::DownWatcher>(std::move(ticket));
    if (!watcher) return Future<Down>::failed(spawn_error());
    state.source = {port_, watcher.id()};
    const Errc error = monitor(watcher, target);
    return ok(error) ? std::move(future) : Future<Down>::failed(error);
  }
  Errc demonitor(MonitorRef ref) {
    return port_ == nullptr ? Errc::loop_closed : detail::demonitor(*port_, ref.value);
  }

  // ---- timers ----

  // Delivered once, never early; dead-lettered if the target ends first.
  template <class A, class M>
  Errc send_after(std::chrono::milliseconds delay, const ActorRef<A>& target, M&& message,
                  TimerId* out = nullptr) {
    using Type = std::remove_cvref_t<M>;
    if constexpr (detail::check_handler<A, Type>()) {
      return arm(delay, target.pid(), detail::typed_message<A, Type>, std::forward<M>(message),
                 out);
    } else {
      return Errc::invalid_arg;
    }
  }
  template <class M>
  Errc send_after(std::chrono::milliseconds delay, Pid target, M&& message,
                  TimerId* out = nullptr) {
    using Type = std::remove_cvref_t<M>;
    if constexpr (detail::check_message<Type>()) {
      return arm(delay, target, detail::message_type<Type>, std::forward<M>(message), out);
    } else {
      return Errc::invalid_arg;
    }
  }
  // For the library: with a message type of its own making.
  template <class M>
  Errc send_after_as(std::chrono::milliseconds delay, Pid target, const MessageType& type,
                     M&& message) {
    return arm(delay, target, type, std::forward<M>(message), nullptr);
  }
  Errc cancel(TimerId timer) {
    return port_ == nullptr ? Errc::loop_closed : detail::cancel_timer(*port_, timer.value);
  }

  // A future of time, from any thread of the system or outside of it; see async/sleep.hpp.
  [[nodiscard]] Future<void> sleep(std::chrono::milliseconds time) {
    if (port_ == nullptr) return Future<void>::failed(Errc::loop_closed);
    return detail::sleep_in(*port_, time);
  }

  // ---- file descriptors ----

  // The owner gets an IoEvent when readiness begins. Interest: kIoRead, kIoWrite, or both.
  Errc watch_fd(int fd, Pid owner, uint32_t interest) {
    if (is_elsewhere(owner)) return Errc::actor_not_local;
    return detail::watch_fd(*port_, fd, owner.id(), interest);
  }
  Errc unwatch_fd(int fd) {
    return port_ == nullptr ? Errc::loop_closed : detail::unwatch_fd(*port_, fd);
  }

 protected:
  friend detail::Port* detail::port_of(const SystemFace& face) noexcept;
  explicit SystemFace(detail::Port* port) noexcept : port_(port) {}
  ~SystemFace() = default;

  // A system that could not be made has no actors at all.
  [[nodiscard]] bool is_elsewhere(Pid actor) const noexcept {
    return port_ == nullptr || (actor && actor.port() != port_);
  }

  detail::Port* port_;

 private:
  // A reference to nobody, and why.
  template <class A>
  std::conditional_t<std::is_void_v<A>, Pid, ActorRef<A>> spawn_failed(Errc error) {
    spawn_error_.set(error);
    return {};
  }
  template <class F>
  Pid spawn_fiber(size_t stack_size, const detail::SpawnRequest& request, F&& body) {
    ActorId id = 0;
    const Errc error = detail::spawn_fiber(*port_, stack_size, request, std::forward<F>(body), id);
    return error == Errc::ok ? Pid(port_, id) : spawn_failed<void>(error);
  }
  [[nodiscard]] bool asks_for_others(const SpawnOptions& options) const noexcept {
    return is_elsewhere(options.supervisor) || is_elsewhere(options.link) ||
           is_elsewhere(options.monitor);
  }
  [[nodiscard]] static detail::SpawnRequest request_of(const SpawnOptions& options) noexcept {
    return {.label = options.name,
            .parent = options.supervisor.id(),
            .link = options.link.id(),
            .watcher = options.monitor.id(),
            .monitor_ref = options.monitor_ref != nullptr ? &options.monitor_ref->value : nullptr,
            .high_water = options.high_water,
            .priority = static_cast<uint8_t>(options.priority),
            .home = options.placement.home(),
            .overload = static_cast<uint8_t>(options.overload),
            .mailbox_cap = options.mailbox_cap};
  }

  Errc end(Pid actor, ExitReason reason) {
    if (is_elsewhere(actor)) return Errc::actor_not_local;
    return detail::request_exit(*port_, actor.id(), reason);
  }

  template <class M>
  Errc arm(std::chrono::milliseconds delay, Pid target, const MessageType& type, M&& message,
           TimerId* out) {
    if (is_elsewhere(target)) return Errc::actor_not_local;
    Errc error = Errc::ok;
    Envelope* envelope = detail::begin_timer(*port_, target.id(), error);
    if (envelope == nullptr) return error;
    struct Undo {
      ~Undo() {
        if (envelope != nullptr) detail::abort_timer(port, *envelope);
      }
      detail::Port& port;
      Envelope* envelope;
    } undo{*port_, envelope};
    if (!detail::put_message(*port_, *envelope, std::forward<M>(message))) return Errc::no_memory;
    undo.envelope = nullptr;
    envelope->type = &type;
    const auto delay_ms = static_cast<uint64_t>(delay.count() > 0 ? delay.count() : 0);
    const uint64_t id = detail::finish_timer(*port_, *envelope, delay_ms);
    if (out != nullptr) out->value = id;
    return Errc::ok;
  }

  // Any thread may read and write it. In two bytes: two of these and what a Context notes besides
  // are cleared by one store.
  class LastError {
   public:
    // relaxed: a value on its own.
    [[nodiscard]] Errc get() const noexcept {
      return static_cast<Errc>(value_.load(std::memory_order_relaxed));
    }
    void set(Errc error) noexcept {
      value_.store(static_cast<int16_t>(error), std::memory_order_relaxed);
    }

   private:
    std::atomic<int16_t> value_{static_cast<int16_t>(Errc::ok)};
  };

  LastError spawn_error_;
  LastError supervise_error_;
};

inline detail::Port* detail::port_of(const SystemFace& face) noexcept { return face.port_; }

}  // namespace jzx
