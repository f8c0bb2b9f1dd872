// Every atomic of src, and every plain word that threads hand to one another, by these names.
// (Public headers include nothing of src and use std::atomic; handover.hpp, ready_list.hpp and
// tether.hpp take it as a parameter, so that the model tests can put the checker's in its place.)
// In a normal build the first two are std::atomic<T> and T. A model build (JZX_MODEL) takes the
// checker's versions instead, which remember every store with its vector clock: a load may then
// return any store that the memory model allows, and a plain access that races is reported. So the
// model tests run the code that is shipped; see tests/model.
//
//   Atomic<T>   as std::atomic<T>; every operation names its memory order
//   Shared<T>   a T that changes hands between threads, ordered by atomics elsewhere
//   Seen<T>     a word of one thread, plain for that one, at which others take a look now and then
//   add_alone() to a counter that only one thread writes
//   spin_hint() in loops that wait for another thread
//   light_barrier(), heavy_barrier()
//               between what is done often and what is done rarely: of a store and a later load of
//               one thread, with a light barrier between them, and a store and a later load of
//               another, with a heavy one, at least one of the loads sees the other's store. The
//               light one is no instruction; the heavy one interrupts the other threads of the
//               process (membarrier)
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

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
[[nodiscard]] inline bool has_heavy_barrier() noexcept { return true; }
inline void light_barrier() noexcept { model::light_barrier(); }
[[nodiscard]] inline bool heavy_barrier() noexcept { return model::heavy_barrier(); }
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
// Does the kernel have one, and let this process use it? Asks the kernel: keep the answer.
[[nodiscard]] inline bool has_heavy_barrier() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}
inline void light_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
// False: the kernel refused after all, and there was none.
[[nodiscard]] inline bool heavy_barrier() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
#endif

#ifdef JZX_MODEL
template <class T>
using Seen = model::Seen<T>;
#else
template <class T>
class Seen {
 public:
  constexpr Seen(T value) noexcept : value_(value) {}  // NOLINT: as a T
  // For the owner, or who knows that nobody writes it now.
  [[nodiscard]] T own() const noexcept { return value_; }
  // By others; show() by the owner while others may look.
  [[nodiscard]] T look(std::memory_order order) const noexcept {
    return std::atomic_ref<T>(const_cast<T&>(value_)).load(order);
  }
  void show(T value, std::memory_order order) noexcept {
    std::atomic_ref<T>(value_).store(value, order);
  }

 private:
  T value_;
};
#endif

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
