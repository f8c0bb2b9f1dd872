// Datagram sockets of a simulated node, UDP and Unix. Each datagram goes its own way: it may be
// lost, come twice, be overtaken, or find no room in the queue of its receiver. Without those
// faults datagrams between two nodes arrive in the order in which they were sent.
//
// A connected one hears that nobody listens where it sent something: ECONNREFUSED, once. Unix
// datagrams stay within the node, and arrive at once; who finds no room for one waits.
//
// Threads, lifetime: as device.hpp.
#pragma once

#include <deque>
#include <string>

#include "drivers/sim/world/socket.hpp"

namespace jzx::drivers::sim {

class DatagramSocket final : public Socket {
 public:
  DatagramSocket(Network& network, NodeId node, io::Family family) noexcept
      : Socket(network, node, family, io::SocketType::datagram) {}

  void close() override { unbind(); }
  void vanish() override {}

 private:
  struct Datagram {
    io::Address from;
    std::string bytes;
  };

  [[nodiscard]] int64_t perform_own(io::Operation& operation) override;
  [[nodiscard]] int take_error() noexcept override;

  [[nodiscard]] int64_t connect(const io::Operation& operation);
  [[nodiscard]] int64_t receive(io::Operation& operation, bool tells_whole_size);
  [[nodiscard]] int64_t send(io::Operation& operation, const io::Address* to);
  [[nodiscard]] int64_t send_within_node(Datagram datagram, const io::Address& to);
  void send_out(Datagram datagram, const io::Address& to);
  void plan_arrival(NodeId node, Datagram datagram, const io::Address& to, uint64_t at_ns);
  void refused(NodeId by);

  // False: there is no room.
  [[nodiscard]] bool take(Datagram datagram);
  // A connected one hears its peer only.
  [[nodiscard]] bool hears(const io::Address& from) const noexcept {
    return !has_peer_ || peer_ == from;
  }

  std::deque<Datagram> queue_;
  size_t queued_bytes_ = 0;
  std::deque<std::weak_ptr<Device>> waiting_;  // for room in the queue; Unix
  int error_ = 0;
};

}  // namespace jzx::drivers::sim
