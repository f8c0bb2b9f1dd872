// Barrier: nobody goes on before all have come, again and again. Latch: nobody goes on before a
// count is down to zero, once.
//
//   auto all_here = barrier.arrive_and_wait();
//   jzx::BarrierPass pass = co_await co_await all_here;      // pass.is_last: of one of them
//
//   latch.count_down();
//   auto done = latch.wait();
//   co_await co_await done;
//
// A wait at a barrier that is cancelled has not arrived: its place must be filled by another. What
// was counted down stays so. Ends answer Errc::closed to those who wait.
//
// Threads: any, all functions.
#pragma once

#include <cstddef>

#include <jzx/detail/sync_wait.hpp>
#include <jzx/future.hpp>

namespace jzx {

namespace sync {
class BarrierCore;
class LatchCore;
}  // namespace sync

struct BarrierPass {
  bool is_last = false;  // it was the one that the others had waited for

  BarrierPass() noexcept = default;
  JZX_API explicit BarrierPass(detail::Waiter& granted) noexcept;
};

class Barrier {
 public:
  // For so many at a time; at least 1.
  JZX_API explicit Barrier(size_t count);
  JZX_API ~Barrier();
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  [[nodiscard]] JZX_API Future<BarrierPass> arrive_and_wait() noexcept;

 private:
  sync::BarrierCore& core_;
};

class Latch {
 public:
  JZX_API explicit Latch(size_t count);
  JZX_API ~Latch();
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  // Never below zero.
  JZX_API void count_down(size_t by = 1) noexcept;
  [[nodiscard]] JZX_API bool is_open() const noexcept;
  [[nodiscard]] JZX_API Future<void> wait() noexcept;

 private:
  sync::LatchCore& core_;
};

}  // namespace jzx
