#include "runtime/sim/pattern.hpp"

namespace jzx::runtime {

namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,@%=-";
constexpr std::string_view kSpecialInPatterns = "^$*+?[]()|\\";

}  // namespace

std::string pattern_of(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    if (kSpecialInPatterns.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  const bool is_plain = pattern.find_first_not_of(kPlain) == std::string::npos;
  // A word that begins with a dash would be an option.
  if (is_plain && !pattern.empty() && pattern.front() != '-') return pattern;
  std::string quoted = "'";
  for (const char c : pattern) {
    // A quote cannot be inside quotes: they end, it comes escaped, and they begin again.
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace jzx::runtime
