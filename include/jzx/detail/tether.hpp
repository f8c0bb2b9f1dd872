// What ties one who waits to the future it waits for, so that somebody else can cancel that future
// meanwhile. The future's memory goes away when its result has been taken; the tether keeps it
// there for as long as a canceller uses it.
//
//   loose ──▶ tied ──▶ loose            the result came, and the promise's end goes on
//               └────▶ cancelling ──▶ tied      it was asked to end early; the result is to come
//                          ├────────▶ loose     it was taken back: nothing will come
//                          └──▶ arrived ──▶ loose   the result came while the canceller was there:
//                                               the canceller goes on, in place of the promise's
//                                               end
//
// A request is remembered: who was cancelled before it was tied finds out when it ties.
//
// So the promise's end never waits for a canceller, nor a canceller for a promise's end, also when
// both are the same thread: a future that is cancelled may well be settled by that very call.
//
// Memory orders: every change is an acquire-release exchange of the one word, so whoever goes on
// sees what the others did.
//
// Threads: tie() the one who waits; arrive() the promise's end; cancel() any, while whoever waits
// is there. Atomic is std::atomic; the model tests put the checker's in its place.
#pragma once

#include <atomic>
#include <cstdint>

namespace jzx::detail {

// What is left to do for a canceller.
enum class Cancelled : uint8_t {
  nothing,     // it was cancelled before, or waits for nothing, or the result will come
  go_on,       // the result is there
  taken_back,  // go on without a result
};

template <template <class> class Atomic = std::atomic>
class Tether {
 public:
  [[nodiscard]] bool is_cancelled() const noexcept {
    return (word_.load(std::memory_order_acquire) & kCancelled) != 0;  // pairs with cancel()
  }

  // The same by a change of the word: a canceller that this does not see sees what was written
  // before it.
  [[nodiscard]] bool look_cancelled() noexcept {
    return (word_.fetch_or(0, std::memory_order_acq_rel) & kCancelled) != 0;
  }

  // Before the future is left. False: it has been cancelled, and is not tied.
  [[nodiscard]] bool tie() noexcept {
    uint32_t expected = kLoose;
    return word_.compare_exchange_strong(expected, kTied, std::memory_order_acq_rel,
                                         std::memory_order_acquire);
  }
  // One that has been cancelled before is its own canceller: it leaves the future, asks it for an
  // early end, and then calls end_cancel(). Whoever arrives meanwhile leaves it to go on, so the
  // future is there until then. Nobody else cancels, so it needs no exchange; release: pairs with
  // arrive().
  void hold_cancelled() noexcept {
    word_.store(kCancelling | kCancelled, std::memory_order_release);
  }
  // The result was there before anybody could arrive. False: the canceller has it in hand, and will
  // go on.
  [[nodiscard]] bool untie() noexcept { return arrive(); }

  // The result is there. True: go on. False: the canceller will.
  [[nodiscard]] bool arrive() noexcept {
    uint32_t word = word_.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      const bool is_in_use = (word & kLine) == kCancelling;
      const uint32_t next = (word & kCancelled) | (is_in_use ? kArrived : kLoose);
      if (exchange(word, next)) return !is_in_use;
    }
  }

  // True: the future is there until end_cancel(), and is to be cancelled. False: there is nothing
  // to do.
  [[nodiscard]] bool begin_cancel() noexcept {
    uint32_t word = word_.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      if ((word & kCancelled) != 0) return false;
      if (exchange(word, (word == kTied ? kCancelling : kLoose) | kCancelled)) break;
    }
    return word == kTied;
  }
  // It has been asked for an early end, and was perhaps taken back.
  [[nodiscard]] Cancelled end_cancel(bool is_taken_back) noexcept {
    uint32_t word = kCancelling | kCancelled;
    if (exchange_strongly(word, (is_taken_back ? kLoose : kTied) | kCancelled)) {
      return is_taken_back ? Cancelled::taken_back : Cancelled::nothing;
    }
    // It has arrived. release: pairs with what comes next to this word.
    word_.store(kLoose | kCancelled, std::memory_order_release);
    return Cancelled::go_on;
  }
  // Both: `cancel_future()` asks the future for an early end; true: it was taken back.
  template <class CancelFuture>
  [[nodiscard]] Cancelled cancel(CancelFuture&& cancel_future) noexcept {
    return begin_cancel() ? end_cancel(cancel_future()) : Cancelled::nothing;
  }

 private:
  static constexpr uint32_t kLoose = 0;
  static constexpr uint32_t kTied = 1;
  static constexpr uint32_t kCancelling = 2;
  static constexpr uint32_t kArrived = 3;
  static constexpr uint32_t kLine = 3;
  static constexpr uint32_t kCancelled = 4;

  // acq_rel: see above; every change pairs with every later one.
  [[nodiscard]] bool exchange(uint32_t& expected, uint32_t next) noexcept {
    return word_.compare_exchange_weak(expected, next, std::memory_order_acq_rel,
                                       std::memory_order_relaxed);
  }
  [[nodiscard]] bool exchange_strongly(uint32_t& expected, uint32_t next) noexcept {
    return word_.compare_exchange_strong(expected, next, std::memory_order_acq_rel,
                                         std::memory_order_acquire);
  }

  Atomic<uint32_t> word_{kLoose};
};

}  // namespace jzx::detail
