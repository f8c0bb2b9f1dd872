// jzx::Runtime over a RuntimeSystem.
#include <jzx/runtime.hpp>

#include <algorithm>
#include <limits>
#include <memory>

#include "core/guard.hpp"
#include "core/lifecycle.hpp"
#include "runtime/record/recorder_state.hpp"
#include "runtime/runtime_system.hpp"

namespace jzx {

namespace {

using runtime::RuntimeSystem;

// True, too, if there is none.
bool attach_recorder(const RuntimeOptions& options, RuntimeSystem& system) noexcept {
  if (options.recorder == nullptr) return true;
  detail::RecorderState& recorder = options.recorder->state();
  if (system.group().options.workers == 1) {
    return recorder.attach(system, system.group().worker(0), "workers", options.observer);
  }
  recorder.refuse("a runtime with more than one worker cannot be recorded");
  return false;
}

detail::Port* open_port(const RuntimeOptions& options) noexcept {
  runtime::RuntimeOptions wanted;
  wanted.workers = options.workers;
  wanted.max_actors = options.max_actors;
  wanted.default_mailbox_cap = options.default_mailbox_cap;
  wanted.max_msgs_per_actor = options.max_msgs_per_actor;
  wanted.max_actors_per_tick = options.max_actors_per_tick;
  wanted.max_io_watchers = options.max_io_watchers;
  wanted.local_queue = options.local_queue;
  wanted.injection_high_water = options.injection_high_water;
  wanted.steal_batch = options.steal_batch;
  wanted.max_blocking_threads = options.max_blocking_threads;
  wanted.stall_limit_ms = static_cast<uint32_t>(
      std::clamp<int64_t>(options.stall_limit.count(), 0, std::numeric_limits<uint32_t>::max()));
  wanted.detect_deadlocks = options.detect_deadlocks;
  wanted.backend = static_cast<io::Backend>(options.reactor);
  RuntimeSystem* system = RuntimeSystem::create(wanted);
  if (system == nullptr) return nullptr;
  system->system.set_observer(options.observer);
  if (attach_recorder(options, *system) && system->start()) return system;
  system->destroy();
  return nullptr;
}

RuntimeSystem* runtime_behind(detail::Port* port) noexcept {
  return static_cast<RuntimeSystem*>(port);
}

// What a shutdown answers where it must not wait.
StillAlive refused_here(RuntimeSystem& system) {
  StillAlive refused;
  refused.why =
      "shutdown() was called on a thread that must not wait for it; nobody was asked to end";
  core::Host* here = system.host_here();
  const core::ActorId caller = here != nullptr ? here->acting() : core::kNobody;
  if (caller == core::kNobody) return refused;
  refused.pid = Pid(&system, caller);
  const char* label = system.system.actors.find(caller)->label;  // its handler runs
  if (label != nullptr) refused.name = label;
  return refused;
}

// A function that runs once on a blocking thread, and then is gone.
struct BlockingJob final : base::Runnable {
  BlockingJob(std::function<void()> function, drivers::BlockingFunctions& the_functions)
      : Runnable(&run_job), work(std::move(function)), functions(the_functions) {
    standing = {base::Priority::normal, base::kBlockingPool, false};
  }
  static void run_job(base::Runnable& self, base::Executor&) {
    auto* job = static_cast<BlockingJob*>(&self);
    drivers::BlockingFunctions& all = job->functions;
    all.begin();
    job->work();  // settles a promise, and throws nothing
    delete job;
    all.end();  // a shutdown that waits hears of it from SideHost::run_work()
  }
  std::function<void()> work;
  drivers::BlockingFunctions& functions;
};

}  // namespace

Runtime::Runtime(const RuntimeOptions& options) : SystemFace(open_port(options)) {
  if (port_ != nullptr) port_->runtime_face = this;
}

Runtime::~Runtime() {
  if (port_ != nullptr) port_->destroy();
}

Runtime* Runtime::current() noexcept {
  auto* host = static_cast<core::Host*>(base::Executor::current());
  if (host == nullptr || host->port == nullptr) return nullptr;
  return static_cast<Runtime*>(static_cast<detail::Port*>(host->port)->runtime_face);
}

Errc Runtime::run() {
  runtime::Entered<RuntimeSystem> call(runtime_behind(port_));
  if (!call) return Errc::loop_closed;
  if (call->must_not_wait_here()) return Errc::invalid_arg;
  call->wait();
  return Errc::ok;
}

void Runtime::request_stop() noexcept {
  if (port_ != nullptr) port_->request_stop();
}

uint32_t Runtime::worker_count() const noexcept {
  return port_ == nullptr ? 0 : runtime_behind(port_)->group().size();
}

Result<void> Runtime::run_on_blocking_thread(std::function<void()> work) {
  const Error closed(Errc::loop_closed, "the runtime is shut down and takes no new function");
  runtime::Entered<RuntimeSystem> call(runtime_behind(port_));
  if (!call) return closed;
  drivers::BlockingFunctions& functions = call->blocking_functions;
  auto job = std::make_unique<BlockingJob>(std::move(work), functions);
  if (!functions.accept()) return closed;
  if (call->group().blocking->post(*job)) return (void)job.release(), Result<void>();
  functions.call_off();
  if (!call->is_open()) return closed;
  // An error is better than a stalled worker.
  return Error(Errc::broken_promise, "the system has no thread that may block");
}

std::vector<StillAlive> Runtime::shutdown(std::chrono::milliseconds deadline) {
  runtime::Entered<RuntimeSystem> call(runtime_behind(port_));
  if (!call) return {};
  if (call->must_not_wait_here()) return {refused_here(*runtime_behind(port_))};
  const auto wait_ms = std::min(static_cast<uint64_t>(std::max<int64_t>(deadline.count(), 0)),
                                runtime::kLongestTimeMs);
  std::vector<StillAlive> result;
  for (runtime::Straggler& one : call->shut_down(wait_ms * base::kNanosPerMilli)) {
    const Pid pid = one.id != core::kNobody ? Pid(port_, one.id) : Pid();
    result.push_back({pid, std::move(one.name), std::move(one.why)});
  }
  return result;
}

}  // namespace jzx
