// The cores of barriers and latches.
#include <algorithm>

#include <jzx/sync/barrier.hpp>

#include "sync/core.hpp"

namespace jzx::sync {

// Who has arrived is in the queue: one that leaves it has not.
class BarrierCore final : public Core {
 public:
  explicit BarrierCore(size_t count) noexcept : count_(std::max<size_t>(count, 1)) {}

  void arrive(Waiter& waiter) noexcept {
    Hold hold(*this);
    if (++arrived_ < count_) return hold.enqueue(queue_, waiter);
    arrived_ = 0;
    hold.finish_all(queue_, Errc::ok);
    waiter.mode = kIsLast;
    hold.answer(waiter, Errc::ok);
  }
  void owner_ends() noexcept {
    Hold hold(*this);
    hold.finish_all(queue_, Errc::closed);
    hold.forget();
  }
  static constexpr uint8_t kIsLast = 1;  // Waiter::mode

 private:
  void withdrawn(Waiter&, Hold&) noexcept override { --arrived_; }

  const size_t count_;
  size_t arrived_ = 0;
  WaiterList queue_;
};

class LatchCore final : public Core {
 public:
  explicit LatchCore(size_t count) noexcept : left_(count) {}

  void count_down(size_t by) noexcept {
    Hold hold(*this);
    left_ -= std::min(left_, by);
    if (left_ == 0) hold.finish_all(queue_, Errc::ok);
  }
  [[nodiscard]] bool is_open() noexcept {
    Hold hold(*this);
    return left_ == 0;
  }
  void wait(Waiter& waiter) noexcept {
    Hold hold(*this);
    if (left_ > 0) return hold.enqueue(queue_, waiter);
    hold.answer(waiter, Errc::ok);
  }
  void owner_ends() noexcept {
    Hold hold(*this);
    hold.finish_all(queue_, Errc::closed);
    hold.forget();
  }

 private:
  size_t left_;
  WaiterList queue_;
};

}  // namespace jzx::sync

namespace jzx {

BarrierPass::BarrierPass(detail::Waiter& granted) noexcept
    : is_last(granted.mode == sync::BarrierCore::kIsLast) {}

Barrier::Barrier(size_t count) : core_(sync::Core::make<sync::BarrierCore>(count)) {}
Barrier::~Barrier() { core_.owner_ends(); }
Future<BarrierPass> Barrier::arrive_and_wait() noexcept {
  return detail::wait_in<BarrierPass>("barrier",
                                      [&](detail::Waiter& waiter) { core_.arrive(waiter); });
}

Latch::Latch(size_t count) : core_(sync::Core::make<sync::LatchCore>(count)) {}
Latch::~Latch() { core_.owner_ends(); }
void Latch::count_down(size_t by) noexcept { core_.count_down(by); }
bool Latch::is_open() const noexcept { return core_.is_open(); }
Future<void> Latch::wait() noexcept {
  return detail::wait_in<void>("latch", [&](detail::Waiter& waiter) { core_.wait(waiter); });
}

}  // namespace jzx
