// Messages: any movable type, without registration. Small ones travel inside the envelope, larger
// ones in a box of the system's allocator.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include <jzx/detail/port.hpp>
#include <jzx/envelope.hpp>

namespace jzx::detail {

// ---- names of types, without RTTI ----

template <class T>
constexpr std::string_view type_name_view() {
  // "constexpr std::string_view … type_name_view() [with T = Name; …]" (gcc),
  // "std::string_view … type_name_view() [T = Name]" (clang)
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  // From behind: the name itself may hold brackets.
  return text.substr(0, text.rfind(text.find(';') != text.npos ? ';' : ']'));
}

template <class T>
constexpr auto type_name_array() {
  constexpr std::string_view view = type_name_view<T>();
  std::array<char, view.size() + 1> result{};
  for (size_t i = 0; i < view.size(); ++i) result[i] = view[i];
  return result;
}

template <class T>
inline constexpr auto type_name = type_name_array<T>();

// ---- what can be a message ----

// Asked where a message is sent, so that the compiler's first sentence is this one.
template <class M>
consteval bool check_message() {
  static_assert(!std::is_array_v<M>,
                "jzx: an array cannot be a message; send a std::string or a struct that holds it");
  return !std::is_array_v<M>;
}

// ---- how a message lies in its envelope ----

template <class M>
inline constexpr bool fits_inline = sizeof(M) <= Envelope::kInlineSize &&
                                    alignof(M) <= 8 && std::is_nothrow_move_constructible_v<M>;

template <class M>
struct Box {
  M* message;
  Port* port;
};

template <class M>
[[nodiscard]] M& message_in(Envelope& envelope) noexcept {
  if constexpr (fits_inline<M>) {
    return envelope.as<M>();
  } else {
    return *envelope.as<Box<M>>().message;
  }
}

template <class M>
void destroy_message(Envelope& envelope) noexcept {
  if constexpr (fits_inline<M>) {
    envelope.as<M>().~M();
  } else {
    const Box<M> box = envelope.as<Box<M>>();
    box.message->~M();
    release(*box.port, box.message, sizeof(M));
  }
}

// Gives memory back at the end of its scope, unless `memory` was set to null: what was made in it
// stays. For constructors that may throw.
struct UnkeptMemory {
  ~UnkeptMemory() {
    if (memory != nullptr) release(port, memory, size);
  }
  Port& port;
  void* memory;
  size_t size;
};

// False: no memory. If the move throws, nothing was put.
template <class M>
[[nodiscard]] bool put_message(Port& port, Envelope& envelope, M&& message) {
  using Type = std::remove_cvref_t<M>;
  if constexpr (fits_inline<Type>) {
    new (envelope.storage) Type(std::forward<M>(message));
  } else {
    static_assert(alignof(Type) <= alignof(std::max_align_t),
                  "jzx: messages may not be over-aligned");
    void* memory = allocate(port, sizeof(Type));
    if (memory == nullptr) return false;
    UnkeptMemory undo{port, memory, sizeof(Type)};
    auto* boxed = new (memory) Type(std::forward<M>(message));
    undo.memory = nullptr;
    new (envelope.storage) Box<Type>{boxed, &port};
  }
  return true;
}

template <class M>
inline constexpr bool needs_no_end = fits_inline<M>&& std::is_trivially_destructible_v<M>;
template <class M>
inline constexpr void (*destroy_or_nothing)(Envelope&) noexcept = needs_no_end<M>
                                                                      ? nullptr
                                                                      : &destroy_message<M>;

// The message on its own: its handler is looked up where it arrives.
template <class M>
inline constexpr MessageType message_type{type_name<M>.data(),   &message_type<M>,
                                          destroy_or_nothing<M>, nullptr,
                                          &message_type<M>,      !fits_inline<M>};

// Where the message that the user sent lies, alone or in an ask.
[[nodiscard]] inline void* inner_message(Envelope& envelope) noexcept {
  return envelope.type->is_boxed ? envelope.as<void*>() : static_cast<void*>(envelope.storage);
}

// Builds the message in an envelope, which finish(envelope) then sends or ends.
template <class M, class Finish>
Errc send_in_envelope(Port& port, const MessageType& type, M&& message, Finish&& finish) {
  Errc error = Errc::ok;
  Envelope* envelope = begin_send(port, error);
  if (envelope == nullptr) return error;
  // If moving the message throws, the envelope goes back, empty.
  struct Undo {
    ~Undo() {
      if (envelope != nullptr) (void)finish_send(port, 0, *envelope);
    }
    Port& port;
    Envelope* envelope;
  } undo{port, envelope};
  if (!put_message(port, *envelope, std::forward<M>(message))) return Errc::no_memory;
  envelope->type = &type;
  undo.envelope = nullptr;
  return finish(*envelope);
}

// Messages that are a word or two, and may be moved as they lie. Ask is one, see actor.hpp.
template <class M>
struct MessageWords {
  static constexpr bool fits = fits_inline<M> && sizeof(M) <= 2 * sizeof(uint64_t) &&
                               alignof(M) <= alignof(uint64_t) && std::is_trivially_copyable_v<M> &&
                               std::is_trivially_destructible_v<M>;

  static void put(const M& message, uint64_t* words) noexcept {
    if constexpr (!std::is_empty_v<M>) std::memcpy(words, &message, sizeof(M));
  }
};

// Fills in and sends. A message that is refused ends here.
template <class M>
Errc send_message(Port& port, ActorId target, const MessageType& type, M&& message) {
  using Words = MessageWords<std::remove_cvref_t<M>>;
  if constexpr (Words::fits) {
    uint64_t words[2] = {};
    Words::put(std::forward<M>(message), words);
    return send_words(port, target, type, words[0], words[1]);
  } else {
    return send_in_envelope(port, type, std::forward<M>(message), [&](Envelope& envelope) {
      return finish_send(port, target, envelope);
    });
  }
}

}  // namespace jzx::detail
