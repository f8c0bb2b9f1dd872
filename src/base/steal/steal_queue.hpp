// The ready work of one worker that others may take from: a bounded FIFO ring. The owner pushes at
// the tail and pops at the head; thieves take up to half, also at the head, so that work leaves in
// the order it came, whoever runs it.
//
//        head (anybody, by exchange)            tail (the owner)
//          ▼                                      ▼
//   [ ][ ][a][b][c][d][e][ ]
//          └─────┘ one steal: half, at most a batch
//
// Taking is one compare-exchange of the head from what was read to what is wanted. The slots are
// read before it: the owner writes a slot again only after the head has passed it, so if the
// exchange succeeds the head had not moved and what was read was whole. The counters are 64 bits
// wide and never come back to an old value.
//
// Memory order: push() releases the tail after it wrote the slot, and a taker acquires the tail
// before it reads the slot, so it sees the slot and what the pusher did before (the actor's
// fields). A taker releases the head after it read the slots, and the owner acquires the head
// before it writes a slot again, so it does not write under a reader. push() is also sequentially
// consistent: its caller goes on to look for sleepers; see drivers/workers/idle.hpp.
//
// Threads: push(), pop() by the owner; steal() and looks by anybody.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace jzx::base {

// `capacity` is a power of two.
template <class T, uint32_t capacity>
class StealQueue {
 public:
  static_assert((capacity & (capacity - 1)) == 0);

  // False: there are `limit` of them, which is at most the capacity.
  [[nodiscard]] bool push(T* item, uint64_t limit = capacity) noexcept {
    JZX_ASSERT(limit <= capacity);
    const uint64_t tail = tail_.load(std::memory_order_relaxed);  // only the owner writes it
    // acquire: whoever moved the head past this slot has read it.
    if (tail - head_.load(std::memory_order_acquire) >= limit) return false;
    slot(tail).store(item, std::memory_order_relaxed);  // published by the tail
    // seq_cst: publishes the slot, and stands before the caller's look for sleepers.
    tail_.store(tail + 1, std::memory_order_seq_cst);
    return true;
  }

  // The owner: the oldest, or nullptr.
  [[nodiscard]] T* pop() noexcept {
    // relaxed: a first guess; the exchange decides.
    uint64_t head = head_.load(std::memory_order_relaxed);
    const uint64_t tail = tail_.load(std::memory_order_relaxed);  // the owner's own
    for (;;) {
      // A thief's exchange may be seen before an older value of the tail would be, never after
      // our own pushes: head <= tail here.
      if (head == tail) return nullptr;
      T* item = slot(head).load(std::memory_order_relaxed);  // the owner wrote it
      // release: the slot was read; pairs with the acquire in push(). (The owner is that pusher,
      // but a release keeps the sequence that thieves are part of.)
      if (head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        return item;
      }
    }
  }

  // A thief: moves half of what is here, at most `at_most`, to the caller. `take(T*)` is called
  // for each, the oldest first. How many there were.
  template <class Take>
  uint32_t steal(uint32_t at_most, Take&& take) noexcept {
    T* batch[kMaxBatch];
    // acquire: a tail that is older than this head would make the difference wrap.
    uint64_t head = head_.load(std::memory_order_acquire);
    for (;;) {
      // acquire: pairs with the store in push(): slots below the tail are written.
      const uint64_t tail = tail_.load(std::memory_order_acquire);
      // The head that was read may be old by now, and the tail a lap ahead of it: then the exchange
      // fails, and the length means nothing.
      uint64_t count = tail - head;
      count -= count / 2;
      if (count > at_most) count = at_most;
      if (count > kMaxBatch) count = kMaxBatch;
      if (count == 0) return 0;
      for (uint64_t i = 0; i < count; ++i) {
        batch[i] =
            slot(head + i).load(std::memory_order_relaxed);  // whole if the exchange succeeds
      }
      // release: the slots were read; pairs with the acquire in push().
      if (head_.compare_exchange_weak(head, head + count, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        for (uint64_t i = 0; i < count; ++i) take(batch[i]);
        return static_cast<uint32_t>(count);
      }
    }
  }

  // A snapshot; seq_cst, since a worker looks here between its announcement that it sleeps and
  // its sleep.
  [[nodiscard]] uint64_t size() const noexcept {
    const uint64_t head = head_.load(std::memory_order_seq_cst);
    const uint64_t tail = tail_.load(std::memory_order_seq_cst);
    return tail > head ? tail - head : 0;
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  // How many were taken, ever; a snapshot.
  [[nodiscard]] uint64_t taken() const noexcept { return head_.load(std::memory_order_relaxed); }

  static constexpr uint32_t kCapacity = capacity;
  static constexpr uint32_t kMaxBatch = capacity < 64 ? capacity : 64;

 private:
  [[nodiscard]] Atomic<T*>& slot(uint64_t at) noexcept { return slots_[at & (capacity - 1)]; }

  alignas(64) Atomic<uint64_t> head_{0};
  alignas(64) Atomic<uint64_t> tail_{0};
  Atomic<T*> slots_[capacity]{};
};

}  // namespace jzx::base
