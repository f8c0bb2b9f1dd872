#include "drivers/sim/world/network.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "drivers/sim/world/connection.hpp"

namespace jzx::drivers::sim {

Network::Network(base::Clock& clock, Choices& choices) noexcept
    : choices_(choices), events_(clock) {}

Network::~Network() {
  // Packets under way keep connections, which strike themselves out.
  events_.clear();
  JZX_ASSERT(connections_.empty());
}

// ---- nodes ----

NodeId Network::add_node(std::string name) {
  const auto number = static_cast<uint32_t>(nodes_.size() + 1);
  return add_node(std::move(name),
                  {10, static_cast<uint8_t>(number >> 16), static_cast<uint8_t>(number >> 8),
                   static_cast<uint8_t>(number)});
}

NodeId Network::add_node(std::string name, std::array<uint8_t, 4> host) {
  JZX_ASSERT(find_node(name) == kNobody);
  Node& node = nodes_.emplace_back();
  node.name = std::move(name);
  node.host = host;
  return static_cast<NodeId>(nodes_.size() - 1);
}

NodeId Network::find_node(std::string_view name) const noexcept {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const Node& node) { return node.name == name; });
  return found == nodes_.end() ? kNobody : static_cast<NodeId>(found - nodes_.begin());
}

io::Address Network::address_of(NodeId node, io::Family family, uint16_t port) const noexcept {
  const std::array<uint8_t, 4>& host = nodes_[node].host;
  if (family == io::Family::ipv4) return io::Address::ipv4(host, port);
  std::array<uint8_t, 16> long_host{0xfd};
  std::copy(host.begin(), host.end(), long_host.begin() + 12);
  return io::Address::ipv6(long_host, port);
}

NodeId Network::node_at(const io::Address& address, NodeId from) const noexcept {
  if (is_any_host(address) || is_loopback_host(address)) return from;
  for (NodeId node = 0; node < nodes_.size(); ++node) {
    if (address_of(node, address.family, address.port) == address) return node;
  }
  return kNobody;
}

size_t Network::most_handles(NodeId node) const noexcept {
  return std::min(nodes_[node].most_handles, faults.most_handles);
}

void Network::move_in(NodeId node, Resident& resident) noexcept {
  JZX_ASSERT(nodes_[node].is_up);
  JZX_ASSERT(nodes_[node].resident == nullptr);
  nodes_[node].resident = &resident;
}

void Network::crash(NodeId node) {
  Node& crashed = nodes_[node];
  if (!crashed.is_up) return;
  crashed.is_up = false;
  if (crashed.resident != nullptr) crashed.resident->vanish();
  crashed.resident = nullptr;
  crashed.ports.crash();
  look_for_silence();
}

void Network::restart(NodeId node) {
  JZX_ASSERT(!nodes_[node].is_up);
  nodes_[node].is_up = true;
  ++nodes_[node].life;
}

// ---- what lies between them ----

void Network::partition(std::span<const NodeId> from, std::span<const NodeId> to, Way way) {
  for (const NodeId a : from) {
    for (const NodeId b : to) {
      if (a == b) continue;
      cuts_.insert({a, b});
      if (way == Way::both) cuts_.insert({b, a});
    }
  }
  look_for_silence();
}

void Network::heal() {
  cuts_.clear();
  look_for_silence();
}

void Network::heal(NodeId a, NodeId b) {
  cuts_.erase({a, b});
  cuts_.erase({b, a});
  look_for_silence();
}

void Network::look_for_silence() {
  for (const auto& connection : all_connections()) connection->look_for_silence();
}

size_t Network::reset_connections(NodeId a, NodeId b) {
  size_t count = 0;
  for (const auto& connection : all_connections()) {
    if (!connection->is_between(a, b)) continue;
    connection->reset_both();
    ++count;
  }
  return count;
}

// Kept: what is done to one may be the end of it, and of others.
std::vector<std::shared_ptr<Connection>> Network::all_connections() const {
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [number, connection] : connections_) {
    all.push_back(connection->shared_from_this());
  }
  return all;
}

uint64_t Network::enrol(Connection& connection) {
  connections_.emplace(++last_connection_, &connection);
  return last_connection_;
}

uint64_t Network::latency(NodeId from, NodeId to) {
  if (from == to) return faults.loopback_latency_ns;
  return choices_.between(faults.least_latency_ns, faults.most_latency_ns, ChoiceSite::network);
}

uint64_t Network::datagram_arrival(NodeId from, NodeId to, uint64_t latency_ns) {
  uint64_t& last = last_datagram_ns_[{from, to}];
  return last = std::max(last, events_.now_ns() + latency_ns);
}

size_t Network::perhaps_less(size_t size, uint32_t per_million) {
  if (size < 2 || !chance(per_million)) return size;
  const auto count = static_cast<uint32_t>(std::min<size_t>(size, UINT32_MAX));
  return size - choices_.choose(count, ChoiceSite::network);
}

}  // namespace jzx::drivers::sim
