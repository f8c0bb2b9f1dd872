#include "drivers/workers/stall_watch.hpp"

#include <chrono>

#include "core/system.hpp"
#include "drivers/workers/shared_worker.hpp"

namespace jzx::drivers {

bool StallWatch::start() noexcept {
  is_stopping_ = false;
  return thread_.start(&thread_main, this, "jzx-watch");
}

void StallWatch::stop() noexcept {
  {
    std::lock_guard hold(mutex_);
    is_stopping_ = true;
    dozes_.store(false, std::memory_order_relaxed);  // under the mutex
  }
  changed_.notify_one();
  thread_.join();
}

void* StallWatch::thread_main(void* self) noexcept {
  static_cast<StallWatch*>(self)->run();
  return nullptr;
}

void StallWatch::rouse() noexcept {
  {
    std::lock_guard hold(mutex_);
    dozes_.store(false, std::memory_order_relaxed);  // under the mutex
  }
  changed_.notify_one();
}

void StallWatch::run() noexcept {
  std::unique_lock hold(mutex_);
  while (!is_stopping_) {
    dozes_.store(true, std::memory_order_seq_cst);  // before the look; see the head of the file
    if (group_.idle.everybody_sleeps()) {
      changed_.wait(hold, [&] { return is_stopping_ || !dozes_.load(std::memory_order_relaxed); });
    }
    dozes_.store(false, std::memory_order_relaxed);  // a worker that misses this rouses in vain
    changed_.wait_for(hold, std::chrono::milliseconds(kTickMs), [&] { return is_stopping_; });
    if (is_stopping_) return;
    hold.unlock();
    look();
    hold.lock();
  }
}

void StallWatch::look() noexcept {
  const uint64_t now_ns = clock_.now_ns();
  for (uint32_t i = 0; i < group_.size(); ++i) look_at(i, now_ns);
}

void StallWatch::look_at(uint32_t worker, uint64_t now_ns) noexcept {
  SharedWorker& one = group_.worker(worker);
  Seen& seen = seen_[worker];
  const core::ActorId actor = one.acting();
  const uint64_t steps = one.steps();
  if (steps != seen.steps || actor == core::kNobody) {
    seen = {steps, now_ns, limit_ns_};
    return one.mark_stuck(false);
  }
  one.mark_stuck(true);
  if (one.has_stealable()) group_.wake_one();
  const uint64_t running_ns = now_ns - seen.since_ns;
  if (limit_ns_ == 0 || running_ns < seen.tell_at_ns) return;
  seen.tell_at_ns = running_ns * 2;  // and again when it has doubled
  const MessageType* type = one.handling();
  const char* name = type != nullptr ? type->name : "its start";
  const uint64_t running_ms = running_ns / base::kNanosPerMilli;
  if (Observer* observer = group_.system.observer()) {
    observer->handler_stalled(actor, name, running_ms);
  } else {
    tell_stall_on_stderr(actor, name, running_ms);
  }
}

}  // namespace jzx::drivers
