// Names of machines. The C library asks, as the machine is set up to (files, name servers), and
// blocks meanwhile.
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "io/calls/perform.hpp"
#include "io/calls/socket_address.hpp"

namespace jzx::io {
namespace {

int64_t error_of(int code) noexcept {
  switch (code) {
    case EAI_NONAME:
    case EAI_NODATA:
    case EAI_ADDRFAMILY:
      return -ENOENT;
    case EAI_AGAIN:
      return -EAGAIN;
    case EAI_FAIL:
      return -EIO;
    case EAI_MEMORY:
      return -ENOMEM;
    case EAI_SYSTEM:
      return -errno;
    default:
      return -EINVAL;
  }
}

}  // namespace

int64_t resolve(Resolution& resolution) noexcept {
  if (resolution.family == Family::local) return -EINVAL;
  addrinfo wanted{};
  wanted.ai_family = domain_of(resolution.family);
  wanted.ai_socktype = SOCK_STREAM;  // or each address comes once for every type
  wanted.ai_flags =
      (resolution.is_passive ? AI_PASSIVE : 0) | (resolution.is_numeric ? AI_NUMERICHOST : 0);
  const char* service = resolution.service;
  if (service == nullptr && resolution.host == nullptr) service = "0";  // it wants one of the two
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(resolution.host, service, &wanted, &found);
  if (code != 0) return error_of(code);
  size_t count = 0;
  for (const addrinfo* one = found; one != nullptr && count < resolution.capacity;
       one = one->ai_next) {
    SocketAddress address;
    if (one->ai_addrlen > sizeof address.storage) continue;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
    resolution.addresses[count++] = address.address();
  }
  ::freeaddrinfo(found);
  return static_cast<int64_t>(count);
}

}  // namespace jzx::io
