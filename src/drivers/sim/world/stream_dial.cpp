// How a stream socket gets to its peer. Within a node that is one step. Between nodes:
//
//   dial ──latency──▶ knock: at the peer's node ──latency──▶ answer: connected, or refused
//     ▲                 │ nobody is there, or the queue is full
//     └── later and ────┘
//         later           ── the deadline passes ──▶ ETIMEDOUT
//
// All steps refer to the socket weakly: one that has closed meanwhile is reset at the peer.
#include <algorithm>
#include <utility>

#include "drivers/sim/world/stream.hpp"

namespace jzx::drivers::sim {

int64_t StreamSocket::connect(io::Operation& operation) {
  switch (state_) {
    case State::listening:
      return -EISCONN;
    case State::connected:
      return operation.is_under_way ? 0 : -EISCONN;
    case State::connecting:
      operation.is_under_way = true;
      return kNotReady;
    case State::idle:
      break;
  }
  if (error_ != 0) return -take_error();
  if (const int64_t error = check_address(operation.address); error != 0) return error;
  peer_ = as_destination(*operation.address);
  if (is_local()) return connect_within_node();
  const int64_t error = bind_for(peer_);
  if (error != 0) return error == -EADDRINUSE ? -EADDRNOTAVAIL : error;
  operation.is_under_way = true;
  dial();
  return kNotReady;
}

int64_t StreamSocket::connect_within_node() {
  bool is_there = false;
  Socket* found = network_.ports_of(node_).find_name(peer_.path(), is_there);
  if (!is_there) return -ENOENT;
  if (found == nullptr) return -ECONNREFUSED;
  if (found->type() != io::SocketType::stream) return -EPROTOTYPE;
  auto& listener = static_cast<StreamSocket&>(*found);
  if (listener.state_ != State::listening) return -ECONNREFUSED;
  if (!listener.can_take_caller()) return -EAGAIN;
  auto connection = std::make_shared<Connection>(network_, Connection::Kind::local, node_, node_);
  join(connection, 0);
  listener.take_caller({std::move(connection), local_, peer_});
  return 0;
}

void StreamSocket::dial() {
  state_ = State::connecting;
  const NetworkFaults& faults = network_.faults;
  dial_backoff_ns_ = faults.retransmit_ns;
  const std::weak_ptr<Device> self = weak_from_this();
  dial_deadline_ = network_.events().after(faults.connect_timeout_ns, [self] {
    if (const auto alive = self.lock()) {
      static_cast<StreamSocket&>(*alive).end_dialling(ETIMEDOUT);
    }
  });
  const NodeId to = network_.node_at(peer_, node_);
  // A packet to nobody takes as long as one to somebody, and chooses as much.
  const uint64_t latency_ns = network_.latency(node_, to);
  if (to != node_ && network_.chance(faults.loss_per_million)) return knock_again();
  plan_knock(latency_ns);
}

void StreamSocket::plan_knock(uint64_t delay_ns) {
  const std::weak_ptr<Device> self = weak_from_this();
  knocking_ = network_.events().after(delay_ns, [self, number = dial_number_] {
    const auto alive = self.lock();
    if (alive == nullptr) return;
    auto& socket = static_cast<StreamSocket&>(*alive);
    if (socket.dial_number_ == number) socket.knock();
  });
}

void StreamSocket::knock_again() {
  plan_knock(dial_backoff_ns_);
  dial_backoff_ns_ = std::min(2 * dial_backoff_ns_, network_.faults.most_retransmit_ns);
}

void StreamSocket::knock() {
  const NodeId to = network_.node_at(peer_, node_);
  if (!network_.can_pass(node_, to)) return knock_again();
  Socket* found = network_.ports_of(to).find(io::SocketType::stream, peer_, network_.choices());
  auto* listener = static_cast<StreamSocket*>(found);
  if (listener == nullptr || listener->state_ != State::listening) {
    return plan_answer(nullptr, network_.latency(to, node_));
  }
  if (!listener->can_take_caller()) return knock_again();
  auto connection = std::make_shared<Connection>(network_, Connection::Kind::remote, node_, to);
  const uint64_t delay_ns = network_.latency(to, node_);
  connection->hold_back(1, network_.events().now_ns() + delay_ns);
  listener->take_caller({connection, local_, peer_});
  plan_answer(std::move(connection), delay_ns);
}

void StreamSocket::plan_answer(std::shared_ptr<Connection> connection, uint64_t delay_ns) {
  const std::weak_ptr<Device> self = weak_from_this();
  const uint32_t life = network_.life_of(node_);
  network_.events().after(delay_ns, [self, life, number = dial_number_, node = node_,
                                     network = &network_, connection = std::move(connection)] {
    const auto alive = self.lock();
    if (alive != nullptr) {
      auto& socket = static_cast<StreamSocket&>(*alive);
      if (socket.dial_number_ == number) return socket.answer(connection);
    }
    if (connection == nullptr) return;
    const bool has_crashed = !network->is_up(node) || network->life_of(node) != life;
    if (has_crashed) return connection->vanish(0);
    connection->close(0, true);
  });
}

void StreamSocket::answer(const std::shared_ptr<Connection>& connection) {
  if (!network_.can_pass(network_.node_at(peer_, node_), node_)) {
    plan_answer(connection, dial_backoff_ns_);
    dial_backoff_ns_ = std::min(2 * dial_backoff_ns_, network_.faults.most_retransmit_ns);
    return;
  }
  if (connection == nullptr) return end_dialling(ECONNREFUSED);
  network_.events().cancel(dial_deadline_);
  ++dial_number_;
  join(connection, 0);
  changed();
}

// Without an error: nobody wants to know. An answer that is on its way still comes, and is reset.
void StreamSocket::end_dialling(int error) {
  if (state_ != State::connecting) return;
  network_.events().cancel(dial_deadline_);
  network_.events().cancel(knocking_);
  ++dial_number_;
  state_ = State::idle;
  error_ = error;
  changed();
}

}  // namespace jzx::drivers::sim
