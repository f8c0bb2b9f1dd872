// jzx::Sim and jzx::SimNode, over a SimRun.
#include <jzx/sim/simulation.hpp>

#include "drivers/sim/choices.hpp"
#include "runtime/sim/sim_run.hpp"

namespace jzx {

using base::kNanosPerMilli;
using drivers::sim::ChoiceSite;
using drivers::sim::VirtualTime;

SimFaults SimFaults::all() noexcept {
  SimFaults some;
  some.kill = 10'000;
  some.throws = 10'000;
  some.delay = 20'000;
  some.full_mailbox = 5'000;
  some.no_memory = 5'000;
  some.allocation = 5'000;
  some.clock_jump = 5'000;
  some.storm = 4;
  return some;
}

// ---- running ----

bool Sim::step() { return run_.step(base::kNever); }

void Sim::run() {
  while (step()) {
  }
  run_.check_rest();
}

void Sim::run_for(std::chrono::milliseconds time) {
  const uint64_t end_ns =
      run_.simulator.time().now_ns() + static_cast<uint64_t>(time.count()) * kNanosPerMilli;
  while (run_.step(end_ns)) {
  }
  if (!has_failed()) run_.simulator.move_to(end_ns);
}

void Sim::finish() { run_.finish(); }

bool Sim::run_until(const std::function<bool()>& is_so) {
  while (!is_so()) {
    if (!step()) return is_so();
  }
  return true;
}

std::chrono::nanoseconds Sim::now() const noexcept {
  return std::chrono::nanoseconds(run_.simulator.time().now_ns() - VirtualTime::kStart);
}

uint64_t Sim::steps() const noexcept { return run_.simulator.steps(); }
uint64_t Sim::seed() const noexcept { return run_.seed; }

// ---- what must hold ----

void Sim::always(std::string what, std::function<bool()> holds) {
  run_.always.push_back({std::move(what), std::move(holds)});
}

void Sim::eventually(std::string what, std::function<bool()> holds) {
  run_.eventually.push_back({std::move(what), std::move(holds)});
}

bool Sim::check(bool holds, std::string_view what) {
  if (!holds) fail(what);
  return !has_failed();
}

void Sim::fail(std::string_view what) { run_.fail(std::string(what)); }
bool Sim::has_failed() const noexcept { return run_.has_failed(); }

// ---- choices and faults ----

uint32_t Sim::choose(uint32_t count) {
  return run_.simulator.choices().choose(count, ChoiceSite::user);
}

bool Sim::chance(uint32_t per_million) {
  return run_.simulator.choices().chance(per_million, ChoiceSite::user);
}

SimFaults Sim::faults() const noexcept { return run_.faults; }
void Sim::set_faults(const SimFaults& faults) { run_.set_faults(faults); }

void Sim::protect(Pid actor) {
  auto* port = static_cast<runtime::SimSystem*>(actor.port());
  if (port != nullptr) run_.exempt.insert({port->host.node(), actor.id()});
}

SimNode& Sim::node(std::string_view name) { return run_.node(name); }
void Sim::note(std::string_view text) { run_.note(std::string(text)); }

// ---- nodes ----

SimNode::SimNode(detail::SimNodeState& state) noexcept : SystemFace(nullptr), state_(&state) {}

const std::string& SimNode::name() const noexcept { return state_->name; }

void SimNode::on_start(std::function<void(SimNode&)> start) {
  state_->start = std::move(start);
  if (is_up()) state_->start(*this);
}

void SimNode::crash() {
  state_->crash();
  if (!is_up()) port_ = nullptr;
}

void SimNode::restart() {
  crash();
  if (is_up()) return;  // it could not crash
  state_->run.note("node " + state_->name + " starts");
  state_->switch_on();
}

bool SimNode::is_up() const noexcept { return state_->system != nullptr; }

void SimNode::jump_clock(std::chrono::milliseconds ahead) {
  if (!is_up() || ahead.count() <= 0) return;
  state_->system->host.clock().jump_ahead(static_cast<uint64_t>(ahead.count()) * kNanosPerMilli);
}

}  // namespace jzx
