// Every atomic of the library, and every plain word that threads hand to one another, by these two
// names. In a normal build they are std::atomic<T> and T. A model build (JZX_MODEL) takes the
// checker's versions instead, which remember every store with its vector clock: a load may then
// return any store that the memory model allows, and a plain access that races is reported. So the
// model tests run the code that is shipped; see tests/model.
//
//   Atomic<T>   as std::atomic<T>; every operation names its memory order
//   Shared<T>   a T that changes hands between threads, ordered by atomics elsewhere
//   add_alone() to a counter that only one thread writes; load_seen(), store_seen(): see there
//   spin_hint() in loops that wait for another thread
#pragma once

#include <atomic>
#include <thread>

#ifdef JZX_MODEL
#include "model/atomic.hpp"
#endif

namespace jzx::base {

#ifdef JZX_MODEL
template <class T>
using Atomic = model::Atomic<T>;
template <class T>
using Shared = model::Shared<T>;
inline void spin_hint() noexcept { model::yield(); }
inline void yield_thread() noexcept { model::yield(); }
#else
template <class T>
using Atomic = std::atomic<T>;
template <class T>
using Shared = T;
inline void spin_hint() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}
inline void yield_thread() noexcept { std::this_thread::yield(); }
#endif

// A plain word of one thread, at which others take a look now and then. relaxed.
template <class T>
[[nodiscard]] inline T load_seen(const T& place) noexcept {
#ifdef JZX_MODEL
  return place;
#else
  return std::atomic_ref<T>(const_cast<T&>(place)).load(std::memory_order_relaxed);
#endif
}
template <class T>
inline void store_seen(T& place, T value) noexcept {
#ifdef JZX_MODEL
  place = value;
#else
  std::atomic_ref<T>(place).store(value, std::memory_order_relaxed);
#endif
}

// Adds to a counter that nobody else writes; others may read it. relaxed.
template <class T>
inline void add_alone(Atomic<T>& counter, T count) noexcept {
#if defined(__x86_64__) && !defined(JZX_MODEL) && !defined(__SANITIZE_THREAD__)
  // One instruction without a lock: g++ makes three of an atomic load and an atomic store, and
  // these are on the way of every message.
  static_assert(sizeof(counter) == sizeof(T) && (sizeof(T) == 4 || sizeof(T) == 8));
  if constexpr (sizeof(T) == 4) {
    asm("addl %1, %0" : "+m"(counter) : "ri"(count) : "cc");
  } else {
    asm("addq %1, %0" : "+m"(counter) : "re"(count) : "cc");
  }
#else
  counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
#endif
}

}  // namespace jzx::base
