// The core of channels with one receiver: a queue of messages, places for them, and the queues of
// those who wait for a message, for a place, or for the end.
//
// Invariants: there is a free place only if nobody waits for one; somebody waits for a message only
// if there is none. Free places, reserved ones and messages are together the capacity.
//
// Threads: any.
#include <jzx/detail/channel_core.hpp>

#include "sync/core.hpp"

namespace jzx::sync {

using detail::MessageNode;

class ChannelCore final : public Core {
 public:
  ChannelCore(size_t capacity, detail::EndNode end_message) noexcept
      : Core(2), end_(end_message), free_places_(capacity) {}  // for a sender and the receiver

  // ---- the ends ----

  void add_sender() noexcept {
    Hold hold(*this);
    hold.know();
    ++senders_;
  }
  void drop_sender() noexcept {
    Hold hold(*this);
    hold.forget();
    sender_goes(hold);
  }
  void close() noexcept {
    Hold hold(*this);
    close_under(hold);
  }
  void drop_receiver() noexcept {
    MessageNode* rest = nullptr;
    {
      Hold hold(*this);
      rest = std::exchange(first_, nullptr);
      last_ = nullptr;
      count_ = 0;
      close_under(hold);
    }
    end_all(rest);
    Hold hold(*this);
    hold.forget();
  }

  // ---- sending ----

  [[nodiscard]] Errc put(MessageNode& node, detail::Place place) noexcept {
    Hold hold(*this);
    if (is_closed_) return Errc::closed;
    if (place == detail::Place::reserved) {
      hold.forget();  // the permit
      --senders_;
    } else if (is_bounded()) {
      if (free_places_ == 0) return Errc::mailbox_full;
      --free_places_;
    }
    (last_ != nullptr ? last_->next : first_) = &node;
    last_ = &node;
    ++count_;
    hold.finish_all(wait_for_message_, Errc::ok);
    return Errc::ok;
  }
  void wait_for_place(Waiter& waiter) noexcept {
    Hold hold(*this);
    if (is_closed_) return hold.answer(waiter, Errc::closed);
    ++senders_;
    if (free_places_ == 0) return hold.enqueue(wait_for_place_, waiter);
    --free_places_;
    hold.answer(waiter, Errc::ok);
  }
  void give_place() noexcept {
    Hold hold(*this);
    hold.forget();
    free_place(hold);
    sender_goes(hold);
  }

  // ---- receiving ----

  [[nodiscard]] MessageNode* take(Errc& why) noexcept {
    Hold hold(*this);
    MessageNode* node = first_;
    if (node == nullptr) {
      why = may_come() ? Errc::empty : Errc::closed;
      return nullptr;
    }
    first_ = node->next;
    if (first_ == nullptr) last_ = nullptr;
    --count_;
    if (is_bounded()) free_place(hold);
    return node;
  }
  void wait_for_message(Waiter& waiter) noexcept {
    Hold hold(*this);
    if (first_ != nullptr) return hold.answer(waiter, Errc::ok);
    if (!may_come()) return hold.answer(waiter, Errc::closed);
    hold.enqueue(wait_for_message_, waiter);
  }
  [[nodiscard]] size_t count() noexcept {
    Hold hold(*this);
    return count_;
  }

  // ---- the end ----

  [[nodiscard]] bool is_closed() noexcept {
    Hold hold(*this);
    return is_closed_;
  }
  void wait_for_end(Waiter& waiter) noexcept {
    Hold hold(*this);
    if (is_closed_) return hold.answer(waiter, Errc::ok);
    hold.enqueue(wait_for_end_, waiter);
  }

 private:
  ~ChannelCore() override { end_all(first_); }
  void withdrawn(Waiter& waiter, Hold& hold) noexcept override {
    if (waiter.is_guarded) sender_goes(hold);  // it waited for a place
  }

  [[nodiscard]] bool is_bounded() const noexcept { return free_places_ != detail::kUnbounded; }
  // After close() nothing is put any more.
  [[nodiscard]] bool may_come() const noexcept { return senders_ > 0 && !is_closed_; }

  void sender_goes(Hold& hold) noexcept {
    if (--senders_ == 0 && first_ == nullptr) hold.finish_all(wait_for_message_, Errc::closed);
  }
  void free_place(Hold& hold) noexcept {
    Waiter* first = wait_for_place_.front();
    if (first == nullptr) {
      ++free_places_;
    } else {
      hold.finish(*first, Errc::ok);
    }
  }
  void close_under(Hold& hold) noexcept {
    is_closed_ = true;
    hold.finish_all(wait_for_place_, Errc::closed);
    hold.finish_all(wait_for_end_, Errc::ok);
    if (first_ == nullptr) hold.finish_all(wait_for_message_, Errc::closed);
  }
  void end_all(MessageNode* node) noexcept {
    while (node != nullptr) end_(*std::exchange(node, node->next));
  }

  const detail::EndNode end_;
  MessageNode* first_ = nullptr;
  MessageNode* last_ = nullptr;
  size_t count_ = 0;
  size_t free_places_;      // detail::kUnbounded: nobody counts
  size_t senders_ = 1;      // ends, reserved places, and those who wait for one
  bool is_closed_ = false;  // by the receiver
  WaiterList wait_for_message_;
  WaiterList wait_for_place_;
  WaiterList wait_for_end_;
};

}  // namespace jzx::sync

namespace jzx::detail {

using sync::ChannelCore;

ChannelCore& make_channel(size_t capacity, EndNode end) {
  return sync::Core::make<ChannelCore>(capacity, end);
}
void add_sender(ChannelCore& core) noexcept { core.add_sender(); }
void drop_sender(ChannelCore& core) noexcept { core.drop_sender(); }
void drop_receiver(ChannelCore& core) noexcept { core.drop_receiver(); }

Errc put_message(ChannelCore& core, MessageNode& node, Place place) noexcept {
  return core.put(node, place);
}
void wait_for_place(ChannelCore& core, Waiter& waiter) noexcept { core.wait_for_place(waiter); }
void give_place(ChannelCore& core) noexcept { core.give_place(); }
ChannelCore& channel_of(Waiter& waiter) noexcept { return static_cast<ChannelCore&>(*waiter.core); }

MessageNode* take_message(ChannelCore* core, Errc& why) noexcept {
  if (core != nullptr) return core->take(why);
  why = Errc::invalid_arg;
  return nullptr;
}
Future<void> message_ready(ChannelCore* core) noexcept {
  if (core == nullptr) return Future<void>::failed(receiver_error(Errc::invalid_arg, "recv"));
  return wait_in<void>("recv", [&](Waiter& waiter) { core->wait_for_message(waiter); });
}
size_t count_messages(ChannelCore* core) noexcept { return core != nullptr ? core->count() : 0; }

void close_channel(ChannelCore* core) noexcept {
  if (core != nullptr) core->close();
}
bool is_channel_closed(ChannelCore* core) noexcept { return core == nullptr || core->is_closed(); }
Future<void> channel_closed(ChannelCore* core) noexcept {
  if (core == nullptr) return Future<void>::failed(sender_error(Errc::invalid_arg, "channel"));
  return wait_in<void>("channel", [&](Waiter& waiter) { core->wait_for_end(waiter); });
}

}  // namespace jzx::detail
