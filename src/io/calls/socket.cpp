// What only sockets do: being made, bound, connected, named and configured; datagrams.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "io/calls/handles.hpp"
#include "io/calls/perform.hpp"
#include "io/calls/socket_address.hpp"

namespace jzx::io {
namespace {

constexpr int kSocketFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;

HandleKind kind_of_socket(Family family, SocketType type) noexcept {
  if (type == SocketType::datagram) return HandleKind::datagram;
  return family == Family::local ? HandleKind::local : HandleKind::stream;
}

int64_t make_socket(Operation& operation) noexcept {
  if (operation.address == nullptr) return -EINVAL;
  const auto type = static_cast<SocketType>(operation.value);
  if (type != SocketType::stream && type != SocketType::datagram) return -EINVAL;
  const Family family = operation.address->family;
  if (family == Family::none) return -EAFNOSUPPORT;
  const int what = type == SocketType::stream ? SOCK_STREAM : SOCK_DGRAM;
  const int fd = ::socket(domain_of(family), what | kSocketFlags, 0);
  return fd < 0 ? -errno : make_handle(fd, kind_of_socket(family, type)).value;
}

int64_t make_pair(Operation& operation) noexcept {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | kSocketFlags, 0, ends) != 0) return -errno;
  auto* handles = static_cast<Handle*>(operation.buffer);
  for (int i = 0; i < 2; ++i) handles[i] = make_handle(ends[i], HandleKind::local);
  return 0;
}

// With an address: what `call` does with it, else -EINVAL.
template <class Call>
int64_t with_address(const Operation& operation, Call call) noexcept {
  if (operation.address == nullptr) return -EINVAL;
  const SocketAddress address(*operation.address);
  if (address.size == 0) return -EINVAL;
  return answer_of([&] { return call(address); });
}

int64_t accept_one(Operation& operation) noexcept {
  const int fd = fd_of(operation.handle);
  SocketAddress peer;
  const bool wants_address = operation.address != nullptr;
  for (;;) {
    peer.size = sizeof peer.storage;
    const int64_t answer = answer_of([&] {
      return ::accept4(fd, wants_address ? peer.get() : nullptr,
                       wants_address ? &peer.size : nullptr, kSocketFlags);
    });
    // One that has gone before it was accepted is nobody's trouble.
    if (answer == -ECONNABORTED || answer == -EPROTO) continue;
    if (answer == -EAGAIN) return kNotReady;
    if (answer < 0) return answer;
    if (wants_address) *operation.address = peer.address();
    return make_handle(static_cast<int>(answer), kind_of(operation.handle)).value;
  }
}

// Also asks how a connect that is under way has gone. A Unix socket's -EAGAIN is an end: the
// listener's queue is full, and nobody tells when it no longer is.
int64_t connect_to(Operation& operation) noexcept {
  const int64_t answer = with_address(operation, [&](const SocketAddress& address) {
    return ::connect(fd_of(operation.handle), address.get(), address.size);
  });
  if (answer == -EINPROGRESS || answer == -EALREADY) {
    operation.is_under_way = true;
    return kNotReady;
  }
  return answer == -EISCONN && operation.is_under_way ? 0 : answer;
}

int64_t shut_down(const Operation& operation) noexcept {
  int how = SHUT_RDWR;
  switch (static_cast<Direction>(operation.value)) {
    case Direction::reading:
      how = SHUT_RD;
      break;
    case Direction::writing:
      how = SHUT_WR;
      break;
    case Direction::both:
      break;
    default:
      return -EINVAL;
  }
  return ::shutdown(fd_of(operation.handle), how) == 0 ? 0 : -errno;
}

// ---- options ----

struct KernelOption {
  int level;
  int name;
};

KernelOption kernel_option(Option option) noexcept {
  switch (option) {
    case Option::reuse_address:
      return {SOL_SOCKET, SO_REUSEADDR};
    case Option::reuse_port:
      return {SOL_SOCKET, SO_REUSEPORT};
    case Option::no_delay:
      return {IPPROTO_TCP, TCP_NODELAY};
    case Option::keep_alive:
      return {SOL_SOCKET, SO_KEEPALIVE};
    case Option::only_ipv6:
      return {IPPROTO_IPV6, IPV6_V6ONLY};
    case Option::broadcast:
      return {SOL_SOCKET, SO_BROADCAST};
    case Option::send_buffer:
      return {SOL_SOCKET, SO_SNDBUF};
    case Option::receive_buffer:
      return {SOL_SOCKET, SO_RCVBUF};
    case Option::time_to_live:
      return {IPPROTO_IP, IP_TTL};
    case Option::linger_s:
      return {SOL_SOCKET, SO_LINGER};
    case Option::keep_idle_s:
      return {IPPROTO_TCP, TCP_KEEPIDLE};
    case Option::send_timeout_ms:
      return {IPPROTO_TCP, TCP_USER_TIMEOUT};
    case Option::error:
      return {SOL_SOCKET, SO_ERROR};
  }
  return {-1, -1};
}

