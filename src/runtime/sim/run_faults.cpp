// SimRun: what goes wrong in a run, besides what the simulator does to single steps.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "runtime/sim/sim_run.hpp"
#include "runtime/sim/sim_times.hpp"

namespace jzx::detail {

using drivers::sim::ChoiceSite;
using drivers::sim::SimHost;

void SimRun::set_faults(const SimFaults& wanted) {
  if (std::string wrong = runtime::wrong_times(wanted); !wrong.empty()) {
    return fail(std::move(wrong));
  }
  const bool is_skew_new = wanted.clock_skew != faults.clock_skew;
  const bool is_throw_new =
      wanted.throw_at != faults.throw_at || wanted.throw_within != faults.throw_within;
  faults = wanted;
  if (is_throw_new) choose_throw();
  drivers::sim::StepFaults& steps = simulator.faults;
  steps.kill = wanted.kill;
  steps.throws = wanted.throws;
  steps.delay = wanted.delay;
  steps.full_mailbox = wanted.full_mailbox;
  steps.no_memory = wanted.no_memory;
  steps.clock_jump = wanted.clock_jump;
  steps.storm = wanted.storm;
  steps.longest_delay_ns = nanos_in_run(wanted.longest_delay);
  steps.last_arrival_ns = last_ns();
  steps.longest_jump_ns = nanos_in_run(wanted.longest_jump);
  network.faults = wanted.network;
  for (const auto& node : nodes_) {
    node->disk.faults = wanted.disk;
    if (is_skew_new && node->system != nullptr) node->choose_skew();
  }
}

// What lasts longer than the run is for ever, which is as long as the run.
uint64_t SimRun::nanos_in_run(std::chrono::milliseconds time) const noexcept {
  return std::min(runtime::nanos_of(time), runtime::nanos_of(options.max_time));
}

// Counted from now on.
void SimRun::choose_throw() {
  uint64_t which = faults.throw_at;
  if (which == 0 && faults.throw_within != 0) {
    constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max() - 1;
    const uint32_t most = std::min(faults.throw_within, kMost);
    which = simulator.choices().choose(most + 1, ChoiceSite::fault);
  }
  simulator.faults.throw_at = which == 0 ? 0 : simulator.throwable() + which;
}

// ---- memory ----

// Memory that is refused now and then, in the middle of a step only: what the scenario itself does
// is no fault's business.
base::Allocator SimRun::allocator() noexcept {
  return {[](void* ctx, size_t size) -> void* {
            return static_cast<SimRun*>(ctx)->refuses_memory() ? nullptr : std::malloc(size);
          },
          [](void*, void* memory) { std::free(memory); }, this};
}

bool SimRun::refuses_memory() {
  if (current_step_ == 0 || faults.allocation == 0) return false;
  const auto* here = static_cast<const SimHost*>(base::Executor::current());
  if (here != nullptr && here->acting() != core::kNobody &&
      exempt.contains({here->node(), here->acting()})) {
    return false;
  }
  if (!simulator.choices().chance(faults.allocation, ChoiceSite::fault)) return false;
  step_without_memory_ = current_step_;
  note("memory is refused (fault)");
  return true;
}

// ---- nodes ----

uint64_t SimRun::outage_ns() {
  return simulator.choices().between(1, nanos_in_run(faults.longest_outage), ChoiceSite::fault);
}

void SimRun::strike() {
  if (simulator.choices().chance(faults.crash, ChoiceSite::fault)) crash_for_a_while();
  if (simulator.choices().chance(faults.partition, ChoiceSite::fault)) cut_for_a_while();
}

void SimRun::crash_for_a_while() {
  std::vector<SimNodeState*> able;
  for (const auto& node : nodes_) {
    if (node->system != nullptr && node->start) able.push_back(node.get());
  }
  if (able.empty()) return;
  SimNodeState& node =
      *able[simulator.choices().choose(static_cast<uint32_t>(able.size()), ChoiceSite::fault)];
  node.crash();
  node.is_struck = true;
  network.events().after(outage_ns(), [&node, crash = node.crashes] {
    if (node.is_struck && node.crashes == crash) node.switch_on();
  });
}

void SimRun::cut_for_a_while() {
  const auto count = static_cast<uint32_t>(nodes_.size());
  if (count < 2) return;
  const uint32_t a = simulator.choices().choose(count, ChoiceSite::fault);
  const uint32_t b = (a + 1 + simulator.choices().choose(count - 1, ChoiceSite::fault)) % count;
  const bool is_one_way = simulator.choices().choose(2, ChoiceSite::fault) == 1;
  note("the network between " + nodes_[a]->name + " and " + nodes_[b]->name + " is cut");
  network.partition(
      {{a}}, {{b}},
      is_one_way ? drivers::sim::Network::Way::one : drivers::sim::Network::Way::both);
  network.events().after(outage_ns(), [this, a, b] { network.heal(a, b); });
}

void SimRun::heal() {
  set_faults({});
  network.heal();
  for (const auto& node : nodes_) {
    node->skew_clock(0);
    if (node->is_struck) node->switch_on();
  }
}

}  // namespace jzx::detail
