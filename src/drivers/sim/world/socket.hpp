// What all sockets of a simulated node have in common: a family and a type, names, options.
//
// Threads, lifetime: as device.hpp.
#pragma once

#include <array>

#include "drivers/sim/world/device.hpp"
#include "drivers/sim/world/network.hpp"

namespace jzx::drivers::sim {

class Socket : public Device {
 public:
  Socket(Network& network, NodeId node, io::Family family, io::SocketType type) noexcept;

  [[nodiscard]] int64_t perform(io::Operation& operation) final;
  [[nodiscard]] io::SocketType type() const noexcept { return type_; }

 protected:
  // What is not the same for all.
  [[nodiscard]] virtual int64_t perform_own(io::Operation& operation) = 0;
  [[nodiscard]] virtual int take_error() noexcept = 0;
  virtual void option_changed(io::Option) {}

  // 0 or -errno.
  [[nodiscard]] int64_t bind(const io::Address& address);
  // To a free port, if it is not bound yet; its host is the one that `peer` sees.
  [[nodiscard]] int64_t bind_for(const io::Address& peer);
  // To 0.0.0.0 means to this very node.
  [[nodiscard]] static io::Address as_destination(const io::Address& address) noexcept;
  // Nobody finds it any more.
  void unbind() noexcept;
  // An address that fits the socket, else -errno.
  [[nodiscard]] int64_t check_address(const io::Address* address) const noexcept;

  [[nodiscard]] int64_t option(io::Option which) const noexcept {
    return options_[static_cast<size_t>(which)];
  }
  [[nodiscard]] bool is_local() const noexcept { return family_ == io::Family::local; }

  Network& network_;
  const NodeId node_;
  const io::Family family_;
  const io::SocketType type_;
  io::Address local_;  // of Family::none: none
  io::Address peer_;   // of Family::none: none
  bool has_peer_ = false;

 private:
  [[nodiscard]] int64_t name(io::Operation& operation) const noexcept;
  [[nodiscard]] int64_t set_option(const io::Operation& operation);
  [[nodiscard]] int64_t get_option(const io::Operation& operation) noexcept;

  static constexpr size_t kOptions = static_cast<size_t>(io::Option::error) + 1;
  std::array<int64_t, kOptions> options_{};
  io::Address bound_at_;  // as the ports know it
  bool is_bound_ = false;
};

}  // namespace jzx::drivers::sim
