#include "drivers/workers/stall_watch.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/assert.hpp"
#include "core/system.hpp"
#include "drivers/workers/shared_worker.hpp"

namespace jzx::drivers {

StallWatch::~StallWatch() {
  if (timer_fd_ >= 0) ::close(timer_fd_);
}

bool StallWatch::start() noexcept {
  if (timer_fd_ < 0) timer_fd_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  if (timer_fd_ < 0) return false;
  is_stopping_.store(false, std::memory_order_relaxed);  // before its thread is there
  return thread_.start(&thread_main, this, "jzx-watch");
}

void StallWatch::stop() noexcept {
  if (!thread_.is_running()) return;
  // seq_cst: before the timer is set; see run().
  is_stopping_.store(true, std::memory_order_seq_cst);
  wake_after(1);
  thread_.join();
}

void* StallWatch::thread_main(void* self) noexcept {
  static_cast<StallWatch*>(self)->run();
  return nullptr;
}

void StallWatch::rouse() noexcept {
  // relaxed: it decides who of several sets the timer, and orders nothing.
  if (dozes_.exchange(false, std::memory_order_relaxed)) wake_after(kTickMs * base::kNanosPerMilli);
}

void StallWatch::wake_after(uint64_t ns) noexcept {
  itimerspec alarm{};
  alarm.it_value.tv_nsec = static_cast<long>(ns);
  [[maybe_unused]] const int error = ::timerfd_settime(timer_fd_, 0, &alarm, nullptr);
  JZX_ASSERT(error == 0);
}

void StallWatch::wait_for_timer() noexcept {
  uint64_t count = 0;
  while (::read(timer_fd_, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

void StallWatch::run() noexcept {
  forget();
  for (;;) {
    dozes_.store(true, std::memory_order_seq_cst);  // before the look; see the head of the file
    if (group_.idle.everybody_sleeps()) {
      forget();
    } else {
      rouse();  // itself, unless a worker has just done so
    }
    // seq_cst: after the timer was set. A stop that comes later sets it anew.
    if (is_stopping_.load(std::memory_order_seq_cst)) return;
    wait_for_timer();
    if (is_stopping_.load(std::memory_order_seq_cst)) return;
    for (uint32_t i = 0; i < group_.size(); ++i) look_at(group_.worker(i), seen_[i]);
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
