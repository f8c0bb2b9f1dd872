// The one source of memory of a system: the user's pair of functions. Every call may
// answer nullptr, and every caller turns that into NO_MEMORY.
//
// Threads: as the user's functions allow; the runtime calls them from the threads of its workers
// and from foreign threads inside a call, never while holding a lock that a send or the report of a
// failure needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace jzx::base {

struct Allocator {
  // What there is if the user has chosen nothing.
  static void* default_alloc(void* /*ctx*/, size_t size) { return std::malloc(size); }
  static void default_free(void* /*ctx*/, void* ptr) { std::free(ptr); }

  void* (*alloc_fn)(void* ctx, size_t size) = &default_alloc;
  void (*free_fn)(void* ctx, void* ptr) = &default_free;
  void* ctx = nullptr;

  // Then memory may also be had elsewhere: nobody counts on being asked.
  [[nodiscard]] bool is_default() const noexcept {
    return alloc_fn == &default_alloc && free_fn == &default_free;
  }

  [[nodiscard]] void* allocate(size_t size) const noexcept { return alloc_fn(ctx, size); }
  void release(void* ptr) const noexcept {
    if (ptr != nullptr) free_fn(ctx, ptr);
  }

  template <class T, class... Args>
  [[nodiscard]] T* create(Args&&... args) const noexcept {
    static_assert(alignof(T) <= alignof(std::max_align_t), "malloc's alignment is all there is");
    void* memory = allocate(sizeof(T));
    return memory == nullptr ? nullptr : new (memory) T(std::forward<Args>(args)...);
  }

  template <class T>
  void destroy(T* object) const noexcept {
    if (object == nullptr) return;
    object->~T();
    release(object);
  }
};

[[nodiscard]] inline void* align_up(void* ptr, size_t alignment) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  return reinterpret_cast<void*>((address + alignment - 1) & ~(alignment - 1));
}

}  // namespace jzx::base
