// The core of broadcast and watch channels: the newest messages, by their numbers.
//
//   slots   [ 4 ][ 5 ][ 2 ][ 3 ]      next_ = 6: the number of the next one; oldest: 2
//                                     a receiver at 0 has missed 2, one at 6 waits
//
// A message stays until a newer one takes its place, also when all have received it.
//
// Threads: any.
#include <algorithm>
#include <memory>

#include <jzx/detail/ring_core.hpp>

#include "sync/core.hpp"

namespace jzx::sync {

using detail::RingPosition;
using detail::SharedNode;

class RingCore final : public Core {
 public:
  RingCore(std::unique_ptr<SharedNode*[]> slots, size_t capacity) noexcept
      : slots_(std::move(slots)), capacity_(capacity) {}

  // ---- the ends ----

  void add_sender() noexcept {
    Hold hold(*this);
    hold.know();
    ++senders_;
  }
  void drop_sender() noexcept {
    Hold hold(*this);
    hold.forget();
    if (--senders_ == 0) hold.finish_all(wait_for_message_, Errc::closed);
  }
  [[nodiscard]] RingPosition add_receiver() noexcept {
    Hold hold(*this);
    hold.know();
    ++receivers_;
    return next_;
  }
  void drop_receiver() noexcept {
    Hold hold(*this);
    hold.forget();
    if (--receivers_ == 0) hold.finish_all(wait_for_nobody_, Errc::ok);
  }
  [[nodiscard]] size_t receivers() noexcept {
    Hold hold(*this);
    return receivers_;
  }
  void wait_for_nobody(Waiter& waiter) noexcept {
    Hold hold(*this);
    if (receivers_ == 0) return hold.answer(waiter, Errc::ok);
    hold.enqueue(wait_for_nobody_, waiter);
  }

  // ---- messages ----

  void put(SharedNode& node) noexcept {
    SharedNode* replaced = nullptr;
    {
      Hold hold(*this);
      replaced = std::exchange(slot(next_), &node);
      ++next_;
      hold.finish_all(wait_for_message_, Errc::ok);
    }
    if (replaced != nullptr) replaced->drop();
  }
  [[nodiscard]] SharedNode* take(RingPosition& position, Errc& why, uint64_t& missed) noexcept {
    Hold hold(*this);
    const RingPosition oldest = next_ - std::min<RingPosition>(next_, capacity_);
    if (position < oldest) {
      missed = oldest - position;
      position = oldest;
      why = Errc::lagged;
      return nullptr;
    }
    if (position == next_) {
      why = senders_ > 0 ? Errc::empty : Errc::closed;
      return nullptr;
    }
    return shared(position++);
  }
  // After the first put().
  [[nodiscard]] SharedNode* take_newest(RingPosition& position) noexcept {
    Hold hold(*this);
    position = next_;
    return shared(next_ - 1);
  }
  void wait(RingPosition position, Waiter& waiter) noexcept {
    Hold hold(*this);
    if (position < next_) return hold.answer(waiter, Errc::ok);
    if (senders_ == 0) return hold.answer(waiter, Errc::closed);
    hold.enqueue(wait_for_message_, waiter);
  }

 private:
  ~RingCore() override {
    for (size_t i = 0; i < capacity_; ++i) {
      if (slots_[i] != nullptr) slots_[i]->drop();
    }
  }
  [[nodiscard]] SharedNode*& slot(RingPosition number) noexcept {
    return slots_[static_cast<size_t>(number % capacity_)];
  }
  [[nodiscard]] SharedNode* shared(RingPosition number) noexcept {
    SharedNode* node = slot(number);
    node->share();
    return node;
  }

  const std::unique_ptr<SharedNode*[]> slots_;
  const size_t capacity_;
  RingPosition next_ = 0;
  size_t senders_ = 1;
  size_t receivers_ = 0;
  WaiterList wait_for_message_;
  WaiterList wait_for_nobody_;
};

}  // namespace jzx::sync

namespace jzx::detail {

using sync::RingCore;

RingCore& make_ring(size_t capacity) {
  std::unique_ptr<SharedNode*[]> slots(new (std::nothrow) SharedNode* [capacity] {});
  if (slots == nullptr) throw_no_memory();
  return sync::Core::make<RingCore>(std::move(slots), capacity);
}
void add_ring_sender(RingCore& core) noexcept { core.add_sender(); }
void drop_ring_sender(RingCore& core) noexcept { core.drop_sender(); }
RingPosition add_ring_receiver(RingCore& core) noexcept { return core.add_receiver(); }
void share_ring_receiver(RingCore& core) noexcept { (void)core.add_receiver(); }
void drop_ring_receiver(RingCore& core) noexcept { core.drop_receiver(); }
size_t count_ring_receivers(RingCore* core) noexcept {
  return core != nullptr ? core->receivers() : 0;
}

void put_in_ring(RingCore& core, SharedNode& node) noexcept { core.put(node); }
SharedNode* take_from_ring(RingCore* core, RingPosition& position, Errc& why,
                           uint64_t& missed) noexcept {
  if (core != nullptr) return core->take(position, why, missed);
  why = Errc::invalid_arg;
  return nullptr;
}
SharedNode* take_newest(RingCore* core, RingPosition& position) noexcept {
  return core != nullptr ? core->take_newest(position) : nullptr;
}
Future<void> ring_ready(RingCore* core, RingPosition position, const char* source) noexcept {
  if (core == nullptr) return Future<void>::failed(receiver_error(Errc::invalid_arg, source));
  return wait_in<void>(source, [&](Waiter& waiter) { core->wait(position, waiter); });
}
Future<void> ring_unheard(RingCore* core) noexcept {
  if (core == nullptr) return Future<void>::failed(sender_error(Errc::invalid_arg, "channel"));
  return wait_in<void>("channel", [&](Waiter& waiter) { core->wait_for_nobody(waiter); });
}

}  // namespace jzx::detail
