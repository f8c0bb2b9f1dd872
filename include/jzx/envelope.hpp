// An envelope carries one message from its sender to its handler: 64 bytes, with room for a
// small message inside. The typed edge builds messages in it; the core moves it and never looks
// inside.
//
//   ┌──────┬──────┬────────┬───────┬───────┬──────────────────┐
//   │ next │ type │ sender │ flags │ trace │ storage 32 bytes │
//   └──────┴──────┴────────┴───────┴───────┴──────────────────┘
//
// Ownership: whoever holds the envelope owns the message in it. A successful send hands both to
// the mailbox; the runtime destroys the message after it was handled or dead-lettered.
#pragma once

#include <cstddef>
#include <cstdint>

#include <jzx/signals.hpp>

namespace jzx {

class Context;
struct Envelope;

// One constant per message type, and one per pair of actor and message for typed sends.
struct MessageType {
  const char* name;        // for people
  const MessageType* key;  // names the message type: the same for all constants of one type
  void (*destroy)(Envelope& envelope) noexcept;  // ends the message; null: nothing to do
  // Calls the handler that was found at compile time; null: look it up by key.
  void (*handle)(void* actor, Context& context, Envelope& envelope);
  // The key of what the user sent, which for an ask is inside; it comes first in memory.
  const MessageType* inner;
  bool is_boxed;  // the storage holds a pointer to the message
  // In place of `handle`, for a handler that wants no Context: calls it, and ends the message. If
  // it throws, the message has not ended. null: there is none such.
  void (*handle_and_end)(void* actor, Envelope& envelope) = nullptr;
};

struct alignas(64) Envelope {
  static constexpr size_t kInlineSize = 32;

  enum Flag : uint32_t {
    kSystem = 1,   // not a user's: never refused, not in the ledger
    kTimer = 2,    // part of a timer record
    kNotice = 4,   // part of the record of what caused it
    kForeign = 8,  // being filled by a foreign thread
    kTapped = 16,  // a driver wants to hear when it is taken
  };

  Envelope() noexcept : next(nullptr) {}
  Envelope(const MessageType* the_type, ActorId the_sender, uint32_t the_flags) noexcept
      : next(nullptr), type(the_type), sender(the_sender), flags(the_flags) {}
  // For one who is about to queue it, and so to set `next`.
  struct ToBeQueued {};
  Envelope(ToBeQueued, const MessageType* the_type, ActorId the_sender) noexcept
      : type(the_type), sender(the_sender) {}

  Envelope* next;
  const MessageType* type = nullptr;
  ActorId sender = 0;
  uint32_t flags = 0;
  uint32_t trace = 0;  // for drivers, and then bodies, that number messages
  alignas(8) std::byte storage[kInlineSize];

  template <class T>
  [[nodiscard]] T& as() noexcept {
    return *reinterpret_cast<T*>(storage);
  }
};
static_assert(sizeof(Envelope) == 64);

// A message of the C interface: a pointer that the runtime passes on and never follows. Laid out as
// jzx_message, so that a behaviour reads it where it lies.
struct RawMessage {
  void* data = nullptr;
  size_t size = 0;
  uint32_t tag = 0;
  ActorId sender = 0;
};
static_assert(sizeof(RawMessage) <= Envelope::kInlineSize);

extern JZX_API const MessageType raw_message_type;

}  // namespace jzx
