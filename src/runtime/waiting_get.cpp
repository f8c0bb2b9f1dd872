// How a future is waited for, by whoever calls get(); and what asks hear that get no answer.
#include "runtime/waiting_get.hpp"

#include <cstdio>

#include <jzx/detail/handling.hpp>
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

namespace {

// "the actor ended: panic: too far"
Error why_gone(const core::Fate& fate) noexcept {
  if (fate.text == nullptr) return Error(Errc::no_such_actor, {}, "ask");
  char text[2 * sizeof(ExitText)];  // the error takes as much of it as it can hold
  const char* why = fate.text->c_str();
  std::snprintf(text, sizeof(text), "the actor ended: %s%s%s", to_string(fate.reason),
                *why != '\0' ? ": " : "", why);
  return Error(Errc::no_such_actor, text, "ask");
}

}  // namespace

Error why_broken() noexcept {
  const auto* host = static_cast<core::Host*>(base::Executor::current());
  if (host == nullptr || host->fate == nullptr) return Error(Errc::broken_promise);
  switch (host->fate->why) {
    case DeadLetterReason::target_gone:
      return why_gone(*host->fate);
    case DeadLetterReason::not_handled:
      return Error(Errc::broken_promise, "the actor has no handler for this message", "ask");
    case DeadLetterReason::overload:
      return Error(Errc::mailbox_full, {}, "ask");
    case DeadLetterReason::closing:
      return Error(Errc::loop_closed, {}, "ask");
    case DeadLetterReason::late_reply:
      break;
  }
  return Error(Errc::broken_promise);
}

void note_late_reply(Envelope& envelope) noexcept {
  const auto* host = static_cast<core::Host*>(base::Executor::current());
  if (host == nullptr) return;
  if (Observer* observer = host->system.observer()) {
    observer->dead_letter(envelope.sender, envelope, DeadLetterReason::late_reply);
  }
}

void unwind_fiber() { (void)kinds::Fiber::acting()->killed(); }

}  // namespace jzx::detail
