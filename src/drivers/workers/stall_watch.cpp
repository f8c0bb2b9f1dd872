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
  forget();
  while (!is_stopping_) {
    dozes_.store(true, std::memory_order_seq_cst);  // before the look; see the head of the file
    if (group_.idle.everybody_sleeps()) {
      changed_.wait(hold, [&] { return is_stopping_ || !dozes_.load(std::memory_order_relaxed); });
      forget();
    }
    dozes_.store(false, std::memory_order_relaxed);  // a worker that misses this rouses in vain
    changed_.wait_for(hold, std::chrono::milliseconds(kTickMs), [&] { return is_stopping_; });
    if (is_stopping_) return;
    hold.unlock();
    for (uint32_t i = 0; i < group_.size(); ++i) look_at(group_.worker(i), seen_[i]);
    hold.lock();
  }
}

void StallWatch::forget() noexcept {
  for (uint32_t i = 0; i < group_.size(); ++i) seen_[i] = {};
}

void StallWatch::look_at(SharedWorker& worker, Seen& seen) noexcept {
  const Doing doing = doing_of(worker);
  // The clock is read behind that: what is seen for the first time has begun before.
  const uint64_t now_ns = clock_.now_ns();
  if (doing.is_nothing() || doing != seen.doing) {
    seen = {doing, now_ns, limit_ns_};
    return worker.mark_stuck(false);
  }
  worker.mark_stuck(true);
  if (worker.has_stealable()) group_.wake_one();
  const uint64_t running_ns = now_ns - seen.since_ns;
  if (limit_ns_ == 0 || running_ns < seen.tell_at_ns) return;
  if (doing_of(worker) != doing) return;  // and it still is
  seen.tell_at_ns = running_ns * 2;       // and again when it has doubled
  tell(doing, running_ns / base::kNanosPerMilli);
}

void StallWatch::tell(const Doing& doing, uint64_t running_ms) noexcept {
  const char* what = doing.type != nullptr ? doing.type->name : "its start";
  if (Observer* observer = group_.system.observer()) {
    observer->handler_stalled(doing.actor, what, running_ms);
  } else {
    tell_stall_on_stderr(doing.actor, what, running_ms);
  }
}

StallWatch::Doing StallWatch::doing_of(const SharedWorker& worker) noexcept {
  return {worker.acting(), worker.all_steps(), worker.handling()};
}

bool StallWatch::Doing::is_nothing() const noexcept {
  return actor == core::kNobody && type != &core::callback_step;
}

}  // namespace jzx::drivers
