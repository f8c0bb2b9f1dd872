// The core of semaphores and mutexes: permits, and a queue of those who want some.
//
// Invariant: the first in the queue wants more than there is. So whoever finds the queue empty may
// take what there is, and nobody else.
//
// Threads: any.
#pragma once

#include "sync/core.hpp"

namespace jzx::sync {

// Those who wait for a condition, under the lock of its mutex. Known by the condition, by each of
// them, and by each that was told but has not got the mutex yet.
struct ConditionQueue {
  WaiterList waiters;
  size_t known_by = 1;
};

class SemaphoreCore final : public Core {
 public:
  explicit SemaphoreCore(size_t permits) noexcept : permits_(permits) {}

  // `amount` of the waiter is what it wants.
  void acquire(Waiter& waiter) noexcept;
  [[nodiscard]] bool try_acquire(size_t count) noexcept;
  void give(size_t count) noexcept;  // by a permit, which forgets the core
  void forget_permit() noexcept;
  void add(size_t count) noexcept;  // by one who goes on to know the core
  [[nodiscard]] size_t available() noexcept;
  void close() noexcept;
  void owner_ends() noexcept;

  // ---- conditions ----
  // nullptr: no memory. The queue knows the core until condition_ends().
  [[nodiscard]] ConditionQueue* add_condition() noexcept;
  void condition_ends(ConditionQueue& queue) noexcept;
  // The caller's permit is given back, and the waiter queued. If the mutex has ended, whoever is
  // told is told that.
  void wait(ConditionQueue& queue, Waiter& waiter) noexcept;
  enum class Told : uint8_t { one, all };
  void notify(ConditionQueue& queue, Told who) noexcept;

 private:
  void withdrawn(Waiter& waiter, Hold& hold) noexcept override;

  void grant(Hold& hold) noexcept;
  void close_under(Hold& hold) noexcept;
  Waiter* tell_one(ConditionQueue& queue) noexcept;
  void leave_condition(Waiter& waiter) noexcept;
  static void forget_condition(ConditionQueue& queue) noexcept;

  size_t permits_;
  bool is_closed_ = false;
  WaiterList queue_;
};

}  // namespace jzx::sync
