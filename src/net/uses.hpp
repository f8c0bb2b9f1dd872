// How many threads are inside something that any of them may close, and whether it is to be closed.
// Nobody waits: a close that finds somebody inside leaves the closing to the last of them.
//
// Threads: any. What is kept with it outlives every call.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace jzx::detail {

class Uses {
 public:
  // False: it is closed, and stays so.
  [[nodiscard]] bool enter() noexcept {
    uint32_t seen = bits_.load(std::memory_order_relaxed);  // checked by the exchange
    do {
      if ((seen & kClosed) != 0) return false;
      // relaxed: what is inside is only changed by closing it, which comes after leave().
    } while (!bits_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed));
    return true;
  }
  // True: it is to be closed, and that is the caller's to do, who was the last.
  [[nodiscard]] bool leave() noexcept {
    // release: what was done inside is done; acquire: the last one closes after all of it. Pairs
    // with itself and with close().
    return bits_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1);
  }
  // True: the caller is the first to close it, nobody is inside, and to close it is the caller's.
  [[nodiscard]] bool close() noexcept {
    // acquire: after all that was done inside; pairs with leave(). seq_cst: who empties a place
    // after this, and who fills it and then asks is_closed(), do not miss each other.
    return bits_.fetch_or(kClosed, std::memory_order_seq_cst) == 0;
  }
  [[nodiscard]] bool is_closed() const noexcept {
    return (bits_.load(std::memory_order_seq_cst) & kClosed) != 0;  // see close()
  }

 private:
  static constexpr uint32_t kClosed = 1u << 31;
  base::Atomic<uint32_t> bits_{0};
};

}  // namespace jzx::detail
