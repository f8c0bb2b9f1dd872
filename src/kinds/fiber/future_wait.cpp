#include "kinds/fiber/future_wait.hpp"

#include <new>
#include <utility>

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

detail::FutureCore* resume_fiber(detail::FutureCore& core) {
  auto& waiter = core.in_slot<FiberWaiter>();
  const bool is_wanted = waiter.word.deliver([&] {
    if (waiter.edge != nullptr) detail::end_wait(waiter.edge);
    waiter.waker.wake();
  });
  if (!is_wanted) return waiter.discard(core);
  return nullptr;
}

}  // namespace

bool wait_for_future(Fiber& fiber, detail::FutureCore& core, detail::FutureCore::Resume discard,
                     void* edge) noexcept {
  auto* waiter = new (core.slot)
      FiberWaiter{.word = {}, .discard = discard, .waker = fiber.waker(), .edge = edge};
  core.resume = &resume_fiber;
  // It came meanwhile: nobody else knows of the waiter.
  if (core.handover.leave()) return true;
  bool is_cancelled = false;
  const auto suspend = [&] {
    if (fiber.suspend()) return true;
    if (!core.cancel_on_drop) return false;
    // What it waits for is ended before the fiber is.
    if (!std::exchange(is_cancelled, true)) core.cancel(core);
    fiber.suspend_to_the_end();
    return true;
  };
  switch (waiter->word.wait(suspend)) {
    case WaitWord::End::delivered:
      if (!is_cancelled) return true;
      discard(core);
      break;
    case WaitWord::End::too_late:
      discard(core);
      break;
    case WaitWord::End::abandoned:
      break;
  }
  return false;
}

}  // namespace jzx::kinds
