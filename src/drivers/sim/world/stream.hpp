// Stream sockets of a simulated node, TCP and Unix, and the ends of pipes.
//
//   idle ──listen──▶ listening ──close: who is still in the queue is reset
//     └───connect──▶ connecting ──▶ connected
//                        └──▶ idle, with an error: refused, or nobody answered in time
//
// A TCP connect is a packet there and one back (stream_dial.cpp). The connection is in the queue of
// the listener from the first of them on, as if its peer had answered: who accepts and sends at
// once is heard after the answer.
//
// Threads, lifetime: as device.hpp.
#pragma once

#include <array>
#include <deque>
#include <memory>

#include "drivers/sim/world/connection.hpp"
#include "drivers/sim/world/socket.hpp"

namespace jzx::drivers::sim {

class StreamSocket final : public Socket {
 public:
  StreamSocket(Network& network, NodeId node, io::Family family) noexcept
      : Socket(network, node, family, io::SocketType::stream) {}
  // An end of a connection. Its names are told by peer and local.
  StreamSocket(Network& network, NodeId node, io::Family family,
               std::shared_ptr<Connection> connection, Side side);

  void close() override;
  void vanish() override;

 private:
  enum class State : uint8_t { idle, listening, connecting, connected };
  struct Caller {
    std::shared_ptr<Connection> connection;
    io::Address peer;
    io::Address local;
  };

  [[nodiscard]] int64_t perform_own(io::Operation& operation) override;
  [[nodiscard]] int take_error() noexcept override;
  void option_changed(io::Option which) override;

  [[nodiscard]] int64_t listen(int64_t backlog);
  [[nodiscard]] int64_t accept(io::Operation& operation);
  [[nodiscard]] int64_t connect(io::Operation& operation);
  [[nodiscard]] int64_t shut_down(int64_t direction);
  [[nodiscard]] int64_t transfer(io::Operation& operation, bool is_write);

  // ---- stream_dial.cpp ----

  [[nodiscard]] int64_t connect_within_node();
  void dial();
  void plan_knock(uint64_t delay_ns);
  void knock();
  void knock_again();
  void plan_answer(std::shared_ptr<Connection> connection, uint64_t delay_ns);
  void answer(const std::shared_ptr<Connection>& connection);
  void end_dialling(int error);
  [[nodiscard]] bool can_take_caller() const noexcept {
    return state_ == State::listening && callers_.size() < most_callers_;
  }
  void take_caller(Caller caller);
  void join(std::shared_ptr<Connection> connection, Side side);

  State state_ = State::idle;
  int error_ = 0;  // of a connect, until somebody is told
  std::shared_ptr<Connection> connection_;
  Side side_ = 0;
  std::deque<Caller> callers_;
  size_t most_callers_ = 0;
  uint64_t dial_backoff_ns_ = 0;
  uint64_t dial_number_ = 0;  // steps of an earlier dialling are told by it
  Events::Ticket dial_deadline_;
  Events::Ticket knocking_;
};

class PipeEnd final : public Device {
 public:
  // Side 0 reads.
  PipeEnd(std::shared_ptr<Connection> connection, Side side);

  [[nodiscard]] int64_t perform(io::Operation& operation) override;
  void close() override { connection_->close(side_, false); }
  void vanish() override { connection_->vanish(side_); }

 private:
  std::shared_ptr<Connection> connection_;
  const Side side_;
};

// Both ends of a Unix stream.
[[nodiscard]] std::array<std::shared_ptr<Device>, 2> make_socket_pair(Network& network,
                                                                      NodeId node);
[[nodiscard]] std::array<std::shared_ptr<Device>, 2> make_pipe(Network& network, NodeId node);

}  // namespace jzx::drivers::sim
