// Where a socket is: an IPv4 or IPv6 address and a port, or the path of a Unix socket. A value of
// fixed size, the same on every reactor.
//
//   auto here = jzx::net::Address::parse("127.0.0.1:8080");      [::1]:8080, unix:/run/a.sock, …
//
// Threads: a value.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <jzx/result.hpp>

namespace jzx::net {

enum class Family : uint8_t {
  none,   // no address: a socket without a name, or an answer that is still to come
  ipv4,   // 4 bytes and a port
  ipv6,   // 16 bytes, a port, and the scope of a link-local address
  local,  // a path; one that starts with '\0' is an abstract name, which is no file
};

struct Address {
  // What the kernel has room for. A path has to end within it.
  static constexpr size_t kLongestPath = 107;

  Family family = Family::none;
  uint8_t size = 0;  // bytes that count
  uint16_t port = 0;
  uint32_t scope = 0;
  std::array<uint8_t, 108> bytes{};  // in the order of the network

  [[nodiscard]] static Address ipv4(std::array<uint8_t, 4> host, uint16_t port) noexcept {
    return make(Family::ipv4, host.data(), host.size(), port);
  }
  [[nodiscard]] static Address ipv6(const std::array<uint8_t, 16>& host, uint16_t port,
                                    uint32_t scope = 0) noexcept {
    Address address = make(Family::ipv6, host.data(), host.size(), port);
    address.scope = scope;
    return address;
  }
  // Of Family::none if the path is empty or too long, or has a zero byte, where the kernel would
  // cut it off. An abstract name begins with one, and may have more.
  [[nodiscard]] static Address local(std::string_view path) noexcept {
    if (path.empty() || path.size() > kLongestPath || is_cut_off(path)) return Address{};
    return make(Family::local, path.data(), path.size(), 0);
  }
  // 127.0.0.1; port 0: one that is free.
  [[nodiscard]] static Address loopback(uint16_t port = 0) noexcept {
    return ipv4({127, 0, 0, 1}, port);
  }
  // 0.0.0.0: to listen on every interface.
  [[nodiscard]] static Address any(uint16_t port) noexcept { return ipv4({0, 0, 0, 0}, port); }

  // "127.0.0.1:80", "[::1]:80", "[fe80::1%2]:80" with a scope, which is a number; "unix:/path",
  // "unix:@abstract". A path that begins with @ or \ has another \ before that: "unix:\@path".
  // Names are for resolve(). invalid_arg: it is none of these.
  [[nodiscard]] JZX_API static Result<Address> parse(std::string_view text);
  // As parse() takes it, and gives the same address again; "nowhere" for none.
  [[nodiscard]] JZX_API std::string to_string() const;

  [[nodiscard]] std::string_view path() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), family == Family::local ? size : 0u};
  }

  // Is it a path with a zero byte? The kernel would take it for what stands before that.
  [[nodiscard]] static bool is_cut_off(std::string_view path) noexcept {
    return path.find('\0') != std::string_view::npos && path.front() != '\0';
  }

  friend bool operator==(const Address& a, const Address& b) noexcept {
    return a.family == b.family && a.size == b.size && a.port == b.port && a.scope == b.scope &&
           std::memcmp(a.bytes.data(), b.bytes.data(), a.size) == 0;
  }

 private:
  static Address make(Family family, const void* from, size_t size, uint16_t port) noexcept {
    Address address;
    address.family = family;
    address.size = static_cast<uint8_t>(size);
    address.port = port;
    std::memcpy(address.bytes.data(), from, size);
    return address;
  }
};

}  // namespace jzx::net
