// How a thread waits for a future: as a continuation that wakes it.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include <jzx/detail/future_state.hpp>
#include <jzx/detail/task_root.hpp>

#include "base/futex.hpp"
#include "base/thread.hpp"
#include "base/time/clock.hpp"

namespace jzx::detail {

void throw_on_purpose() {
#ifdef __cpp_exceptions
  throw std::runtime_error("thrown by the simulator");
#else
  std::abort();  // nobody asks for it
#endif
}

namespace {

// How long a thread looks out for its result before it goes to sleep. To wake it takes several
// microseconds of its own time and of the thread that answers, so it pays to look for about as
// long, if the result mostly comes in that time. A thread whose results come later soon goes to
// sleep at once, and tries again now and then.
class Lookout {
 public:
  // Looks for as long as that has paid lately. True: `has_come()`.
  template <class HasCome>
  [[nodiscard]] bool watch(HasCome&& has_come) noexcept {
    if (!has_cores()) return false;
    if (limit_ns_ < kLeast) {
      if (++skipped_ % kTryEvery != 0) return false;
      limit_ns_ = kLeast;
    }
    base::SteadyClock clock;
    const uint64_t begun_ns = clock.quick_ns();
    do {
      if (has_come()) return limit_ns_ = kMost, true;
      base::spin_hint();
    } while (clock.quick_ns() - begun_ns < limit_ns_);
    limit_ns_ /= 2;
    return false;
  }

 private:
  static constexpr uint64_t kMost = 20'000;
  static constexpr uint64_t kLeast = 1'000;
  static constexpr uint32_t kTryEvery = 16;

  // Where there is one core only, whoever answers needs this one.
  [[nodiscard]] static bool has_cores() noexcept {
    static const bool has = base::cores_of_this_process() > 1;
    return has;
  }

  uint64_t limit_ns_ = kMost;
  uint32_t skipped_ = 0;
};
thread_local Lookout lookout;

// On the stack of the thread that waits, which may return as soon as it sees kWoken: so wake() does
// not touch it after that, and only hands its address to the kernel.
class Sleeper {
 public:
  void wake() noexcept {
    // release: the result is seen by who wakes up; pairs with has_woken().
    if (word_.exchange(kWoken, std::memory_order_release) == kAsleep) base::futex_wake(word_, 1);
  }
  void sleep() noexcept { (void)sleep_until(base::kNever); }
  // False: the time is up.
  [[nodiscard]] bool sleep(std::chrono::milliseconds time) noexcept {
    base::SteadyClock clock;
    const auto time_ms =
        static_cast<uint64_t>(std::min<std::chrono::milliseconds>(time, kLongest).count());
    return sleep_until(clock.now_ns() + time_ms * base::kNanosPerMilli);
  }

 private:
  [[nodiscard]] bool has_woken() const noexcept {
    return word_.load(std::memory_order_acquire) == kWoken;  // pairs with wake()
  }
  [[nodiscard]] bool sleep_until(uint64_t deadline_ns) noexcept {
    if (lookout.watch([this] { return has_woken(); })) return true;
    uint32_t waiting = kWaiting;
    // relaxed: if it fails, has_woken() follows.
    word_.compare_exchange_strong(waiting, kAsleep, std::memory_order_relaxed,
                                  std::memory_order_relaxed);
    base::SteadyClock clock;
    while (!has_woken()) {
      if (deadline_ns == base::kNever) {
        base::futex_wait(word_, kAsleep, nullptr);
        continue;
      }
      const uint64_t left_ns = clock.allowed_wait_ns(deadline_ns);
      if (left_ns == 0) return false;
      const timespec left{static_cast<time_t>(left_ns / 1'000'000'000u),
                          static_cast<long>(left_ns % 1'000'000'000u)};
      base::futex_wait(word_, kAsleep, &left);
    }
    return true;
  }

  static constexpr uint32_t kWaiting = 0;
  static constexpr uint32_t kAsleep = 1;
  static constexpr uint32_t kWoken = 2;
  // So that no time is longer than a clock can say.
  static constexpr std::chrono::hours kLongest{24 * 365 * 10};

  base::Atomic<uint32_t> word_{kWaiting};
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
