#include "kinds/fiber/future_wait.hpp"

#include <new>

#include "kinds/fiber/wait_word.hpp"

namespace jzx::kinds {

namespace {

struct FiberWaiter {
  WaitWord word;
  detail::FutureCore::Resume discard;
  FiberWaker waker;
};
static_assert(sizeof(FiberWaiter) <= detail::FutureCore::kSlotSize);

FiberWaiter& waiter_in(detail::FutureCore& core) noexcept {
  return *std::launder(reinterpret_cast<FiberWaiter*>(core.slot));
}

void resume_fiber(detail::FutureCore& core) {
  FiberWaiter& waiter = waiter_in(core);
  if (!waiter.word.deliver([&] { waiter.waker.wake(); })) waiter.discard(core);
}

}  // namespace

bool wait_for_future(Fiber& fiber, detail::FutureCore& core,
                     detail::FutureCore::Resume discard) noexcept {
  auto* waiter =
      new (core.slot) FiberWaiter{.word = {}, .discard = discard, .waker = fiber.waker()};
  core.resume = &resume_fiber;
  // It came meanwhile: nobody else knows of the waiter.
  if (core.handover.leave()) return true;
  switch (waiter->word.wait([&] { return fiber.suspend(); })) {
    case WaitWord::End::delivered:
      return true;
    case WaitWord::End::too_late:
      discard(core);
      break;
    case WaitWord::End::abandoned:
      break;
  }
  return false;
}

}  // namespace jzx::kinds
