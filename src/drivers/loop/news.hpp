// Tells a busy worker that others have left something for it. One flag, so that the worker looks at
// one word after each turn, whatever may have been left: mail for an idle actor, work, a stop.
//
//   another thread                      the worker
//   leaves something    (seq_cst)       is_there()? then clear()   (seq_cst)
//   tell()              (seq_cst)       takes what was left        (its first look seq_cst)
//
// Nothing is left behind unseen: a thread that finds the flag set does not set it again, but then
// the worker has yet to clear it, and takes what was left after that.
//
// It is not what a worker sleeps by: see worker.hpp.
#pragma once

#include "base/atomic.hpp"

namespace jzx::drivers {

class News {
 public:
  // Any thread, after it left something.
  void tell() noexcept {
    // seq_cst: after what was left; pairs with clear(). The load keeps the line where it is if
    // another has told already.
    if (!flag_.load(std::memory_order_seq_cst)) flag_.store(true, std::memory_order_seq_cst);
  }

  // ---- the worker ----

  // relaxed: one that is missed now is seen after the next turn.
  [[nodiscard]] bool is_there() const noexcept { return flag_.load(std::memory_order_relaxed); }
  // Before it takes what was left.
  void clear() noexcept { flag_.store(false, std::memory_order_seq_cst); }

 private:
  base::Atomic<bool> flag_{false};
};

}  // namespace jzx::drivers
