// How a future is waited for, by whoever calls get(); and what asks hear that get no answer.
#include "runtime/waiting_get.hpp"

#include <algorithm>
#include <cstdio>

#include <jzx/detail/handling.hpp>
#include <jzx/future.hpp>

#include "core/host.hpp"
#include "kinds/fiber/future_wait.hpp"
#include "runtime/port.hpp"

namespace jzx::runtime {

bool must_not_block() noexcept {
  const auto* host = static_cast<core::Host*>(base::Executor::current());
  if (host == nullptr) return false;
  if (!host->may_wait) return true;
  if (host->acting() == core::kNobody) return false;  // work of the blocking pool that is no actor
  // In its own turn, so it is there. One that is run by hand runs to its end wherever that is.
  return host->system.actors.find(host->acting())->home() == base::kByHand;
}

bool must_not_block_worker() noexcept {
  const auto* host = static_cast<core::Host*>(base::Executor::current());
  return must_not_block() && host->system.is_shared;
}

async::WaitEdge edge_of(const kinds::Fiber& fiber) noexcept {
  const char* label = fiber.turn().actor.label;
  return {.port = &fiber.port(),
          .waiter = fiber.id(),
          .name = label != nullptr ? label : fiber.type().name};
}

}  // namespace jzx::runtime

namespace jzx::detail {

namespace {

// Of the last deadlock of this thread. Written and read without a wait in between.
thread_local ExitText deadlock_text;

bool has_come(const void* core) noexcept {
  return static_cast<const FutureCore*>(core)->handover.is_settled();
}

// The same as below, where deadlocks are looked for.
WaitEnd await_answer(kinds::Fiber& fiber, FutureCore& core, FutureCore::Resume discard,
                     uint64_t limit_ms) noexcept {
  async::WaitEdge edge = runtime::edge_of(fiber);
  if (!begin_wait(&edge, core)) return WaitEnd::deadlock;
  const WaitEnd end = kinds::wait_for_future(fiber, core, discard, limit_ms, &edge);
  end_wait(&edge);
  return end;
}

WaitEnd await_in_fiber(kinds::Fiber& fiber, FutureCore& core, FutureCore::Resume discard,
                       uint64_t limit_ms) noexcept {
  if (!fiber.may_wait()) return WaitEnd::refused;
  if (core.is_ask && fiber.turn().host.system.detects_deadlocks) [[unlikely]]
    return await_answer(fiber, core, discard, limit_ms);
  return kinds::wait_for_future(fiber, core, discard, limit_ms, nullptr);
}

}  // namespace

[[gnu::noinline]] bool begin_wait(void* edge, FutureCore& core) noexcept {
  auto& wait = *static_cast<async::WaitEdge*>(edge);
  const auto asked = core.in_slot<Pid>();
  if (asked.port() != wait.port) return true;
  wait.target = asked.id();
  wait.is_over = &has_come;
  wait.what = &core;
  ExitText text;
  if (wait.port->waits_for.begin(wait, text)) return true;
  if (Observer* observer = wait.port->system.observer()) {
    observer->deadlock(wait.waiter, text.c_str());
  } else {
    tell_deadlock_on_stderr(text.c_str());
  }
  deadlock_text = text;
  return false;
}

void end_wait(void* edge) noexcept {
  auto& wait = *static_cast<async::WaitEdge*>(edge);
  wait.port->waits_for.end(wait);
}

[[gnu::noinline]] Error deadlock_error() noexcept {
  return Error(Errc::deadlock, deadlock_text.view(), "ask");
}

WaitEnd await_result(FutureCore& core, FutureCore::Resume discard) noexcept {
  if (kinds::Fiber* fiber = kinds::Fiber::acting()) {
    return await_in_fiber(*fiber, core, discard, kinds::kNoLimit);
  }
  if (runtime::must_not_block()) return WaitEnd::refused;
  wait_for_result(core);
  return WaitEnd::done;
}

WaitEnd await_result_for(FutureCore& core, FutureCore::Resume discard,
                         std::chrono::milliseconds time) noexcept {
  const int64_t time_ms = std::max<int64_t>(time.count(), 0);
  if (kinds::Fiber* fiber = kinds::Fiber::acting()) {
    return await_in_fiber(*fiber, core, discard, static_cast<uint64_t>(time_ms));
  }
  if (runtime::must_not_block()) return WaitEnd::refused;
  bool is_late = false;
  if (!wait_for_result(core, std::chrono::milliseconds(time_ms), is_late)) {
    return WaitEnd::timed_out;
  }
  return is_late ? WaitEnd::late : WaitEnd::done;
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
    case DeadLetterReason::sender_killed:
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
