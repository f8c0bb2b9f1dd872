// The word on which a thread sleeps until its result is there.
//
//   who answers                          the thread
//   the result                           looks out for kWoken a while
//   word: → kWoken        (release)      word: kWaiting → kAsleep
//   was it kAsleep? wakes the thread     not kWoken yet? sleeps, if the word is still kAsleep
//
// No wake-up is missed: both change the word by exchanges, so one of them sees the other. Either
// the thread finds kWoken, or whoever answers finds kAsleep and wakes it.
//
// The word lies on the stack of the thread, which may return as soon as it sees kWoken. So whoever
// answers does not touch it after that, and only hands its address to the kernel.
//
// `Futex` is base::Futex; the model tests have one of their own.
//
// Threads: wake() by whoever answers, once; the rest by the thread that sleeps.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace jzx::async {

template <class Futex>
class Sleeper {
 public:
  void wake() noexcept {
    // release: the result is seen by who wakes up; pairs with has_woken().
    if (word_.exchange(kWoken, std::memory_order_release) == kAsleep) Futex::wake(word_, 1);
  }

  [[nodiscard]] bool has_woken() const noexcept {
    return word_.load(std::memory_order_acquire) == kWoken;  // pairs with wake()
  }

  // `left(time)` sets for how long it may sleep at most; false: not at all any more, and then this
  // answers false.
  template <class Left>
  [[nodiscard]] bool sleep(Left&& left) noexcept {
    uint32_t waiting = kWaiting;
    // relaxed: if it fails, has_woken() follows.
    word_.compare_exchange_strong(waiting, kAsleep, std::memory_order_relaxed,
                                  std::memory_order_relaxed);
    while (!has_woken()) {
      typename Futex::Time time{};
      if (!left(time)) return false;
      Futex::wait(word_, kAsleep, time);
    }
    return true;
  }

 private:
  static constexpr uint32_t kWaiting = 0;
  static constexpr uint32_t kAsleep = 1;
  static constexpr uint32_t kWoken = 2;

  base::Atomic<uint32_t> word_{kWaiting};
};

}  // namespace jzx::async
