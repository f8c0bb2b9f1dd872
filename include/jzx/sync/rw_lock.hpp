// RwLock: many readers, or one writer.
//
//   auto asked = lock.read();                          // or lock.write()
//   jzx::ReadGuard guard = co_await co_await asked;
//
// Fair to both: they are let in in the order in which they came, readers that stand behind one
// another together. So a reader that comes while a writer waits, waits behind it; who reads and
// wants to read once more before it has given the first guard back may wait for itself.
//
// Cancelling and ends are as with Mutex.
//
// Threads: any, all functions; a guard by one at a time.
#pragma once

#include <utility>

#include <jzx/detail/sync_wait.hpp>
#include <jzx/future.hpp>

namespace jzx {

namespace sync {
class RwLockCore;
}
namespace detail {
JZX_API void end_read(sync::RwLockCore& core) noexcept;
JZX_API void end_write(sync::RwLockCore& core) noexcept;
[[nodiscard]] JZX_API sync::RwLockCore& rw_lock_of(Waiter& waiter) noexcept;
}  // namespace detail

template <void (*kEnd)(sync::RwLockCore&) noexcept>
class [[nodiscard]] RwGuard {
 public:
  RwGuard() noexcept = default;
  RwGuard(RwGuard&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  RwGuard& operator=(RwGuard&& other) noexcept {
    RwGuard taken(std::move(other));
    std::swap(core_, taken.core_);
    return *this;
  }
  ~RwGuard() { unlock(); }

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  void unlock() noexcept {
    if (core_ != nullptr) kEnd(*std::exchange(core_, nullptr));
  }

  // ---- for the library ----
  explicit RwGuard(detail::Waiter& granted) noexcept : core_(&detail::rw_lock_of(granted)) {}
  explicit RwGuard(sync::RwLockCore& core) noexcept : core_(&core) {}

 private:
  sync::RwLockCore* core_ = nullptr;
};
using ReadGuard = RwGuard<&detail::end_read>;
using WriteGuard = RwGuard<&detail::end_write>;

class RwLock {
 public:
  JZX_API RwLock();
  JZX_API ~RwLock();
  RwLock(const RwLock&) = delete;
  RwLock& operator=(const RwLock&) = delete;

  [[nodiscard]] JZX_API Future<ReadGuard> read() noexcept;
  [[nodiscard]] JZX_API Future<WriteGuard> write() noexcept;
  // Empty ones: not now. They need no memory, and overtake nobody.
  [[nodiscard]] JZX_API ReadGuard try_read() noexcept;
  [[nodiscard]] JZX_API WriteGuard try_write() noexcept;

 private:
  sync::RwLockCore& core_;
};

}  // namespace jzx
