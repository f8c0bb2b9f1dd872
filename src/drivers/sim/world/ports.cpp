#include "drivers/sim/world/ports.hpp"

#include <algorithm>
#include <cerrno>

namespace jzx::drivers::sim {
namespace {

constexpr uint16_t kFirstGiven = 32768;
constexpr uint16_t kLastGiven = 60999;

bool is_abstract(std::string_view name) noexcept { return name.front() == '\0'; }

bool is_same_host(const io::Address& a, const io::Address& b) noexcept {
  return a.size == b.size && std::equal(a.bytes.begin(), a.bytes.begin() + a.size, b.bytes.begin());
}

}  // namespace

bool is_any_host(const io::Address& address) noexcept {
  return std::all_of(address.bytes.begin(), address.bytes.begin() + address.size,
                     [](uint8_t byte) { return byte == 0; });
}

bool is_loopback_host(const io::Address& address) noexcept {
  if (address.family == io::Family::ipv4) return address.bytes[0] == 127;
  std::array<uint8_t, 16> one{};
  one[15] = 1;
  return address.family == io::Family::ipv6 && is_same_host(address, io::Address::ipv6(one, 0));
}

bool Ports::is_free(io::SocketType type, const io::Address& at, bool shares) const {
  const auto found = places_.find(Key(type, at.family, at.port));
  if (found == places_.end()) return true;
  return std::none_of(found->second.begin(), found->second.end(), [&](const Place& place) {
    const bool overlaps = is_any_host(at) || is_any_host(place.at) || is_same_host(at, place.at);
    return overlaps && !(shares && place.shares);
  });
}

int64_t Ports::take(io::SocketType type, io::Address& at, Socket& who, bool shares) {
  if (at.port != 0) {
    if (!is_free(type, at, shares)) return -EADDRINUSE;
  } else {
    constexpr uint32_t kCount = kLastGiven - kFirstGiven + 1;
    uint32_t tries = 0;
    do {
      if (++tries > kCount) return at.port = 0, -EADDRINUSE;
      at.port = static_cast<uint16_t>(kFirstGiven + last_given_);
      last_given_ = static_cast<uint16_t>((last_given_ + 1u) % kCount);
    } while (!is_free(type, at, false));
  }
  places_[Key(type, at.family, at.port)].push_back({at, &who, shares});
  return 0;
}

int64_t Ports::take_name(std::string_view name, Socket& who) {
  return names_.try_emplace(std::string(name), &who).second ? 0 : -EADDRINUSE;
}

void Ports::release(io::SocketType type, const io::Address& at, const Socket& who) noexcept {
  if (at.family == io::Family::local) {
    // Somebody else may be bound there by now.
    const auto name = names_.find(at.path());
    if (name == names_.end() || name->second != &who) return;
    name->second = nullptr;
    if (is_abstract(name->first)) names_.erase(name);
    return;
  }
  const auto place = places_.find(Key(type, at.family, at.port));
  if (place == places_.end()) return;
  std::erase_if(place->second, [&](const Place& one) { return one.who == &who; });
  if (place->second.empty()) places_.erase(place);
}

bool Ports::remove_path(std::string_view path) noexcept {
  const auto found = names_.find(path);
  if (found == names_.end()) return false;
  names_.erase(found);
  return true;
}

void Ports::crash() noexcept {
  places_.clear();
  std::erase_if(names_, [](const auto& name) { return is_abstract(name.first); });
  for (auto& [name, who] : names_) who = nullptr;
}

Socket* Ports::find(io::SocketType type, const io::Address& to, Choices& choices) const {
  const auto found = places_.find(Key(type, to.family, to.port));
  if (found == places_.end()) return nullptr;
  // Who asked for this very host goes before who takes them all.
  for (const bool wants_any : {false, true}) {
    std::vector<Socket*> fitting;
    for (const Place& place : found->second) {
      const bool fits = wants_any ? is_any_host(place.at) : is_same_host(place.at, to);
      if (fits) fitting.push_back(place.who);
    }
    if (!fitting.empty()) {
      const auto count = static_cast<uint32_t>(fitting.size());
      return fitting[choices.choose(count, ChoiceSite::network)];
    }
  }
  return nullptr;
}

Socket* Ports::find_name(std::string_view name, bool& is_there) const {
  const auto found = names_.find(name);
  is_there = found != names_.end();
  return is_there ? found->second : nullptr;
}

}  // namespace jzx::drivers::sim
