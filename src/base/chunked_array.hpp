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
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/allocator.hpp"
#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace jzx::base {

// `chunk_size` is a constant, so that finding an element is two shifts and two loads.
template <class T, uint32_t chunk_size>
class ChunkedArray {
  // Followed in memory by its chunk pointers.
  struct Directory {
    Directory* older;
    uint32_t capacity;

    [[nodiscard]] Atomic<T*>* chunks() noexcept { return reinterpret_cast<Atomic<T*>*>(this + 1); }
  };
  // Stands for none, so that find() need not ask whether there is one.
  static inline Directory no_directory_{nullptr, 0};

 public:
  static_assert(std::has_single_bit(chunk_size));

  ChunkedArray(Allocator allocator, uint32_t max_size) noexcept
      : allocator_(allocator), max_size_(max_size) {}
  ChunkedArray(const ChunkedArray&) = delete;
  ChunkedArray& operator=(const ChunkedArray&) = delete;

  ~ChunkedArray() {
    const uint64_t chunks = chunks_for(size_);
    for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
      T* elements = newest()->chunks()[chunk].load(std::memory_order_relaxed);
      for (uint32_t i = 0; i < chunk_size; ++i) elements[i].~T();
      allocator_.release(reinterpret_cast<void**>(elements)[-1]);
    }
    for (Directory* directory = newest(); directory != &no_directory_;) {
      Directory* older = directory->older;
      allocator_.release(directory);
      directory = older;
    }
  }

  // Adds one chunk; size() stays within max_size. False: full, or no memory.
  [[nodiscard]] bool grow() noexcept {
    if (size_ >= max_size_) return false;
    const uint32_t chunk = size_ / chunk_size;
    if (chunk >= newest()->capacity && !grow_directory()) return false;
    void* memory = allocator_.allocate(sizeof(void*) + kAlignment + sizeof(T) * chunk_size);
    if (memory == nullptr) return false;
    auto* elements =
        static_cast<T*>(align_up(static_cast<std::byte*>(memory) + sizeof(void*), kAlignment));
    reinterpret_cast<void**>(elements)[-1] = memory;  // what the allocator wants back
    for (uint32_t i = 0; i < chunk_size; ++i) new (&elements[i]) T();
    // release: publishes the constructed elements; pairs with the acquire in find().
    newest()->chunks()[chunk].store(elements, std::memory_order_release);
    size_ += std::min(chunk_size, max_size_ - size_);
    return true;
  }

  // nullptr for an index in a chunk that was never made. Any thread.
  [[nodiscard]] T* find(uint32_t index) const noexcept { return view().find(index); }

  // What find() looks into, for who looks often: it finds what was there when it was asked for, and
  // perhaps not what came later. Good for the life of the array.
  class View {
   public:
    View() noexcept = default;
    [[nodiscard]] T* find(uint32_t index) const noexcept {
      const uint32_t chunk = index / chunk_size;
      if (chunk >= directory_->capacity) return nullptr;
      // acquire: pairs with the release in grow().
      T* elements = directory_->chunks()[chunk].load(std::memory_order_acquire);
      return elements == nullptr ? nullptr : elements + index % chunk_size;
    }

   private:
    friend ChunkedArray;
    explicit View(Directory* directory) noexcept : directory_(directory) {}
    Directory* directory_ = &no_directory_;
  };
  // acquire: pairs with the release in grow_directory().
  [[nodiscard]] View view() const noexcept {
    return View(directory_.load(std::memory_order_acquire));
  }

  // The owner's view: an index below size().
  [[nodiscard]] T& operator[](uint32_t index) const noexcept {
    JZX_ASSERT(index < size_);
    return *find(index);
  }

  // Is this the address of an element? The owner; looks at every chunk.
  [[nodiscard]] bool holds(const void* address) const noexcept {
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    for (uint32_t first = 0; first < size_; first += chunk_size) {
      const auto begin = reinterpret_cast<uintptr_t>(find(first));
      if (wanted >= begin && wanted < begin + sizeof(T) * chunk_size) return true;
    }
    return false;
  }

  [[nodiscard]] uint32_t size() const noexcept { return size_; }
  [[nodiscard]] uint32_t max_size() const noexcept { return max_size_; }

 private:
  static constexpr size_t kAlignment = std::max<size_t>(64, alignof(T));

  [[nodiscard]] static constexpr uint64_t chunks_for(uint32_t count) noexcept {
    return (static_cast<uint64_t>(count) + chunk_size - 1) / chunk_size;
  }
  // The owner's own.
  [[nodiscard]] Directory* newest() const noexcept {
    return directory_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] bool grow_directory() noexcept {
    Directory* old = newest();
    const uint32_t old_capacity = old->capacity;
    const auto capacity = static_cast<uint32_t>(
        std::min(chunks_for(max_size_), std::max<uint64_t>(8, 2 * uint64_t{old_capacity})));
    void* memory = allocator_.allocate(sizeof(Directory) + capacity * sizeof(Atomic<T*>));
    if (memory == nullptr) return false;
    auto* directory = new (memory) Directory{old, capacity};
    for (uint32_t i = 0; i < capacity; ++i) {
      T* chunk = i < old_capacity ? old->chunks()[i].load(std::memory_order_relaxed) : nullptr;
      new (&directory->chunks()[i]) Atomic<T*>(chunk);
    }
    // release: publishes the copied pointers, and through them the elements; pairs with find().
    directory_.store(directory, std::memory_order_release);
    return true;
  }

  Allocator allocator_;
  Atomic<Directory*> directory_{&no_directory_};
  uint32_t max_size_;
  uint32_t size_ = 0;
};

}  // namespace jzx::base
