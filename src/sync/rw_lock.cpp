// The core of read-write locks: who is inside, and one queue for both.
//
// Invariants: a writer is inside alone; the first in the queue could not be let in.
//
// Threads: any.
#include <jzx/sync/rw_lock.hpp>

#include "sync/core.hpp"

namespace jzx::sync {

class RwLockCore final : public Core {
 public:
  enum Mode : uint8_t { kRead, kWrite };  // Waiter::mode

  void enter(Waiter& waiter) noexcept {
    Hold hold(*this);
    if (!queue_.empty() || !is_free_for(waiter.mode)) return hold.enqueue(queue_, waiter);
    let_in(waiter.mode);
    hold.answer(waiter, Errc::ok);
  }
  [[nodiscard]] bool try_enter(Mode mode) noexcept {
    Hold hold(*this);
    if (!queue_.empty() || !is_free_for(mode)) return false;
    let_in(mode);
    hold.know();
    return true;
  }
  void leave(Mode mode) noexcept {
    Hold hold(*this);
    if (mode == kRead) {
      --readers_;
    } else {
      has_writer_ = false;
    }
    hold.forget();
    grant(hold);
  }
  void owner_ends() noexcept {
    Hold hold(*this);
    hold.finish_all(queue_, Errc::closed);
    hold.forget();
  }

 private:
  void withdrawn(Waiter&, Hold& hold) noexcept override { grant(hold); }

  [[nodiscard]] bool is_free_for(uint8_t mode) const noexcept {
    return !has_writer_ && (mode == kRead || readers_ == 0);
  }
  void let_in(uint8_t mode) noexcept {
    if (mode == kRead) {
      ++readers_;
    } else {
      has_writer_ = true;
    }
  }
  void grant(Hold& hold) noexcept {
    for (Waiter* first = queue_.front(); first != nullptr && is_free_for(first->mode);
         first = queue_.front()) {
      let_in(first->mode);
      hold.finish(*first, Errc::ok);
    }
  }

  size_t readers_ = 0;
  bool has_writer_ = false;
  WaiterList queue_;
};

}  // namespace jzx::sync

namespace jzx {

using sync::RwLockCore;

namespace detail {

void end_read(RwLockCore& core) noexcept { core.leave(RwLockCore::kRead); }
void end_write(RwLockCore& core) noexcept { core.leave(RwLockCore::kWrite); }
RwLockCore& rw_lock_of(Waiter& waiter) noexcept { return static_cast<RwLockCore&>(*waiter.core); }

}  // namespace detail

RwLock::RwLock() : core_(sync::Core::make<RwLockCore>()) {}
RwLock::~RwLock() { core_.owner_ends(); }

Future<ReadGuard> RwLock::read() noexcept {
  return detail::wait_in<ReadGuard>("read lock", [&](detail::Waiter& waiter) {
    waiter.mode = RwLockCore::kRead;
    core_.enter(waiter);
  });
}
Future<WriteGuard> RwLock::write() noexcept {
  return detail::wait_in<WriteGuard>("write lock", [&](detail::Waiter& waiter) {
    waiter.mode = RwLockCore::kWrite;
    core_.enter(waiter);
  });
}
ReadGuard RwLock::try_read() noexcept {
  return core_.try_enter(RwLockCore::kRead) ? ReadGuard(core_) : ReadGuard();
}
WriteGuard RwLock::try_write() noexcept {
  return core_.try_enter(RwLockCore::kWrite) ? WriteGuard(core_) : WriteGuard();
}

}  // namespace jzx
