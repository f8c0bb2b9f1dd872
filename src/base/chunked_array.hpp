// An array that grows by chunks and never moves: the address of an element is good for
// the life of the array, and may be looked up by any thread while the owner grows it.
//
//   directory (allocated once)     chunks (allocated on demand, cache-line aligned)
//   [0] ───────────────────────▶ [ T T T … ]   chunk_size elements
//   [1] ───────────────────────▶ [ T T T … ]
//   [2] null
//
// Elements are value-initialised when their chunk is made and destroyed with the array.
// Threads: grow() by one thread at a time; find() by any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/allocator.hpp"
#include "base/assert.hpp"

namespace jzx::base {

template <class T>
class ChunkedArray {
 public:
  ChunkedArray(Allocator allocator, uint32_t max_size, uint32_t chunk_size) noexcept
      : allocator_(allocator),
        max_size_(max_size),
        shift_(static_cast<uint32_t>(std::bit_width(chunk_size) - 1)) {
    JZX_ASSERT(std::has_single_bit(chunk_size));
  }
  ChunkedArray(const ChunkedArray&) = delete;
  ChunkedArray& operator=(const ChunkedArray&) = delete;

  ~ChunkedArray() {
    for (uint32_t chunk = 0; (chunk << shift_) < size_; ++chunk) {
      Header* header = directory_[chunk].load(std::memory_order_relaxed);
      T* elements = elements_of(header);
      const uint32_t count = std::min(1u << shift_, size_ - (chunk << shift_));
      for (uint32_t i = 0; i < count; ++i) elements[i].~T();
      allocator_.release(header);
    }
    allocator_.release(directory_);
  }

  // Must be called once, before anything else; false when the allocator refuses.
  [[nodiscard]] bool reserve_directory() noexcept {
    const size_t entries = chunk_count();
    void* memory = allocator_.allocate(entries * sizeof(*directory_));
    if (memory == nullptr) return false;
    directory_ = static_cast<std::atomic<Header*>*>(memory);
    for (size_t i = 0; i < entries; ++i) new (&directory_[i]) std::atomic<Header*>(nullptr);
    return true;
  }

  // Adds one chunk (or what of it is left below max_size). False: full, or no memory.
  [[nodiscard]] bool grow() noexcept {
    if (size_ >= max_size_) return false;
    const uint32_t count = std::min(1u << shift_, max_size_ - size_);
    void* memory = allocator_.allocate(sizeof(Header) + kAlignment + sizeof(T) * count);
    if (memory == nullptr) return false;
    auto* header = new (memory) Header{};
    T* elements = elements_of(header);
    for (uint32_t i = 0; i < count; ++i) new (&elements[i]) T();
    // release: publishes the constructed elements; pairs with the acquire in find().
    directory_[size_ >> shift_].store(header, std::memory_order_release);
    size_ += count;
    return true;
  }

  // nullptr for an index that was never made. Any thread.
  [[nodiscard]] T* find(uint32_t index) const noexcept {
    if (index >= max_size_) return nullptr;
    // acquire: pairs with the release in grow().
    Header* header = directory_[index >> shift_].load(std::memory_order_acquire);
    return header == nullptr ? nullptr : elements_of(header) + (index & ((1u << shift_) - 1));
  }

  // The owner's view: an index below size().
  [[nodiscard]] T& operator[](uint32_t index) const noexcept {
    JZX_ASSERT(index < size_);
    return elements_of(directory_[index >> shift_].load(std::memory_order_relaxed))
        [index & ((1u << shift_) - 1)];
  }

  [[nodiscard]] uint32_t size() const noexcept { return size_; }
  [[nodiscard]] uint32_t max_size() const noexcept { return max_size_; }

 private:
  static constexpr size_t kAlignment = std::max<size_t>(64, alignof(T));
  struct Header {};

  static T* elements_of(Header* header) noexcept {
    return static_cast<T*>(align_up(header + 1, kAlignment));
  }
  [[nodiscard]] size_t chunk_count() const noexcept {
    return (static_cast<size_t>(max_size_) + (1u << shift_) - 1) >> shift_;
  }

  Allocator allocator_;
  std::atomic<Header*>* directory_ = nullptr;
  uint32_t max_size_;
  uint32_t shift_;
  uint32_t size_ = 0;
};

}  // namespace jzx::base
