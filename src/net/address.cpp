// Addresses in numbers, written and read.
#include <jzx/net/address.hpp>

#include <charconv>
#include <cstdio>
#include <optional>

namespace jzx::net {

namespace {

std::optional<uint16_t> parse_port(std::string_view text) noexcept {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return port;
}

// An octet with a leading zero is octal to the C library and decimal to others: it is refused.
std::optional<std::array<uint8_t, 4>> parse_ipv4(std::string_view text) noexcept {
  std::array<uint8_t, 4> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos || dot == 0 || dot > 3) return {};
    if (dot > 1 && text.front() == '0') return {};
    const auto [end, error] = std::from_chars(text.data(), text.data() + dot, bytes[i]);
    if (error != std::errc() || end != text.data() + dot) return {};
    text.remove_prefix(i < 3 ? dot + 1 : dot);
  }
  if (!text.empty()) return {};
  return bytes;
}

// Groups of four hexadecimal digits, and "::" for as many zeros as are missing.
std::optional<std::array<uint8_t, 16>> parse_ipv6(std::string_view text) noexcept {
  std::array<uint8_t, 16> bytes{};
  size_t count = 0;
  std::optional<size_t> gap;
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    if (count == bytes.size()) return {};
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string_view group = text.substr(0, colon);
    if (colon == text.size() && group.find('.') != std::string_view::npos) {
      const auto tail = parse_ipv4(group);
      if (!tail || count + 4 > bytes.size()) return {};
      for (const uint8_t byte : *tail) bytes[count++] = byte;
      break;
    }
    uint16_t value = 0;
    const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), value, 16);
    if (group.empty() || group.size() > 4 || error != std::errc() ||
        end != group.data() + group.size()) {
      return {};
    }
    bytes[count++] = static_cast<uint8_t>(value >> 8);
    bytes[count++] = static_cast<uint8_t>(value);
    text.remove_prefix(colon);
    if (text.empty()) break;
    text.remove_prefix(1);
    if (text.starts_with(':')) {
      if (gap) return {};
      gap = count;
      text.remove_prefix(1);
    } else if (text.empty()) {
      return {};
    }
  }
  if (!gap) return count == bytes.size() ? std::optional(bytes) : std::nullopt;
  if (count == bytes.size()) return {};
  const size_t behind = count - *gap;
  for (size_t i = 0; i < behind; ++i) {
    bytes[bytes.size() - 1 - i] = bytes[count - 1 - i];
  }
  for (size_t i = *gap; i < bytes.size() - behind; ++i) bytes[i] = 0;
  return bytes;
}

// The number of an interface; 0 is none and not written.
std::optional<uint32_t> parse_scope(std::string_view text) noexcept {
  uint32_t scope = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scope);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '0') return {};
  return scope;
}

std::optional<Address> parse_host_of_ipv6(std::string_view text, uint16_t port) noexcept {
  uint32_t scope = 0;
  if (const size_t percent = text.find('%'); percent != std::string_view::npos) {
    const auto number = parse_scope(text.substr(percent + 1));
    if (!number) return {};
    scope = *number;
    text = text.substr(0, percent);
  }
  const auto bytes = parse_ipv6(text);
  if (!bytes) return {};
  return Address::ipv6(*bytes, port, scope);
}

// What makes a path differ from an abstract name, and from itself.
constexpr char kAbstract = '@';
constexpr char kEscape = '\\';

std::optional<Address> parse_local(std::string_view text) {
  Address address;
  if (text.starts_with(kAbstract)) {
    address = Address::local('\0' + std::string(text.substr(1)));
  } else if (text.starts_with(kEscape)) {
    text.remove_prefix(1);
    if (!text.starts_with(kAbstract) && !text.starts_with(kEscape)) return {};
    address = Address::local(text);
  } else if (!text.starts_with('\0')) {
    address = Address::local(text);
  }
  if (address.family == Family::none) return {};
  return address;
}

std::optional<Address> parse_any(std::string_view text) {
  constexpr std::string_view kLocal = "unix:";
  if (text.starts_with(kLocal)) return parse_local(text.substr(kLocal.size()));
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return {};
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    return parse_host_of_ipv6(host.substr(1, host.size() - 2), *port);
  }
  const auto bytes = parse_ipv4(host);
  if (!bytes) return {};
  return Address::ipv4(*bytes, *port);
}

// The longest run of zero groups, from and to; at least two of them.
std::pair<size_t, size_t> longest_gap(const std::array<uint8_t, 108>& bytes) noexcept {
  std::pair<size_t, size_t> best{8, 8};
  for (size_t begin = 0; begin < 8; ++begin) {
    size_t end = begin;
    while (end < 8 && bytes[2 * end] == 0 && bytes[2 * end + 1] == 0) ++end;
    if (end - begin >= 2 && end - begin > best.second - best.first) best = {begin, end};
  }
  return best;
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
  if (const auto address = parse_any(text)) return *address;
  return Error(Errc::invalid_arg,
               "an address is 1.2.3.4:80, [::1]:80 or unix:/path; names are for resolve()",
               "address");
}

std::string Address::to_string() const {
  switch (family) {
    case Family::none:
      return "nowhere";
    case Family::local: {
      std::string_view rest = path();
      std::string text("unix:");
      if (rest.starts_with('\0')) {
        text += kAbstract;
        rest.remove_prefix(1);
      } else if (rest.starts_with(kAbstract) || rest.starts_with(kEscape)) {
        text += kEscape;
      }
      return text += rest;
    }
    case Family::ipv4: {
      char text[32];
      std::snprintf(text, sizeof(text), "%u.%u.%u.%u:%u", bytes[0], bytes[1], bytes[2], bytes[3],
                    port);
      return text;
    }
    case Family::ipv6:
      break;
  }
  const auto [from, to] = longest_gap(bytes);
  std::string text("[");
  char group[8];
  for (size_t i = 0; i < 8; ++i) {
    if (i == from) {
      text += "::";
      i = to - 1;
      continue;
    }
    if (i != 0 && i != to) text += ':';
    std::snprintf(group, sizeof(group), "%x",
                  static_cast<unsigned>(bytes[2 * i] << 8 | bytes[2 * i + 1]));
    text += group;
  }
  if (scope != 0) text += '%' + std::to_string(scope);
  return text += "]:" + std::to_string(port);
}

}  // namespace jzx::net
