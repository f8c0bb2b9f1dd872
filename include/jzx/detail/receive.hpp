// How a fiber's receive is told to the library: the alternatives, without their types. Not for
// users; see jzx/fiber.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <jzx/detail/message.hpp>
#include <jzx/envelope.hpp>

namespace jzx::detail {

// Stand for what the system tells, as the keys of message types do for messages. In the library, so
// that there is one of each in the process.
extern JZX_API const MessageType io_event_key;
extern JZX_API const MessageType child_exit_key;
extern JZX_API const MessageType down_key;
extern JZX_API const MessageType exit_key;
extern JZX_API const MessageType signal_event_key;

template <class M>
inline constexpr bool is_signal =
    std::is_same_v<M, IoEvent> || std::is_same_v<M, ChildExit> || std::is_same_v<M, Down> ||
    std::is_same_v<M, Exit> || std::is_same_v<M, SignalEvent>;

// What messages of this type are found by.
template <class M>
[[nodiscard]] constexpr const MessageType* receive_key() noexcept {
  if constexpr (std::is_same_v<M, IoEvent>) {
    return &io_event_key;
  } else if constexpr (std::is_same_v<M, ChildExit>) {
    return &child_exit_key;
  } else if constexpr (std::is_same_v<M, Down>) {
    return &down_key;
  } else if constexpr (std::is_same_v<M, Exit>) {
    return &exit_key;
  } else if constexpr (std::is_same_v<M, SignalEvent>) {
    return &signal_event_key;
  } else if constexpr (std::is_same_v<M, RawMessage>) {
    return &raw_message_type;
  } else {
    return &message_type<M>;
  }
}

// The key of the message in an envelope.
[[nodiscard]] JZX_API const MessageType* key_of_signal(const Envelope& envelope) noexcept;
[[nodiscard]] inline const MessageType* key_of(const Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kSystem) != 0) [[unlikely]]
    return key_of_signal(envelope);
  return envelope.type->inner;
}

// One alternative of a receive.
struct ReceivePattern {
  const MessageType* key;  // null: any message of a user
  // The guard; null: every message of the type will do.
  bool (*accepts)(void* guard, Envelope& envelope);
  void* guard;

  [[nodiscard]] bool fits(Envelope& envelope) const {
    if (key != nullptr ? key_of(envelope) != key : (envelope.flags & Envelope::kSystem) != 0) {
      return false;
    }
    return accepts == nullptr || accepts(guard, envelope);
  }
  // The same without a guard, for a message that has no flags.
  [[nodiscard]] bool fits_plain(const Envelope& envelope) const noexcept {
    return key == nullptr || envelope.type->inner == key;
  }
};

// As a message of this type lies in its envelope, alone or in an ask.
template <class M>
[[nodiscard]] M& received(Envelope& envelope) noexcept {
  if constexpr (is_signal<M>) {
    return *static_cast<M*>(envelope.as<RawMessage>().data);
  } else if constexpr (std::is_same_v<M, RawMessage>) {
    return envelope.as<RawMessage>();
  } else {
    return *static_cast<M*>(inner_message(envelope));
  }
}

}  // namespace jzx::detail
