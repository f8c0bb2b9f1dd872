// Supervisors: who is started, in which order, and what happens when one ends.
//
//   auto family = loop.supervise({.strategy = jzx::Strategy::one_for_one, .intensity = 5},
//                                {jzx::child<Worker>("worker", 42).backoff({.initial = 10ms}),
//                                 jzx::child<Logger>("logger").transient(),
//                                 jzx::supervisor("inner", {}, {jzx::child<Leaf>("leaf")})});
//
// A child is made anew for every start, from copies of the arguments. Children are made in the
// order in which they are named, and all of them, or none. Their first turns, in which on_start()
// runs, may come in any order: one that needs another can send to it already, and its message
// waits.
//
// Supervisors may nest 64 deep in one spec, the outermost counted; more is Errc::invalid_arg, and
// so is a child's name with a zero byte.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <jzx/actor_ref.hpp>
#include <jzx/detail/fiber_body.hpp>
#include <jzx/detail/port.hpp>
#include <jzx/detail/spawn_choices.hpp>
#include <jzx/detail/spawned_task.hpp>

namespace jzx {

enum class Strategy : uint8_t {
  one_for_one,   // only the one that failed is started again
  one_for_all,   // all are stopped and started again
  rest_for_one,  // the one that failed, and those started after it
};

enum class ChildMode : uint8_t {
  permanent,  // always started again
  transient,  // after an abnormal end
  temporary,  // never
};

struct SupervisorOptions {
  Strategy strategy = Strategy::one_for_one;
  uint32_t intensity = 3;  // restarts allowed in any period; the next one ends the supervisor
  std::chrono::milliseconds period{5000};
};

// For ChildSpec::stop_within(): a child that is asked to stop is waited for as long as it takes.
inline constexpr std::chrono::milliseconds kNoStopLimit = std::chrono::milliseconds::max();

struct Backoff {
  std::chrono::milliseconds initial{0};
  std::chrono::milliseconds max{60'000};
  float factor = 2.0f;
  std::chrono::milliseconds jitter{0};
};

namespace detail {

// Makes an actor of one type, again and again.
class ActorMaker {
 public:
  virtual ~ActorMaker() = default;
  // nullptr: no memory.
  [[nodiscard]] virtual void* make(Port& port) = 0;
  [[nodiscard]] virtual const ActorType& type() const noexcept = 0;
};

template <class A, class... Args>
class ActorMakerFor final : public ActorMaker {
 public:
  explicit ActorMakerFor(Args... args) : args_(std::move(args)...) {}
  void* make(Port& port) override {
    return std::apply([&](const Args&... args) { return make_instance<A>(port, args...); }, args_);
  }
  const ActorType& type() const noexcept override { return actor_type<A>; }

 private:
  std::tuple<Args...> args_;
};

// Makes a fiber with the same function, again and again.
class FiberMaker {
 public:
  virtual ~FiberMaker() = default;
  // nullptr and the error: no stack.
  [[nodiscard]] virtual FiberSeat* make(Port& port, size_t stack_size, Errc& error) = 0;
};

template <class F>
class FiberMakerFor final : public FiberMaker {
 public:
  explicit FiberMakerFor(F body) : body_(std::move(body)) {}
  FiberSeat* make(Port& port, size_t stack_size, Errc& error) override {
    return make_fiber_body(port, stack_size, F(body_), error);
  }

 private:
  F body_;
};

// Makes a task by the same function, again and again.
class TaskMaker {
 public:
  virtual ~TaskMaker() = default;
  // nullptr and the error: no memory, or a task that cannot begin.
  [[nodiscard]] virtual SpawnedTask* make(Errc& error) = 0;
};

template <class F>
class TaskMakerFor final : public TaskMaker {
 public:
  explicit TaskMakerFor(F function) : function_(std::move(function)) {}
  SpawnedTask* make(Errc& error) override { return SupervisedTask<F>::make(function_, error); }

