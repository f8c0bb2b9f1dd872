// How a thread waits for a future: as a continuation that wakes it.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include <jzx/detail/future_state.hpp>
#include <jzx/detail/task_root.hpp>

#include "async/sleeper.hpp"
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
  static constexpr uint64_t kMost = 8'000;
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

using Sleeper = async::Sleeper<base::Futex>;

// False: the time is up.
bool sleep_until(Sleeper& sleeper, uint64_t deadline_ns) noexcept {
  if (lookout.watch([&] { return sleeper.has_woken(); })) return true;
  base::SteadyClock clock;
  return sleeper.sleep([&](base::Futex::Time& time) {
    if (deadline_ns == base::kNever) return true;
    const uint64_t left_ns = clock.allowed_wait_ns(deadline_ns);
    time.limit(left_ns);
    return left_ns != 0;
  });
}
void sleep(Sleeper& sleeper) noexcept { (void)sleep_until(sleeper, base::kNever); }

uint64_t deadline_after(std::chrono::milliseconds time) noexcept {
  // So that no time is longer than a clock can say.
  constexpr std::chrono::hours kLongest{24 * 365 * 10};
  const auto ms = std::clamp<std::chrono::milliseconds>(time, {}, kLongest).count();
  return base::SteadyClock().now_ns() + static_cast<uint64_t>(ms) * base::kNanosPerMilli;
}

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
  if (!core.handover.leave()) sleep(sleeper);
}

bool wait_for_result(FutureCore& core, std::chrono::milliseconds time, bool& is_late) noexcept {
  Sleeper sleeper;
  new (core.slot) Sleeper*(&sleeper);
  core.resume = &wake_sleeper;
  is_late = false;
  if (leave_cancellable(core) || sleep_until(sleeper, deadline_after(time))) return true;
  is_late = true;
  if (cancel_core(core)) return false;
  sleep(sleeper);
  return true;
}

}  // namespace jzx::detail
