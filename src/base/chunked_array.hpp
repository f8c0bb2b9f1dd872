// An array that grows by chunks and never moves: the address of an element is good for the life of
// the array, and may be looked up by any thread while the owner grows it.
//
//   directory (doubled when full)     chunks (made on demand, cache-line aligned)
//   [0] ──────────────────────────▶ [ T T T … ]   chunk_size elements
//   [1] ──────────────────────────▶ [ T T T … ]
//   [2] null
//
// A reader may still hold a directory that has been replaced, so old ones are kept until the end;
// together they are as large as the newest. Elements are value-initialised when their chunk is made
// and destroyed with the array.
//
// Threads: grow() and operator[] by the owner; find() by any thread.
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
    for (uint32_t index = 0; index < size_; index += chunk_length(index)) {
      for (uint32_t i = 0; i < chunk_length(index); ++i) (*this)[index + i].~T();
    }
    const uint64_t chunks = chunks_for(size_);
    for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
      allocator_.release(newest()->chunks()[chunk].load(std::memory_order_relaxed));
    }
    for (Directory* directory = newest(); directory != nullptr;) {
      Directory* older = directory->older;
      allocator_.release(directory);
      directory = older;
    }
  }

  // Adds one chunk (or what of it is left below max_size). False: full, or no memory.
  [[nodiscard]] bool grow() noexcept {
    if (size_ >= max_size_) return false;
    const uint32_t chunk = size_ >> shift_;
    if ((newest() == nullptr || chunk >= newest()->capacity) && !grow_directory()) return false;
    const uint32_t count = std::min(1u << shift_, max_size_ - size_);
    void* memory = allocator_.allocate(kAlignment + sizeof(T) * count);
    if (memory == nullptr) return false;
    T* elements = elements_of(memory);
    for (uint32_t i = 0; i < count; ++i) new (&elements[i]) T();
    // release: publishes the constructed elements; pairs with the acquire in find().
    newest()->chunks()[chunk].store(memory, std::memory_order_release);
    size_ += count;
    return true;
  }

  // nullptr for an index that was never made. Any thread.
  [[nodiscard]] T* find(uint32_t index) const noexcept {
    // acquire: pairs with the release in grow_directory().
    Directory* directory = directory_.load(std::memory_order_acquire);
    const uint32_t chunk = index >> shift_;
    if (directory == nullptr || chunk >= directory->capacity) return nullptr;
    // acquire: pairs with the release in grow().
    void* memory = directory->chunks()[chunk].load(std::memory_order_acquire);
    if (memory == nullptr || index >= max_size_) return nullptr;
    return elements_of(memory) + (index & ((1u << shift_) - 1));
  }

  // The owner's view: an index below size().
  [[nodiscard]] T& operator[](uint32_t index) const noexcept {
    JZX_ASSERT(index < size_);
    return *find(index);
  }

  [[nodiscard]] uint32_t size() const noexcept { return size_; }
  [[nodiscard]] uint32_t max_size() const noexcept { return max_size_; }

 private:
  static constexpr size_t kAlignment = std::max<size_t>(64, alignof(T));

  // Followed in memory by its chunk pointers.
  struct Directory {
    Directory* older;
    uint32_t capacity;

    [[nodiscard]] std::atomic<void*>* chunks() noexcept {
      return reinterpret_cast<std::atomic<void*>*>(this + 1);
    }
  };

  static T* elements_of(void* memory) noexcept {
    return static_cast<T*>(align_up(memory, kAlignment));
  }
  [[nodiscard]] uint64_t chunks_for(uint32_t count) const noexcept {
    return (static_cast<uint64_t>(count) + (1u << shift_) - 1) >> shift_;
  }
  [[nodiscard]] uint32_t chunk_length(uint32_t first) const noexcept {
    return std::min(1u << shift_, size_ - first);
  }
  // The owner's own.
  [[nodiscard]] Directory* newest() const noexcept {
    return directory_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] bool grow_directory() noexcept {
    Directory* old = newest();
    const uint32_t old_capacity = old == nullptr ? 0 : old->capacity;
    const auto capacity = static_cast<uint32_t>(
        std::min(chunks_for(max_size_), std::max<uint64_t>(8, 2 * uint64_t{old_capacity})));
    void* memory = allocator_.allocate(sizeof(Directory) + capacity * sizeof(std::atomic<void*>));
    if (memory == nullptr) return false;
    auto* directory = new (memory) Directory{old, capacity};
    for (uint32_t i = 0; i < capacity; ++i) {
      void* chunk =
          i < old_capacity ? old->chunks()[i].load(std::memory_order_relaxed) : nullptr;
      new (&directory->chunks()[i]) std::atomic<void*>(chunk);
    }
    // release: publishes the copied pointers, and through them the elements; pairs with find().
    directory_.store(directory, std::memory_order_release);
    return true;
  }

  Allocator allocator_;
  std::atomic<Directory*> directory_{nullptr};
  uint32_t max_size_;
  uint32_t shift_;
  uint32_t size_ = 0;
};

}  // namespace jzx::base