 private:
  F function_;
};

}  // namespace detail

// One child of a supervisor, or a supervisor as a child.
class ChildSpec {
 public:
  ChildSpec(std::string name, std::shared_ptr<detail::ActorMaker> maker)
      : name_(std::move(name)), maker_(std::move(maker)) {}
  ChildSpec(std::string name, std::shared_ptr<detail::FiberMaker> maker)
      : name_(std::move(name)), fiber_maker_(std::move(maker)) {}
  ChildSpec(std::string name, std::shared_ptr<detail::TaskMaker> maker)
      : name_(std::move(name)), task_maker_(std::move(maker)) {}
  ChildSpec(std::string name, const SupervisorOptions& options, std::vector<ChildSpec> children)
      : name_(std::move(name)), options_(options), children_(std::move(children)) {}

  // By value, so that a spec can also be changed step by step: spec = std::move(spec).transient().
  [[nodiscard]] ChildSpec permanent() && { return with_mode(ChildMode::permanent); }
  [[nodiscard]] ChildSpec transient() && { return with_mode(ChildMode::transient); }
  [[nodiscard]] ChildSpec temporary() && { return with_mode(ChildMode::temporary); }
  // As in SpawnOptions, for every start. A supervisor has them for itself, not for its children.
  [[nodiscard]] ChildSpec mailbox_cap(uint32_t slots) && {
    request_.mailbox_cap = slots;
    return std::move(*this);
  }
  [[nodiscard]] ChildSpec priority(Priority level) && {
    request_.priority = static_cast<uint8_t>(level);
    return std::move(*this);
  }
  // Placement::pinned(): on the worker of its first start, also after a restart. A supervisor
  // cannot be run by hand.
  [[nodiscard]] ChildSpec placement(Placement where) && {
    request_.home = where.home();
    return std::move(*this);
  }
  [[nodiscard]] ChildSpec overload(Overload what) && {
    request_.overload = static_cast<uint8_t>(what);
    return std::move(*this);
  }
  [[nodiscard]] ChildSpec high_water(uint32_t messages) && {
    request_.high_water = messages;
    return std::move(*this);
  }
  // Of a fiber.
  [[nodiscard]] ChildSpec stack_size(size_t bytes) && {
    stack_size_ = bytes;
    return std::move(*this);
  }
  // How long it may take to end when it is stopped: with its group, with its supervisor, or because
  // it is removed. 5 s if nothing is said; a supervisor has no limit then, since its children have
  // theirs. When the time is up it is killed, with all below it: a fiber or a task that goes on
  // waiting is left as it stands, and what it holds is not given back. A handler that runs, or code
  // that computes, is waited for: no code is interrupted. Not of a child that ends by itself.
  [[nodiscard]] ChildSpec stop_within(std::chrono::milliseconds limit) && {
    stop_within_ = limit;
    return std::move(*this);
  }
  [[nodiscard]] ChildSpec backoff(const Backoff& spec) && {
    backoff_ = std::make_shared<Backoff>(spec);
    return std::move(*this);
  }

  // ---- for the library ----
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::shared_ptr<detail::ActorMaker>& maker() const noexcept { return maker_; }
  [[nodiscard]] const std::shared_ptr<detail::FiberMaker>& fiber_maker() const noexcept {
    return fiber_maker_;
  }
  [[nodiscard]] const std::shared_ptr<detail::TaskMaker>& task_maker() const noexcept {
    return task_maker_;
  }
  [[nodiscard]] size_t stack_bytes() const noexcept { return stack_size_; }
  [[nodiscard]] const SupervisorOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::vector<ChildSpec>& children() const noexcept { return children_; }
  [[nodiscard]] ChildMode mode() const noexcept { return mode_; }
  // Who is bound to it, and its name, are not in there.
  [[nodiscard]] const detail::SpawnRequest& request() const noexcept { return request_; }
  [[nodiscard]] const Backoff* backoff_spec() const noexcept { return backoff_.get(); }
  [[nodiscard]] std::optional<std::chrono::milliseconds> stop_limit() const noexcept {
    return stop_within_;
  }

 private:
  ChildSpec with_mode(ChildMode mode) {
    mode_ = mode;
    return std::move(*this);
  }

