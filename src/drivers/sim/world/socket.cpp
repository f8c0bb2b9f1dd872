#include "drivers/sim/world/socket.hpp"

namespace jzx::drivers::sim {

using io::Opcode;
using io::Option;

Socket::Socket(Network& network, NodeId node, io::Family family, io::SocketType type) noexcept
    : network_(network), node_(node), family_(family), type_(type) {
  const auto set = [&](Option which, int64_t value) {
    options_[static_cast<size_t>(which)] = value;
  };
  set(Option::send_buffer, static_cast<int64_t>(network.faults.send_buffer_bytes));
  set(Option::receive_buffer, static_cast<int64_t>(network.faults.receive_buffer_bytes));
  set(Option::time_to_live, 64);
  set(Option::linger_s, -1);
  set(Option::keep_idle_s, 7200);
}

int64_t Socket::perform(io::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::bind: {
      const int64_t error = check_address(operation.address);
      return error != 0 ? error : bind(*operation.address);
    }
    case Opcode::set_option:
      return set_option(operation);
    case Opcode::get_option:
      return get_option(operation);
    case Opcode::local_name:
    case Opcode::peer_name:
      return name(operation);
    case Opcode::read_at:
    case Opcode::write_at:
      return -ESPIPE;
    default:
      return perform_own(operation);
  }
}

int64_t Socket::check_address(const io::Address* address) const noexcept {
  if (address == nullptr || address->family == io::Family::none) return -EINVAL;
  return address->family == family_ ? 0 : -EAFNOSUPPORT;
}

int64_t Socket::bind(const io::Address& address) {
  if (is_bound_) return -EINVAL;
  Ports& ports = network_.ports_of(node_);
  io::Address at = address;
  int64_t error = 0;
  if (is_local()) {
    error = ports.take_name(at.path(), *this);
  } else {
    if (network_.node_at(at, node_) != node_) return -EADDRNOTAVAIL;
    error = ports.take(type_, at, *this, option(Option::reuse_port) != 0);
  }
  if (error != 0) return error;
  is_bound_ = true;
  bound_at_ = local_ = at;
  return 0;
}

io::Address Socket::as_destination(const io::Address& address) noexcept {
  io::Address to = address;
  if (to.family == io::Family::local || !is_any_host(to)) return to;
  if (to.family == io::Family::ipv4) return io::Address::loopback(to.port);
  to.bytes[15] = 1;
  return to;
}

int64_t Socket::bind_for(const io::Address& peer) {
  if (is_local()) return 0;
  io::Address own = peer;
  if (!is_loopback_host(peer)) own = network_.address_of(node_, family_, 0);
  own.port = 0;
  if (!is_bound_) return bind(own);
  if (is_any_host(local_)) {
    own.port = local_.port;
    local_ = own;
  }
  return 0;
}

void Socket::unbind() noexcept {
  if (is_bound_) network_.ports_of(node_).release(type_, bound_at_, *this);
  is_bound_ = false;
}

int64_t Socket::name(io::Operation& operation) const noexcept {
  if (operation.address == nullptr) return -EINVAL;
  const bool is_own = operation.opcode == Opcode::local_name;
  if (!is_own && !has_peer_) return -ENOTCONN;
  *operation.address = is_own ? local_ : peer_;
  if (is_own && local_.family == io::Family::none && !is_local()) {
    // Not bound: 0.0.0.0:0, or the same in the other family.
    *operation.address =
        family_ == io::Family::ipv4 ? io::Address::any(0) : io::Address::ipv6({}, 0);
  }
  return 0;
}

int64_t Socket::set_option(const io::Operation& operation) {
  const auto which = static_cast<size_t>(operation.option);
  if (which >= kOptions || operation.option == Option::error) return -EINVAL;
  if (operation.value < INT32_MIN || operation.value > INT32_MAX) return -EINVAL;
  const bool is_size =
      operation.option == Option::send_buffer || operation.option == Option::receive_buffer;
  if (is_size && operation.value <= 0) return -EINVAL;
  options_[which] = operation.value;
  option_changed(operation.option);
  return 0;
}

int64_t Socket::get_option(const io::Operation& operation) noexcept {
  const auto which = static_cast<size_t>(operation.option);
  if (which >= kOptions) return -EINVAL;
  return operation.option == Option::error ? take_error() : options_[which];
}

}  // namespace jzx::drivers::sim
