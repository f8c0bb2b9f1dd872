#include "drivers/sim/world/connection.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace jzx::drivers::sim {

Connection::Connection(Network& network, Kind kind, NodeId caller, NodeId called)
    : network_(network), kind_(kind), number_(network.enrol(*this)) {
  ends_[0].node = caller;
  ends_[1].node = called;
  for (End& end : ends_) {
    end.send_room = network.faults.send_buffer_bytes;
    end.receive_room = network.faults.receive_buffer_bytes;
  }
}

Connection::~Connection() { network_.strike_out(number_); }

bool Connection::is_between(NodeId a, NodeId b) const noexcept {
  if (kind_ != Kind::remote) return false;
  return (ends_[0].node == a && ends_[1].node == b) || (ends_[0].node == b && ends_[1].node == a);
}

void Connection::hold_back(Side side, uint64_t until_ns) noexcept {
  flows_[side].last_arrival_ns = std::max(flows_[side].last_arrival_ns, until_ns);
}

int Connection::take_error(Side side) noexcept { return std::exchange(ends_[side].error, 0); }

// ---- reading and writing ----

int64_t Connection::read(Side side, io::Operation& operation) {
  End& me = ends_[side];
  Flow& flow = flows_[other(side)];
  const size_t wanted = size_of(operation);
  if (wanted == 0 || me.is_deaf) return 0;
  if (flow.readable() == 0) {
    if (me.error != 0) return -take_error(side);
    return flow.has_ended || me.is_dead ? 0 : kNotReady;
  }
  const size_t size = network_.perhaps_less(std::min(wanted, flow.readable()),
                                            network_.faults.short_read_per_million);
  for_each_piece(operation, size, [&](char* data, size_t count) {
    std::memcpy(data, flow.ready.data() + flow.taken, count);
    flow.taken += count;
  });
  if (flow.readable() == 0 || flow.taken >= 64 * 1024) {
    flow.ready.erase(0, flow.taken);
    flow.taken = 0;
  }
  if (kind_ == Kind::remote) {
    pump(other(side));
  } else {
    tell(other(side));
  }
  return static_cast<int64_t>(size);
}

size_t Connection::room(Side side) const noexcept {
  const Flow& flow = flows_[side];
  const size_t used = kind_ == Kind::remote ? flow.sent_bytes : flow.readable();
  const size_t whole = ends_[side].send_room;
  return used < whole ? whole - used : 0;
}

int64_t Connection::write(Side side, io::Operation& operation) {
  End& me = ends_[side];
  const Flow& flow = flows_[side];
  if (me.error != 0) return -take_error(side);
  if (me.is_dead || flow.is_ended || flow.is_refused) return -EPIPE;
  const size_t wanted = size_of(operation);
  if (wanted == 0) return 0;
  const size_t free = room(side);
  if (free == 0) return kNotReady;
  const NetworkFaults& faults = network_.faults;
  const size_t size = network_.perhaps_less(std::min(wanted, free), faults.short_write_per_million);
  const size_t most = std::max<size_t>(1, faults.segment_bytes);
  Segment segment;
  for_each_piece(operation, size, [&](const char* data, size_t count) {
    while (count > 0) {
      const size_t part = std::min(count, most - segment.bytes.size());
      segment.bytes.append(data, part);
      data += part;
      count -= part;
      if (segment.bytes.size() == most) send(side, std::exchange(segment, {}));
    }
  });
  if (!segment.bytes.empty()) send(side, std::move(segment));
  return static_cast<int64_t>(size);
}

// ---- on the way ----

uint64_t Connection::plan_arrival(Side from, uint64_t delay_ns) noexcept {
  Flow& flow = flows_[from];
  return flow.last_arrival_ns =
             std::max(flow.last_arrival_ns, network_.events().now_ns() + delay_ns);
}

