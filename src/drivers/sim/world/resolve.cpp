// Names of the nodes of a simulation, and addresses that are written in numbers.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "drivers/sim/world/network.hpp"

namespace jzx::drivers::sim {
namespace {

using io::Address;
using io::Family;

struct Service {
  std::string_view name;
  uint16_t port;
};
constexpr Service kServices[] = {{"domain", 53}, {"http", 80},  {"https", 443}, {"ntp", 123},
                                 {"smtp", 25},   {"ssh", 22},   {"telnet", 23}, {"ftp", 21},
                                 {"echo", 7},    {"discard", 9}};

std::optional<uint16_t> port_of(const char* service) noexcept {
  if (service == nullptr) return uint16_t{0};
  const std::string_view text(service);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (!text.empty() && error == std::errc() && end == text.data() + text.size()) return port;
  const auto* found = std::find_if(std::begin(kServices), std::end(kServices),
                                   [&](const Service& one) { return one.name == text; });
  return found != std::end(kServices) ? std::optional(found->port) : std::nullopt;
}

std::optional<Address> in_numbers(std::string_view host, uint16_t port) {
  const std::string colon_port = ":" + std::to_string(port);
  std::string text(host);
  Result<Address> address = Address::parse(text + colon_port);
  if (!address) address = Address::parse("[" + text + "]" + colon_port);
  if (!address || address->family == Family::local) return std::nullopt;
  return *address;
}

Address loopback(Family family, uint16_t port) noexcept {
  if (family != Family::ipv6) return Address::loopback(port);
  std::array<uint8_t, 16> host{};
  host[15] = 1;
  return Address::ipv6(host, port);
}

Address any(Family family, uint16_t port) noexcept {
  return family == Family::ipv6 ? Address::ipv6({}, port) : Address::any(port);
}

}  // namespace

int64_t Network::resolve(io::Resolution& resolution) {
  const Family family = resolution.family;
  if (family == Family::local) return -EINVAL;
  const std::optional<uint16_t> port = port_of(resolution.service);
  if (!port) return -EINVAL;
  const auto answer = [&](const Address& address) -> int64_t {
    if (family != Family::none && address.family != family) return -ENOENT;
    if (resolution.capacity == 0) return 0;
    resolution.addresses[0] = address;
    return 1;
  };
  if (resolution.host == nullptr) {
    return answer(resolution.is_passive ? any(family, *port) : loopback(family, *port));
  }
  const std::string_view host(resolution.host);
  if (const auto address = in_numbers(host, *port)) return answer(*address);
  if (resolution.is_numeric) return -ENOENT;
  if (host == "localhost") return answer(loopback(family, *port));
  if (chance(faults.resolve_failure_per_million)) return -EAGAIN;
  const NodeId node = find_node(host);
  if (node == kNobody) return -ENOENT;
  return answer(address_of(node, family == Family::ipv6 ? family : Family::ipv4, *port));
}

}  // namespace jzx::drivers::sim
