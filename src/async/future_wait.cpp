// How a thread waits for a future: as a continuation that wakes it.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include <jzx/detail/future_state.hpp>
#include <jzx/detail/task_root.hpp>

namespace jzx::detail {

void throw_on_purpose() {
#ifdef __cpp_exceptions
  throw std::runtime_error("thrown by the simulator");
#else
  std::abort();  // nobody asks for it
#endif
}

namespace {

// On the stack of the thread that waits, which may return as soon as it sees `is_woken`. That is
// only after wake() has unlocked, and nobody touches it any more: therefore a lock, and the
// notification inside it. A word to wait on would be told of the wake-up when it may be gone.
class Sleeper {
 public:
  void wake() noexcept {
    std::lock_guard hold(lock_);
    is_woken_ = true;
    told_.notify_one();
  }
  void sleep() noexcept {
    std::unique_lock hold(lock_);
    told_.wait(hold, [this] { return is_woken_; });
  }
  // False: the time is up.
  [[nodiscard]] bool sleep(std::chrono::milliseconds time) noexcept {
    std::unique_lock hold(lock_);
    return told_.wait_for(hold, std::min<std::chrono::milliseconds>(time, kLongest),
                          [this] { return is_woken_; });
  }

 private:
  // So that no clock is asked for a time that it cannot say.
  static constexpr std::chrono::hours kLongest{24 * 365 * 10};

  std::mutex lock_;
  std::condition_variable told_;
  bool is_woken_ = false;
};

FutureCore* wake_sleeper(FutureCore& core) {
  core.in_slot<Sleeper*>()->wake();
  return nullptr;
}

}  // namespace

// No wake-up is missed: leave() either finds the result, or the promise's end finds the sleeper,
// and wakes it, before or after it has fallen asleep.
void wait_for_result(FutureCore& core) noexcept {
  Sleeper sleeper;
  new (core.slot) Sleeper*(&sleeper);
  core.resume = &wake_sleeper;
  if (!core.handover.leave()) sleeper.sleep();
}

bool wait_for_result(FutureCore& core, std::chrono::milliseconds time, bool& is_late) noexcept {
  Sleeper sleeper;
  new (core.slot) Sleeper*(&sleeper);
  core.resume = &wake_sleeper;
  is_late = false;
  if (leave_cancellable(core) || sleeper.sleep(time)) return true;
  is_late = true;
  if (cancel_core(core)) return false;
  sleeper.sleep();
  return true;
}

}  // namespace jzx::detail
