// Channels from many senders to one receiver, bounded (a sender waits for a place) or not.
//
//   auto [sender, receiver] = jzx::channel<Job>(16);        // or jzx::unbounded_channel<Job>()
//   auto sending = sender.send(job);       auto receiving = receiver.recv();
//   co_await co_await sending;             Job next = co_await co_await receiving;
//
//   a coroutine          Result<Job> job = co_await receiving;
//   a fiber, a thread    Result<Job> job = receiver.recv().get();
//   a handler            receiver.ready().then([&](Result<void>) { … receiver.try_recv() … });
//
// No message is lost to a cancelled wait. Receiving is waiting until there is something (ready()),
// which takes nothing, and then taking it (try_recv()), which does not wait. Sending is waiting for
// a place (reserve()), and then putting the message there: a send that ends with an error has not
// sent, and the message ends with it; who wants to keep it reserves a place first.
//
// The ends. With the last sender gone the receiver gets what is there, then Errc::closed. With the
// receiver gone senders get Errc::closed at once, and what was queued ends. An end that was moved
// from, or was never given one, answers Errc::invalid_arg.
//
// Order: messages of one sender arrive as they were sent; places are given in the order in which
// they were asked for.
//
// Threads: any. An end is used by one at a time; copy the sender for more.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <jzx/async/task.hpp>
#include <jzx/detail/channel_core.hpp>

namespace jzx {

// A place in a channel that was asked for in time: putting a message there does not wait.
template <class T>
class [[nodiscard]] SendPermit {
 public:
  SendPermit() noexcept = default;
  SendPermit(SendPermit&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  SendPermit& operator=(SendPermit&& other) noexcept {
    SendPermit(std::move(other)).swap(*this);
    return *this;
  }
  ~SendPermit() {
    if (core_ != nullptr) detail::give_place(*core_);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  // Once. What is refused (Errc::closed, Errc::no_memory) is not moved from.
  [[nodiscard]] Errc send(T&& message) {
    if (core_ == nullptr) return Errc::invalid_arg;
    return detail::put_in_place<T>(core_, message);
  }
  [[nodiscard]] Errc send(const T& message) { return send(T(message)); }

  // ---- for the library ----
  explicit SendPermit(detail::Waiter& granted) noexcept : core_(&detail::channel_of(granted)) {}

 private:
  void swap(SendPermit& other) noexcept { std::swap(core_, other.core_); }
  sync::ChannelCore* core_ = nullptr;
};

// What both kinds of sender have.
template <class T>
class SenderBase {
 public:
  // Is the receiver gone, or has it closed the channel?
  [[nodiscard]] bool is_closed() const noexcept { return detail::is_channel_closed(end_.core()); }
  // Settles when it is.
  [[nodiscard]] Future<void> closed() const noexcept { return detail::channel_closed(end_.core()); }
  [[nodiscard]] explicit operator bool() const noexcept { return end_.core() != nullptr; }

  // Errc::mailbox_full: no place now, or others wait for one. What is refused is not moved from.
  [[nodiscard]] Errc try_send(T&& message) const {
    return detail::try_put<T>(end_.core(), message);
  }
  [[nodiscard]] Errc try_send(const T& message) const { return try_send(T(message)); }

 protected:
  SenderBase() noexcept = default;
  explicit SenderBase(sync::ChannelCore& core) noexcept : end_(core) {}
  detail::SenderEnd end_;
};

template <class T>
class Sender : public SenderBase<T> {
 public:
  Sender() noexcept = default;
  explicit Sender(sync::ChannelCore& core) noexcept : SenderBase<T>(core) {}

  [[nodiscard]] Future<SendPermit<T>> reserve() const noexcept {
    sync::ChannelCore* core = this->end_.core();
    if (core == nullptr) {
      return Future<SendPermit<T>>::failed(detail::sender_error(Errc::invalid_arg, "send"));
    }
    return detail::wait_in<SendPermit<T>>(
        "send", [&](detail::Waiter& waiter) { detail::wait_for_place(*core, waiter); });
  }
  // The task keeps a sender of its own.
  [[nodiscard]] Task<void> send(T message) const { return send_with(*this, std::move(message)); }

 private:
  static Task<void> send_with(Sender sender, T message) {
    Errc sent = sender.try_send(std::move(message));
    if (sent == Errc::mailbox_full) {
      Future<SendPermit<T>> asked = sender.reserve();
      Result<SendPermit<T>> permit = co_await asked;
      if (!permit) co_await fail(permit.error());
      sent = permit->send(std::move(message));
    }
    if (!ok(sent)) co_await fail(detail::sender_error(sent, "send"));
  }
};

template <class T>
class UnboundedSender : public SenderBase<T> {
 public:
  UnboundedSender() noexcept = default;
  explicit UnboundedSender(sync::ChannelCore& core) noexcept : SenderBase<T>(core) {}
  // Errc::closed, Errc::no_memory; what is refused is not moved from.
  [[nodiscard]] Errc send(T&& message) const { return this->try_send(std::move(message)); }
  [[nodiscard]] Errc send(const T& message) const { return this->try_send(message); }
};

template <class T>
class Receiver {
 public:
  Receiver() noexcept = default;
  explicit Receiver(sync::ChannelCore& core) noexcept : end_(core) {}

  [[nodiscard]] explicit operator bool() const noexcept { return end_.core() != nullptr; }
  // Errc::empty: nothing is there now. Errc::closed: nothing will be.
  [[nodiscard]] Result<T> try_recv() {
    Errc why = Errc::ok;
    detail::MessageNode* node = detail::take_message(end_.core(), why);
    if (node == nullptr) return detail::receiver_error(why, "recv");
    const detail::NodeOf<T> own(node);
    return Result<T>(std::in_place, std::move(own->value));
  }
  // Settles when try_recv() would give something; Errc::closed when nothing will come any more.
  [[nodiscard]] Future<void> ready() noexcept { return detail::message_ready(end_.core()); }
  // The receiver must be there until the task has ended. A cancelled recv() has taken nothing.
  [[nodiscard]] Task<T> recv() { return recv_from(*this); }
  // Senders are refused from now on; what is there can still be received.
  void close() noexcept { detail::close_channel(end_.core()); }
  // How many are there at this moment.
  [[nodiscard]] size_t size() const noexcept { return detail::count_messages(end_.core()); }

 private:
  static Task<T> recv_from(Receiver& receiver) {
    for (;;) {
      // Whoever asked it to stop does not look at what it returns.
      if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "recv");
      Result<T> received = receiver.try_recv();
      if (received.error().code() != Errc::empty) co_return std::move(received);
      Future<void> waiting = receiver.ready();
      Result<void> is_ready = co_await waiting;
      if (!is_ready) co_return is_ready.error();
    }
  }

  detail::ReceiverEnd end_;
};

template <class T>
struct Channel {
  Sender<T> sender;
  Receiver<T> receiver;
};
template <class T>
struct UnboundedChannel {
  UnboundedSender<T> sender;
  Receiver<T> receiver;
};

// At most so many messages and reserved places at once; at least 1. Throws std::bad_alloc.
template <class T>
[[nodiscard]] Channel<T> channel(size_t capacity) {
  sync::ChannelCore& core = detail::make_channel(capacity > 0 ? capacity : 1, &detail::end_node<T>);
  return {Sender<T>(core), Receiver<T>(core)};
}
template <class T>
[[nodiscard]] UnboundedChannel<T> unbounded_channel() {
  sync::ChannelCore& core = detail::make_channel(detail::kUnbounded, &detail::end_node<T>);
  return {UnboundedSender<T>(core), Receiver<T>(core)};
}

}  // namespace jzx