void Connection::send(Side side, Segment segment) {
  Flow& flow = flows_[side];
  if (kind_ != Kind::remote) {
    flow.ready += segment.bytes;
    flow.has_ended = flow.has_ended || segment.is_end;
    return tell(other(side));
  }
  if (ends_[side].is_dead) return;
  const NodeId from = ends_[side].node;
  const NodeId to = ends_[other(side)].node;
  const NetworkFaults& faults = network_.faults;
  if (from != to && network_.chance(faults.reset_per_million)) return reset_both();
  uint64_t delay_ns = network_.latency(from, to);
  uint64_t again_ns = faults.retransmit_ns;
  constexpr int kMostLosses = 8;
  for (int i = 0; from != to && i < kMostLosses && network_.chance(faults.loss_per_million); ++i) {
    delay_ns += again_ns;
    again_ns = std::min(2 * again_ns, faults.most_retransmit_ns);
  }
  flow.sent_bytes += segment.bytes.size();
  flow.moving.push_back(std::move(segment));
  network_.events().at(plan_arrival(side, delay_ns),
                       [self = shared_from_this(), side] { self->arrive(side); });
}

// One segment more of that side is there, unless they have all been dropped.
void Connection::arrive(Side side) {
  Flow& flow = flows_[side];
  if (flow.due < flow.moving.size()) ++flow.due;
  pump(side);
}

void Connection::pump(Side side) {
  Flow& flow = flows_[side];
  if (flow.due == 0) return;
  if (!can_pass(side)) return stall(side);
  if (flow.silent_bytes == 0) flow.stalled_since_ns = base::kNever;
  size_t bytes = 0;
  bool is_news = false;
  while (flow.due > 0) {
    const size_t size = flow.moving.front().bytes.size();
    if (!deliver(side)) break;
    is_news = true;
    bytes += size;
  }
  if (bytes > 0) acknowledge(side, bytes);
  if (is_news) tell(other(side));
}

// The first that is due goes to the reader. False: it cannot, or nothing is there any more.
bool Connection::deliver(Side side) {
  Flow& flow = flows_[side];
  const End& to = ends_[other(side)];
  const Segment& segment = flow.moving.front();
  if (to.is_crashed || ((to.is_gone || to.is_dead) && !segment.is_end)) {
    send_reset(side);
    drop(flow);
    return false;
  }
  if (!to.is_deaf && !to.is_gone) {
    if (!segment.bytes.empty() && flow.readable() >= to.receive_room) return false;
    flow.ready += segment.bytes;
  }
  flow.has_ended = flow.has_ended || segment.is_end;
  flow.moving.pop_front();
  --flow.due;
  return true;
}

void Connection::acknowledge(Side side, size_t bytes) {
  Flow& flow = flows_[side];
  if (!can_pass(other(side))) {
    flow.silent_bytes += bytes;
    return stall(side);
  }
  flow.sent_bytes -= bytes;
  tell(side);
}

void Connection::stall(Side side) {
  Flow& flow = flows_[side];
  const End& from = ends_[side];
  if (from.is_crashed || from.is_dead) return drop(flow);
  if (flow.is_retrying) return;
  const NetworkFaults& faults = network_.faults;
  const uint64_t now_ns = network_.events().now_ns();
  const uint64_t patience_ns = from.give_up_ns != 0 ? from.give_up_ns : faults.give_up_ns;
  if (flow.stalled_since_ns == base::kNever) {
    flow.stalled_since_ns = now_ns;
    flow.backoff_ns = faults.retransmit_ns;
  }
  const uint64_t waited_ns = now_ns - flow.stalled_since_ns;
  if (waited_ns >= patience_ns) return fail(side, ETIMEDOUT);
  flow.is_retrying = true;
  flow.retrying = network_.events().after(std::min(flow.backoff_ns, patience_ns - waited_ns),
                                          [self = shared_from_this(), side] { self->retry(side); });
  flow.backoff_ns = std::min(2 * flow.backoff_ns, faults.most_retransmit_ns);
}

void Connection::retry(Side side) {
  Flow& flow = flows_[side];
  flow.is_retrying = false;
  if (flow.silent_bytes > 0) {
    if (!can_pass(side) || !can_pass(other(side))) return stall(side);
    if (ends_[other(side)].is_crashed) return fail(side, ECONNRESET);
    flow.stalled_since_ns = base::kNever;
    acknowledge(side, std::exchange(flow.silent_bytes, 0));
  }
  pump(side);
}

}  // namespace jzx::drivers::sim
