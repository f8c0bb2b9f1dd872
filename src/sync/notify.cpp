// The core of Notify. Invariant: a notification is kept only if nobody waits.
#include <jzx/sync/notify.hpp>

#include "sync/core.hpp"

namespace jzx::sync {

class NotifyCore final : public Core {
 public:
  void wait(Waiter& waiter) noexcept {
    Hold hold(*this);
    if (!std::exchange(is_kept_, false)) return hold.enqueue(queue_, waiter);
    hold.answer(waiter, Errc::ok);
  }
  void notify_one() noexcept {
    Hold hold(*this);
    if (Waiter* first = queue_.front()) {
      hold.finish(*first, Errc::ok);
    } else {
      is_kept_ = true;
    }
  }
  void notify_all() noexcept {
    Hold hold(*this);
    hold.finish_all(queue_, Errc::ok);
  }
  void owner_ends() noexcept {
    Hold hold(*this);
    hold.finish_all(queue_, Errc::closed);
    hold.forget();
  }

 private:
  bool is_kept_ = false;
  WaiterList queue_;
};

}  // namespace jzx::sync

namespace jzx {

Notify::Notify() : core_(sync::Core::make<sync::NotifyCore>()) {}
Notify::~Notify() { core_.owner_ends(); }

Future<void> Notify::wait() noexcept {
  return detail::wait_in<void>("notify", [&](detail::Waiter& waiter) { core_.wait(waiter); });
}
void Notify::notify_one() noexcept { core_.notify_one(); }
void Notify::notify_all() noexcept { core_.notify_all(); }

}  // namespace jzx
