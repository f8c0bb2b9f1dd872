#include "io/calls/socket_address.hpp"

#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace jzx::io {
namespace {

constexpr size_t kPathStart = offsetof(sockaddr_un, sun_path);

template <class T>
T& write_as(SocketAddress& target) noexcept {
  target.size = sizeof(T);
  return *reinterpret_cast<T*>(&target.storage);
}

template <class T>
T read_as(const sockaddr_storage& storage) noexcept {
  T value;
  std::memcpy(&value, &storage, sizeof value);
  return value;
}

Address read_path(const SocketAddress& from) noexcept {
  if (from.size <= kPathStart) return Address{};  // a socket without a name
  const size_t longest = std::min<size_t>(from.size - kPathStart, Address::kLongestPath);
  const char* path = reinterpret_cast<const char*>(&from.storage) + kPathStart;
  // An abstract name is as long as it is; a path ends with a zero, which may be counted.
  return Address::local({path, *path == '\0' ? longest : ::strnlen(path, longest)});
}

}  // namespace

SocketAddress::SocketAddress(const Address& address) noexcept {
  switch (address.family) {
    case Family::ipv4: {
      auto& target = write_as<sockaddr_in>(*this);
      target.sin_family = AF_INET;
      target.sin_port = htons(address.port);
      std::memcpy(&target.sin_addr, address.bytes.data(), sizeof target.sin_addr);
      return;
    }
    case Family::ipv6: {
      auto& target = write_as<sockaddr_in6>(*this);
      target.sin6_family = AF_INET6;
      target.sin6_port = htons(address.port);
      target.sin6_scope_id = address.scope;
      std::memcpy(&target.sin6_addr, address.bytes.data(), sizeof target.sin6_addr);
      return;
    }
    case Family::local: {
      const std::string_view path = address.path();
      if (path.empty() || Address::is_cut_off(path)) break;
      storage.ss_family = AF_UNIX;
      std::memcpy(reinterpret_cast<char*>(&storage) + kPathStart, path.data(), path.size());
      const bool is_abstract = path.front() == '\0';
      size = static_cast<socklen_t>(kPathStart + path.size() + (is_abstract ? 0 : 1));
      return;
    }
    case Family::none:
      break;
  }
  size = 0;
}

Address SocketAddress::address() const noexcept {
  if (size < sizeof(sa_family_t)) return Address{};
  switch (storage.ss_family) {
    case AF_INET: {
      const auto from = read_as<sockaddr_in>(storage);
      std::array<uint8_t, 4> host;
      std::memcpy(host.data(), &from.sin_addr, host.size());
      return Address::ipv4(host, ntohs(from.sin_port));
    }
    case AF_INET6: {
      const auto from = read_as<sockaddr_in6>(storage);
      std::array<uint8_t, 16> host;
      std::memcpy(host.data(), &from.sin6_addr, host.size());
      return Address::ipv6(host, ntohs(from.sin6_port), from.sin6_scope_id);
    }
    case AF_UNIX:
      return read_path(*this);
    default:
      return Address{};
  }
}

int domain_of(Family family) noexcept {
  switch (family) {
    case Family::ipv4:
      return AF_INET;
    case Family::ipv6:
      return AF_INET6;
    case Family::local:
      return AF_UNIX;
    case Family::none:
      break;
  }
  return AF_UNSPEC;
}

}  // namespace jzx::io
