#include "sync/semaphore.hpp"

#include <algorithm>
#include <limits>

#include <jzx/sync/semaphore.hpp>

namespace jzx::sync {

void SemaphoreCore::acquire(Waiter& waiter) noexcept {
  Hold hold(*this);
  if (is_closed_) return hold.answer(waiter, Errc::closed);
  if (!queue_.empty() || permits_ < waiter.amount) return hold.enqueue(queue_, waiter);
  permits_ -= waiter.amount;
  hold.answer(waiter, Errc::ok);
}

bool SemaphoreCore::try_acquire(size_t count) noexcept {
  Hold hold(*this);
  if (is_closed_ || !queue_.empty() || permits_ < count) return false;
  permits_ -= count;
  hold.know();
  return true;
}

void SemaphoreCore::give(size_t count) noexcept {
  Hold hold(*this);
  permits_ += count;
  hold.forget();
  grant(hold);
}

void SemaphoreCore::forget_permit() noexcept {
  Hold hold(*this);
  hold.forget();
}

void SemaphoreCore::add(size_t count) noexcept {
  Hold hold(*this);
  permits_ += std::min(count, std::numeric_limits<size_t>::max() - permits_);  // it does not wrap
  grant(hold);
}

size_t SemaphoreCore::available() noexcept {
  Hold hold(*this);
  return permits_;
}

void SemaphoreCore::close() noexcept {
  Hold hold(*this);
  close_under(hold);
}

void SemaphoreCore::owner_ends() noexcept {
  Hold hold(*this);
  close_under(hold);
  hold.forget();
}

void SemaphoreCore::close_under(Hold& hold) noexcept {
  is_closed_ = true;
  while (Waiter* first = queue_.front()) {
    leave_condition(*first);
    hold.finish(*first, Errc::closed);
  }
}

void SemaphoreCore::grant(Hold& hold) noexcept {
  for (Waiter* first = queue_.front(); first != nullptr && first->amount <= permits_;
       first = queue_.front()) {
    permits_ -= first->amount;
    leave_condition(*first);
    hold.finish(*first, Errc::ok);
  }
}

// ---- conditions ----

namespace {

// Waiter::mode. Waiter::place is then the condition.
constexpr uint8_t kWaitsForCondition = 1;
constexpr uint8_t kWasTold = 2;  // by notify_one(), and now waits for the mutex

}  // namespace

ConditionQueue* SemaphoreCore::add_condition() noexcept {
  void* block = detail::take_future_block(sizeof(ConditionQueue));
  if (block == nullptr) return nullptr;
  Hold hold(*this);
  hold.know();
  return ::new (block) ConditionQueue;
}

void SemaphoreCore::forget_condition(ConditionQueue& queue) noexcept {
  if (--queue.known_by > 0) return;
  queue.~ConditionQueue();
  detail::give_future_block(&queue, sizeof(ConditionQueue));
}

void SemaphoreCore::leave_condition(Waiter& waiter) noexcept {
  waiter.mode = 0;
  if (void* place = std::exchange(waiter.place, nullptr)) {
    forget_condition(*static_cast<ConditionQueue*>(place));
  }
}

void SemaphoreCore::condition_ends(ConditionQueue& queue) noexcept {
  Hold hold(*this);
  while (Waiter* first = queue.waiters.front()) {
    leave_condition(*first);
    hold.finish(*first, Errc::closed);
  }
  forget_condition(queue);
  hold.forget();
}

void SemaphoreCore::wait(ConditionQueue& queue, Waiter& waiter) noexcept {
  Hold hold(*this);
  hold.forget();  // the permit, which the caller has emptied
  ++permits_;
  waiter.amount = 1;
  if (is_closed_) {
    hold.answer(waiter, Errc::closed);
  } else {
    waiter.mode = kWaitsForCondition;
    waiter.place = &queue;
    ++queue.known_by;
    hold.enqueue(queue.waiters, waiter);
  }
  grant(hold);
}

Waiter* SemaphoreCore::tell_one(ConditionQueue& queue) noexcept {
  Waiter* first = queue.waiters.front();
  if (first == nullptr) return nullptr;
  WaiterList::unlink(*first);
  first->mode = kWasTold;
  queue_.push_back(*first);
  return first;
}

void SemaphoreCore::notify(ConditionQueue& queue, Told who) noexcept {
  Hold hold(*this);
  if (who == Told::one) {
    (void)tell_one(queue);
  } else {
    // What was said to all need not be said again if one of them is cancelled.
    while (Waiter* told = tell_one(queue)) leave_condition(*told);
  }
  if (is_closed_) return close_under(hold);
  grant(hold);
}

void SemaphoreCore::withdrawn(Waiter& waiter, Hold& hold) noexcept {
  if (waiter.mode == kWasTold) (void)tell_one(*static_cast<ConditionQueue*>(waiter.place));
  leave_condition(waiter);
  grant(hold);
}

}  // namespace jzx::sync

namespace jzx {

namespace detail {

void give_permits(sync::SemaphoreCore& core, size_t count) noexcept { core.give(count); }
void forget_permits(sync::SemaphoreCore& core) noexcept { core.forget_permit(); }
sync::SemaphoreCore& semaphore_of(Waiter& waiter) noexcept {
  return static_cast<sync::SemaphoreCore&>(*waiter.core);
}

}  // namespace detail

Semaphore::Semaphore(size_t permits) : core_(sync::Core::make<sync::SemaphoreCore>(permits)) {}
Semaphore::~Semaphore() { core_.owner_ends(); }

Future<Permit> Semaphore::acquire(size_t count) noexcept {
  return detail::wait_in<Permit>("semaphore", [&](detail::Waiter& waiter) {
    waiter.amount = count;
    core_.acquire(waiter);
  });
}
Permit Semaphore::try_acquire(size_t count) noexcept {
  return core_.try_acquire(count) ? Permit(core_, count) : Permit();
}
void Semaphore::add_permits(size_t count) noexcept { core_.add(count); }
size_t Semaphore::available() const noexcept { return core_.available(); }
void Semaphore::close() noexcept { core_.close(); }

}  // namespace jzx
