#include "runtime/sim/sim_node_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "runtime/sim/sim_run.hpp"

namespace jzx::detail {

SimNodeState::SimNodeState(SimRun& the_run, uint32_t the_number, std::string the_name)
    : run(the_run),
      number(the_number),
      name(std::move(the_name)),
      disk(the_run.simulator.choices()),
      face(new SimNode(*this)) {
  disk.faults = run.faults.disk;
}

SimNodeState::~SimNodeState() {
  if (system != nullptr) system->destroy();
  for (runtime::SimSystem* one : former) one->destroy();
}

io::ReactorPtr SimNodeState::make_world(const base::Allocator& allocator) {
  if (run.fittings.make_world) return run.fittings.make_world(allocator);
  reactor = allocator.create<drivers::sim::SimReactor>(run.network, number, disk);
  return io::ReactorPtr(reactor, {allocator.free_fn, allocator.ctx});
}

void SimNodeState::switch_on() {
  if (system != nullptr) return;
  if (is_ending) {  // by somebody who hears of its crash: when that is over
    is_wanted_again = true;
    return;
  }
  is_struck = false;
  runtime::SimOptions wanted;
  wanted.allocator = run.allocator();
  wanted.default_mailbox_cap = run.options.default_mailbox_cap;
  wanted.node = number;
  wanted.max_watches = run.fittings.max_watches;
  wanted.detect_deadlocks = run.fittings.detects_deadlocks;
  if (!run.network.is_up(number)) run.network.restart(number);
  system = runtime::SimSystem::create(wanted, run.simulator, make_world(wanted.allocator));
  JZX_ASSERT(system != nullptr);
  system->run = &run;
  system->system.set_observer(this);
  face->port_ = system;
  if (number == 0 && run.sim_ != nullptr) run.sim_->port_ = system;
  choose_skew();
  if (start) start(*face);
}

// 0 is right, and the larger the number the worse: so it is shrunk, too.
void SimNodeState::choose_skew() {
  constexpr auto kMost = static_cast<uint32_t>(drivers::sim::NodeClock::kMostSkew);
  const uint32_t most = std::min(run.faults.clock_skew, kMost);
  const uint32_t chosen =
      run.simulator.choices().choose(2 * most + 1, drivers::sim::ChoiceSite::clock);
  const auto amount = static_cast<int32_t>((chosen + 1) / 2);
  skew_clock(chosen % 2 == 0 ? -amount : amount);
}

void SimNodeState::skew_clock(int32_t per_million) {
  if (system == nullptr) return;
  drivers::sim::NodeClock& clock = system->host.clock();
  const int32_t before = clock.skew();
  clock.set_skew(per_million);
  if (clock.skew() == before) return;
  const std::string amount = std::to_string(std::abs(clock.skew()));
  run.note(
      "the clock of node " + name + " is " +
      (clock.skew() == 0 ? "right" : amount + " ppm too " + (clock.skew() > 0 ? "fast" : "slow")));
}

void SimNodeState::crash() {
  if (system == nullptr) return;
  run.note("node " + name + " crashes");
  if (base::Executor::current() == &system->host) {
    return run.fail("a node cannot crash from inside its own step");
  }
  ++crashes;
  is_struck = false;
  run.network.crash(number);
  reactor = nullptr;
  // It is down before anybody hears of it.
  former.push_back(std::exchange(system, nullptr));
  face->port_ = nullptr;
  is_ending = true;
  (void)former.back()->power_off();
  is_ending = false;
  run.oracles.forget(number);
  std::erase_if(run.exempt, [&](const runtime::ActorKey& key) { return key.node == number; });
  if (std::exchange(is_wanted_again, false)) switch_on();
}

// ---- Observer ----

void SimNodeState::actor_started(ActorId id, const char* label) {
  run.trace_.name_actor({number, id},
                        label != nullptr ? std::string_view(label) : type_name_of(*system, id));
  if (Observer* user = run.options.observer) user->actor_started(id, label);
}

void SimNodeState::actor_stopped(ActorId id, ExitReason reason, const ExitText& text) {
  std::string line = run.name_of(number, id) + " has ended: " + to_string(reason);
  if (!text.view().empty()) line += " (" + std::string(text.view()) + ')';
  run.note(std::move(line));
  if (Observer* user = run.options.observer) user->actor_stopped(id, reason, text);
}

void SimNodeState::actor_restarted(ActorId supervisor, ActorId child, uint32_t attempt) {
  run.note(run.name_of(number, supervisor) + " has restarted " + run.name_of(number, child));
  run.fail_if(run.oracles.restarted(system->host, supervisor, run.current_step_));
  if (Observer* user = run.options.observer) user->actor_restarted(supervisor, child, attempt);
}

void SimNodeState::supervisor_escalated(ActorId id) {
  run.note(run.name_of(number, id) + " escalates");
  // A restart that there is no memory to count is one too many.
  if (run.step_without_memory_ != run.current_step_) {
    run.fail_if(run.oracles.escalated(system->host, id));
  }
  if (Observer* user = run.options.observer) user->supervisor_escalated(id);
}

void SimNodeState::mailbox_high(ActorId id, uint32_t queued) {
  if (Observer* user = run.options.observer) user->mailbox_high(id, queued);
}

void SimNodeState::mailbox_full(ActorId id) {
  run.note("the mailbox of " + run.name_of(number, id) + " is full");
  if (Observer* user = run.options.observer) user->mailbox_full(id);
}

void SimNodeState::deadlock(ActorId waiter, const char* cycle) {
  if (run.options.deadlock_fails) run.fail(std::string("deadlock: ") + cycle);
  if (Observer* user = run.options.observer) user->deadlock(waiter, cycle);
}

void SimNodeState::dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) {
  if (reason != DeadLetterReason::closing) {
    run.note(std::string(envelope.type->inner->name) + " to " + run.name_of(number, target) +
             " is dead-lettered");
  }
  if (Observer* user = run.options.observer) user->dead_letter(target, envelope, reason);
}

}  // namespace jzx::detail
