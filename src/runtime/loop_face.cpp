// jzx::Loop over a LoopSystem.
#include <jzx/loop.hpp>

#include <algorithm>

#include "runtime/loop_system.hpp"
#include "runtime/port.hpp"
#include "runtime/record/recorder_state.hpp"
#include "runtime/waiting_get.hpp"

namespace jzx {

namespace {

detail::Port* open_port(const LoopOptions& options) noexcept {
  runtime::LoopOptions wanted;
  wanted.max_actors = options.max_actors;
  wanted.default_mailbox_cap = options.default_mailbox_cap;
  wanted.max_msgs_per_actor = options.max_msgs_per_actor;
  wanted.max_actors_per_tick = options.max_actors_per_tick;
  wanted.max_io_watchers = options.max_io_watchers;
  wanted.detect_deadlocks = options.detect_deadlocks;
  wanted.backend = static_cast<io::Backend>(options.reactor);
  runtime::LoopSystem* system = runtime::LoopSystem::create(wanted);
  if (system == nullptr) return nullptr;
  system->system.set_observer(options.observer);
  if (options.recorder == nullptr ||
      options.recorder->state().attach(*system, system->worker, "loop", options.observer)) {
    return system;
  }
  system->destroy();
  return nullptr;
}

// The system of a loop; nullptr if it could not be made.
runtime::LoopSystem* loop_behind(detail::Port* port) noexcept {
  return static_cast<runtime::LoopSystem*>(port);
}

using EndsWhen = drivers::Loop::EndsWhen;

bool tick(detail::Port* port, std::chrono::milliseconds max_wait, EndsWhen end) {
  runtime::Entered call(loop_behind(port));
  if (!call || (max_wait.count() > 0 && runtime::must_not_block())) return false;
  const auto wait_ms = std::min(static_cast<uint64_t>(max_wait.count() > 0 ? max_wait.count() : 0),
                                runtime::kLongestTimeMs);
  bool again = false;
  const Errc result = call->loop.run_once(wait_ms * base::kNanosPerMilli, again, end);
  return ok(result) && again;
}

}  // namespace

Loop::Loop(const LoopOptions& options) : SystemFace(open_port(options)) {}

Loop::~Loop() {
  if (port_ != nullptr) port_->destroy();
}

Errc Loop::run() {
  runtime::Entered call(loop_behind(port_));
  if (!call) return Errc::loop_closed;
  return runtime::must_not_block() ? Errc::invalid_arg : call->loop.run();
}

bool Loop::must_not_wait_here() noexcept { return runtime::must_not_block(); }

bool Loop::run_once(std::chrono::milliseconds max_wait) {
  return tick(port_, max_wait, EndsWhen::nobody_is_alive);
}
bool Loop::run_on(std::chrono::milliseconds max_wait) {
  return tick(port_, max_wait, EndsWhen::nothing_can_come);
}

void Loop::request_stop() noexcept {
  runtime::Entered call(loop_behind(port_));
  if (call) call->loop.request_stop();
}

int Loop::fd() {
  runtime::Entered call(loop_behind(port_));
  return call ? call->loop.fd() : static_cast<int>(Errc::loop_closed);
}

}  // namespace jzx