int64_t set_option(const Operation& operation) noexcept {
  const KernelOption option = kernel_option(operation.option);
  if (option.level < 0 || operation.option == Option::error) return -EINVAL;
  if (operation.value < INT_MIN || operation.value > INT_MAX) return -EINVAL;
  const int value = static_cast<int>(operation.value);
  const linger lingering{value >= 0 ? 1 : 0, std::max(value, 0)};
  const bool is_linger = operation.option == Option::linger_s;
  const void* bytes = is_linger ? static_cast<const void*>(&lingering) : &value;
  const socklen_t size = is_linger ? sizeof lingering : sizeof value;
  return ::setsockopt(fd_of(operation.handle), option.level, option.name, bytes, size) == 0
             ? 0
             : -errno;
}

int64_t get_option(const Operation& operation) noexcept {
  const KernelOption option = kernel_option(operation.option);
  if (option.level < 0) return -EINVAL;
  union {
    int value;
    linger lingering;
  };
  const bool is_linger = operation.option == Option::linger_s;
  lingering = {};
  socklen_t size = is_linger ? sizeof lingering : sizeof value;
  if (::getsockopt(fd_of(operation.handle), option.level, option.name, &lingering, &size) != 0) {
    return -errno;
  }
  if (!is_linger) return value;
  return lingering.l_onoff != 0 ? lingering.l_linger : -1;
}

using NameCall = int (*)(int, sockaddr*, socklen_t*);
int64_t get_name(Operation& operation, NameCall call) noexcept {
  SocketAddress name;
  if (operation.address == nullptr) return -EINVAL;
  if (call(fd_of(operation.handle), name.get(), &name.size) != 0) return -errno;
  *operation.address = name.address();
  return 0;
}

// ---- datagrams ----

int64_t receive_from(Operation& operation) noexcept {
  SocketAddress sender;
  const int64_t answer = answer_of([&] {
    sender.size = sizeof sender.storage;
    return ::recvfrom(fd_of(operation.handle), operation.buffer, operation.size,
                      MSG_DONTWAIT | MSG_TRUNC, sender.get(), &sender.size);
  });
  if (answer >= 0 && operation.address != nullptr) *operation.address = sender.address();
  return answer == -EAGAIN ? kNotReady : answer;
}

int64_t send_to(Operation& operation) noexcept {
  constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
  const int fd = fd_of(operation.handle);
  const int64_t answer =
      operation.address == nullptr
          ? answer_of([&] { return ::send(fd, operation.buffer, operation.size, kFlags); })
          : with_address(operation, [&](const SocketAddress& address) {
              return ::sendto(fd, operation.buffer, operation.size, kFlags, address.get(),
                              address.size);
            });
  return answer == -EAGAIN ? kNotReady : answer;
}

}  // namespace

int64_t perform_on_socket(Operation& operation) noexcept {
  const int fd = fd_of(operation.handle);
  switch (operation.opcode) {
    case Opcode::socket:
      return make_socket(operation);
    case Opcode::socket_pair:
      return make_pair(operation);
    case Opcode::bind:
      return with_address(operation, [&](const SocketAddress& address) {
        return ::bind(fd, address.get(), address.size);
      });
    case Opcode::listen: {
      const auto backlog = std::clamp<int64_t>(operation.value, 0, INT_MAX);
      return ::listen(fd, backlog == 0 ? SOMAXCONN : static_cast<int>(backlog)) == 0 ? 0 : -errno;
    }
    case Opcode::accept:
      return accept_one(operation);
    case Opcode::connect:
      return connect_to(operation);
    case Opcode::shutdown:
      return shut_down(operation);
    case Opcode::set_option:
      return set_option(operation);
    case Opcode::get_option:
      return get_option(operation);
    case Opcode::local_name:
      return get_name(operation,
                      [](int f, sockaddr* a, socklen_t* s) { return ::getsockname(f, a, s); });
    case Opcode::peer_name:
      return get_name(operation,
                      [](int f, sockaddr* a, socklen_t* s) { return ::getpeername(f, a, s); });
    case Opcode::receive_from:
      return receive_from(operation);
    case Opcode::send_to:
      return send_to(operation);
    default:
      return -ENOSYS;
  }
}

}  // namespace jzx::io
