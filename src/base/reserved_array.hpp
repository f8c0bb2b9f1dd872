// An array in address space that was reserved for its largest size. It grows in place and never
// moves, so that finding an element is an addition: no pointer has to be read first.
//
//   first                size       opened             max_size
//   [ T T T T … T T T T ][ no pages ][ may not be touched      ]
//
// What is not opened counts as nobody's memory, is in no core dump, and is locked by no mlockall();
// what is opened takes pages as elements are made. The memory is the kernel's and no allocator's,
// so this is for those who have chosen none.
//
// Threads: grow() by one at a time; view() by any.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>

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
      for (size_t at = 0; at < opened_; at += size_to_open(at)) {
        __lsan_unregister_root_region(bytes() + at, size_to_open(at));
      }
    }
    ::munmap(static_cast<void*>(first_), reserved_);
  }

  // Before anything else, once. False: there is no address space to spare. Where that is limited,
  // three quarters of it are left for others.
  [[nodiscard]] bool reserve(uint32_t max_size) noexcept {
    JZX_ASSERT(first_ == nullptr && max_size > 0);
    const size_t size = (size_t{max_size} + step - 1) / step * step * sizeof(T);
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        size > limit.rlim_cur / 4) {
      return false;
    }
    void* memory =
        ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    // The first elements are not to take a huge page: most arrays stay small. In vain where the
    // kernel has none.
    (void)::madvise(memory, std::min(size, kSmallBytes), MADV_NOHUGEPAGE);
    first_ = static_cast<T*>(memory);
    max_size_ = max_size;
    reserved_ = size;
    return true;
  }

  // Makes more elements; size() stays within what was reserved. False: full, or no memory.
  [[nodiscard]] bool grow() noexcept {
    if (size() >= max_size_) return false;
    const uint32_t before = made();
    while (opened_ < (size_t{before} + step) * sizeof(T)) {
      if (!open_more()) return false;
    }
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
  static constexpr size_t kOpenBytes = size_t{1} << 20;  // at a time: a system call each

  [[nodiscard]] std::byte* bytes() const noexcept { return reinterpret_cast<std::byte*>(first_); }
  [[nodiscard]] size_t size_to_open(size_t at) const noexcept {
    return std::min(kOpenBytes, reserved_ - at);
  }
  [[nodiscard]] bool open_more() noexcept {
    const size_t size = size_to_open(opened_);
    if (::mprotect(bytes() + opened_, size, PROT_READ | PROT_WRITE) != 0) return false;
    if (__lsan_register_root_region != nullptr) {
      __lsan_register_root_region(bytes() + opened_, size);
    }
    opened_ += size;
    return true;
  }

  [[nodiscard]] uint32_t made() const noexcept {
    return made_.load(std::memory_order_relaxed);  // the caller's own, or known to him
  }

  T* first_ = nullptr;
  uint32_t max_size_ = 0;
  Atomic<uint32_t> made_{0};  // whole steps
  size_t reserved_ = 0;       // bytes, as opened_
  size_t opened_ = 0;
};

}  // namespace jzx::base
