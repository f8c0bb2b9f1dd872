// jzx::Sim and jzx::SimNode, over a SimRun.
#include <jzx/sim/simulation.hpp>

#include "drivers/sim/choices.hpp"
#include "runtime/sim/sim_run.hpp"
#include "runtime/sim/sim_times.hpp"

namespace jzx {

using drivers::sim::ChoiceSite;
using drivers::sim::VirtualTime;

SimFaults SimFaults::all() noexcept {
  SimFaults some;
  some.kill = 10'000;
  some.throws = 10'000;
  some.throw_within = 500;
  some.delay = 20'000;
  some.full_mailbox = 5'000;
  some.no_memory = 5'000;
  some.allocation = 5'000;
  some.clock_jump = 5'000;
  some.clock_skew = 10'000;
  some.storm = 4;
  some.crash = 2'000;
  some.partition = 2'000;
  SimNetworkFaults& network = some.network;
  network.least_latency_ns = 50 * sim_units::kMicrosecond;
  network.most_latency_ns = 20 * sim_units::kMillisecond;
  network.loss_per_million = 10'000;
  network.duplication_per_million = 10'000;
  network.reorder_per_million = 20'000;
  network.reset_per_million = 1'000;
  network.resolve_failure_per_million = 5'000;
  network.short_read_per_million = 50'000;
  network.short_write_per_million = 50'000;
  network.not_ready_per_million = 20'000;
  SimDiskFaults& disk = some.disk;
  disk.most_latency_ns = 5 * sim_units::kMillisecond;
  disk.most_sync_ns = 50 * sim_units::kMillisecond;
  disk.open_error_per_million = 1'000;
  disk.read_error_per_million = 1'000;
  disk.write_error_per_million = 2'000;
  disk.sync_error_per_million = 2'000;
  disk.short_read_per_million = 20'000;
  disk.short_write_per_million = 20'000;
  disk.late_cancel_per_million = 20'000;
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
  run_.fail_if(runtime::wrong_time("what Sim::run_for() is given", time));
  const uint64_t end_ns = runtime::time_after(run_.simulator.time().now_ns(), time);
  while (run_.step(end_ns)) {
  }
  // For ever is over when nothing is left to do.
  if (!has_failed() && end_ns != VirtualTime::kEnd) run_.move_to(end_ns);
}

bool Sim::run_until(const std::function<bool()>& is_so) {
  while (!is_so()) {
    // What happens with time alone, like the end of a sleep, may make it so: not a moment later.
    if (run_.pass_time()) continue;
    if (!step()) return is_so();
  }
  return true;
}

std::chrono::nanoseconds Sim::now() const noexcept {
  return std::chrono::nanoseconds(run_.simulator.time().now_ns() - VirtualTime::kStart);
}

uint64_t Sim::steps() const noexcept { return run_.simulator.steps(); }
uint64_t Sim::seed() const noexcept { return run_.seed; }

// ---- single actors ----

bool Sim::step(Pid actor) { return run_.step_of(actor); }
std::vector<SimMessage> Sim::mailbox(Pid actor) { return run_.mailbox(actor); }

// ---- what must hold ----

void Sim::always(std::string what, std::function<bool()> holds) {
  run_.always.push_back({std::move(what), std::move(holds)});
}

void Sim::eventually(std::string what, std::function<bool()> holds) {
  run_.eventually.push_back({std::move(what), std::move(holds)});
}

bool Sim::finish() {
  run_.finish();
  return !has_failed();
}

void Sim::keep(std::shared_ptr<void> object) { run_.kept.push_back(std::move(object)); }

bool Sim::check(bool holds, std::string_view what) {
  if (!holds) fail(what);
  return !has_failed();
}

void Sim::fail(std::string_view what) {
  run_.fail(std::string(what));
  run_.switch_off();
}
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
void Sim::heal() { run_.heal(); }

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

void SimNode::crash() { state_->crash(); }

void SimNode::restart() {
  crash();
  if (is_up()) return;  // it could not crash
  state_->run.note("node " + state_->name + " starts");
  state_->switch_on();
}

bool SimNode::is_up() const noexcept { return state_->system != nullptr; }

void SimNode::jump_clock(std::chrono::milliseconds ahead) {
  state_->run.fail_if(runtime::wrong_time("what SimNode::jump_clock() is given", ahead));
  if (is_up()) state_->system->host.clock().jump_ahead(runtime::nanos_of(ahead));
}

void SimNode::skew_clock(int32_t per_million) { state_->skew_clock(per_million); }

net::Address SimNode::address(uint16_t port) const {
  return state_->run.network.address_of(state_->number, net::Family::ipv4, port);
}

size_t SimNode::raise(int signal) {
  return state_->reactor == nullptr ? 0 : state_->reactor->raise(signal);
}

std::optional<std::string> SimNode::file(std::string_view path) const {
  return state_->disk.contents(path);
}

void SimNode::put_file(std::string_view path, std::string contents) {
  state_->disk.put(path, std::move(contents));
}

// ---- the network ----

void SimNetwork::partition(const SimNode& a, const SimNode& b, Way way) {
  using drivers::sim::Network;
  run_.note("the network between " + a.name() + " and " + b.name() + " is cut");
  run_.network.partition({{a.state_->number}}, {{b.state_->number}},
                         way == Way::one ? Network::Way::one : Network::Way::both);
}

void SimNetwork::heal() {
  run_.note("the network is healed");
  run_.network.heal();
}

void SimNetwork::heal(const SimNode& a, const SimNode& b) {
  run_.note("the network between " + a.name() + " and " + b.name() + " is healed");
  run_.network.heal(a.state_->number, b.state_->number);
}

size_t SimNetwork::reset(const SimNode& a, const SimNode& b) {
  return run_.network.reset_connections(a.state_->number, b.state_->number);
}

}  // namespace jzx
