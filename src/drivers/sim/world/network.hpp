// The network of a simulation: its nodes, what lies between them, and what goes wrong there. All
// nodes share one; each has a reactor that makes its sockets (sim_reactor.hpp).
//
//   node a: reactor ── sockets ──┐                             ┌── sockets ── reactor: node b
//                                ├── packets in Events, due  ──┤
//                                │   after a chosen latency    │
//
// A node has a name and an IPv4 address, by which the others find it; 127.0.0.1, ::1 and
// "localhost" are the node itself. (Over IPv6 it is fd00::a.b.c.d.) What is sent to an address that
// is nobody's is never answered.
//
// What a partition stops: datagrams are lost; streams try again, later and later, and go on after
// it is healed, unless they have given up by then. Node and partition are looked at when a packet
// arrives.
//
// Threads: one. Lifetime: longer than reactors; those end before it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/sim/choices.hpp"
#include "drivers/sim/world/events.hpp"
#include "drivers/sim/world/faults.hpp"
#include "drivers/sim/world/ports.hpp"
#include "io/operation.hpp"

namespace jzx::drivers::sim {

using NodeId = uint32_t;
inline constexpr NodeId kNobody = UINT32_MAX;

class Connection;

// What lives on a node while it is up, and dies with it: its reactor.
class Resident {
 public:
  virtual void vanish() = 0;

 protected:
  ~Resident() = default;
};

class Network {
 public:
  Network(base::Clock& clock, Choices& choices) noexcept;
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // ---- nodes ----

  // Names and addresses are unique. Without an address: 10.0.0.1 and so on.
  NodeId add_node(std::string name);
  NodeId add_node(std::string name, std::array<uint8_t, 4> host);
  [[nodiscard]] size_t node_count() const noexcept { return nodes_.size(); }
  [[nodiscard]] const std::string& name_of(NodeId node) const { return nodes_[node].name; }
  // kNobody: there is none of this name.
  [[nodiscard]] NodeId find_node(std::string_view name) const noexcept;
  [[nodiscard]] io::Address address_of(NodeId node, io::Family family,
                                       uint16_t port) const noexcept;

  // Its handles are gone without a goodbye, what is pending there is never completed, its disk has
  // crashed. The reactor, if it is still there, only serves those who clean up: it cancels and
  // closes. The others hear nothing until they send something after the restart.
  void crash(NodeId node);
  // The reactor of before is gone; a new one may be made.
  void restart(NodeId node);
  [[nodiscard]] bool is_up(NodeId node) const noexcept { return nodes_[node].is_up; }
  // How often it was started.
  [[nodiscard]] uint32_t life_of(NodeId node) const noexcept { return nodes_[node].life; }

  // Besides NetworkFaults::most_handles.
  void limit_handles(NodeId node, size_t most) { nodes_[node].most_handles = most; }
  [[nodiscard]] size_t most_handles(NodeId node) const noexcept;

  // ---- what goes wrong ----

  NetworkFaults faults;

  enum class Way : uint8_t { both, one };
  // From each of the first to each of the second; and back, if both ways.
  void partition(std::span<const NodeId> from, std::span<const NodeId> to, Way way = Way::both);
  void heal();
  void heal(NodeId a, NodeId b);
  [[nodiscard]] bool is_cut(NodeId from, NodeId to) const noexcept {
    return !cuts_.empty() && cuts_.contains({from, to});
  }
  // All connections between the two are reset. How many they were.
  size_t reset_connections(NodeId a, NodeId b);

  // ---- for those who live in it ----

  [[nodiscard]] Events& events() noexcept { return events_; }
  [[nodiscard]] Choices& choices() noexcept { return choices_; }
  [[nodiscard]] Ports& ports_of(NodeId node) noexcept { return nodes_[node].ports; }
  void move_in(NodeId node, Resident& resident) noexcept;
  void move_out(NodeId node) noexcept { nodes_[node].resident = nullptr; }

  // Whose address it is, seen from a node; kNobody: nobody's.
  [[nodiscard]] NodeId node_at(const io::Address& address, NodeId from) const noexcept;
  // Fills the resolution. A number of addresses or -errno.
  [[nodiscard]] int64_t resolve(io::Resolution& resolution);
  // How long a packet takes; chosen.
  [[nodiscard]] uint64_t latency(NodeId from, NodeId to);
  [[nodiscard]] bool chance(uint32_t per_million) {
    return choices_.chance(per_million, ChoiceSite::network);
  }
  // `size`, or by a fault, and if there is one, some smaller number that is not 0.
  [[nodiscard]] size_t perhaps_less(size_t size, uint32_t per_million);
  // A packet from the one would get to the other now.
  [[nodiscard]] bool can_pass(NodeId from, NodeId to) const noexcept {
    return to != kNobody && nodes_[to].is_up && !is_cut(from, to);
  }
  // For what may not overtake: when a datagram that takes `latency_ns` arrives.
  [[nodiscard]] uint64_t datagram_arrival(NodeId from, NodeId to, uint64_t latency_ns);

  [[nodiscard]] uint64_t enrol(Connection& connection);
  void strike_out(uint64_t connection) noexcept { connections_.erase(connection); }

 private:
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> all_connections() const;
  void look_for_silence();

  struct Node {
    std::string name;
    std::array<uint8_t, 4> host{};
    bool is_up = true;
    uint32_t life = 1;
    size_t most_handles = SIZE_MAX;
    Ports ports;
    Resident* resident = nullptr;
  };

  Choices& choices_;
  Events events_;
  std::vector<Node> nodes_;
  std::set<std::pair<NodeId, NodeId>> cuts_;
  std::map<std::pair<NodeId, NodeId>, uint64_t> last_datagram_ns_;
  std::map<uint64_t, Connection*> connections_;
  uint64_t last_connection_ = 0;
};

}  // namespace jzx::drivers::sim
