// A machine of a simulation: what stays of it through its crashes (its name, its disk, its place in
// the network), the system that it runs now, and those that it ran before. It hears what the system
// tells an observer, for the trace and the oracles of the run.
//
// The systems that it had stay, closed, until the end of the run, since there may be references to
// them.
//
// Threads: one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <jzx/sim/simulation.hpp>

#include "drivers/sim/world/sim_reactor.hpp"
#include "runtime/sim/sim_system.hpp"

namespace jzx::detail {

class SimRun;

struct SimNodeState final : Observer {
  SimNodeState(SimRun& the_run, uint32_t the_number, std::string the_name);
  ~SimNodeState() override;

  void switch_on();
  void crash();
  // Its clock is too fast or too slow from now on, by as much as the faults of the run allow.
  void choose_skew();
  void skew_clock(int32_t per_million);
  [[nodiscard]] io::ReactorPtr make_world(const base::Allocator& allocator);

  // ---- Observer ----
  void actor_started(ActorId id, const char* label) override;
  void actor_stopped(ActorId id, ExitReason reason, const ExitText& text) override;
  void actor_restarted(ActorId supervisor, ActorId child, uint32_t attempt) override;
  void supervisor_escalated(ActorId id) override;
  void mailbox_high(ActorId id, uint32_t queued) override;
  void mailbox_full(ActorId id) override;
  void deadlock(ActorId waiter, const char* cycle) override;
  void dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) override;

  SimRun& run;
  const uint32_t number;  // also its name in the network
  const std::string name;
  drivers::sim::Disk disk;
  drivers::sim::SimReactor* reactor = nullptr;  // while it is up
  runtime::SimSystem* system = nullptr;
  uint32_t crashes = 0;
  bool is_struck = false;        // it is down by a fault, and will be started again
  bool is_ending = false;        // a crash is under way
  bool is_wanted_again = false;  // and who heard of that wants it to start again
  std::vector<runtime::SimSystem*> former;
  std::function<void(SimNode&)> start;
  std::unique_ptr<SimNode> face;
};

}  // namespace jzx::detail
