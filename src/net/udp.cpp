#include <jzx/net/udp.hpp>

#include <algorithm>

#include "net/open_handle.hpp"

namespace jzx::net {

using io::Opcode;

Result<UdpSocket> UdpSocket::open(const Address& address, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) return no_home("udp");
  Result<detail::Handle> handle = open_socket(*executor, address, io::SocketType::datagram);
  if (!handle) return handle.error();
  Result<void> bound = bind_to(*handle, address);
  if (!bound) return bound.error();
  return UdpSocket(std::move(*handle));
}

Result<Address> UdpSocket::address() const {
  return name_of(handle_, Opcode::local_name, "local address");
}

Result<void> UdpSocket::set_broadcast(bool on) {
  return set_option(handle_, io::Option::broadcast, on ? 1 : 0, "broadcast");
}

Task<Datagram> UdpSocket::receive(std::span<std::byte> buffer) {
  // As in net/stream.cpp: what it took nobody would get.
  if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "receive");
  Error error;
  Begun* begun = begin_on(handle_, Opcode::receive_from, error);
  if (begun == nullptr) co_return error;
  Datagram datagram;
  begun->buffer = buffer.data();
  begun->size = buffer.size();
  begun->address = &datagram.from;
  Future<int64_t> receiving = begun->begin();
  Result<int64_t> result = co_await receiving;
  Result<size_t> size = size_of(result, "receive");
  if (!size) co_return size.error();
  datagram.size = std::min(*size, buffer.size());
  datagram.is_cut = *size > buffer.size();
  co_return datagram;
}

Task<void> UdpSocket::send_to(Address to, std::span<const std::byte> bytes) {
  if (co_await stop_requested()) co_await fail(Error(Errc::cancelled, {}, "send"));
  Error error;
  Begun* begun = begin_on(handle_, Opcode::send_to, error);
  if (begun == nullptr) co_await fail(error);
  begun->buffer = const_cast<std::byte*>(bytes.data());
  begun->size = bytes.size();
  begun->address = &to;
  Future<int64_t> sending = begun->begin();
  Result<int64_t> result = co_await sending;
  Result<void> sent = nothing_of(result, "send");
  co_await sent;
}

}  // namespace jzx::net
