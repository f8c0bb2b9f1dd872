// An Address as the kernel wants it, and back.
#pragma once

#include <sys/socket.h>

#include "io/address.hpp"

namespace jzx::io {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  SocketAddress() noexcept = default;
  // size is 0: it is no address.
  explicit SocketAddress(const Address& address) noexcept;

  [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  // Of Family::none: the kernel gave none, or one of another kind.
  [[nodiscard]] Address address() const noexcept;
};

// AF_UNSPEC: there is none for it.
[[nodiscard]] int domain_of(Family family) noexcept;

}  // namespace jzx::io
