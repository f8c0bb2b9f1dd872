// An array in address space that was reserved for its largest size. It grows in place and never
// moves, so that finding an element is an addition: no pointer has to be read first. The
// reservation itself costs nothing; pages are taken as elements are made.
//
//   first                size            max_size
//   [ T T T T … T T T T ][ reserved …            ]
//
// The memory is the kernel's and no allocator's, so this is for those who have chosen none.
//
// Threads: grow() by one at a time; view() and find() by any.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/assert.hpp"
#include "base/atomic.hpp"

// Where a leak checker is at work it has to be told where pointers may lie; else this is null.
extern "C" [[gnu::weak]] void __lsan_register_root_region(const void* begin, size_t size);
extern "C" [[gnu::weak]] void __lsan_unregister_root_region(const void* begin, size_t size);

namespace jzx::base {

// `step` elements are made at a time.
template <class T, uint32_t step>
class ReservedArray {
 public:
  // Nothing is reserved: it cannot grow.
  ReservedArray() noexcept = default;
  ReservedArray(const ReservedArray&) = delete;
  ReservedArray& operator=(const ReservedArray&) = delete;

  ~ReservedArray() {
    if (first_ == nullptr) return;
    for (uint32_t i = 0; i < made(); ++i) first_[i].~T();
    if (__lsan_unregister_root_region != nullptr) {
      __lsan_unregister_root_region(first_, reserved_bytes());
    }
    ::munmap(static_cast<void*>(first_), reserved_bytes());
  }

  // Before anything else, once. False: there is no address space to spare.
  [[nodiscard]] bool reserve(uint32_t max_size) noexcept {
    JZX_ASSERT(first_ == nullptr && max_size > 0);
    max_size_ = max_size;
    void* memory = ::mmap(nullptr, reserved_bytes(), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return max_size_ = 0, false;
    // The first elements are not to take a huge page: most arrays stay small. In vain where the
    // kernel has none.
    (void)::madvise(memory, std::min(reserved_bytes(), kSmallBytes), MADV_NOHUGEPAGE);
    if (__lsan_register_root_region != nullptr) {
      __lsan_register_root_region(memory, reserved_bytes());
    }
    first_ = static_cast<T*>(memory);
    return true;
  }
  [[nodiscard]] bool is_reserved() const noexcept { return first_ != nullptr; }

  // Makes more elements; size() stays within what was reserved. False: full.
  [[nodiscard]] bool grow() noexcept {
    if (size() >= max_size_) return false;
    const uint32_t before = made();
    for (uint32_t i = before; i < before + step; ++i) new (&first_[i]) T();
    // release: publishes the constructed elements; pairs with the acquire in view().
    made_.store(before + step, std::memory_order_release);
    return true;
  }

  // For who looks often: it finds what was there when it was asked for.
  class View {
   public:
    View() noexcept = default;
    // False: there is none, or it is newer than the view.
    [[nodiscard]] bool has(uint32_t index) const noexcept { return index < made_; }
    // One that it has.
    [[nodiscard]] T& operator[](uint32_t index) const noexcept { return first_[index]; }

   private:
    friend ReservedArray;
    View(T* first, uint32_t made) noexcept : first_(first), made_(made) {}
    T* first_ = nullptr;
    uint32_t made_ = 0;
  };
  [[nodiscard]] View view() const noexcept {
    return View(first_, made_.load(std::memory_order_acquire));  // pairs with grow()
  }

  // One that has been made, as the caller knows.
  [[nodiscard]] T& operator[](uint32_t index) const noexcept {
    JZX_ASSERT(index < made());
    return first_[index];
  }

  // Who grows it, or at a quiet moment.
  [[nodiscard]] uint32_t size() const noexcept { return std::min(made(), max_size_); }

  // Is this the address of an element? At a quiet moment.
  [[nodiscard]] bool holds(const void* address) const noexcept {
    const auto place = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(first_);
    return place < made() * sizeof(T);
  }

 private:
  static constexpr size_t kSmallBytes = size_t{2} << 20;

  [[nodiscard]] uint32_t made() const noexcept {
    return made_.load(std::memory_order_relaxed);  // the caller's own, or known to him
  }
  [[nodiscard]] size_t reserved_bytes() const noexcept {
    return (size_t{max_size_} + step - 1) / step * step * sizeof(T);
  }

  T* first_ = nullptr;
  uint32_t max_size_ = 0;
  Atomic<uint32_t> made_{0};  // whole steps
};

}  // namespace jzx::base
