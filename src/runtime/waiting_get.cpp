// How a future is waited for, by whoever calls get().
#include "runtime/waiting_get.hpp"

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
    return kinds::wait_for_future(*fiber, core, discard) ? WaitEnd::done : WaitEnd::killed;
  }
  if (runtime::must_not_block()) return WaitEnd::refused;
  wait_for_result(core);
  return WaitEnd::done;
}

Error why_broken() noexcept { return Error(Errc::broken_promise); }

void unwind_fiber() { (void)kinds::Fiber::acting()->killed(); }

}  // namespace jzx::detail
