// How a thread waits for a future: as a continuation that wakes it.
#include <condition_variable>
#include <mutex>

#include <jzx/detail/future_state.hpp>

namespace jzx::detail {

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

 private:
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

}  // namespace jzx::detail
