// One run of a simulation: the simulator, its nodes, what is looked at in every step, and what was
// wrong first.
//
// Threads: one.
#pragma once

#include <jzx/sim/simulation.hpp>

#include <memory>
#include <set>

#include "drivers/sim/simulator.hpp"
#include "drivers/sim/world/sim_reactor.hpp"
#include "runtime/sim/oracles.hpp"
#include "runtime/sim/sim_system.hpp"
#include "runtime/sim/trace.hpp"

namespace jzx::detail {

class SimRun;

// A machine. It outlives its crashes; the systems that it had stay, closed, until the end of the
// run, since there may be references to them.
struct SimNodeState final : Observer {
  SimNodeState(SimRun& the_run, uint32_t the_number, std::string the_name);
  ~SimNodeState() override;

  void switch_on();
  void crash();
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

// What a run is made with besides, by who replays a record in it.
struct SimFittings {
  // The outside of its nodes; empty: the usual one.
  std::function<io::ReactorPtr(const base::Allocator&)> make_world;
  uint32_t max_watches = 1;
  bool detects_deadlocks = true;
};

class SimRun final : public drivers::sim::Witness {
  runtime::Trace trace_;  // first: others refer to it

 public:
  // `told`: the trace is kept, not only its hash.
  SimRun(const SimOptions& options, drivers::sim::Policy& policy, uint64_t seed, bool told,
         SimFittings fittings = {});
  ~SimRun() override;

  void play(const std::function<void(Sim&)>& scenario);
  // The scenario has returned: what it refers to is gone. Checks what needs none of that.
  void end();
  [[nodiscard]] Sim& sim() noexcept { return *sim_; }

  // ---- as Sim ----
  bool step(uint64_t latest_ns);
  void heal();
  void fail(std::string what);
  void switch_off();
  // Lets everything come to rest, and checks what must be so then. Once.
  void finish();
  // Nothing is left to do now: nobody may have been forgotten.
  void check_rest();
  [[nodiscard]] bool has_failed() const noexcept { return !failure_.empty(); }
  void set_faults(const SimFaults& faults);
  SimNode& node(std::string_view name);
  bool step_of(Pid actor);
  [[nodiscard]] std::vector<SimMessage> mailbox(Pid actor);
  void note(std::string text);

  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] const runtime::Trace& trace() const noexcept { return trace_; }

  struct Claim {
    std::string what;
    std::function<bool()> holds;
  };

  const SimOptions& options;
  const uint64_t seed;
  const SimFittings fittings;
  SimFaults faults;
  drivers::sim::Simulator simulator;
  drivers::sim::Network network;
  std::vector<Claim> always;
  std::vector<Claim> eventually;
  std::set<runtime::ActorKey> exempt;
  runtime::Oracles oracles;
  std::vector<SimMock> mocks;
  std::vector<std::shared_ptr<void>> kept;

 private:
  friend struct SimNodeState;

  // ---- Witness ----
  void before_step(drivers::sim::SimHost& host, const drivers::sim::Step& step) override;
  void after_step(drivers::sim::SimHost& host, const drivers::sim::Step& step) override;
  void message_sent(drivers::sim::SimHost& host, ActorId target, const Envelope& envelope,
                    uint64_t sequence, uint64_t cause) override;
  void send_refused(drivers::sim::SimHost& host, ActorId target, const Envelope& envelope,
                    Errc error) override;

  void fail_if(std::string wrong) {
    if (!wrong.empty()) fail(std::move(wrong));
  }
  void put_mock(drivers::sim::SimHost& host, const drivers::sim::Step& step);
  void check_waits();
  void strike();
  void crash_for_a_while();
  void cut_for_a_while();
  [[nodiscard]] uint64_t outage_ns();
  [[nodiscard]] base::Allocator allocator() noexcept;
  [[nodiscard]] std::string name_of(uint32_t node, ActorId id) const {
    return trace_.name_of({node, id});
  }

  std::unique_ptr<Sim> sim_;  // before the nodes: who ends with them may still look at it
  std::vector<std::unique_ptr<SimNodeState>> nodes_;
  std::string failure_;
  bool has_finished_ = false;
  uint64_t current_step_ = 0;
  uint64_t step_without_memory_ = 0;  // the last in which some was refused
};

}  // namespace jzx::detail
