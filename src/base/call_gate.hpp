// Lets calls in until it is closed, and lets the closer wait for those inside.
//
// One word: twice the number of calls inside, plus one once closed. A call that finds the gate
// closed goes back out, and the closer waits for that too, so after wait_until_empty() nobody is
// between enter() and leave(). Threads: any.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace jzx::base {

class CallGate {
 public:
  // False: closed; do not call leave().
  [[nodiscard]] bool enter() noexcept {
    // acquire: what the opener prepared is seen. Counted first, so that a closer that did not see
    // the count is seen here.
    if ((word_.fetch_add(kOneCall, std::memory_order_acquire) & kClosed) == 0) return true;
    leave();
    return false;
  }

  // release: what the call did is seen by the closer; pairs with the acquire in wait_until_empty().
  void leave() noexcept { word_.fetch_sub(kOneCall, std::memory_order_release); }

  // False if it was closed already. release: who is refused sees what was done before; pairs with
  // enter().
  [[nodiscard]] bool close() noexcept {
    return (word_.fetch_or(kClosed, std::memory_order_release) & kClosed) == 0;
  }
  void wait_until_empty() noexcept {
    // acquire: pairs with the release in leave().
    while (word_.load(std::memory_order_acquire) != kClosed) yield_thread();
  }

  [[nodiscard]] bool is_closed() const noexcept {
    return (word_.load(std::memory_order_relaxed) & kClosed) != 0;  // a flag on its own
  }

 private:
  static constexpr uint32_t kClosed = 1;
  static constexpr uint32_t kOneCall = 2;

  Atomic<uint32_t> word_{0};
};

}  // namespace jzx::base
