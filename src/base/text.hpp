// Texts that come from users, before they go where a text is a `const char*`.
//
// Threads: any.
#pragma once

#include <exception>
#include <string_view>

namespace jzx::base {

// The kernel and the C library end a text at its first zero byte: "x\0.txt" would be the file x.
[[nodiscard]] inline bool has_zero_byte(std::string_view text) noexcept {
  return text.find('\0') != std::string_view::npos;
}

inline constexpr const char* kPathHasZeroByte =
    "the path has a zero byte, where the system would cut it off";

// What an exception says of itself. A class of a user's may answer null.
[[nodiscard]] inline const char* text_of(const std::exception& error) noexcept {
  const char* text = error.what();
  return text != nullptr ? text : "an exception whose what() is null";
}

}  // namespace jzx::base
