// Work that should run newest first, and that others may take oldest first: a bounded deque after
// Chase and Lev. The owner pushes and pops at the bottom; thieves take one at a time at the top.
// For a tree of new actors that means: each worker goes depth first, and a thief gets the largest
// subtree that is waiting.
//
//        top (thieves, and the owner for the last one)      bottom (the owner)
//          ▼                                                  ▼
//   [ ][ ][oldest] … [newest][ ]
//
// pop() first announces the slot it wants by lowering the bottom and then reads the top; steal()
// reads the top and then the bottom. Both pairs are sequentially consistent, so at least one of an
// owner and a thief that want the same slot sees the other. For the last item both exchange the
// top, and one wins. Accesses, not fences, carry the order: thread sanitizer knows no fences.
//
// Threads: push() and pop() by the owner; steal() and looks by anybody.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace jzx::base {

// `capacity` is a power of two.
template <class T, uint32_t capacity>
class StealDeque {
 public:
  static_assert((capacity & (capacity - 1)) == 0);

  // Without thieves the owner needs no locked instruction.
  explicit StealDeque(bool has_thieves = true) noexcept : has_thieves_(has_thieves) {}

  // False: full.
  [[nodiscard]] bool push(T* item) noexcept {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);  // only the owner writes it
    // acquire: whoever moved the top past this slot has read it.
    if (bottom - top_.load(std::memory_order_acquire) >= static_cast<int64_t>(capacity)) {
      return false;
    }
    slot(bottom).store(item, std::memory_order_relaxed);  // published by the bottom
    if (!has_thieves_) return bottom_.store(bottom + 1, std::memory_order_relaxed), true;
    // seq_cst: publishes the slot, and stands before the caller's look for sleepers.
    bottom_.store(bottom + 1, std::memory_order_seq_cst);
    return true;
  }

  // The owner: the newest, or nullptr.
  [[nodiscard]] T* pop() noexcept {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;  // the owner's own
    // relaxed: the top only grows, so who finds nothing below it finds nothing.
    if (top_.load(std::memory_order_relaxed) > bottom) return nullptr;
    if (!has_thieves_) {
      bottom_.store(bottom, std::memory_order_relaxed);
      return slot(bottom).load(std::memory_order_relaxed);
    }
    // seq_cst, both: see the head of the file.
    bottom_.store(bottom, std::memory_order_seq_cst);
    int64_t top = top_.load(std::memory_order_seq_cst);
    T* item = nullptr;
    if (top <= bottom) {
      item = slot(bottom).load(std::memory_order_relaxed);  // the owner wrote it
      if (top < bottom) return item;
      // The last one: a thief may want it too.
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) {
        item = nullptr;
      }
    }
    bottom_.store(bottom + 1, std::memory_order_relaxed);  // empty, at the place it was
    return item;
  }

  // A thief: the oldest, or nullptr if there is none or another took it first.
  [[nodiscard]] T* steal() noexcept {
    int64_t top = top_.load(std::memory_order_seq_cst);  // before the bottom: see the head
    // seq_cst: as above; also acquires what push() published.
    const int64_t bottom = bottom_.load(std::memory_order_seq_cst);
    if (top >= bottom) return nullptr;
    T* item = slot(top).load(std::memory_order_relaxed);  // whole if the exchange succeeds
    // seq_cst: decides between thieves and, for the last one, the owner. Releases the slot to
    // push().
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                      std::memory_order_relaxed)) {
      return nullptr;
    }
    return item;
  }

  // A snapshot; seq_cst as in StealQueue::size().
  [[nodiscard]] uint64_t size() const noexcept {
    const int64_t top = top_.load(std::memory_order_seq_cst);
    const int64_t bottom = bottom_.load(std::memory_order_seq_cst);
    return bottom > top ? static_cast<uint64_t>(bottom - top) : 0;
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  // The number of the oldest one; a snapshot.
  [[nodiscard]] uint64_t first() const noexcept {
    return static_cast<uint64_t>(top_.load(std::memory_order_relaxed));
  }

 private:
  [[nodiscard]] Atomic<T*>& slot(int64_t at) noexcept {
    return slots_[static_cast<uint64_t>(at) & (capacity - 1)];
  }

  alignas(64) Atomic<int64_t> top_{0};
  alignas(64) Atomic<int64_t> bottom_{0};
  Atomic<T*> slots_[capacity]{};
  const bool has_thieves_;
};

}  // namespace jzx::base
