#include "drivers/sim/world/stream.hpp"

#include <algorithm>
#include <utility>

namespace jzx::drivers::sim {

using io::Opcode;
using io::Option;

StreamSocket::StreamSocket(Network& network, NodeId node, io::Family family,
                           std::shared_ptr<Connection> connection, Side side)
    : StreamSocket(network, node, family) {
  join(std::move(connection), side);
}

void StreamSocket::join(std::shared_ptr<Connection> connection, Side side) {
  connection_ = std::move(connection);
  side_ = side;
  state_ = State::connected;
  has_peer_ = true;
  connection_->attach(side_, *this);
  for (const Option which :
       {Option::send_buffer, Option::receive_buffer, Option::send_timeout_ms, Option::keep_alive}) {
    option_changed(which);
  }
}

int64_t StreamSocket::perform_own(io::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::listen:
      return listen(operation.value);
    case Opcode::accept:
      return accept(operation);
    case Opcode::connect:
      return connect(operation);
    case Opcode::shutdown:
      return shut_down(operation.value);
    case Opcode::receive_from:
      if (operation.address != nullptr) *operation.address = io::Address{};
      [[fallthrough]];
    case Opcode::read:
    case Opcode::read_vector:
      return transfer(operation, false);
    case Opcode::send_to:
    case Opcode::write:
    case Opcode::write_vector:
      return transfer(operation, true);
    default:
      return -EINVAL;
  }
}

int64_t StreamSocket::transfer(io::Operation& operation, bool is_write) {
  if (const int64_t error = check_pieces(operation); error != 0) return error;
  if (state_ == State::connecting) return kNotReady;
  if (state_ != State::connected) return error_ != 0 ? -take_error() : -ENOTCONN;
  return is_write ? connection_->write(side_, operation) : connection_->read(side_, operation);
}

int64_t StreamSocket::shut_down(int64_t direction) {
  if (state_ != State::connected) return -ENOTCONN;
  switch (static_cast<io::Direction>(direction)) {
    case io::Direction::reading:
      return connection_->shut_down_reading(side_), 0;
    case io::Direction::writing:
      return connection_->shut_down_writing(side_), 0;
    case io::Direction::both:
      connection_->shut_down_writing(side_);
      return connection_->shut_down_reading(side_), 0;
  }
  return -EINVAL;
}

int StreamSocket::take_error() noexcept {
  if (connection_ != nullptr) return connection_->take_error(side_);
  return std::exchange(error_, 0);
}

void StreamSocket::option_changed(Option which) {
  if (connection_ == nullptr) return;
  const auto value = static_cast<size_t>(std::max<int64_t>(0, option(which)));
  switch (which) {
    case Option::send_buffer:
      return connection_->set_send_room(side_, value);
    case Option::receive_buffer:
      return connection_->set_receive_room(side_, value);
    case Option::send_timeout_ms:
      return connection_->set_give_up(side_, value * kMillisecond);
    case Option::keep_alive:
    case Option::keep_idle_s: {
      const auto idle_s = static_cast<uint64_t>(std::max<int64_t>(1, option(Option::keep_idle_s)));
      const bool is_on = option(Option::keep_alive) != 0;
      return connection_->set_keep_alive(side_, is_on ? idle_s * kSecond : 0);
    }
    default:
      return;
  }
}

// ---- listening ----

int64_t StreamSocket::listen(int64_t backlog) {
  if (state_ != State::idle && state_ != State::listening) return -EINVAL;
  if (local_.family == io::Family::none) {
    if (is_local()) return -EINVAL;
    const bool is_short = family_ == io::Family::ipv4;
    const int64_t error = bind(is_short ? io::Address::any(0) : io::Address::ipv6({}, 0));
    if (error != 0) return error;
  }
  const size_t most = network_.faults.most_backlog;
  most_callers_ = backlog <= 0 ? most : std::min(most, static_cast<size_t>(backlog));
  state_ = State::listening;
  return 0;
}

void StreamSocket::take_caller(Caller caller) {
  callers_.push_back(std::move(caller));
  changed();
}

int64_t StreamSocket::accept(io::Operation& operation) {
  if (state_ != State::listening) return -EINVAL;
  if (callers_.empty()) return kNotReady;
  if (owner() == nullptr || !owner()->has_room(1)) return -EMFILE;
  Caller caller = std::move(callers_.front());
  callers_.pop_front();
  auto socket =
      std::make_shared<StreamSocket>(network_, node_, family_, std::move(caller.connection), 1);
  socket->local_ = caller.local;
  socket->peer_ = caller.peer;
  if (operation.address != nullptr) *operation.address = caller.peer;
  return owner()->add(std::move(socket));
}

// ---- endings ----

void StreamSocket::close() {
  unbind();
  end_dialling(0);
  for (const Caller& caller : callers_) caller.connection->close(1, true);
  if (connection_ != nullptr) connection_->close(side_, option(Option::linger_s) == 0);
}

void StreamSocket::vanish() {
  end_dialling(0);
  for (const Caller& caller : callers_) caller.connection->vanish(1);
  if (connection_ != nullptr) connection_->vanish(side_);
}

// ---- pipes, and pairs that nobody had to connect ----

PipeEnd::PipeEnd(std::shared_ptr<Connection> connection, Side side)
    : connection_(std::move(connection)), side_(side) {
  connection_->attach(side_, *this);
}

int64_t PipeEnd::perform(io::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::read:
    case Opcode::read_vector:
    case Opcode::write:
    case Opcode::write_vector: {
      const bool is_write =
          operation.opcode == Opcode::write || operation.opcode == Opcode::write_vector;
      if (is_write != (side_ == 1)) return -EBADF;
      if (const int64_t error = check_pieces(operation); error != 0) return error;
      return is_write ? connection_->write(side_, operation) : connection_->read(side_, operation);
    }
    case Opcode::read_at:
    case Opcode::write_at:
      return -ESPIPE;
    case Opcode::file_size:
      return 0;
    case Opcode::sync:
    case Opcode::sync_data:
    case Opcode::truncate:
    case Opcode::next_signal:
      return -EINVAL;
    default:
      return -ENOTSOCK;
  }
}

std::array<std::shared_ptr<Device>, 2> make_socket_pair(Network& network, NodeId node) {
  auto connection = std::make_shared<Connection>(network, Connection::Kind::local, node, node);
  return {std::make_shared<StreamSocket>(network, node, io::Family::local, connection, 0),
          std::make_shared<StreamSocket>(network, node, io::Family::local, connection, 1)};
}

std::array<std::shared_ptr<Device>, 2> make_pipe(Network& network, NodeId node) {
  auto connection = std::make_shared<Connection>(network, Connection::Kind::pipe, node, node);
  return {std::make_shared<PipeEnd>(connection, 0), std::make_shared<PipeEnd>(connection, 1)};
}

}  // namespace jzx::drivers::sim
