// Every atomic of the library, and every plain word that threads hand to one another, by these two
// names. In a normal build they are std::atomic<T> and T. A model build (JZX_MODEL) takes the
// checker's versions instead, which remember every store with its vector clock: a load may then
// return any store that the memory model allows, and a plain access that races is reported. So the
// model tests run the code that is shipped; see tests/model.
//
//   Atomic<T>   as std::atomic<T>; every operation names its memory order
//   Shared<T>   a T that changes hands between threads, ordered by atomics elsewhere
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

}  // namespace jzx::base
