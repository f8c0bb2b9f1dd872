// A value that changes, and those who want the newest: a configuration, a state, a price.
//
//   auto [sender, receiver] = jzx::watch<Settings>(defaults);
//   (void)sender.send(newer);                 // never waits
//   auto changed = receiver.changed();
//   co_await co_await changed;                // there is one that this receiver has not seen
//   Settings now = *receiver.get();           // a copy; it has seen it now
//
// Values between two looks are not seen; that is no error. Waiting takes nothing: cancelled or not,
// what was not seen stays so. With the last sender gone changed() answers Errc::closed once the
// newest has been seen; get() goes on to give it.
//
// Threads: any. An end is used by one at a time; copy it for more.
#pragma once

#include <utility>

#include <jzx/detail/ring_core.hpp>

namespace jzx {

template <class T>
class WatchReceiver {
 public:
  WatchReceiver() noexcept = default;
  explicit WatchReceiver(sync::RingCore& core) noexcept : end_(core) {}

  [[nodiscard]] explicit operator bool() const noexcept { return end_.core() != nullptr; }
  [[nodiscard]] Future<void> changed() noexcept {
    return detail::ring_ready(end_.core(), end_.position, "watch");
  }
  // Errc::invalid_arg: the receiver is an empty one.
  [[nodiscard]] Result<T> get() {
    detail::SharedNode* node = detail::take_newest(end_.core(), end_.position);
    if (node == nullptr) return detail::receiver_error(Errc::invalid_arg, "watch");
    const detail::SharedMessage<T> message(*node);
    return Result<T>(std::in_place, message.value());
  }

 private:
  detail::RingReceiver end_;
};

template <class T>
class WatchSender {
 public:
  WatchSender() noexcept = default;
  explicit WatchSender(sync::RingCore& core) noexcept : end_(core) {}

  [[nodiscard]] explicit operator bool() const noexcept { return end_.core() != nullptr; }
  // Errc::no_memory: the value is the one before.
  [[nodiscard]] Errc send(T value) { return end_.put(std::move(value)); }
  // One that has seen the newest value.
  [[nodiscard]] WatchReceiver<T> subscribe() const noexcept {
    return end_.core() != nullptr ? WatchReceiver<T>(*end_.core()) : WatchReceiver<T>();
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
struct Watch {
  WatchSender<T> sender;
  WatchReceiver<T> receiver;
};

// The receiver has seen the first value. Throws std::bad_alloc.
template <class T>
[[nodiscard]] Watch<T> watch(T value) {
  WatchSender<T> sender(detail::make_ring(1));
  if (!ok(sender.send(std::move(value)))) detail::throw_no_memory();
  WatchReceiver<T> receiver = sender.subscribe();
  return {std::move(sender), std::move(receiver)};
}

}  // namespace jzx
