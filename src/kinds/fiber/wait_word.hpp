// The word in which a promise's end and a kill meet, while a fiber waits for the result:
//
//   waiting ──▶ waking ──▶ delivered    the promise's end; the result is the fiber's then
//      └──────▶ abandoned               the fiber, asked to end; the result is the promise's end's
//
// While it says `waking`, the promise's end uses the actor and its host. The fiber does not leave
// the wait before that is over, however it was woken: it looks again until it reads `delivered`,
// which is a few instructions of another thread away. So neither the fiber's stack nor its system
// ends under a promise that is being resolved.
//
// It lies in the memory that the result lies in, and ends with it. tests/model explores it.
//
// Threads: wait() the fiber's, deliver() the promise's end; each once.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace jzx::kinds {

class WaitWord {
 public:
  // ---- the promise's end ----

  // The result is there: calls wake(). False: nobody waits any more, and the memory is the
  // caller's.
  template <class Wake>
  [[nodiscard]] bool deliver(Wake&& wake) noexcept {
    Stage before = Stage::waiting;
    // acquire: who abandoned it is done with it; pairs with abandon().
    if (!stage_.compare_exchange_strong(before, Stage::waking, std::memory_order_acquire,
                                        std::memory_order_acquire)) {
      return false;
    }
    wake();
    // release: the result is the fiber's, and nothing else of its own is used after this; pairs
    // with is_delivered().
    stage_.store(Stage::delivered, std::memory_order_release);
    return true;
  }

  // ---- the fiber ----

  // Is the result there, or about to be? Not after wait() has returned.
  [[nodiscard]] bool has_come() const noexcept {
    // relaxed: a hint; wait() decides.
    return stage_.load(std::memory_order_relaxed) != Stage::waiting;
  }

  enum class End : uint8_t {
    delivered,  // the memory is the caller's
    too_late,   // the same, but it is to end
    abandoned,  // it is to end, and the memory is the promise's end's
  };
  // suspend() returns when something woke the fiber; false: it is to end.
  template <class Suspend>
  [[nodiscard]] End wait(Suspend&& suspend) noexcept {
    while (!is_delivered()) {
      if (suspend()) continue;
      return abandon() ? End::abandoned : End::too_late;
    }
    return End::delivered;
  }

 private:
  enum class Stage : uint32_t { waiting, waking, delivered, abandoned };

  [[nodiscard]] bool is_delivered() noexcept {
    for (;;) {
      const Stage now = stage_.load(std::memory_order_acquire);  // pairs with deliver()
      if (now != Stage::waking) return now == Stage::delivered;
      base::yield_thread();
    }
  }
  // False: it has been delivered.
  [[nodiscard]] bool abandon() noexcept {
    Stage before = Stage::waiting;
    // release: the promise's end owns the memory from here on; pairs with deliver(). relaxed: then
    // it is looked at again.
    if (stage_.compare_exchange_strong(before, Stage::abandoned, std::memory_order_release,
                                       std::memory_order_relaxed)) {
      return true;
    }
    (void)is_delivered();  // and not in the middle of it
    return false;
  }

  base::Atomic<Stage> stage_{Stage::waiting};
};

}  // namespace jzx::kinds
