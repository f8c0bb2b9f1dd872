#include "runtime/commands/json_text.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>

namespace jzx::runtime {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// How many bytes the character in front has; 0: it is not UTF-8. No overlong forms, no surrogates,
// nothing above U+10FFFF: what the second byte may be says so.
size_t character_size(std::string_view text) noexcept {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < size) return 0;
  const uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (size_t i = 2; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

void add_character(std::string& out, uint32_t code) {
  const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  const auto add_rest = [&](int shift) { add(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) return add(0xc0 | code >> 6), add_rest(0);
  if (code < 0x10000) return add(0xe0 | code >> 12), add_rest(6), add_rest(0);
  add(0xf0 | code >> 18), add_rest(12), add_rest(6), add_rest(0);
}

// The four digits of \u.
bool take_unit(std::string_view& rest, uint32_t& out) noexcept {
  if (rest.size() < 4) return false;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + 4, out, 16);
  if (error != std::errc() || end != rest.data() + 4) return false;
  rest.remove_prefix(4);
  return true;
}

bool is_surrogate(uint32_t unit) noexcept { return unit >= 0xd800 && unit < 0xe000; }

// What follows on \u. Characters above U+FFFF are two of them.
bool take_code(std::string_view& rest, std::string& out) {
  uint32_t code = 0;
  if (!take_unit(rest, code)) return false;
  if (is_surrogate(code)) {
    uint32_t low = 0;
    if (code >= 0xdc00 || !rest.starts_with("\\u")) return false;
    rest.remove_prefix(2);
    if (!take_unit(rest, low) || low < 0xdc00 || low >= 0xe000) return false;
    code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
  }
  add_character(out, code);
  return true;
}

// What follows on a backslash.
bool take_escape(std::string_view& rest, std::string& out) {
  if (rest.empty()) return false;
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char name = rest.front();
  rest.remove_prefix(1);
  if (name == 'u') return take_code(rest, out);
  const size_t which = kNames.find(name);
  if (which == std::string_view::npos) return false;
  out += kMeanings[which];
  return true;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string json_quoted(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<uint8_t>(c);
    const size_t size = character_size(text);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(byte));
      result += escape;
    } else {
      result += size != 0 ? text.substr(0, size) : kReplacement;
    }
    text.remove_prefix(size != 0 ? size : 1);
  }
  return result += '"';
}

bool take_json_string(std::string_view& rest, std::string& out) {
  if (!rest.starts_with('"')) return false;
  rest.remove_prefix(1);
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return true;
    if (c != '\\') {
      out += c;
    } else if (!take_escape(rest, out)) {
      return false;
    }
  }
  return false;
}

}  // namespace jzx::runtime
