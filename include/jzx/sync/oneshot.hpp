// A channel for one message: a promise whose receiver can wait without taking, for select(), and
// whose sender learns that nobody wants the message any more.
//
//   auto [sender, receiver] = jzx::oneshot<int>();
//   (void)std::move(sender).send(42);
//   auto receiving = receiver.recv();
//   int answer = co_await co_await receiving;
//
// A sender that ends without a message: Errc::closed. Otherwise as in channel.hpp.
//
// Threads: any; an end is used by one at a time.
#pragma once

#include <utility>

#include <jzx/sync/channel.hpp>

namespace jzx {

template <class T>
class OneshotSender {
 public:
  OneshotSender() noexcept = default;
  explicit OneshotSender(UnboundedSender<T> sender) noexcept : sender_(std::move(sender)) {}
  OneshotSender(OneshotSender&&) noexcept = default;
  OneshotSender& operator=(OneshotSender&&) noexcept = default;

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(sender_); }
  // What is refused (Errc::closed, Errc::no_memory) is not moved from, and can be tried again.
  [[nodiscard]] Errc send(T&& message) && {
    const Errc sent = sender_.send(std::move(message));
    if (ok(sent)) sender_ = {};
    return sent;
  }
  [[nodiscard]] Errc send(const T& message) && { return std::move(*this).send(T(message)); }
  // Does nobody want it any more? And a future for that.
  [[nodiscard]] bool is_closed() const noexcept { return sender_.is_closed(); }
  [[nodiscard]] Future<void> closed() const noexcept { return sender_.closed(); }

 private:
  UnboundedSender<T> sender_;
};

template <class T>
struct Oneshot {
  OneshotSender<T> sender;
  Receiver<T> receiver;
};

// Throws std::bad_alloc.
template <class T>
[[nodiscard]] Oneshot<T> oneshot() {
  UnboundedChannel<T> both = unbounded_channel<T>();
  return {OneshotSender<T>(std::move(both.sender)), std::move(both.receiver)};
}

}  // namespace jzx
