// Options of sockets, as the kernel has them.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

using namespace std::chrono_literals;
using net::Address;
using net::Listener;
using net::Stream;

// The descriptor of the socket between these two addresses; a stream does not show its own.
int find_socket(const Address& local, const Address& peer) {
  const auto port_of = [](int fd, auto ask) {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    if (ask(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return -1;
    return address.sin_family == AF_INET ? static_cast<int>(ntohs(address.sin_port)) : -1;
  };
  for (int fd = 0; fd < 1024; ++fd) {
    if (port_of(fd, &::getsockname) == local.port && port_of(fd, &::getpeername) == peer.port) {
      return fd;
    }
  }
  return -1;
}

int option_of(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  return ::getsockopt(fd, level, name, &value, &size) == 0 ? value : -1;
}

class SocketOptions : public ::testing::TestWithParam<Reactor> {
 protected:
  void SetUp() override {
    if (!loop) GTEST_SKIP() << "the kernel has no such reactor";
    auto listener = Listener::open(Address::loopback(), {}, loop);
    ASSERT_TRUE(listener.ok());
    auto connected = loop.run_until(Stream::connect(*listener->address(), loop));
    auto accepted = loop.run_until(listener->accept());
    ASSERT_TRUE(connected.ok() && accepted.ok());
    client = std::move(*connected);
    server = std::move(*accepted);
    fd = find_socket(*client.local_address(), *client.peer_address());
    ASSERT_GE(fd, 0);
  }

  Loop loop{LoopOptions{.reactor = GetParam()}};
  Stream client;
  Stream server;
  int fd = -1;
};
INSTANTIATE_TEST_SUITE_P(By, SocketOptions, ::testing::Values(Reactor::epoll, Reactor::io_uring));

TEST_P(SocketOptions, NoDelayIsTheKernelsWhenItIsSet) {
  EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_TRUE(client.set_no_delay(true).ok());
  EXPECT_NE(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_TRUE(client.set_no_delay(false).ok());
  EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 0);
}

TEST_P(SocketOptions, KeepAliveIsTheKernelsWhenItIsSet) {
  EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
  EXPECT_TRUE(client.set_keep_alive(true).ok());
  EXPECT_NE(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
  EXPECT_TRUE(client.set_keep_alive(true, 77s).ok());
  EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 77);
  EXPECT_TRUE(client.set_keep_alive(false).ok());
  EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
}

TEST_P(SocketOptions, OfTcpAreRefusedByOtherSockets) {
  auto ends = Stream::pair(loop);
  ASSERT_TRUE(ends.ok());
  const Result<void> refused = ends->first.set_no_delay(true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::io_failed);
  EXPECT_STREQ(refused.error().source(), "no delay");
}

}  // namespace
}  // namespace jzx
