#include "runtime/sim/oracles.hpp"

#include "core/mailbox.hpp"
#include "supervise/supervisor.hpp"

namespace jzx::runtime {

using core::Actor;
using drivers::sim::Mishap;
using drivers::sim::StepKind;
using supervise::ChildSlot;
using supervise::Strategy;
using supervise::Supervisor;

// ---- steps ----

std::string Oracles::before_step(SimHost& host, const Step& step) {
  hearing_ = {};
  if (step.kind != StepKind::message || step.mishap == Mishap::killed) return {};
  begin_hearing(host, step);
  return check_order(step);
}

std::string Oracles::after_step(SimHost& host, const Step& step) {
  return hearing_.is_open ? check_hearing(host, step) : std::string();
}

std::string Oracles::check_order(const Step& step) {
  if (step.sequence >= taken_.size()) taken_.resize(step.sequence + 1024);
  const bool was_taken = taken_[step.sequence];
  taken_[step.sequence] = true;
  if (was_taken || step.sender == 0) return {};  // put aside, and now here again
  const ActorKey from{step.node, step.sender};
  uint64_t& newest = newest_[{from, step.actor}];
  if (step.sequence < newest) {
    return "a message from " + trace_.name_of(from) + " to " +
           trace_.name_of({step.node, step.actor}) + " was overtaken by a later one";
  }
  newest = step.sequence;
  return {};
}

std::string Oracles::sent(const SimHost& host, ActorId target, const Envelope& envelope) {
  if (envelope.type != &raw_message_type || (envelope.flags & Envelope::kNotice) == 0) return {};
  const auto& raw = *reinterpret_cast<const RawMessage*>(envelope.storage);
  if (raw.tag != static_cast<uint32_t>(core::SystemTag::down)) return {};
  const uint64_t ref = static_cast<const Down*>(raw.data)->ref;
  if (told_downs_.insert({host.node(), ref}).second) return {};
  return name(host, target) + " is told twice that what it monitors is down";
}

void Oracles::forget(uint32_t node) {
  std::erase_if(told_downs_, [&](const auto& down) { return down.first == node; });
  std::erase_if(newest_, [&](const auto& pair) { return pair.first.from.node == node; });
  std::erase_if(restarts_, [&](const auto& one) { return one.first.node == node; });
}

// ---- supervisors ----

namespace {

bool comes_back(supervise::ChildMode mode, ExitReason reason) noexcept {
  return mode == supervise::ChildMode::permanent ||
         (mode == supervise::ChildMode::transient && reason != ExitReason::normal);
}

}  // namespace

void Oracles::begin_hearing(SimHost& host, const Step& step) {
  if (step.tag != static_cast<uint32_t>(core::SystemTag::child_exit)) return;
  const Actor* actor = host.system.actors.find(step.actor);
  if (actor == nullptr || !actor->is_supervisor || actor->inbox.is_empty()) return;
  hearing_.is_open = true;
  const auto& child = static_cast<const core::Child&>(*actor->inbox.oldest());
  const auto* ended = static_cast<const ChildSlot*>(child.mark);
  hearing_.is_strange = ended == nullptr;
  const Supervisor& supervisor = supervise::supervisor_of(*actor);
  const Strategy strategy = supervisor.spec().strategy;
  // A group restart under way may go on with whomever it concerns.
  if (ended == nullptr || ended->phase != ChildSlot::Phase::running ||
      supervisor.is_group_under_way()) {
    return;
  }
  if (!ended->is_dynamic) {  // one that was added goes for good, with its slot
    hearing_.ended = ended;
    hearing_.comes_back = !ended->is_unwanted && comes_back(ended->spec.mode, child.exit.reason);
  }
  if (strategy == Strategy::one_for_all) return;
  for (size_t i = 0; const ChildSlot* slot = supervisor.slot_at(i); ++i) {
    const bool is_concerned = slot->phase != ChildSlot::Phase::running || slot == ended ||
                              (strategy == Strategy::rest_for_one && slot->index > ended->index);
    if (!is_concerned) hearing_.unconcerned.push_back(slot->id);
  }
}

std::string Oracles::check_hearing(SimHost& host, const Step& step) const {
  const Actor* actor = host.system.actors.find(step.actor);
  if (actor == nullptr || actor->id() != step.actor || !actor->is_supervisor) return {};
  if (actor->status != core::Status::running) return {};  // it escalates
  if (hearing_.ended != nullptr) {
    const bool has_gone = hearing_.ended->phase == ChildSlot::Phase::ended;
    if (has_gone == hearing_.comes_back) {
      return name(host, step.actor) + (has_gone ? " gives up a child that should come back"
                                                : " brings back a child that should stay away");
    }
  }
  return check_unconcerned(host, supervise::supervisor_of(*actor), step.actor);
}

std::string Oracles::check_unconcerned(SimHost& host, const Supervisor& supervisor,
                                       ActorId id) const {
  // Found by their ids: a child that has ended for good gives up its place in the list.
  for (const ActorId before : hearing_.unconcerned) {
    bool is_there = false;
    for (size_t i = 0; const ChildSlot* slot = supervisor.slot_at(i); ++i) {
      is_there |= slot->id == before && slot->phase == ChildSlot::Phase::running;
    }
    if (is_there) continue;
    return name(host, id) + " touches " + name(host, before) +
           ", which the end of its sibling does not concern";
  }
  return {};
}

// The model: the times of all restarts, as the observer is told of them.
Oracles::Restarts& Oracles::recent_restarts(const SimHost& host, ActorId id) {
  Restarts& restarts = restarts_[{host.node(), id}];
  const Actor& actor = *host.system.actors.find(id);
  const uint64_t period_ns =
      supervise::supervisor_of(actor).spec().period_ms * base::kNanosPerMilli;
  const uint64_t now_ns = const_cast<SimHost&>(host).now_ns();
  while (!restarts.times_ns.empty() && now_ns - restarts.times_ns.front() >= period_ns) {
    restarts.times_ns.pop_front();
  }
  return restarts;
}

std::string Oracles::restarted(const SimHost& host, ActorId id, uint64_t step) {
  Restarts& restarts = recent_restarts(host, id);
  if (restarts.last_step == step) return {};  // one of the same group
  restarts.last_step = step;
  restarts.times_ns.push_back(const_cast<SimHost&>(host).now_ns());
  const Actor& actor = *host.system.actors.find(id);
  if (restarts.times_ns.size() <= supervise::supervisor_of(actor).spec().intensity) return {};
  return name(host, id) + " restarts a child once more than it is allowed to";
}

std::string Oracles::escalated(const SimHost& host, ActorId id) {
  const Supervisor& supervisor = supervise::supervisor_of(*host.system.actors.find(id));
  const size_t recent = recent_restarts(host, id).times_ns.size();
  // A start that was refused took up a restart that nobody was told of.
  if (hearing_.is_strange || supervisor.refused_starts() != 0) return {};
  if (recent >= supervisor.spec().intensity) return {};
  return name(host, id) + " escalates, although a restart was still allowed";
}

std::string Oracles::check_supervisor(const SimHost& host, const Actor& actor) const {
  const Supervisor& supervisor = supervise::supervisor_of(actor);
  for (size_t i = 0; const ChildSlot* slot = supervisor.slot_at(i); ++i) {
    if (slot->phase == ChildSlot::Phase::ended) continue;
    // relaxed: one thread. It waits out its backoff.
    if (slot->phase == ChildSlot::Phase::waiting &&
        slot->is_ticking.load(std::memory_order_relaxed)) {
      continue;
    }
    const Actor* child = slot->id == 0 ? nullptr : host.system.actors.find(slot->id);
    if (slot->phase == ChildSlot::Phase::running && child != nullptr &&
        core::System::is_live(*child, slot->id)) {
      continue;
    }
    return name(host, actor.id()) + " has a child (number " + std::to_string(slot->index) +
           ") that should run and does not";
  }
  return {};
}

// ---- at rest ----

std::string Oracles::ledger(detail::Port& port) const {
  const core::Ledger ledger = port.ledger();
  if (ledger.balanced()) return {};
  return "the ledger does not balance: accepted " + std::to_string(ledger.accepted) + ", handled " +
         std::to_string(ledger.handled) + ", dead-lettered " +
         std::to_string(ledger.dead_lettered) + ", queued " + std::to_string(ledger.queued);
}

std::string Oracles::at_rest(detail::Port& port, const SimHost& host) const {
  std::string wrong = ledger(port);
  port.system.actors.for_each_slot([&](Actor& actor) {
    if (!wrong.empty() || actor.home() == base::kByHand) return;
    const ActorId id = actor.id();
    if (id == 0 || !actor.state.is(core::generation_of(id))) return;
    if (actor.state.is_scheduled()) {
      wrong = name(host, id) + " should run, but is in no queue: a wake-up was lost";
    } else if (!actor.state.is_suspended() && actor.held == 0 && core::queued_count(actor) != 0) {
      wrong = name(host, id) + " has mail, and nobody wakes it";
    } else if (actor.is_supervisor && actor.status == core::Status::running) {
      wrong = check_supervisor(host, actor);
    }
    if (!wrong.empty() || actor.relations == nullptr) return;
    auto& watching = actor.relations->watching;
    for (core::Monitor* monitor = watching.front(); monitor != nullptr;
         monitor = watching.after(*monitor)) {
      const ActorId watched = monitor->down.actor;
      if (core::System::is_live(*monitor->target, watched)) continue;
      wrong = name(host, id) + " was never told that " + name(host, watched) + " is down";
    }
  });
  return wrong;
}

std::string Oracles::stuck(detail::Port& port, const SimHost& host) const {
  std::string names;
  port.system.actors.for_each_slot([&](Actor& actor) {
    const ActorId id = actor.id();
    if (actor.home() == base::kByHand || id == 0) return;
    if (!actor.state.is(core::generation_of(id))) return;
    if (!actor.state.is_suspended() && !actor.kind->waits_in_part(actor)) return;
    names += (names.empty() ? "" : ", ") + name(host, id);
  });
  return names;
}

}  // namespace jzx::runtime
