#include "kinds/fiber/future_wait.hpp"

#include <new>

#include "base/thread.hpp"

namespace jzx::kinds {

namespace {

enum class Stage : uint32_t { waiting, waking, delivered, abandoned };

struct FiberWaiter {
  base::Atomic<Stage> stage{Stage::waiting};
  detail::FutureCore::Resume discard;
  FiberWaker waker;

  // ---- the promise's end ----

  // False: nobody waits any more.
  [[nodiscard]] bool deliver() noexcept {
    Stage before = Stage::waiting;
    // acquire: who abandoned it is done with it; pairs with abandon(). release: the result, which
    // this thread has put, is for the fiber; pairs with is_delivered().
    if (!stage.compare_exchange_strong(before, Stage::waking, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      return false;
    }
    waker.wake();
    // release: nothing of the fiber's is used after this; pairs with is_delivered().
    stage.store(Stage::delivered, std::memory_order_release);
    return true;
  }

  // ---- the fiber ----

  [[nodiscard]] bool is_delivered() noexcept {
    for (;;) {
      const Stage now = stage.load(std::memory_order_acquire);  // pairs with deliver()
      if (now != Stage::waking) return now == Stage::delivered;
      base::yield_thread();
    }
  }
  // False: it has been delivered.
  [[nodiscard]] bool abandon() noexcept {
    Stage before = Stage::waiting;
    // release: the promise's end owns the memory from here on; pairs with deliver().
    if (stage.compare_exchange_strong(before, Stage::abandoned, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return true;
    }
    (void)is_delivered();  // and not in the middle of it
    return false;
  }
};
static_assert(sizeof(FiberWaiter) <= detail::FutureCore::kSlotSize);

FiberWaiter& waiter_in(detail::FutureCore& core) noexcept {
  return *std::launder(reinterpret_cast<FiberWaiter*>(core.slot));
}

void resume_fiber(detail::FutureCore& core) {
  FiberWaiter& waiter = waiter_in(core);
  if (!waiter.deliver()) waiter.discard(core);
}

}  // namespace

bool wait_for_future(Fiber& fiber, detail::FutureCore& core,
                     detail::FutureCore::Resume discard) noexcept {
  auto* waiter = new (core.slot) FiberWaiter{.discard = discard, .waker = fiber.waker()};
  core.resume = &resume_fiber;
  // It came meanwhile: nobody else knows of the waiter.
  if (core.handover.leave()) return true;
  while (!waiter->is_delivered()) {
    if (fiber.suspend()) continue;
    if (!waiter->abandon()) discard(core);
    return false;
  }
  return true;
}

}  // namespace jzx::kinds
