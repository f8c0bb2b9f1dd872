// jzx::Loop over a LoopSystem.
#include <jzx/loop.hpp>

#include <algorithm>

#include "runtime/loop_system.hpp"
#include "runtime/port.hpp"
#include "runtime/supervisor_plan.hpp"

namespace jzx {

namespace {

detail::Port* open_port(const LoopOptions& options) noexcept {
  runtime::LoopOptions wanted;
  wanted.max_actors = options.max_actors;
  wanted.default_mailbox_cap = options.default_mailbox_cap;
  wanted.max_msgs_per_actor = options.max_msgs_per_actor;
  wanted.max_actors_per_tick = options.max_actors_per_tick;
  wanted.max_io_watchers = options.max_io_watchers;
  wanted.backend = static_cast<io::Backend>(options.reactor);
  runtime::LoopSystem* system = runtime::LoopSystem::create(wanted);
  if (system != nullptr) system->system.observer = options.observer;
  return runtime::port_of(system);
}

// A call that the destructor waits for; false if the loop is closing, or could not be made.
class Inside {
 public:
  explicit Inside(detail::Port* port) noexcept
      : system_(port != nullptr && runtime::system_of(*port).enter() ? &runtime::system_of(*port)
                                                                     : nullptr) {}
  ~Inside() {
    if (system_ != nullptr) system_->leave();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return system_ != nullptr; }
  [[nodiscard]] drivers::Loop& loop() const noexcept { return system_->loop; }

 private:
  runtime::LoopSystem* system_;
};

}  // namespace

Loop::Loop(const LoopOptions& options) : SystemFace(open_port(options)) {}

Loop::~Loop() {
  if (port_ != nullptr) runtime::system_of(*port_).destroy();
}

Errc Loop::run() {
  Inside inside(port_);
  return inside ? inside.loop().run() : Errc::loop_closed;
}

bool Loop::run_once(std::chrono::milliseconds max_wait) {
  Inside inside(port_);
  if (!inside) return false;
  const auto wait_ms = std::min(static_cast<uint64_t>(max_wait.count() > 0 ? max_wait.count() : 0),
                                runtime::kLongestTimeMs);
  bool again = false;
  const Errc result = inside.loop().run_once(wait_ms * base::kNanosPerMilli, again);
  return ok(result) && again;
}

void Loop::request_stop() noexcept {
  Inside inside(port_);
  if (inside) inside.loop().request_stop();
}

int Loop::fd() {
  Inside inside(port_);
  return inside ? inside.loop().fd() : static_cast<int>(Errc::loop_closed);
}

Errc Loop::start(const SupervisorOptions& options, const std::vector<ChildSpec>& children,
                 Pid parent, SupervisorRef& out) {
  if (port_ == nullptr) return Errc::loop_closed;
  if (is_elsewhere(parent)) return Errc::actor_not_local;
  runtime::Outside here(*port_);
  supervise::Plan* plan = nullptr;
  if (const Errc error = runtime::make_plan(*port_, options, children, plan); !ok(error)) {
    return error;
  }
  ActorId id = 0;
  const Errc error = supervise::spawn_supervisor(here.host(), *plan, true, parent.id(), id);
  if (ok(error)) out = SupervisorRef(Pid(port_, id));
  return error;
}

}  // namespace jzx
