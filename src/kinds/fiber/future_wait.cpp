#include "kinds/fiber/future_wait.hpp"

#include <new>
#include <utility>

#include "kinds/fiber/deadline.hpp"
#include "kinds/fiber/wait_word.hpp"

namespace jzx::kinds {

namespace {

struct FiberWaiter {
  WaitWord word;
  detail::FutureCore::Resume discard;
  core::Waker waker;
  void* edge;
};
static_assert(sizeof(FiberWaiter) <= detail::FutureCore::kSlotSize);

class FutureWait final : public FiberWait {
 public:
  FutureWait(const WaitWord& word, const Deadline& deadline, const bool& is_late) noexcept
      : word_(word), deadline_(deadline), is_late_(is_late) {}
  bool is_over() const noexcept override {
    return word_.has_come() || (!is_late_ && deadline_.has_passed());
  }

 private:
  const WaitWord& word_;
  const Deadline& deadline_;
  const bool& is_late_;
};

detail::FutureCore* resume_fiber(detail::FutureCore& core) {
  auto& waiter = core.in_slot<FiberWaiter>();
  const bool is_wanted = waiter.word.deliver([&] {
    if (waiter.edge != nullptr) detail::end_wait(waiter.edge);
    waiter.waker.wake();
  });
  if (is_wanted) return nullptr;
  core.resume = waiter.discard;
  return &core;
}

}  // namespace

using detail::WaitEnd;

WaitEnd wait_for_future(Fiber& fiber, detail::FutureCore& core, detail::FutureCore::Resume discard,
                        uint64_t limit_ms, void* edge) noexcept {
  auto* waiter = new (core.slot)
      FiberWaiter{.word = {}, .discard = discard, .waker = fiber.waker(), .edge = edge};
  core.resume = &resume_fiber;
  // It came meanwhile: nobody else knows of the waiter.
  if (core.handover.leave()) return WaitEnd::done;
  Deadline deadline;
  // One that was asked to end may be given up in this wait, and its stack keeps no timer then.
  if (limit_ms != kNoLimit && !fiber.is_asked_to_end) {
    deadline.arm(fiber.turn().host, fiber.turn().actor, limit_ms);
  }
  bool is_late = false;
  bool is_killed = false;
  const FutureWait wait(waiter->word, deadline, is_late);
  auto ask_to_end = [&, was_asked = false]() mutable {
    if (!std::exchange(was_asked, true)) core.cancel(core);
  };
  // The future is left to the promise's end, and nobody may look at it by the edge any more.
  const auto give_up = [&] {
    if (edge != nullptr) detail::end_wait(edge);
    return false;
  };
  const auto suspend = [&] {
    // What it waits for is ended before the fiber is.
    if (is_killed) return fiber.suspend_to_the_end(), true;
    if (!is_late && deadline.has_passed()) {
      is_late = true;
      if (core.cancel == nullptr) return give_up();
      ask_to_end();
      return true;
    }
    if (fiber.suspend(&wait)) return true;
    is_killed = true;
    if (!core.cancel_on_drop) return give_up();
    ask_to_end();
    return true;  // to look first: what woke it may have been the result as well as the kill
  };
  const WaitWord::End end = waiter->word.wait(suspend);
  deadline.cancel();
  if (is_killed) {
    if (end != WaitWord::End::abandoned) discard(core);
    return WaitEnd::killed;
  }
  if (end == WaitWord::End::abandoned) return WaitEnd::timed_out;
  return is_late ? WaitEnd::late : WaitEnd::done;
}

}  // namespace jzx::kinds
