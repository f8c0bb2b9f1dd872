#include "runtime/supervisor_plan.hpp"

#include <cstring>

#include "base/text.hpp"
#include "core/guard.hpp"
#include "kinds/coroutine/coroutine.hpp"
#include "kinds/fiber/fiber.hpp"
#include "kinds/handlers/handlers.hpp"
#include "runtime/port.hpp"

namespace jzx {

namespace runtime {

namespace {

// What belongs to a child is constructed, perhaps by a fiber that starts its supervisor.
struct Constructing : kinds::Fiber::MustNotWait {
  Constructing() noexcept : MustNotWait(kinds::Fiber::acting()) {}
};

class HandlersChild final : public supervise::ChildFactory {
 public:
  HandlersChild(std::shared_ptr<detail::ActorMaker> maker, detail::Port& port) noexcept
      : maker_(std::move(maker)), port_(port) {}

  Errc make(core::Host&, core::SpawnOptions& options) override {
    const Constructing now;
    bool threw = false;
    void* instance = core::guard([&] { return maker_->make(port_); },
                                 [&](const char*) -> void* {
                                   threw = true;
                                   return nullptr;
                                 });
    if (instance == nullptr) return threw ? Errc::start_failed : Errc::no_memory;
    kinds::describe_handlers(maker_->type(), instance, options);
    port_.types.note(maker_->type());
    return Errc::ok;
  }
  void unmake(core::Host&, core::SpawnOptions& options) noexcept override {
    maker_->type().destroy(options.body.words[1], port_);
  }
  void dispose(const base::Allocator& allocator) noexcept override { allocator.destroy(this); }

 private:
  std::shared_ptr<detail::ActorMaker> maker_;
  detail::Port& port_;
};

class FiberChild final : public supervise::ChildFactory {
 public:
  FiberChild(std::shared_ptr<detail::FiberMaker> maker, size_t stack_size,
             detail::Port& port) noexcept
      : maker_(std::move(maker)), stack_size_(stack_size), port_(port) {}

  Errc make(core::Host&, core::SpawnOptions& options) override {
    const Constructing now;
    Errc error = Errc::ok;
    detail::FiberSeat* seat = core::guard([&] { return maker_->make(port_, stack_size_, error); },
                                          [&](const char*) -> detail::FiberSeat* {
                                            error = Errc::start_failed;
                                            return nullptr;
                                          });
    if (seat == nullptr) return error;
    auto& fiber = static_cast<kinds::Fiber&>(*seat);
    fiber.note_body();
    kinds::describe_fiber(port_.system, fiber, options);
    return Errc::ok;
  }
  void unmake(core::Host& host, core::SpawnOptions& options) noexcept override {
    auto& fiber = *static_cast<kinds::Fiber*>(options.body.words[0]);
    fiber.destroy_body();
    kinds::give_fiber(host, fiber);
  }
  void dispose(const base::Allocator& allocator) noexcept override { allocator.destroy(this); }

 private:
  std::shared_ptr<detail::FiberMaker> maker_;
  size_t stack_size_;
  detail::Port& port_;
};

class TaskChild final : public supervise::ChildFactory {
 public:
  explicit TaskChild(std::shared_ptr<detail::TaskMaker> maker) noexcept
      : maker_(std::move(maker)) {}

  Errc make(core::Host&, core::SpawnOptions& options) override {
    const Constructing now;
    Errc error = Errc::ok;
    detail::SpawnedTask* task = core::guard([&] { return maker_->make(error); },
                                            [&](const char*) -> detail::SpawnedTask* {
                                              error = Errc::start_failed;
                                              return nullptr;
                                            });
    if (task == nullptr) return error;
    kinds::describe_task(*task, options);
    return Errc::ok;
  }
  void unmake(core::Host&, core::SpawnOptions& options) noexcept override {
    auto& task = *static_cast<detail::SpawnedTask*>(options.body.words[0]);
    task.type.destroy(task);
  }
  void dispose(const base::Allocator& allocator) noexcept override { allocator.destroy(this); }

