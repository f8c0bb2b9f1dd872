#include "drivers/sim/world/datagram.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace jzx::drivers::sim {

using io::Opcode;

namespace {

constexpr size_t kMostPayload = 65'507;
// What a datagram takes in a queue besides its bytes, so that empty ones fill it too.
constexpr size_t kOverhead = 64;

std::string bytes_of(const io::Operation& operation) {
  std::string bytes;
  for_each_piece(operation, SIZE_MAX,
                 [&](const char* data, size_t size) { bytes.append(data, size); });
  return bytes;
}

}  // namespace

int64_t DatagramSocket::perform_own(io::Operation& operation) {
  if (const int64_t error = check_pieces(operation); error != 0) return error;
  switch (operation.opcode) {
    case Opcode::connect:
      return connect(operation);
    case Opcode::read:
    case Opcode::read_vector:
      return receive(operation, false);
    case Opcode::receive_from:
      return receive(operation, true);
    case Opcode::write:
    case Opcode::write_vector:
      return send(operation, nullptr);
    case Opcode::send_to:
      return send(operation, operation.address);
    case Opcode::shutdown:
      return has_peer_ ? 0 : -ENOTCONN;
    case Opcode::listen:
    case Opcode::accept:
      return -EOPNOTSUPP;
    default:
      return -EINVAL;
  }
}

int DatagramSocket::take_error() noexcept { return std::exchange(error_, 0); }

int64_t DatagramSocket::connect(const io::Operation& operation) {
  if (const int64_t error = check_address(operation.address); error != 0) return error;
  const io::Address to = as_destination(*operation.address);
  if (is_local()) {
    bool is_there = false;
    if (network_.ports_of(node_).find_name(to.path(), is_there) == nullptr) {
      return is_there ? -ECONNREFUSED : -ENOENT;
    }
  }
  if (const int64_t error = bind_for(to); error != 0) return error;
  peer_ = to;
  has_peer_ = true;
  return 0;
}

// ---- receiving ----

bool DatagramSocket::take(Datagram datagram) {
  const size_t size = datagram.bytes.size() + kOverhead;
  const auto room = static_cast<size_t>(option(io::Option::receive_buffer));
  if (!queue_.empty() && queued_bytes_ + size > room) return false;
  queued_bytes_ += size;
  queue_.push_back(std::move(datagram));
  changed();
  return true;
}

int64_t DatagramSocket::receive(io::Operation& operation, bool tells_whole_size) {
  if (error_ != 0) return -take_error();
  if (queue_.empty()) return kNotReady;
  const Datagram datagram = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= datagram.bytes.size() + kOverhead;
  const char* from = datagram.bytes.data();
  const size_t whole = datagram.bytes.size();
  const size_t copied = std::min(whole, size_of(operation));
  for_each_piece(operation, copied, [&](char* data, size_t size) {
    std::memcpy(data, from, size);
    from += size;
  });
  if (operation.opcode == Opcode::receive_from && operation.address != nullptr) {
    *operation.address = datagram.from;
  }
  for (const auto& sender : std::exchange(waiting_, {})) {
    if (const auto alive = sender.lock()) alive->changed();
  }
  return static_cast<int64_t>(tells_whole_size ? whole : copied);
}

// ---- sending ----

int64_t DatagramSocket::send(io::Operation& operation, const io::Address* to) {
  if (error_ != 0) return -take_error();
  if (to == nullptr && !has_peer_) return is_local() ? -ENOTCONN : -EDESTADDRREQ;
  if (to != nullptr) {
    if (const int64_t error = check_address(to); error != 0) return error;
  }
  const io::Address target = to == nullptr ? peer_ : as_destination(*to);
  Datagram datagram{{}, bytes_of(operation)};
  const auto size = static_cast<int64_t>(datagram.bytes.size());
  if (datagram.bytes.size() > kMostPayload) return -EMSGSIZE;
  if (is_local()) {
    datagram.from = local_;
    const int64_t error = send_within_node(std::move(datagram), target);
    return error != 0 ? error : size;
  }
  if (const int64_t error = bind_for(target); error != 0) return error;
  datagram.from = local_;
  send_out(std::move(datagram), target);
  return size;
}

int64_t DatagramSocket::send_within_node(Datagram datagram, const io::Address& to) {
  bool is_there = false;
  Socket* found = network_.ports_of(node_).find_name(to.path(), is_there);
  if (found == nullptr) return is_there ? -ECONNREFUSED : -ENOENT;
  if (found->type() != io::SocketType::datagram) return -EPROTOTYPE;
  auto& receiver = static_cast<DatagramSocket&>(*found);
  if (!receiver.hears(local_)) return -EPERM;
  if (receiver.take(std::move(datagram))) return 0;
  receiver.waiting_.push_back(weak_from_this());
  return kNotReady;
}

void DatagramSocket::send_out(Datagram datagram, const io::Address& to) {
  const NodeId node = network_.node_at(to, node_);
  const NetworkFaults& faults = network_.faults;
  const bool is_inside = node == node_;
  const uint64_t latency_ns = network_.latency(node_, node);
  if (node == kNobody) return;
  if (!is_inside && network_.chance(faults.loss_per_million)) return;
  uint64_t at_ns = 0;
  if (!is_inside && network_.chance(faults.reorder_per_million)) {
    at_ns = network_.events().now_ns() + latency_ns +
            network_.choices().between(1, faults.reorder_ns, ChoiceSite::network);
  } else {
    at_ns = network_.datagram_arrival(node_, node, latency_ns);
  }
  if (!is_inside && network_.chance(faults.duplication_per_million)) {
    const uint64_t second_ns = network_.events().now_ns() + network_.latency(node_, node);
    plan_arrival(node, datagram, to, std::max(at_ns, second_ns));
  }
  plan_arrival(node, std::move(datagram), to, at_ns);
}

void DatagramSocket::plan_arrival(NodeId node, Datagram datagram, const io::Address& to,
                                  uint64_t at_ns) {
  const std::weak_ptr<Device> self = weak_from_this();
  Network* network = &network_;
  network_.events().at(at_ns, [self, network, from = node_, node, datagram, to] {
    if (!network->can_pass(from, node)) return;
    Socket* found = network->ports_of(node).find(io::SocketType::datagram, to, network->choices());
    auto* receiver = static_cast<DatagramSocket*>(found);
    if (receiver != nullptr && receiver->hears(datagram.from))
      return (void)receiver->take(datagram);
    if (const auto sender = self.lock()) static_cast<DatagramSocket&>(*sender).refused(node);
  });
}

// Nobody was there; a note comes back, if it gets through.
void DatagramSocket::refused(NodeId by) {
  if (!has_peer_) return;
  const std::weak_ptr<Device> self = weak_from_this();
  network_.events().after(network_.latency(by, node_), [self, by] {
    const auto alive = self.lock();
    if (alive == nullptr) return;
    auto& socket = static_cast<DatagramSocket&>(*alive);
    if (!socket.network_.can_pass(by, socket.node_)) return;
    socket.error_ = ECONNREFUSED;
    socket.changed();
  });
}

}  // namespace jzx::drivers::sim
