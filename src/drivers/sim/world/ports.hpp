// The names under which the sockets of one node can be found: ports, and names of Unix sockets.
//
// A path stays when its socket has gone, as the file of a Unix socket does, also over a crash:
// until somebody removes it nobody can be bound there, and who connects is refused.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "drivers/sim/choices.hpp"
#include "io/operation.hpp"

namespace jzx::drivers::sim {

class Socket;

[[nodiscard]] bool is_any_host(const io::Address& address) noexcept;
[[nodiscard]] bool is_loopback_host(const io::Address& address) noexcept;

class Ports {
 public:
  // 0 or -EADDRINUSE. Port 0 becomes one that is free. Those who `share` may be several.
  [[nodiscard]] int64_t take(io::SocketType type, io::Address& at, Socket& who, bool shares);
  [[nodiscard]] int64_t take_name(std::string_view name, Socket& who);
  void release(io::SocketType type, const io::Address& at, const Socket& who) noexcept;
  // False: there is no such path.
  bool remove_path(std::string_view path) noexcept;
  // All sockets have gone.
  void crash() noexcept;

  // Who hears what comes to `to`; of several who share, one is chosen. nullptr: nobody.
  [[nodiscard]] Socket* find(io::SocketType type, const io::Address& to, Choices& choices) const;
  // nullptr and whether the name is there at all.
  [[nodiscard]] Socket* find_name(std::string_view name, bool& is_there) const;

 private:
  using Key = std::tuple<io::SocketType, io::Family, uint16_t>;
  struct Place {
    io::Address at;
    Socket* who = nullptr;
    bool shares = false;
  };

  [[nodiscard]] bool is_free(io::SocketType type, const io::Address& at, bool shares) const;

  std::map<Key, std::vector<Place>> places_;
  std::map<std::string, Socket*, std::less<>> names_;
  uint16_t last_given_ = 0;
};

}  // namespace jzx::drivers::sim
