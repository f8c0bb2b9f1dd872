// The functions by which tasks are spawned, and run to their end by whoever waits for them.
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <jzx/async/task.hpp>
#include <jzx/context.hpp>
#include <jzx/detail/down_watcher.hpp>
#include <jzx/detail/spawned_task.hpp>
#include <jzx/system.hpp>

#include "async/alarm.hpp"
#include "async/sleep.hpp"
#include "base/thread.hpp"
#include "core/waker.hpp"
#include "kinds/coroutine/coroutine.hpp"
#include "kinds/fiber/fiber.hpp"
#include "net/operate.hpp"
#include "runtime/port.hpp"
#include "runtime/spawn_request.hpp"
#include "runtime/waiting_get.hpp"

namespace jzx::detail {

void yield_thread() noexcept { base::yield_thread(); }

// ---- as an actor of its own ----

namespace {

Errc spawn_on(core::Host& host, SpawnedTask& task, const SpawnRequest& request,
              ActorId& out) noexcept {
  core::SpawnOptions options = runtime::spawn_options(host, request);
  kinds::describe_task(task, options);
  const runtime::Spawned spawned = runtime::spawn_bound(host, options, request, out);
  if (!ok(spawned.error) && !spawned.is_body_ended) task.type.destroy(task);
  return spawned.error;
}

}  // namespace

Errc spawn_task(Port& port, SpawnedTask& task, const SpawnRequest& request, ActorId& out) noexcept {
  if (core::Host* here = port.host_here()) [[likely]]
    return spawn_on(*here, task, request, out);
  runtime::Call call(port);
  if (call) return spawn_on(call.host(), task, request, out);
  task.type.destroy(task);
  return Errc::loop_closed;
}

CurrentActor current_actor() noexcept {
  const auto* host = static_cast<core::Host*>(base::Executor::current());
  if (host == nullptr || host->acting() == core::kNobody) return {};
  return {static_cast<Port*>(host->port), host->acting()};
}

void cancel_task(const TaskOwner& owner) noexcept {
  if (ok(request_exit(*owner.port, owner.id, ExitReason::killed))) return;
  const bool is_closing = owner.port->system.is_closing.load(std::memory_order_relaxed);  // a flag
  if (is_closing) core::abandon_early(owner.port->any_host(), owner.id);
}

Future<void> sleep_in(Port& port, std::chrono::milliseconds time) noexcept {
  const auto time_ms = static_cast<uint64_t>(std::max<int64_t>(time.count(), 0));
  if (core::Host* here = port.host_here()) return async::sleep(*here, time_ms);
  runtime::Call call(port);
  if (!call) return Future<void>::failed(Errc::loop_closed);
  return async::sleep(call.host(), time_ms);
}

Keeper* keeper_of(Port* port) noexcept {
  if (port == nullptr) return nullptr;
  return net::keeper_from(&port->any_host().keeper());
}

Alarm* start_alarm(Port& port, std::chrono::milliseconds time, AlarmFn ring, void* owner,
                   Errc& error) noexcept {
  const auto time_ms = static_cast<uint64_t>(std::max<int64_t>(time.count(), 0));
  error = Errc::no_memory;
  if (core::Host* here = port.host_here()) return async::start_alarm(*here, time_ms, ring, owner);
  runtime::Call call(port);
  if (!call) return error = Errc::loop_closed, nullptr;
  return async::start_alarm(call.host(), time_ms, ring, owner);
}

void DownWatcher::on(const Down& down, Context& context) {
  ticket.settle(Result<Down>(down));
  context.stop();
}

// ---- by whoever waits for it ----

namespace {

class FiberRoot : public TaskRoot {
 public:
  explicit FiberRoot(kinds::Fiber& fiber) noexcept
      : TaskRoot(&wake), waker_(fiber.waker()), edge_(runtime::edge_of(fiber)) {
    if (fiber.turn().host.system.detects_deadlocks) wait_edge = &edge_;
  }

 private:
  static void wake(TaskRoot& root) noexcept { static_cast<FiberRoot&>(root).waker_.wake(); }
  core::Waker waker_;
  async::WaitEdge edge_;
};

// False: the fiber is to end; the chain has ended all the same.
bool run_in_fiber(kinds::Fiber& fiber, std::coroutine_handle<> first, TaskRoot*& root) {
  FiberRoot own(fiber);
  root = &own;
  own.begin(first);
  bool is_wanted = true;
  while (!own.run()) {
    while (!own.can_go_on()) {
      if (fiber.suspend() || own.can_go_on()) continue;
      if (std::exchange(is_wanted, false)) own.request_stop();
      fiber.suspend_to_the_end();
    }
  }
  return is_wanted;
}

// The root of a chain that a thread runs.
class ThreadRoot : public TaskRoot {
 public:
  ThreadRoot() noexcept : TaskRoot(&wake) {}
  void sleep() noexcept {
    std::unique_lock hold(lock_);
    told_.wait(hold, [this] { return is_woken_; });
    is_woken_ = false;
  }

 private:
  static void wake(TaskRoot& root) noexcept {
    auto& self = static_cast<ThreadRoot&>(root);
    const std::lock_guard hold(self.lock_);
    self.is_woken_ = true;
    self.told_.notify_one();
  }

  std::mutex lock_;
  std::condition_variable told_;
  bool is_woken_ = false;
};

void run_on_thread(std::coroutine_handle<> first, TaskRoot*& root) {
  ThreadRoot own;
  root = &own;
  own.begin(first);
  while (!own.run()) {
    while (!own.can_go_on()) own.sleep();
  }
}

}  // namespace

WaitEnd run_to_end(std::coroutine_handle<> first, TaskRoot*& root) {
  if (kinds::Fiber* fiber = kinds::Fiber::acting()) {
    if (!fiber->may_wait()) return WaitEnd::refused;
    return run_in_fiber(*fiber, first, root) ? WaitEnd::done : WaitEnd::killed;
  }
  if (runtime::must_not_block()) return WaitEnd::refused;
  run_on_thread(first, root);
  return WaitEnd::done;
}

}  // namespace jzx::detail
