// A mutex is a semaphore with one permit; its conditions are queues under the same lock, so that
// who is told moves from one queue to the other in one step.
#include <jzx/sync/mutex.hpp>

#include "sync/semaphore.hpp"

namespace jzx {

Mutex::Mutex() : core_(sync::Core::make<sync::SemaphoreCore>(size_t{1})) {}
Mutex::~Mutex() { core_.owner_ends(); }

Future<MutexGuard> Mutex::lock() noexcept {
  return detail::wait_in<MutexGuard>("mutex", [&](detail::Waiter& waiter) {
    waiter.amount = 1;
    core_.acquire(waiter);
  });
}
MutexGuard Mutex::try_lock() noexcept {
  return core_.try_acquire(1) ? MutexGuard(Permit(core_, 1)) : MutexGuard();
}

namespace {

sync::ConditionQueue& make_condition(sync::SemaphoreCore& core) {
  sync::ConditionQueue* made = core.add_condition();
  if (made == nullptr) detail::throw_no_memory();
  return *made;
}

}  // namespace

Condition::Condition(Mutex& mutex) : core_(mutex.core_), queue_(make_condition(core_)) {}
Condition::~Condition() { core_.condition_ends(queue_); }

Future<MutexGuard> Condition::wait(MutexGuard&& guard) noexcept {
  if (!guard.permit_.is_of(core_)) {
    return Future<MutexGuard>::failed(
        Error(Errc::invalid_arg, "a condition takes a guard of its own mutex", "condition"));
  }
  return detail::wait_in<MutexGuard>("condition", [&](detail::Waiter& waiter) {
    guard.permit_.disown();
    core_.wait(queue_, waiter);
  });
}
void Condition::notify_one() noexcept { core_.notify(queue_, sync::SemaphoreCore::Told::one); }
void Condition::notify_all() noexcept { core_.notify(queue_, sync::SemaphoreCore::Told::all); }

}  // namespace jzx