 private:
  std::shared_ptr<detail::TaskMaker> maker_;
};

uint32_t whole_ms(std::chrono::milliseconds time) noexcept {
  return static_cast<uint32_t>(std::clamp<int64_t>(time.count(), 0, UINT32_MAX));
}

Errc make_plan_at(detail::Port& port, const SupervisorOptions& options,
                  const std::vector<ChildSpec>& children, int depth, supervise::Plan*& out);

// `depth` is that of the supervisor whose child it is; 0: of one that runs already.
Errc fill_spec(detail::Port& port, const ChildSpec& spec, int depth, supervise::ChildSpec& out) {
  const base::Allocator& allocator = port.system.allocator;
  out.mode = static_cast<supervise::ChildMode>(spec.mode());
  const detail::SpawnRequest& request = spec.request();
  out.mailbox_cap = request.mailbox_cap;
  out.high_water = request.high_water;
  out.priority = static_cast<base::Priority>(request.priority);
  out.home = request.home;
  out.overload = static_cast<core::Overload>(request.overload);
  const bool is_supervisor =
      spec.maker() == nullptr && spec.fiber_maker() == nullptr && spec.task_maker() == nullptr;
  if (spec.stop_limit().has_value()) {
    out.stop_within_ms = whole_ms(*spec.stop_limit());  // kNoStopLimit is more than that can say
  } else if (is_supervisor) {
    out.stop_within_ms = core::kNoStopLimit;
  }
  if (const Backoff* backoff = spec.backoff_spec()) {
    out.has_backoff = true;
    out.backoff = {whole_ms(backoff->initial), whole_ms(backoff->max), backoff->factor,
                   whole_ms(backoff->jitter)};
    if (!out.backoff.is_valid()) return Errc::invalid_arg;
  }
  if (base::has_zero_byte(spec.name())) return Errc::invalid_arg;  // it would be cut off there
  out.name = static_cast<char*>(allocator.allocate(spec.name().size() + 1));
  if (out.name == nullptr) return Errc::no_memory;
  std::memcpy(out.name, spec.name().c_str(), spec.name().size() + 1);
  if (spec.maker() != nullptr) {
    out.factory = allocator.create<HandlersChild>(spec.maker(), port);
    return out.factory != nullptr ? Errc::ok : Errc::no_memory;
  }
  if (spec.fiber_maker() != nullptr) {
    out.factory = allocator.create<FiberChild>(spec.fiber_maker(), spec.stack_bytes(), port);
    return out.factory != nullptr ? Errc::ok : Errc::no_memory;
  }
  if (spec.task_maker() != nullptr) {
    out.factory = allocator.create<TaskChild>(spec.task_maker());
    return out.factory != nullptr ? Errc::ok : Errc::no_memory;
  }
  // Nobody has a reference to poll it by, and its children would not be started again.
  if (out.home == base::kByHand) return Errc::invalid_arg;
  supervise::Plan* nested = nullptr;
  const Errc error = make_plan_at(port, spec.options(), spec.children(), depth + 1, nested);
  if (!ok(error)) return error;
  out.factory = supervise::make_nested(allocator, *nested);
  if (out.factory == nullptr) nested->dispose(allocator);
  return out.factory != nullptr ? Errc::ok : Errc::no_memory;
}

Errc make_plan_at(detail::Port& port, const SupervisorOptions& options,
                  const std::vector<ChildSpec>& children, int depth, supervise::Plan*& out) {
  if (depth > supervise::kMostNested || whole_ms(options.period) == 0) return Errc::invalid_arg;
  const base::Allocator& allocator = port.system.allocator;
  supervise::Plan* plan = supervise::Plan::create(allocator, children.size());
  if (plan == nullptr) return Errc::no_memory;
  plan->supervisor = {static_cast<supervise::Strategy>(options.strategy), options.intensity,
                      whole_ms(options.period)};
  for (size_t i = 0; i < children.size(); ++i) {
    const Errc error = fill_spec(port, children[i], depth, plan->children[i]);
    if (!ok(error)) return plan->dispose(allocator), error;
  }
  out = plan;
  return Errc::ok;
}

}  // namespace

Errc make_plan(detail::Port& port, const SupervisorOptions& options,
               const std::vector<ChildSpec>& children, supervise::Plan*& out) {
  return make_plan_at(port, options, children, 1, out);
}

// Calls use(host, Supervisor&) on the supervisor behind a reference.
template <class Use>
Errc with_supervisor(const Pid& pid, Use&& use) {
  if (!pid) return Errc::no_such_actor;
  Call call(*pid.port());
  if (!call) return Errc::loop_closed;
  return supervise::visit(call.host(), pid.id(),
                          [&](supervise::Supervisor& found) { return use(call.host(), found); });
}

}  // namespace runtime

Errc detail::spawn_supervisor(Port& port, const SupervisorOptions& options,
                              const std::vector<ChildSpec>& children, ActorId parent,
                              ActorId& out) {
  runtime::Call call(port);
  if (!call) return Errc::loop_closed;
  supervise::Plan* plan = nullptr;
  if (const Errc error = runtime::make_plan(port, options, children, plan); !ok(error)) {
    return error;
  }
  return supervise::spawn_supervisor(call.host(), *plan, true, parent, out);
}

// ---- jzx::SupervisorRef ----

Pid SupervisorRef::child(size_t index) const {
  if (!pid_) return {};
  runtime::Call call(*pid_.port());
  if (!call) return {};
  ActorId id = 0;
  return ok(supervise::child_id(call.host(), pid_.id(), index, id)) ? Pid(pid_.port(), id) : Pid();
}

Result<Pid> SupervisorRef::add(const ChildSpec& spec) const {
  ActorId id = 0;
  const Errc error =
      runtime::with_supervisor(pid_, [&](core::Host& host, supervise::Supervisor& found) {
        const base::Allocator& allocator = host.system.allocator;
        auto* copy = allocator.create<supervise::ChildSpec>();
        if (copy == nullptr) return Errc::no_memory;
        Errc result = runtime::fill_spec(*pid_.port(), spec, 0, *copy);
        if (ok(result)) result = found.add_child(*copy, id);
        if (ok(result)) return result;
        copy->dispose(allocator);
        allocator.destroy(copy);
        return result;
      });
  if (!ok(error)) return Error(error);
  return Pid(pid_.port(), id);
}

Errc SupervisorRef::remove(Pid child) const {
  if (child.port() != pid_.port()) return Errc::no_such_actor;
  return runtime::with_supervisor(pid_, [&](core::Host&, supervise::Supervisor& found) {
    return found.remove_child(child.id());
  });
}

std::vector<ChildInfo> SupervisorRef::which_children() const {
  std::vector<ChildInfo> result;
  (void)runtime::with_supervisor(pid_, [&](core::Host& host, supervise::Supervisor& found) {
    for (size_t i = 0; const supervise::ChildSlot* slot = found.slot_at(i); ++i) {
      const bool is_up = host.system.find_open(slot->id) != nullptr;
      result.push_back({slot->spec.name != nullptr ? slot->spec.name : "",
                        is_up ? Pid(pid_.port(), slot->id) : Pid(),
                        static_cast<ChildMode>(slot->spec.mode)});
    }
    return Errc::ok;
  });
  return result;
}

ChildCounts SupervisorRef::count() const {
  ChildCounts result;
  (void)runtime::with_supervisor(pid_, [&](core::Host&, supervise::Supervisor& found) {
    const supervise::ChildCounts counts = found.count();
    result = {counts.specs, counts.active, counts.supervisors};
    return Errc::ok;
  });
  return result;
}

}  // namespace jzx
