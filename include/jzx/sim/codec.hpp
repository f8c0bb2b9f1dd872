// Codec: how a message becomes text in a log, and a message again in a replay. Give one to a type
// of your own:
//
//   template <>
//   struct jzx::Codec<Order> {
//     static std::string encode(const Order& order);
//     static std::optional<Order> decode(std::string_view text);     // empty: it is none
//   };
//
// The text may hold any bytes. encode() of equal messages should be equal, so that two runs can be
// compared. A type without a codec that is trivially copyable can be kept as its bytes, see
// ByteCodec; all others are opaque: a log says that there was a message, and no more.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <jzx/detail/export.hpp>

namespace jzx {

template <class T>
struct Codec;

// Version 14 of clang-format does not know how to lay out these.
// clang-format off
template <class T>
concept HasCodec = requires(const T& value, std::string_view text) {
  { Codec<T>::encode(value) } -> std::convertible_to<std::string>;
  { Codec<T>::decode(text) } -> std::convertible_to<std::optional<T>>;
};
// clang-format on

namespace detail {

[[nodiscard]] JZX_API std::string hex_of(const void* bytes, size_t size);
// False: it is not the hex of that many bytes.
[[nodiscard]] JZX_API bool bytes_of(std::string_view hex, void* bytes, size_t size) noexcept;

}  // namespace detail

// The bytes of a value, in hex. What it points to is not there in another process, and bytes that
// are only padding may differ between equal values.
template <class T>
requires std::is_trivially_copyable_v<T>
struct ByteCodec {
  static std::string encode(const T& value) { return detail::hex_of(&value, sizeof(T)); }
  static std::optional<T> decode(std::string_view text) {
    alignas(T) std::byte bytes[sizeof(T)];
    if (!detail::bytes_of(text, bytes, sizeof(T))) return std::nullopt;
    return *std::launder(reinterpret_cast<const T*>(bytes));
  }
};

}  // namespace jzx
