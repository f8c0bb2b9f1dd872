// Mutex: one at a time, in the order in which they ask. Condition: waiting, without the mutex, for
// what only its holders can change.
//
//   jzx::Mutex mutex;
//   auto asked = mutex.lock();
//   jzx::MutexGuard guard = co_await co_await asked;   // or mutex.lock().get(), or .then(…)
//
// It is held across waits, and given back by the end of its guard, on whatever thread that is. A
// wait that is cancelled or dropped takes nothing; a guard that came meanwhile is given back by its
// end. A mutex that ends answers Errc::closed to those who wait; a guard may outlive it.
//
//   jzx::Condition not_empty(mutex);
//   while (queue.empty()) {
//     auto told = not_empty.wait(std::move(guard));    // gives the mutex back, and takes it again
//     guard = co_await co_await told;
//   }
//
// A wait for a condition that ends with an error leaves its caller without the mutex. Cancelled
// after it was told by notify_one(), but before it got the mutex, it tells the next one instead.
//
// Threads: any, all functions; a guard by one at a time.
#pragma once

#include <utility>

#include <jzx/sync/semaphore.hpp>

namespace jzx {

namespace sync {
struct ConditionQueue;
}

class [[nodiscard]] MutexGuard {
 public:
  MutexGuard() noexcept = default;

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(permit_); }
  void unlock() noexcept { permit_.release(); }

  // ---- for the library ----
  explicit MutexGuard(detail::Waiter& granted) noexcept : permit_(granted) {}
  explicit MutexGuard(Permit permit) noexcept : permit_(std::move(permit)) {}

 private:
  friend class Condition;
  Permit permit_;
};

class Mutex {
 public:
  JZX_API Mutex();
  JZX_API ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  [[nodiscard]] JZX_API Future<MutexGuard> lock() noexcept;
  // An empty one: somebody has it. Needs no memory.
  [[nodiscard]] JZX_API MutexGuard try_lock() noexcept;

 private:
  friend class Condition;
  sync::SemaphoreCore& core_;
};

class Condition {
 public:
  JZX_API explicit Condition(Mutex& mutex);
  // Whoever waits is answered Errc::closed.
  JZX_API ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  // With the guard of this condition's mutex. Refused (Errc::invalid_arg, Errc::no_memory), it
  // leaves the guard to the caller.
  [[nodiscard]] JZX_API Future<MutexGuard> wait(MutexGuard&& guard) noexcept;
  // With or without the mutex. Nobody waits: nothing happens.
  JZX_API void notify_one() noexcept;
  JZX_API void notify_all() noexcept;

 private:
  sync::SemaphoreCore& core_;
  sync::ConditionQueue& queue_;
};

}  // namespace jzx
