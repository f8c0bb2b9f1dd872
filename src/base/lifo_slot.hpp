// A place for the one piece of work that was made ready last: what it needs is still in the cache,
// so it runs next. Filled by its owner alone; a thief may empty it.
//
// The owner fills and empties it for every message, a thief comes when the owner has been in one
// turn for long. So the owner takes by plain loads and stores, and the thief pays:
//
//   owner                                    thief, one at a time
//     work = slot                              is_robbed = true
//     slot = nothing, or the next one          heavy barrier
//     (light barrier)                          exchanges the slot from what is there to nothing,
//     is_robbed? then it asks the thief        and writes down what it got
//
// An owner who does not see is_robbed stored into the slot before the barrier; the thief sees that
// and gets what is there now, if anything. One who does see it asks, under the thieves' lock, and
// learns whether `work` was taken by the thief in between. The theft stays written down, and nobody
// steals again, until the owner has asked: also by whatever it puts here next, so that the same
// work may come back. Where the system has no heavy barrier all do it by exchanges.
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
#include <mutex>

#include "base/atomic.hpp"
#include "base/executor.hpp"
#include "base/spin_lock.hpp"

namespace jzx::base {

class LifoSlot {
 public:
  // Without thieves nothing of this is needed. `barriers`: for tests of the other way.
  explicit LifoSlot(bool has_thieves, bool barriers = true) noexcept
      : exchanges_(has_thieves && !(barriers && has_heavy_barrier())) {}
  // One that takes nothing: `filler` is in it for ever, and is never run.
  explicit LifoSlot(Runnable& filler) noexcept : work_(&filler), exchanges_(false) {}

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
    if (looks_robbed()) [[unlikely]]
      (void)ask_thief(nullptr);
    note_level(level);
    work_.store(&work, std::memory_order_release);  // pairs with steal()
  }
  // The one that was there, or nullptr.
  [[nodiscard]] Runnable* swap(Runnable& work) noexcept { return swap(work, work.level()); }
  [[nodiscard]] Runnable* swap(Runnable& work, uint32_t level) noexcept {
    Runnable* before = work_.load(std::memory_order_relaxed);  // only we fill it
    if (before == nullptr) return put(work, level), nullptr;
    note_level(level);
    if (exchanges_) [[unlikely]]
      return work_.exchange(&work, std::memory_order_release);  // as in put()
    work_.store(&work, std::memory_order_release);              // as in put()
    return kept(before);
  }
  [[nodiscard]] Runnable* take() noexcept {
    Runnable* work = work_.load(std::memory_order_relaxed);  // only we fill it
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
    light_barrier();                                     // pairs with steal()
    if (!looks_robbed()) [[likely]]
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
    std::lock_guard hold(thieves_);
    if (stolen_ != nullptr) return nullptr;             // the owner has not noticed yet
    is_robbed_.store(true, std::memory_order_relaxed);  // the barrier orders it
    // The barrier pairs with kept() and begin_writing(). acquire: pairs with end_writing().
    if (heavy_barrier() && !is_written_.load(std::memory_order_acquire)) {
      Runnable* work = work_.load(std::memory_order_relaxed);  // a first guess
      // acquire: pairs with put(). The owner may have been quicker.
      if (work != nullptr && work_.compare_exchange_strong(work, nullptr, std::memory_order_acquire,
                                                           std::memory_order_relaxed)) {
        return stolen_ = work;
      }
    }
    is_robbed_.store(false, std::memory_order_relaxed);  // who asks all the same waits for us
    return nullptr;
  }

 private:
  void note_level(uint32_t level) noexcept { levels_above_ = (1u << level) - 1; }

  [[nodiscard]] bool looks_robbed() const noexcept {
    // relaxed: the barriers order it, or whoever brought back what was stolen.
    return is_robbed_.load(std::memory_order_relaxed);
  }
  // What the owner has taken out, unless a thief was quicker.
  [[nodiscard]] Runnable* kept(Runnable* work) noexcept {
    light_barrier();  // pairs with steal()
    return !looks_robbed() ? work : ask_thief(work);
  }
  [[gnu::noinline, gnu::cold]] Runnable* ask_thief(Runnable* work) noexcept {
    std::lock_guard hold(thieves_);
    const bool is_stolen = stolen_ == work;
    stolen_ = nullptr;
    is_robbed_.store(false, std::memory_order_relaxed);  // under the lock
    return is_stolen ? nullptr : work;
  }

  Atomic<Runnable*> work_{nullptr};
  uint32_t levels_above_ = 0;  // the owner's
  Atomic<bool> is_robbed_{false};
  Atomic<bool> is_written_{false};
  const bool exchanges_;
  SpinLock thieves_;
  Shared<Runnable*> stolen_{nullptr};  // by the last theft, until the owner has noticed
};

}  // namespace jzx::base
