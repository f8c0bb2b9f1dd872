// A place for the one piece of work that was made ready last: what it needs is still in the cache,
// so it runs next. Filled by its owner alone; a thief may empty it.
//
// The owner fills and empties it for every message, a thief comes when the owner has been in one
// turn for long. So the owner takes by plain loads and stores, and the thief pays: see
// base/steal/thefts.hpp. Where the system has no heavy barrier all do it by exchanges.
//
// While work is in here, nobody but a thief can take it; so the owner may also write to it without
// an exchange, if it says so:
//
//   owner                                    thief
//     is_written = true                        is_robbed = true
//     (light barrier)                          heavy barrier
//     is_robbed? then not                      is_written? then it goes away
//     writes; is_written = false
//
// Threads: put(), swap(), take(), begin_writing() and end_writing() by the owner; steal() and
// is_empty() by any.
#pragma once

#include <bit>

#include "base/atomic.hpp"
#include "base/executor.hpp"
#include "base/steal/thefts.hpp"

namespace jzx::base {

class LifoSlot {
 public:
  // Without thieves nothing of this is needed. `barriers`: for tests of the other way.
  explicit LifoSlot(bool has_thieves, bool barriers = true) noexcept
      : exchanges_(has_thieves && !(barriers && has_heavy_barrier())) {}
  // One that takes nothing: `filler` is in it for ever, and is never run.
  explicit LifoSlot(Runnable& filler) noexcept : work_(&filler), exchanges_(false) {}

  [[nodiscard]] bool is_empty() const noexcept { return look() == nullptr; }
  // Of what was put last: its level, and a bit for each level above it.
  [[nodiscard]] uint32_t level() const noexcept {
    return static_cast<uint32_t>(std::bit_width(levels_above_));
  }
  [[nodiscard]] uint32_t levels_above() const noexcept { return levels_above_; }

  // Into an empty slot.
  void put(Runnable& work) noexcept { put(work, work.level()); }
  void put(Runnable& work, uint32_t level) noexcept {
    if (thefts_.looks_robbed()) [[unlikely]]
      (void)ask_thief(nullptr);
    note_level(level);
    work_.store(&work, std::memory_order_release);  // pairs with steal()
  }
  // The one that was there, or nullptr.
  [[nodiscard]] Runnable* swap(Runnable& work) noexcept { return swap(work, work.level()); }
  [[nodiscard]] Runnable* swap(Runnable& work, uint32_t level) noexcept {
    Runnable* before = look();
    if (before == nullptr) return put(work, level), nullptr;
    note_level(level);
    if (exchanges_) [[unlikely]]
      return work_.exchange(&work, std::memory_order_release);  // as in put()
    work_.store(&work, std::memory_order_release);              // as in put()
    return kept(before);
  }
  [[nodiscard]] Runnable* take() noexcept {
    Runnable* work = look();
    if (work == nullptr) return nullptr;
    if (exchanges_) [[unlikely]]
      return work_.exchange(nullptr, std::memory_order_relaxed);
    work_.store(nullptr, std::memory_order_relaxed);  // nothing to be seen behind it
    return kept(work);
  }
  // May the owner write to this work? False: it is not in here, or a thief is about.
  [[nodiscard]] bool begin_writing(const Runnable& work) noexcept {
    if (work_.load(std::memory_order_relaxed) != &work || exchanges_) return false;
    is_written_.store(true, std::memory_order_relaxed);  // the barriers order it
    if (!thefts_.was_robbed()) [[likely]]
      return true;
    end_writing();
    return false;
  }
  void end_writing() noexcept {
    is_written_.store(false, std::memory_order_release);  // pairs with steal()
  }
  [[nodiscard]] Runnable* steal() noexcept {
    if (exchanges_) return work_.exchange(nullptr, std::memory_order_acquire);  // pairs with put()
    if (is_empty()) return nullptr;  // a look will do: nobody is interrupted for nothing
    const auto loot = thefts_.steal([this]() -> Runnable* {
      // acquire: pairs with end_writing().
      if (is_written_.load(std::memory_order_acquire)) return nullptr;
      return work_.exchange(nullptr, std::memory_order_acq_rel);  // pairs with put() and look()
    });
    return loot.value_or(nullptr);
  }

 private:
  [[nodiscard]] Runnable* look() const noexcept {
    // acquire: an owner who finds nothing sees that it was robbed, before it puts something here:
    // else nobody could steal that. Pairs with steal().
    return work_.load(std::memory_order_acquire);
  }
  void note_level(uint32_t level) noexcept { levels_above_ = (1u << level) - 1; }

  // What the owner has taken out, unless a thief was quicker.
  [[nodiscard]] Runnable* kept(Runnable* work) noexcept {
    return !thefts_.was_robbed() ? work : ask_thief(work);
  }
  [[gnu::noinline, gnu::cold]] Runnable* ask_thief(Runnable* work) noexcept {
    return thefts_.ask([work](const Runnable* stolen) { return stolen == work ? nullptr : work; });
  }

  Atomic<Runnable*> work_{nullptr};
  uint32_t levels_above_ = 0;  // the owner's
  Atomic<bool> is_written_{false};
  const bool exchanges_;
  Thefts<Runnable*> thefts_;
};

}  // namespace jzx::base
