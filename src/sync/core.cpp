#include "sync/core.hpp"

namespace jzx::sync {

namespace {

// Its address names the thread. Asked for anew each time: a fiber may have changed threads.
thread_local char mark;
[[nodiscard]] [[gnu::noinline]] const void* this_thread() noexcept { return &mark; }

void settle_all(WaiterList& list) {
  while (Waiter* waiter = list.front()) {
    WaiterList::unlink(*waiter);
    waiter->settle(*waiter);
  }
}

}  // namespace

void Core::withdrawn(Waiter&, Hold&) noexcept {}

Core::Settling* Core::settling_here() const noexcept {
  if (settling_ == nullptr) return nullptr;
  const void* here = this_thread();
  Settling* one = settling_;
  while (one != nullptr && one->thread != here) one = one->next;
  return one;
}

void Core::forget(Settling& settling) noexcept {
  Settling** link = &settling_;
  while (*link != &settling) link = &(*link)->next;
  *link = settling.next;
}

void Core::end() noexcept {
  const size_t size = size_;
  this->~Core();
  detail::give_future_block(this, size);
}

Core::Hold::~Hold() {
  Core& core = core_;
  Waiter* answered = answered_;
  bool is_unknown = core.known_by_ == 0;
  if (finished_.empty()) {
    core.lock_.unlock();
  } else if (Settling* outer = core.settling_here()) {
    outer->outbox.splice_back(finished_);
    core.lock_.unlock();
  } else {
    Settling own{this_thread(), core.settling_, {}};
    core.settling_ = &own;
    ++core.known_by_;
    do {
      core.lock_.unlock();
      settle_all(finished_);
      core.lock_.lock();
      finished_.splice_back(own.outbox);
    } while (!finished_.empty());
    core.forget(own);
    is_unknown = --core.known_by_ == 0;
    core.lock_.unlock();
  }
  if (answered != nullptr) answered->settle(*answered);
  if (is_unknown) core.end();
}

}  // namespace jzx::sync

namespace jzx::detail {

void cancel_wait(Waiter& waiter) noexcept {
  if (!waiter.claim()) return;  // whoever claimed it settles it
  {
    sync::Core::Hold hold(*waiter.core);
    if (waiter.is_linked()) {
      sync::WaiterList::unlink(waiter);
      waiter.outcome = Errc::cancelled;
      waiter.core->withdrawn(waiter, hold);
    }
    hold.leave(waiter);
  }
  waiter.settle(waiter);
}

}  // namespace jzx::detail