  std::string name_;
  // All null: a supervisor.
  std::shared_ptr<detail::ActorMaker> maker_;
  std::shared_ptr<detail::FiberMaker> fiber_maker_;
  std::shared_ptr<detail::TaskMaker> task_maker_;
  size_t stack_size_ = 0;
  SupervisorOptions options_;
  std::vector<ChildSpec> children_;
  ChildMode mode_ = ChildMode::permanent;
  detail::SpawnRequest request_;
  std::shared_ptr<Backoff> backoff_;
  std::optional<std::chrono::milliseconds> stop_within_;
};

template <class A, class... Args>
[[nodiscard]] ChildSpec child(std::string name, Args&&... args) {
  return {std::move(name), std::make_shared<detail::ActorMakerFor<A, std::decay_t<Args>...>>(
                               std::forward<Args>(args)...)};
}

// A fiber as a child: every start calls a copy of this function. A fiber that returns has ended
// normally.
template <class F>
[[nodiscard]] ChildSpec child_fn(std::string name, F&& body) {
  static_assert(
      std::is_invocable_v<std::decay_t<F>> && std::is_copy_constructible_v<std::decay_t<F>>,
      "jzx: child_fn() takes a function without parameters that can be copied, since "
      "every restart needs one");
  std::shared_ptr<detail::FiberMaker> maker =
      std::make_shared<detail::FiberMakerFor<std::decay_t<F>>>(std::forward<F>(body));
  return {std::move(name), std::move(maker)};
}

// A task as a child: every start calls a copy of this function, which returns a Task<void>. It ends
// normally when the task does well, and with the task's error otherwise. To stop it is to ask the
// task to stop.
template <class F>
[[nodiscard]] ChildSpec child_async(std::string name, F&& make_task) {
  using Function = std::decay_t<F>;
  static_assert(
      std::is_invocable_r_v<Task<void>, Function&> && std::is_copy_constructible_v<Function>,
      "jzx: child_async() takes a function without parameters that returns a Task<void> "
      "and can be copied, since every restart needs one");
  std::shared_ptr<detail::TaskMaker> maker =
      std::make_shared<detail::TaskMakerFor<Function>>(std::forward<F>(make_task));
  return {std::move(name), std::move(maker)};
}

[[nodiscard]] inline ChildSpec supervisor(std::string name, const SupervisorOptions& options,
                                          std::vector<ChildSpec> children) {
  return {std::move(name), options, std::move(children)};
}

namespace detail {

JZX_API Errc spawn_supervisor(Port& port, const SupervisorOptions& options,
                              const std::vector<ChildSpec>& children, ActorId parent, ActorId& out);

}  // namespace detail

struct ChildCounts {
  size_t specs = 0;        // children known
  size_t active = 0;       // of them, running
  size_t supervisors = 0;  // of the active ones, supervisors
};

struct ChildInfo {
  std::string name;
  Pid pid;  // empty while it is down
  ChildMode mode = ChildMode::permanent;
};

// A running supervisor. Threads: the loop's own.
class SupervisorRef {
 public:
  SupervisorRef() noexcept = default;
  explicit SupervisorRef(Pid pid) noexcept : pid_(pid) {}

  // The child at this place of the list; empty while it is down. A restart gives a new one.
  [[nodiscard]] JZX_API Pid child(size_t index) const;
  // The same, typed by the caller, who knows.
  template <class A>
  [[nodiscard]] ActorRef<A> child_as(size_t index) const {
    return ActorRef<A>(child(index));
  }

  // Starts one more child, supervised like the others.
  [[nodiscard]] JZX_API Result<Pid> add(const ChildSpec& spec) const;
  // Stops a child for good.
  JZX_API Errc remove(Pid child) const;
  [[nodiscard]] JZX_API std::vector<ChildInfo> which_children() const;
  [[nodiscard]] JZX_API ChildCounts count() const;

  [[nodiscard]] Pid pid() const noexcept { return pid_; }
  operator Pid() const noexcept { return pid_; }  // NOLINT: it is one
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(pid_); }

 private:
  Pid pid_;
};

}  // namespace jzx
