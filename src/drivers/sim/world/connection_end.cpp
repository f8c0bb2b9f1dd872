// How connections end: by a goodbye, a reset, or because the other end has fallen silent.
#include <utility>

#include "drivers/sim/world/connection.hpp"

namespace jzx::drivers::sim {

void Connection::drop(Flow& flow) noexcept {
  if (std::exchange(flow.is_retrying, false)) network_.events().cancel(flow.retrying);
  flow.moving.clear();
  flow.due = flow.sent_bytes = flow.silent_bytes = 0;
}

void Connection::end(Side side) {
  if (std::exchange(flows_[side].is_ended, true)) return;
  send(side, Segment{{}, true});
}

void Connection::shut_down_writing(Side side) { end(side); }

void Connection::shut_down_reading(Side side) {
  Flow& flow = flows_[other(side)];
  ends_[side].is_deaf = true;
  flow.ready.clear();
  flow.taken = 0;
  if (kind_ != Kind::remote) flow.is_refused = true;
  tell(side);
  if (kind_ == Kind::remote) return pump(other(side));
  tell(other(side));
}

void Connection::close(Side side, bool resets) {
  End& me = ends_[side];
  Flow& incoming = flows_[other(side)];
  me.device = nullptr;
  me.is_gone = true;
  stop_probing(side);
  const bool has_unread = incoming.readable() > 0 || incoming.due > 0;
  incoming.ready.clear();
  incoming.taken = 0;
  if (kind_ != Kind::remote) return close_within_node(side, resets || has_unread);
  if (me.is_dead) return;
  if (!resets && !has_unread) return end(side);
  me.is_dead = true;
  drop(flows_[side]);
  send_reset(other(side));
}

void Connection::close_within_node(Side side, bool resets) {
  flows_[other(side)].is_refused = true;
  if (resets && kind_ == Kind::local) ends_[other(side)].error = ECONNRESET;
  end(side);
  tell(other(side));
}

void Connection::vanish(Side side) {
  End& me = ends_[side];
  me.device = nullptr;
  me.is_gone = me.is_crashed = true;
  stop_probing(side);
  flows_[other(side)].ready.clear();
  flows_[other(side)].taken = 0;
}

// Nobody sends a reset again: it gets there or not.
void Connection::send_reset(Side to) {
  const Side from = other(to);
  const uint64_t delay_ns = network_.latency(ends_[from].node, ends_[to].node);
  network_.events().at(plan_arrival(from, delay_ns), [self = shared_from_this(), from, to] {
    if (self->can_pass(from)) self->fail(to, ECONNRESET);
  });
}

void Connection::reset_both() {
  fail(0, ECONNRESET);
  fail(1, ECONNRESET);
}

void Connection::fail(Side side, int error) {
  End& end = ends_[side];
  if (end.is_dead) return;
  end.is_dead = true;
  end.error = error;
  stop_probing(side);
  drop(flows_[side]);
  tell(side);
}

// ---- silence ----

void Connection::set_keep_alive(Side side, uint64_t idle_ns) {
  stop_probing(side);
  ends_[side].keep_idle_ns = idle_ns;
  look_for_silence();
}

bool Connection::would_answer(Side side) const noexcept {
  const End& end = ends_[side];
  return can_pass(other(side)) && can_pass(side) && !end.is_crashed && !end.is_dead;
}

void Connection::look_for_silence() {
  if (kind_ != Kind::remote) return;
  for (const Side side : {Side{0}, Side{1}}) {
    End& me = ends_[side];
    if (me.keep_idle_ns == 0 || me.is_dead || me.is_gone) continue;
    if (would_answer(other(side))) {
      stop_probing(side);
      continue;
    }
    if (std::exchange(me.is_probing, true)) continue;
    me.probes = 0;
    me.probing = network_.events().after(me.keep_idle_ns,
                                         [self = shared_from_this(), side] { self->probe(side); });
  }
}

void Connection::stop_probing(Side side) noexcept {
  if (std::exchange(ends_[side].is_probing, false)) network_.events().cancel(ends_[side].probing);
}

void Connection::probe(Side side) {
  constexpr int kMostProbes = 9;
  constexpr uint64_t kBetweenProbesNs = 75 * kSecond;
  End& me = ends_[side];
  me.is_probing = false;
  if (would_answer(other(side))) return;
  if (can_pass(side) && can_pass(other(side))) return fail(side, ECONNRESET);
  if (++me.probes > kMostProbes) return fail(side, ETIMEDOUT);
  me.is_probing = true;
  me.probing = network_.events().after(kBetweenProbesNs,
                                       [self = shared_from_this(), side] { self->probe(side); });
}

}  // namespace jzx::drivers::sim
