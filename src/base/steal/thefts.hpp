// For what its owner takes by plain loads and stores all the time, though now and then a thief
// comes. The thief pays:
//
//   owner                                    thief, one at a time
//     looks what is there                      is_robbed = true
//     stores what shall be there               heavy barrier
//     (light barrier)                          exchanges what is there for nothing,
//     is_robbed? then it asks                  and writes down what it got: the loot
//
// An owner who does not see is_robbed stored before the barrier; the thief sees that store, and
// gets what is there now, if anything. One who does see it asks, under the thieves' lock: if the
// loot is what it had looked at, the thief was quicker, and the owner puts right what it stored,
// before the next thief comes. The loot stays written down, and nobody steals again, until the
// owner has asked. So an owner who found nothing there asks when it puts something there: the loot
// may have come back to it, and would be taken for stolen once more.
//
// Threads: looks_robbed(), was_robbed() and ask() by the owner; steal() by any.
#pragma once

#include <mutex>
#include <optional>

#include "base/atomic.hpp"
#include "base/spin_lock.hpp"

namespace jzx::base {

// A Loot{} is nothing.
template <class Loot>
class Thefts {
 public:
  [[nodiscard]] bool looks_robbed() const noexcept {
    // relaxed: the barriers order it, or whoever brought back what was stolen.
    return is_robbed_.load(std::memory_order_relaxed);
  }
  // After the owner's store.
  [[nodiscard]] bool was_robbed() const noexcept {
    light_barrier();  // pairs with steal()
    return looks_robbed();
  }
  // settle(loot) puts right what the owner stored; what it returns is returned.
  template <class Settle>
  [[gnu::noinline, gnu::cold]] auto ask(Settle&& settle) noexcept {
    std::lock_guard hold(thieves_);
    const Loot loot = loot_;
    loot_ = Loot{};
    is_robbed_.store(false, std::memory_order_relaxed);  // under the lock
    return settle(loot);
  }
  // take() exchanges what is there for nothing. Nothing came of it: Loot{}. None: the system has no
  // barrier any more, and nothing can be stolen.
  template <class Take>
  [[nodiscard]] std::optional<Loot> steal(Take&& take) noexcept {
    std::lock_guard hold(thieves_);
    const Loot last = loot_;
    if (last != Loot{}) return Loot{};                  // the owner has not noticed yet
    is_robbed_.store(true, std::memory_order_relaxed);  // the barrier orders it
    const bool is_warned = heavy_barrier();             // pairs with was_robbed()
    const Loot loot = is_warned ? take() : Loot{};
    loot_ = loot;
    // An owner who asks all the same waits for us.
    if (loot == Loot{}) is_robbed_.store(false, std::memory_order_relaxed);
    return is_warned ? std::optional(loot) : std::nullopt;
  }

 private:
  Atomic<bool> is_robbed_{false};
  SpinLock thieves_;
  Shared<Loot> loot_{Loot{}};  // of the last theft, until the owner has noticed
};

}  // namespace jzx::base
