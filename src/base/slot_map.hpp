// Records with ids that go stale: an id names one record once, and looking it up after the
// record was given back, or reused, finds nothing.
//
//   id:  generation (high 32, never 0) | owner (8) | slot (24)
//
// Records never move. `T` derives from Slotted. Threads: the owner only.
#pragma once

#include <cstdint>

#include "base/chunked_array.hpp"

namespace jzx::base {

struct Slotted {
  uint32_t generation = 0;
  uint32_t slot_or_next_free = 0;  // the slot while in use, the next free one while free
};

template <class T, uint32_t chunk_size>
class SlotMap {
 public:
  static constexpr uint32_t kMaxSlots = 1u << 24;

  // `owner` goes into every id, so that the worker a record lives on can be told from it. Different
  // maps should begin with different generations, so that an id taken to the wrong one is most
  // likely stale there.
  SlotMap(Allocator allocator, uint8_t owner, uint32_t first_generation = 1) noexcept
      : records_(allocator, kMaxSlots - 1),
        first_generation_(first_generation == 0 ? 1 : first_generation),
        owner_(owner) {}

  // nullptr: no memory, or all slots in use.
  [[nodiscard]] T* take() noexcept {
    if (free_ == kNoSlot && !grow()) return nullptr;
    const uint32_t slot = free_;
    T& record = records_[slot];
    free_ = record.slot_or_next_free;
    record.slot_or_next_free = slot;
    ++in_use_;
    return &record;
  }

  void give(T& record) noexcept {
    JZX_ASSERT(in_use_ > 0);
    invalidate(record);
    const uint32_t slot = record.slot_or_next_free;
    record.slot_or_next_free = free_;
    free_ = slot;
    --in_use_;
  }

  // The id goes stale now, although the record stays in use.
  static void invalidate(T& record) noexcept {
    if (++record.generation == 0) record.generation = 1;
  }

  [[nodiscard]] uint64_t id_of(const T& record) const noexcept {
    return (static_cast<uint64_t>(record.generation) << 32) |
           (static_cast<uint32_t>(owner_) << 24) | record.slot_or_next_free;
  }

  [[nodiscard]] T* find(uint64_t id) const noexcept {
    const auto low = static_cast<uint32_t>(id);
    if ((low >> 24) != owner_) return nullptr;
    const uint32_t slot = low & (kMaxSlots - 1);
    if (slot >= records_.size()) return nullptr;
    T& record = records_[slot];
    // A free record has had its generation moved on when it was given back, so no id that
    // was ever handed out equals it. Only a made-up id can, and a free record never has its
    // own slot as the next free one.
    const bool in_use = record.slot_or_next_free == slot;
    return in_use && record.generation == static_cast<uint32_t>(id >> 32) ? &record : nullptr;
  }

  [[nodiscard]] uint32_t in_use() const noexcept { return in_use_; }
  [[nodiscard]] static uint8_t owner_of(uint64_t id) noexcept {
    return static_cast<uint8_t>(static_cast<uint32_t>(id) >> 24);
  }

 private:
  static constexpr uint32_t kNoSlot = kMaxSlots;

  [[nodiscard]] bool grow() noexcept {
    const uint32_t first = records_.size();
    if (!records_.grow()) return false;
    for (uint32_t slot = records_.size(); slot-- > first;) {
      records_[slot].generation = first_generation_;
      records_[slot].slot_or_next_free = free_;
      free_ = slot;
    }
    return true;
  }

  ChunkedArray<T, chunk_size> records_;
  uint32_t free_ = kNoSlot;
  uint32_t in_use_ = 0;
  uint32_t first_generation_;
  uint8_t owner_;
};

}  // namespace jzx::base
