// The functions by which tasks are spawned, and run to their end by whoever waits for them.
#include <algorithm>
#include <chrono>
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
#include "core/host.hpp"
#include "kinds/coroutine/coroutine.hpp"
#include "kinds/fiber/deadline.hpp"
#include "kinds/fiber/fiber.hpp"
#include "kinds/fiber/future_wait.hpp"
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

class ChainWait final : public kinds::FiberWait {
 public:
  ChainWait(TaskRoot& root, const kinds::Deadline& deadline, const WaitEnd& end) noexcept
      : root_(root), deadline_(deadline), end_(end) {}
  bool is_over() const noexcept override {
    return root_.can_go_on() || (end_ == WaitEnd::done && deadline_.has_passed());
  }

 private:
  TaskRoot& root_;
  const kinds::Deadline& deadline_;
  const WaitEnd& end_;
};

// Killed: the fiber is to end; the chain has ended all the same.
WaitEnd run_in_fiber(kinds::Fiber& fiber, std::coroutine_handle<> first, TaskRoot*& root,
                     uint64_t limit_ms) {
  FiberRoot own(fiber);
  root = &own;
  own.begin(first);
  kinds::Deadline deadline;
  // One that was asked to end may be given up in this wait, and its stack keeps no timer then.
  if (limit_ms != kinds::kNoLimit && !fiber.is_asked_to_end) {
    deadline.arm(fiber.turn().host, fiber.turn().actor, limit_ms);
  }
  WaitEnd end = WaitEnd::done;
  const ChainWait wait(own, deadline, end);
  const auto stop_for = [&](WaitEnd why) {
    deadline.cancel();                             // as above
    if (end == WaitEnd::done) own.request_stop();  // once
    end = why;
  };
  while (!own.run()) {
    if (own.is_between_waits()) fiber.let_others_run();
    while (!own.can_go_on()) {
      if (end == WaitEnd::done && deadline.has_passed()) {
        stop_for(WaitEnd::late);
        continue;
      }
      if (fiber.suspend(&wait) || own.can_go_on()) continue;
      stop_for(WaitEnd::killed);
      fiber.suspend_to_the_end();
    }
  }
  deadline.cancel();
  return end;
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
  // False: the time came first.
  [[nodiscard]] bool sleep_until(std::chrono::steady_clock::time_point end) noexcept {
    std::unique_lock hold(lock_);
    if (!told_.wait_until(hold, end, [this] { return is_woken_; })) return false;
    is_woken_ = false;
    return true;
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

WaitEnd run_on_thread(std::coroutine_handle<> first, TaskRoot*& root, uint64_t limit_ms) {
  using Clock = std::chrono::steady_clock;
  constexpr uint64_t kLongestMs = uint64_t{10} * 365 * 24 * 3600 * 1000;  // clocks can say that
  const bool is_limited = limit_ms != kinds::kNoLimit;
  const std::chrono::milliseconds limit(std::min(limit_ms, kLongestMs));
  const Clock::time_point end = is_limited ? Clock::now() + limit : Clock::time_point();
  ThreadRoot own;
  root = &own;
  own.begin(first);
  bool is_late = false;
  while (!own.run()) {
    while (!own.can_go_on()) {
      if (!is_limited || is_late) {
        own.sleep();
      } else if (!own.sleep_until(end)) {
        is_late = true;
        own.request_stop();
      }
    }
  }
  return is_late ? WaitEnd::late : WaitEnd::done;
}

WaitEnd run_here(std::coroutine_handle<> first, TaskRoot*& root, uint64_t limit_ms) {
  if (kinds::Fiber* fiber = kinds::Fiber::acting()) {
    if (!fiber->may_wait()) return WaitEnd::refused;
    return run_in_fiber(*fiber, first, root, limit_ms);
  }
  if (runtime::must_not_block()) return WaitEnd::refused;
  return run_on_thread(first, root, limit_ms);
}

}  // namespace

WaitEnd run_to_end(std::coroutine_handle<> first, TaskRoot*& root) {
  return run_here(first, root, kinds::kNoLimit);
}

WaitEnd run_to_end_for(std::coroutine_handle<> first, TaskRoot*& root,
                       std::chrono::milliseconds time) {
  return run_here(first, root, static_cast<uint64_t>(std::max<int64_t>(time.count(), 0)));
}

}  // namespace jzx::detail
