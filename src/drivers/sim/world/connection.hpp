// Two ends and the bytes between them: a TCP connection, a Unix stream, a pipe. Each direction is a
// flow of its own:
//
//   write ──▶ moving: segments, each with its arrival planned ──▶ ready ──▶ read
//             └──── at most send_room bytes that are not acknowledged ┘└ at most receive_room ┘
//
// Segments arrive in order and without holes: one that is lost arrives a retransmission later, and
// so do those behind it. What cannot pass (a partition, a node that is down) is tried again, later
// and later, until it passes or the sender gives up: ETIMEDOUT. A sender knows that bytes have
// arrived only if a packet can come back; until then they take room.
//
// What an end hears of the other:
//
//   it shut down or closed   the end of the stream, after the last byte
//   it closed with unread    a reset: ECONNRESET once, then the end, and EPIPE for writers. So
//   bytes, or by linger 0    does what is sent to one that has closed before.
//   its node crashed         nothing. Later a reset, if it sends something, or keeps alive, and the
//                            node is up again; or ETIMEDOUT, if it is not
//
// Within a node (Unix, pipes) there is no way to go: everything happens at once, and nothing is
// lost. Whose reader has gone gets EPIPE there.
//
// Threads: one. Lifetime: its ends and what is on the way keep it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "drivers/sim/world/device.hpp"
#include "drivers/sim/world/network.hpp"

namespace jzx::drivers::sim {

// 0: who called (or reads, of a pipe); 1: who was called.
using Side = size_t;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class Kind : uint8_t { remote, local, pipe };

  Connection(Network& network, Kind kind, NodeId caller, NodeId called);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The device hears of changes until it closes or vanishes.
  void attach(Side side, Device& device) noexcept { ends_[side].device = &device; }
  void set_send_room(Side side, size_t bytes) noexcept { ends_[side].send_room = bytes; }
  void set_receive_room(Side side, size_t bytes) noexcept { ends_[side].receive_room = bytes; }
  // 0: as NetworkFaults says.
  void set_give_up(Side side, uint64_t after_ns) noexcept { ends_[side].give_up_ns = after_ns; }
  // One who keeps alive asks a silent peer after so long, and then some more times; 0: never.
  void set_keep_alive(Side side, uint64_t idle_ns);
  // Somebody may have fallen silent, or no longer is. Who keeps alive asks only meanwhile, so that
  // nothing is planned while all is well.
  void look_for_silence();
  // Nothing of this side arrives before that.
  void hold_back(Side side, uint64_t until_ns) noexcept;

  // As the opcodes, or kNotReady.
  [[nodiscard]] int64_t read(Side side, io::Operation& operation);
  [[nodiscard]] int64_t write(Side side, io::Operation& operation);
  void shut_down_writing(Side side);
  void shut_down_reading(Side side);
  void close(Side side, bool resets);
  void vanish(Side side);
  // 0, or an errno that is told once.
  [[nodiscard]] int take_error(Side side) noexcept;

  [[nodiscard]] bool is_between(NodeId a, NodeId b) const noexcept;
  // By somebody in the middle.
  void reset_both();

 private:
  struct Segment {
    std::string bytes;
    bool is_end = false;
  };
  // One direction.
  struct Flow {
    std::deque<Segment> moving;
    size_t due = 0;           // the first so many have arrived, but there was no room, or no way
    size_t sent_bytes = 0;    // which take room at the sender
    size_t silent_bytes = 0;  // of them: arrived, but the sender does not know
    std::string ready;
    size_t taken = 0;  // of `ready`, from its front
    uint64_t last_arrival_ns = 0;
    uint64_t stalled_since_ns = base::kNever;
    uint64_t backoff_ns = 0;
    bool is_retrying = false;
    Events::Ticket retrying;
    bool is_ended = false;    // nothing more will be written
    bool has_ended = false;   // and the reader knows
    bool is_refused = false;  // within a node: nobody reads any more

    [[nodiscard]] size_t readable() const noexcept { return ready.size() - taken; }
  };
  struct End {
    NodeId node = kNobody;
    Device* device = nullptr;
    size_t send_room = 0;
    size_t receive_room = 0;
    uint64_t give_up_ns = 0;
    uint64_t keep_idle_ns = 0;
    int probes = 0;
    int error = 0;
    bool is_probing = false;
    Events::Ticket probing;
    bool is_dead = false;     // was reset, has reset, or gave up
    bool is_gone = false;     // closed or crashed
    bool is_crashed = false;  // and not closed
    bool is_deaf = false;     // reads no more
  };
  static constexpr Side other(Side side) noexcept { return 1 - side; }

  [[nodiscard]] size_t room(Side side) const noexcept;
  void send(Side side, Segment segment);
  void arrive(Side side);
  void pump(Side side);
  [[nodiscard]] bool deliver(Side side);
  void acknowledge(Side side, size_t bytes);
  void stall(Side side);
  void retry(Side side);
  void end(Side side);
  void send_reset(Side to);
  void fail(Side side, int error);
  void close_within_node(Side side, bool resets);
  [[nodiscard]] bool would_answer(Side side) const noexcept;
  void probe(Side side);
  void tell(Side side) noexcept {
    if (ends_[side].device != nullptr) ends_[side].device->changed();
  }
  [[nodiscard]] bool can_pass(Side from) const noexcept {
    return network_.can_pass(ends_[from].node, ends_[other(from)].node);
  }
  [[nodiscard]] uint64_t plan_arrival(Side from, uint64_t delay_ns) noexcept;
  void drop(Flow& flow) noexcept;
  void stop_probing(Side side) noexcept;

  Network& network_;
  const Kind kind_;
  const uint64_t number_;
  End ends_[2];
  Flow flows_[2];  // by who writes
};

}  // namespace jzx::drivers::sim
