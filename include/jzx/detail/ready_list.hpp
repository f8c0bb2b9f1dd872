// What is ready to run in a nursery: put there by any thread, taken out by the one that runs it.
// The same word says whether the runner waits, so that who puts the first thing knows that it must
// ring.
//
//   empty ──put──▶ a stack ──take_all──▶ empty
//     └─begin_wait─▶ waiting ──put: ring──▶ a stack
//
// Memory orders: put() publishes the node by release, take_all() and a put() that has to ring see
// what was before by acquire; all changes are of the one word.
//
// Threads: put() any; the rest the runner. Atomic is std::atomic; the model tests put the checker's
// in its place.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace jzx::detail {

// It is in at most one list, once.
struct ReadyNode {
  ReadyNode* next_ready = nullptr;
};

template <template <class> class Atomic = std::atomic>
class ReadyList {
 public:
  // True: the runner waits, and the caller is the one who wakes it. Unless it does, nothing of the
  // list is used after this.
  [[nodiscard]] bool put(ReadyNode& node) noexcept {
    uintptr_t before = word_.load(std::memory_order_relaxed);  // a first guess
    do {
      node.next_ready = before == kWaiting ? nullptr : reinterpret_cast<ReadyNode*>(before);
      // release: publishes the node, pairs with take_all(). acquire: pairs with begin_wait(), whose
      // bell is then used.
    } while (!word_.compare_exchange_weak(before, reinterpret_cast<uintptr_t>(&node),
                                          std::memory_order_acq_rel, std::memory_order_relaxed));
    return before == kWaiting;
  }
  // Oldest first; nullptr: nothing.
  [[nodiscard]] ReadyNode* take_all() noexcept {
    // acquire: pairs with the release in put().
    auto* newest = reinterpret_cast<ReadyNode*>(word_.exchange(0, std::memory_order_acquire));
    ReadyNode* oldest = nullptr;
    while (newest != nullptr) {
      ReadyNode* next = newest->next_ready;
      newest->next_ready = std::exchange(oldest, newest);
      newest = next;
    }
    return oldest;
  }
  // False: there is something.
  [[nodiscard]] bool begin_wait() noexcept {
    uintptr_t expected = 0;
    // release: publishes the bell, pairs with the acquire in put(). relaxed: then it is taken.
    return word_.compare_exchange_strong(expected, kWaiting, std::memory_order_release,
                                         std::memory_order_relaxed);
  }

 private:
  static constexpr uintptr_t kWaiting = 1;
  Atomic<uintptr_t> word_{0};
};

}  // namespace jzx::detail
