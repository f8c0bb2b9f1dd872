// A channel on which every receiver hears everything, from when it subscribed on.
//
//   auto [sender, receiver] = jzx::broadcast<Price>(64);
//   auto other = sender.subscribe();
//   (void)sender.send(price);                 // never waits
//   auto receiving = receiver.recv();
//   Price price = co_await co_await receiving;
//
// The newest messages are kept, as many as the capacity says. Nobody waits for a receiver that is
// slow: when it has missed some, its next answer is Errc::lagged, missed() says how many, and it
// goes on with the oldest that is there. A message stays until a newer one takes its place, or the
// channel ends.
//
// No message is lost to a cancelled wait; see channel.hpp. With the last sender gone a receiver
// gets what is there, then Errc::closed. Sending to nobody is no error: who subscribes later does
// not hear it.
//
// Threads: any. An end is used by one at a time; copy it for more. A receiver's copy goes on where
// the receiver is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <jzx/async/task.hpp>
#include <jzx/detail/ring_core.hpp>

namespace jzx {

template <class T>
class BroadcastReceiver {
 public:
  BroadcastReceiver() noexcept = default;
  explicit BroadcastReceiver(sync::RingCore& core) noexcept : end_(core) {}

  [[nodiscard]] explicit operator bool() const noexcept { return end_.core() != nullptr; }
  // Errc::empty: nothing is there now. Errc::closed: nothing will be. Errc::lagged: see above.
  [[nodiscard]] Result<T> try_recv() {
    Errc why = Errc::ok;
    detail::SharedNode* node = detail::take_from_ring(end_.core(), end_.position, why, missed_);
    if (node == nullptr) return detail::receiver_error(why, "recv");
    const detail::SharedMessage<T> message(*node);
    return Result<T>(std::in_place, message.value());
  }
  // How many messages the last Errc::lagged was about.
  [[nodiscard]] uint64_t missed() const noexcept { return missed_; }
  // Settles when try_recv() would not answer Errc::empty; takes nothing.
  [[nodiscard]] Future<void> ready() noexcept {
    return detail::ring_ready(end_.core(), end_.position, "recv");
  }
  // The receiver must be there until the task has ended. A cancelled recv() has taken nothing.
  [[nodiscard]] Task<T> recv() { return recv_from(*this); }

 private:
  static Task<T> recv_from(BroadcastReceiver& receiver) {
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

  detail::RingReceiver end_;
  uint64_t missed_ = 0;
};

template <class T>
class BroadcastSender {
 public:
  BroadcastSender() noexcept = default;
  explicit BroadcastSender(sync::RingCore& core) noexcept : end_(core) {}

  [[nodiscard]] explicit operator bool() const noexcept { return end_.core() != nullptr; }
  // Errc::no_memory: nobody hears it.
  [[nodiscard]] Errc send(T message) { return end_.put(std::move(message)); }
  // One that hears what is sent from now on.
  [[nodiscard]] BroadcastReceiver<T> subscribe() const noexcept {
    return end_.core() != nullptr ? BroadcastReceiver<T>(*end_.core()) : BroadcastReceiver<T>();
  }
  [[nodiscard]] size_t receivers() const noexcept {
    return detail::count_ring_receivers(end_.core());
  }
  // Settles when there are none.
  [[nodiscard]] Future<void> closed() const noexcept { return detail::ring_unheard(end_.core()); }

 private:
  detail::RingSender end_;
};

template <class T>
struct Broadcast {
  BroadcastSender<T> sender;
  BroadcastReceiver<T> receiver;
};

// Keeps so many messages, at least 1. Throws std::bad_alloc.
template <class T>
[[nodiscard]] Broadcast<T> broadcast(size_t capacity) {
  BroadcastSender<T> sender(detail::make_ring(capacity > 0 ? capacity : 1));
  BroadcastReceiver<T> receiver = sender.subscribe();
  return {std::move(sender), std::move(receiver)};
}

}  // namespace jzx
