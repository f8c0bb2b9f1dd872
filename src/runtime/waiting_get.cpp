// How a future is waited for, by whoever calls get().
#include "runtime/waiting_get.hpp"

#include <algorithm>

#include <jzx/future.hpp>

#include "core/host.hpp"
#include "kinds/fiber/future_wait.hpp"

namespace jzx::runtime {

bool must_not_block() noexcept {
  const auto* host = static_cast<core::Host*>(base::Executor::current());
  return host != nullptr && !host->may_wait;
}

}  // namespace jzx::runtime

namespace jzx::detail {

WaitEnd await_result(FutureCore& core, FutureCore::Resume discard) noexcept {
  if (kinds::Fiber* fiber = kinds::Fiber::acting()) {
    if (!fiber->may_wait()) return WaitEnd::refused;
    return kinds::wait_for_future(*fiber, core, discard, kinds::kNoLimit);
  }
  if (runtime::must_not_block()) return WaitEnd::refused;
  wait_for_result(core);
  return WaitEnd::done;
}

WaitEnd await_result_for(FutureCore& core, FutureCore::Resume discard,
                         std::chrono::milliseconds time) noexcept {
  const int64_t time_ms = std::max<int64_t>(time.count(), 0);
  if (kinds::Fiber* fiber = kinds::Fiber::acting()) {
    if (!fiber->may_wait()) return WaitEnd::refused;
    return kinds::wait_for_future(*fiber, core, discard, static_cast<uint64_t>(time_ms));
  }
  if (runtime::must_not_block()) return WaitEnd::refused;
  bool is_late = false;
  if (!wait_for_result(core, std::chrono::milliseconds(time_ms), is_late)) {
    return WaitEnd::timed_out;
  }
  return is_late ? WaitEnd::late : WaitEnd::done;
}

Error why_broken() noexcept { return Error(Errc::broken_promise); }

void unwind_fiber() { (void)kinds::Fiber::acting()->killed(); }

}  // namespace jzx::detail
