// Strings in JSON: any bytes out, and back in.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

namespace jzx::runtime {

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

// With its quotes. Control characters are escaped; each byte that is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string json_quoted(std::string_view text);

// Takes a string with its quotes off the front of `rest` and adds its text to `out`, as UTF-8.
// False: there is none, or it is broken.
[[nodiscard]] bool take_json_string(std::string_view& rest, std::string& out);

}  // namespace jzx::runtime
