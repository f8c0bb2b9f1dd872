// The other side of a conversation, in plain system calls: what a test does there needs no system,
// no thread and no wait.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <jzx/net/address.hpp>

#include "support/fds.hpp"

namespace jzx::testing {

union SocketAddress {
  sockaddr any;
  sockaddr_in inet;
  sockaddr_un local;
};

inline socklen_t fill(SocketAddress& out, const net::Address& address) {
  std::memset(&out, 0, sizeof(out));
  if (address.family == net::Family::local) {
    out.local.sun_family = AF_UNIX;
    std::memcpy(out.local.sun_path, address.bytes.data(), address.size);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size);
  }
  out.inet.sin_family = AF_INET;
  out.inet.sin_port = htons(address.port);
  out.inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return sizeof(out.inet);
}

// Who listens need not accept it for that. With `flags` SOCK_NONBLOCK it may be under way only.
inline Fd connect_raw(const net::Address& to, int flags = 0) {
  SocketAddress address;
  const socklen_t size = fill(address, to);
  Fd fd(::socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  const int result = ::connect(fd.get(), &address.any, size);
  EXPECT_TRUE(result == 0 || errno == EINPROGRESS) << std::strerror(errno);
  EXPECT_EQ(::fcntl(fd.get(), F_SETFL, O_NONBLOCK), 0);
  return fd;
}

inline Fd listen_raw(int backlog) {
  SocketAddress address;
  const socklen_t size = fill(address, net::Address::loopback());
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(fd.get(), &address.any, size), 0);
  EXPECT_EQ(::listen(fd.get(), backlog), 0);
  return fd;
}
inline net::Address address_of(const Fd& fd) {
  SocketAddress address;
  socklen_t size = sizeof(address);
  EXPECT_EQ(::getsockname(fd.get(), &address.any, &size), 0);
  return net::Address::loopback(ntohs(address.inet.sin_port));
}

// Two ends of a TCP connection.
inline std::pair<Fd, Fd> tcp_pair() {
  const Fd listener = listen_raw(1);
  Fd near = connect_raw(address_of(listener));
  Fd far(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  EXPECT_GE(far.get(), 0);
  return {std::move(near), std::move(far)};
}

// Writes until nothing more is taken; how much that was.
inline size_t fill_up(const Fd& fd) {
  const std::string much(size_t{64} << 10, 'f');
  size_t total = 0;
  for (size_t size = much.size(); size > 0; size /= 2) {
    for (;;) {
      const ssize_t count = ::write(fd.get(), much.data(), size);
      if (count <= 0) break;
      total += static_cast<size_t>(count);
    }
  }
  return total;
}
// Reads as many, and waits for what is on its way.
inline void read_off(const Fd& fd, size_t count) {
  EXPECT_EQ(::fcntl(fd.get(), F_SETFL, 0), 0);
  std::string buffer(size_t{64} << 10, 0);
  while (count > 0) {
    const ssize_t got = ::read(fd.get(), buffer.data(), std::min(count, buffer.size()));
    ASSERT_GT(got, 0);
    count -= static_cast<size_t>(got);
  }
  EXPECT_EQ(::fcntl(fd.get(), F_SETFL, O_NONBLOCK), 0);
}
// What is there now.
inline std::string read_raw(const Fd& fd) {
  char buffer[256];
  const ssize_t count = ::read(fd.get(), buffer, sizeof(buffer));
  return count > 0 ? std::string(buffer, static_cast<size_t>(count)) : std::string();
}
inline void write_raw(const Fd& fd, std::string_view text) {
  EXPECT_EQ(::write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

}  // namespace jzx::testing
