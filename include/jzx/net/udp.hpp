// Datagrams: each is sent and received as a whole, or not at all.
//
// A cancelled receive has taken nothing, or answers with what it took. Errors and threads as in
// net/stream.hpp.
#pragma once

#include <cstddef>
#include <span>

#include <jzx/async/task.hpp>
#include <jzx/net/address.hpp>
#include <jzx/net/handle.hpp>

namespace jzx::net {

struct Datagram {
  size_t size = 0;      // bytes that are in the buffer
  bool is_cut = false;  // the datagram was longer than the buffer; the rest is gone
  Address from;
};

class JZX_API UdpSocket {
 public:
  UdpSocket() noexcept = default;

  // Port 0: one that is free; see address().
  [[nodiscard]] static Result<UdpSocket> open(const Address& address, Home home = {});

  [[nodiscard]] bool is_open() const noexcept { return handle_.is_open(); }
  void close() noexcept { handle_.close(); }
  [[nodiscard]] Result<Address> address() const;
  Result<void> set_broadcast(bool on);

  [[nodiscard]] Task<Datagram> receive(std::span<std::byte> buffer);
  // The task is done when the kernel has taken it; whether it arrives is another matter.
  [[nodiscard]] Task<void> send_to(Address to, std::span<const std::byte> bytes);

 private:
  explicit UdpSocket(detail::Handle handle) noexcept : handle_(std::move(handle)) {}

  detail::Handle handle_;
};

}  // namespace jzx::net
