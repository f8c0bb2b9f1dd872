// What the sanitizers and valgrind want to know about switching stacks; nothing, and no memory, in
// a plain build. (Where there is a sanitizer, jzx/detail/stack_switch.hpp switches by
// Boost.Context; and the pool of stacks forgets the frames of who ended there.)
//
//   prepare ─▶ (before_enter ─▶ arrived ─▶ before_leave ─▶ after_enter)* ─▶ end
//
// Threads: as Switch.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define JZX_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JZX_FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define JZX_FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define JZX_FIBER_TSAN 1
#endif
#endif

#ifdef JZX_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef JZX_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define JZX_FIBER_VALGRIND 1
#endif

namespace jzx::kinds {

#ifdef JZX_FIBER_ASAN

// asan keeps the bounds of the stack in use, and a second, fake stack for what may outlive a frame.
class SwitchAnnotations {
 public:
  void prepare(std::byte* low, std::byte* top) noexcept {
    low_ = low;
    size_ = static_cast<size_t>(top - low);
    // The frames of whoever ended here left their red zones behind.
    __asan_unpoison_memory_region(low, size_);
  }
  void end() noexcept {}
  void before_enter() noexcept { __sanitizer_start_switch_fiber(&outer_fake_, low_, size_); }
  void after_enter() noexcept { __sanitizer_finish_switch_fiber(outer_fake_, nullptr, nullptr); }
  void arrived() noexcept { __sanitizer_finish_switch_fiber(own_fake_, &outer_low_, &outer_size_); }
  void before_leave(bool is_last) noexcept {
    __sanitizer_start_switch_fiber(is_last ? nullptr : &own_fake_, outer_low_, outer_size_);
  }

 private:
  void* own_fake_ = nullptr;
  void* outer_fake_ = nullptr;
  const void* low_ = nullptr;
  size_t size_ = 0;
  const void* outer_low_ = nullptr;
  size_t outer_size_ = 0;
};

#elif defined(JZX_FIBER_TSAN)

// For tsan a fiber is a thread of its own; its limit on those is some thousands.
class SwitchAnnotations {
 public:
  void prepare(std::byte*, std::byte*) noexcept { own_ = __tsan_create_fiber(0); }
  void end() noexcept {
    if (own_ != nullptr) __tsan_destroy_fiber(own_);
    own_ = nullptr;
  }
  void before_enter() noexcept {
    outer_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(own_, 0);
  }
  void after_enter() noexcept {}
  void arrived() noexcept {}
  void before_leave(bool) noexcept { __tsan_switch_to_fiber(outer_, 0); }

 private:
  void* own_ = nullptr;
  void* outer_ = nullptr;
};

#else

// valgrind wants to know which addresses are a stack. Its requests are a few instructions that do
// nothing elsewhere, made once per fiber.
class SwitchAnnotations {
 public:
#if defined(JZX_FIBER_VALGRIND) && !defined(NDEBUG)
  void prepare(std::byte* low, std::byte* top) noexcept {
    id_ = static_cast<unsigned>(VALGRIND_STACK_REGISTER(low, top));
  }
  void end() noexcept { VALGRIND_STACK_DEREGISTER(id_); }
#else
  void prepare(std::byte*, std::byte*) noexcept {}
  void end() noexcept {}
#endif
  void before_enter() noexcept {}
  void after_enter() noexcept {}
  void arrived() noexcept {}
  void before_leave(bool) noexcept {}

 private:
#if defined(JZX_FIBER_VALGRIND) && !defined(NDEBUG)
  unsigned id_ = 0;
#endif
};

#endif

}  // namespace jzx::kinds
