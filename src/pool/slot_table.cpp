// What happens to the slots of a pool; the states are drawn in jzx/handle_pool.hpp.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include <jzx/handle_pool.hpp>

#include "base/assert.hpp"

namespace jzx::detail {

namespace {

// Large enough that the allocator is asked rarely, small enough that a pool for a million costs
// little until it is used.
constexpr size_t kChunkBytes = 32 * 1024;
constexpr uint32_t kMaxChunkSlots = 1024;

// A power of two, so that finding a slot needs no division.
uint32_t slots_per_chunk(uint32_t capacity, size_t node_size) {
  const size_t that_fit = std::clamp<size_t>(kChunkBytes / node_size, 1, kMaxChunkSlots);
  const uint32_t wanted = std::clamp<uint32_t>(capacity, 1, kMaxChunkSlots);
  return std::min(std::bit_floor(static_cast<uint32_t>(that_fit)), std::bit_ceil(wanted));
}

constexpr uint64_t word_with(uint64_t generation, uint32_t low) { return generation << 32 | low; }

constexpr uint64_t generation_in(uint64_t word) { return word >> 32; }

std::byte* align_up(std::byte* ptr, size_t alignment) {
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  return ptr + ((address + alignment - 1) / alignment * alignment - address);
}

}  // namespace

SlotTable::SlotTable(uint32_t capacity, const Content& content, const PoolOptions& options) noexcept
    : node_size_(content.node_size),
      chunk_mask_(slots_per_chunk(capacity, content.node_size) - 1),
      capacity_(capacity),
      content_(content),
      options_(options) {
  chunk_shift_ = static_cast<uint32_t>(std::popcount(chunk_mask_));
  if (options_.first_generation == 0) options_.first_generation = 1;
}

SlotTable::~SlotTable() {
  for (uint32_t chunk = 0; chunk < chunk_count_; ++chunk) {
    options_.memory.release(chunks_[chunk].memory);
  }
  options_.memory.release(chunks_);
}

uint32_t SlotTable::take() noexcept {
  if (taken_ >= capacity_) return kNoSlot;
  uint32_t slot = free_;
  if (slot != kNoSlot) {
    uint64_t& word = word_of(node(slot));
    free_ = static_cast<uint32_t>(word);
    word = word_with(generation_in(word), kNoSlot);
  } else {
    // Slots that were left behind count here, so this is not bounded by the capacity.
    if (used_slots_ == kNoSlot) return kNoSlot;
    if (used_slots_ >> chunk_shift_ == chunk_count_ && !add_chunk()) return kNoSlot;
    slot = used_slots_++;
    word_of(node(slot)) = word_with(options_.first_generation, kNoSlot);
  }
  ++taken_;
  return slot;
}

uint64_t SlotTable::publish(uint32_t slot) noexcept {
  uint64_t& word = word_of(node(slot));
  JZX_ASSERT(static_cast<uint32_t>(word) == kNoSlot);
  JZX_ASSERT(generation_in(word) != 0);
  word = word_with(generation_in(word), slot);
  live_word(slot) |= uint64_t{1} << (slot & chunk_mask_) % 64;
  return word;
}

void SlotTable::withdraw(uint32_t slot) noexcept {
  uint64_t& word = word_of(node(slot));
  JZX_ASSERT(static_cast<uint32_t>(word) == slot);
  // After the last generation the shift leaves 0, which give_back() knows.
  word = word_with(generation_in(word) + 1, kNoSlot);
  live_word(slot) &= ~(uint64_t{1} << (slot & chunk_mask_) % 64);
}

void SlotTable::give_back(uint32_t slot) noexcept {
  uint64_t& word = word_of(node(slot));
  JZX_ASSERT(static_cast<uint32_t>(word) == kNoSlot);
  JZX_ASSERT(taken_ > 0);
  --taken_;
  if (generation_in(word) == 0) return;  // spent: left behind for good
  word = word_with(generation_in(word), free_);
  free_ = slot;
}

Error SlotTable::refusal() const noexcept {
  // The numbers come last and must be read: what is too long is the name, whose end says most.
  constexpr int kRoom = 95;
  const bool full = taken_ >= capacity_;
  const char* const before = full ? "the pool of " : "no memory for the pool of ";
  char after[64];
  const int after_size = std::snprintf(
      after, sizeof(after), full ? " is full: %u of %u handles are in use" : ": %u of %u in use",
      taken_, capacity_);
  const size_t room =
      static_cast<size_t>(kRoom - after_size) - std::strlen(before) - std::strlen("...");
  const size_t size = std::strlen(content_.name);
  const bool fits = size <= room + std::strlen("...");
  char text[kRoom + 1];
  std::snprintf(text, sizeof(text), "%s%s%s%s", before, fits ? "" : "...",
                content_.name + (fits ? 0 : size - room), after);
  return Error(Errc::no_memory, text);
}

bool SlotTable::add_chunk() noexcept {
  if (chunk_count_ == chunk_room_ && !grow_directory()) return false;
  const size_t slots = size_t{chunk_mask_} + 1;
  const size_t live_bytes = (slots + 63) / 64 * sizeof(uint64_t);
  void* const memory =
      options_.memory.allocate(live_bytes + content_.node_alignment - 1 + slots * node_size_);
  if (memory == nullptr) return false;
  std::memset(memory, 0, live_bytes);
  auto* const after_live = static_cast<std::byte*>(memory) + live_bytes;
  chunks_[chunk_count_++] = {align_up(after_live, content_.node_alignment), memory};
  return true;
}

bool SlotTable::grow_directory() noexcept {
  const auto room =
      static_cast<uint32_t>(std::clamp<uint64_t>(2 * uint64_t{chunk_room_}, 8, UINT32_MAX));
  void* const memory = options_.memory.allocate(room * sizeof(Chunk));
  if (memory == nullptr) return false;
  if (chunk_count_ > 0) std::memcpy(memory, chunks_, chunk_count_ * sizeof(Chunk));
  options_.memory.release(chunks_);
  chunks_ = static_cast<Chunk*>(memory);
  chunk_room_ = room;
  return true;
}

}  // namespace jzx::detail
