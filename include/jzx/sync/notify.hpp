// Notify: one tells, another waits, and nothing is said but that.
//
//   notify.notify_one();       the one who has waited longest goes on; if nobody waits, the next
//                              who does goes on at once. Told twice before that: once.
//   notify.notify_all();       all who wait now go on; nothing is kept for later
//
//   auto told = notify.wait();
//   co_await co_await told;
//
// A wait that is cancelled has taken no notification; if one came first, the result says so: look
// at it before you let it go. Dropping a future that was told is taking the notification.
//
// Threads: any, all functions.
#pragma once

#include <jzx/detail/sync_wait.hpp>
#include <jzx/future.hpp>

namespace jzx {

namespace sync {
class NotifyCore;
}

class Notify {
 public:
  JZX_API Notify();
  // Whoever waits is answered Errc::closed.
  JZX_API ~Notify();
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;

  [[nodiscard]] JZX_API Future<void> wait() noexcept;
  JZX_API void notify_one() noexcept;
  JZX_API void notify_all() noexcept;

 private:
  sync::NotifyCore& core_;
};

}  // namespace jzx
