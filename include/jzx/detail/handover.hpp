// The word by which the two ends of a future agree who goes on. Each end brings its half (the
// promise a result, the future what shall happen with it) and comes exactly once; who comes second
// has both halves, and owns the memory they lie in. So there is nothing to count and nothing to
// wait for: an end that came first has let go.
//
//   alone ──▶ pending ──▶ settled      the promise came first; the future's end goes on
//                ├──────▶ left         the future came first; the promise's end goes on
//                └──────▶ lent ──▶ taken back
//                          the future came first, but may change its mind: if it takes its half
//                          back before the promise comes, that only ends the memory
//
// One locked instruction decides. The end that comes clearly later sees so by a load, and needs
// none: of the common ask, whose then() is called before the answer comes, then() pays one and the
// answer pays none.
//
// Memory orders: an end writes its half, then exchanges with release, which publishes it; the
// other finds out that it is second by a load or an exchange with acquire, and so sees that half.
// As the word changes once after `pending`, one of two exchanges is the second, and reads from the
// first: neither half is lost, and not both ends go on. What the second end does is ordered after
// everything that the first did with the memory, so it may end the memory.
//
// A thread that waits is no case of its own: it leaves with a half that wakes it, and the memory is
// its own again once it was woken.
//
// Atomic is std::atomic; the model tests put the checker's in its place.
#pragma once

#include <atomic>
#include <cstdint>

namespace jzx::detail {

enum class Stage : uint8_t {
  alone,    // there is no future yet
  pending,  // neither end has come
  settled,
  left,
  lent,
  taken_back,
};

// What the promise's end finds.
enum class Settled : uint8_t {
  first,     // the future's end will go on
  second,    // go on: the future's end has left its half
  orphaned,  // nobody wants the result: end the memory
};

template <template <class> class Atomic = std::atomic>
class Handover {
 public:
  explicit Handover(Stage stage) noexcept : stage_(stage) {}

  // ---- the promise's end ----

  // The future is made now; false: it was before. relaxed: the promise alone has the memory, and
  // who gives one of the ends to another thread orders that.
  [[nodiscard]] bool claim_future() noexcept {
    if (stage_.load(std::memory_order_relaxed) != Stage::alone) return false;
    stage_.store(Stage::pending, std::memory_order_relaxed);
    return true;
  }

  // The result is there. One that is alone is second too.
  [[nodiscard]] Settled settle() noexcept {
    // acquire: pairs with the release in leave().
    const Stage seen = stage_.load(std::memory_order_acquire);
    if (seen == Stage::left || seen == Stage::alone) return Settled::second;
    // release: publishes the result, pairs with the acquires in leave(), is_settled() and
    // take_back(). acquire: pairs with the releases in leave(), lend() and take_back().
    switch (stage_.exchange(Stage::settled, std::memory_order_acq_rel)) {
      case Stage::pending:
        return Settled::first;
      case Stage::taken_back:
        return Settled::orphaned;
      default:
        return Settled::second;
    }
  }

  // True: what the future's end left is there, until the result is.
  [[nodiscard]] bool is_left() const noexcept {
    // acquire: pairs with the release in leave().
    return stage_.load(std::memory_order_acquire) == Stage::left;
  }

  // ---- the future's end ----

  // What shall happen with the result is said. True: the caller is second.
  [[nodiscard]] bool leave() noexcept {
    // acquire: pairs with the release in settle().
    if (stage_.load(std::memory_order_acquire) == Stage::settled) return true;
    return leave_pending();
  }
  // The same without a look: it was pending just now.
  [[nodiscard]] bool leave_pending() noexcept {
    // release: publishes what was said, pairs with the acquires in settle(). acquire: pairs with
    // the release in settle().
    return stage_.exchange(Stage::left, std::memory_order_acq_rel) == Stage::settled;
  }

  // The same, but with the right to take_back().
  [[nodiscard]] bool lend() noexcept {
    Stage expected = Stage::pending;
    // As in leave(), but a result that is there stays: what is not lent cannot be taken back.
    return !stage_.compare_exchange_strong(expected, Stage::lent, std::memory_order_acq_rel,
                                           std::memory_order_acquire);
  }
  // After lend(), by one who knows that the memory is there. True: the promise's end will not go on
  // with what was lent, and the memory is its own. False: it has, or is about to.
  [[nodiscard]] bool take_back() noexcept {
    Stage expected = Stage::lent;
    // release: what was done with the memory is done, pairs with the acquire in settle(). acquire:
    // pairs with the release in settle().
    return stage_.compare_exchange_strong(expected, Stage::taken_back, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }

  // Before leave(). True: the caller is second, and has the result.
  [[nodiscard]] bool is_settled() const noexcept {
    // acquire: pairs with the release in settle().
    return stage_.load(std::memory_order_acquire) == Stage::settled;
  }

 private:
  Atomic<Stage> stage_;
};

}  // namespace jzx::detail
