// A place for the one piece of work that was made ready last: what it needs is still in the cache,
// so it runs next. Filled by its owner alone; a thief may empty it.
//
// Threads: put(), swap() and take() by the owner; steal() and is_empty() by any.
#pragma once

#include <bit>

#include "base/atomic.hpp"
#include "base/executor.hpp"

namespace jzx::base {

class LifoSlot {
 public:
  // Without thieves no locked instruction is needed.
  explicit LifoSlot(bool has_thieves) noexcept : has_thieves_(has_thieves) {}
  // One that takes nothing: `filler` is in it for ever, and is never run.
  explicit LifoSlot(Runnable& filler) noexcept : work_(&filler), has_thieves_(false) {}

  [[nodiscard]] bool is_empty() const noexcept {
    // relaxed: only the owner fills it, and a thief may be quicker anyway.
    return work_.load(std::memory_order_relaxed) == nullptr;
  }
  // Of what was put last: its level, and a bit for each level above it.
  [[nodiscard]] uint32_t level() const noexcept {
    return static_cast<uint32_t>(std::bit_width(levels_above_));
  }
  [[nodiscard]] uint32_t levels_above() const noexcept { return levels_above_; }

  // Into an empty slot.
  void put(Runnable& work) noexcept { put(work, work.level()); }
  void put(Runnable& work, uint32_t level) noexcept {
    note_level(level);
    work_.store(&work, std::memory_order_release);  // pairs with steal()
  }
  // The one that was there, or nullptr.
  [[nodiscard]] Runnable* swap(Runnable& work) noexcept { return swap(work, work.level()); }
  [[nodiscard]] Runnable* swap(Runnable& work, uint32_t level) noexcept {
    Runnable* before = work_.load(std::memory_order_relaxed);  // only we fill it
    if (!has_thieves_ || before == nullptr) return put(work, level), before;
    note_level(level);
    // A thief may have been quicker. release: as in put().
    return work_.exchange(&work, std::memory_order_release);
  }
  [[nodiscard]] Runnable* take() noexcept {
    Runnable* work = work_.load(std::memory_order_relaxed);  // only we fill it
    if (work == nullptr) return nullptr;
    if (!has_thieves_) return work_.store(nullptr, std::memory_order_relaxed), work;
    return work_.exchange(nullptr, std::memory_order_relaxed);  // a thief may have been quicker
  }
  [[nodiscard]] Runnable* steal() noexcept {
    return work_.exchange(nullptr, std::memory_order_acquire);  // pairs with put()
  }

 private:
  void note_level(uint32_t level) noexcept { levels_above_ = (1u << level) - 1; }

  Atomic<Runnable*> work_{nullptr};
  uint32_t levels_above_ = 0;  // the owner's
  const bool has_thieves_;
};

}  // namespace jzx::base
