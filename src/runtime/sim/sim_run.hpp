// One run of a simulation: the simulator, its nodes, what is looked at in every step, and what was
// wrong first.
//
// Threads: one.
#pragma once

#include <jzx/sim/simulation.hpp>

#include <memory>
#include <set>

#include "drivers/sim/simulator.hpp"
#include "runtime/sim/oracles.hpp"
#include "runtime/sim/sim_node_state.hpp"
#include "runtime/sim/trace.hpp"

namespace jzx::detail {

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
  // Nothing is ready: time goes on to the next event. False: something is, or there is no event.
  bool pass_time();
  // Time goes on, whoever is ready; not beyond its end.
  void move_to(uint64_t ns);
  void heal();
  void fail(std::string what);
  void fail_if(std::string wrong) {
    if (!wrong.empty()) fail(std::move(wrong));
  }
  void switch_off();
  // Lets everything come to rest, and checks what must be so then. Once.
  void finish();
  // Nothing is left to do now: nobody may have been forgotten.
  void check_rest();
  [[nodiscard]] bool has_finished() const noexcept { return has_finished_; }
  [[nodiscard]] bool has_failed() const noexcept { return !failure_.empty(); }
  void set_faults(const SimFaults& faults);
  SimNode& node(std::string_view name);
  bool step_of(Pid actor);
  [[nodiscard]] std::vector<SimMessage> mailbox(Pid actor);
  void note(std::string text);

  struct Claim {
    std::string what;
    std::function<bool()> holds;
  };
  // False: it does not hold, or looking at it threw; the run has failed. What it threw goes no
  // farther: whoever caught it would let the run pass.
  bool look_at(const Claim& claim, const char* otherwise);

  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] const runtime::Trace& trace() const noexcept { return trace_; }

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
  void message_held(drivers::sim::SimHost& host, ActorId target, const Envelope& envelope) override;

  // What moves the run is the scenario's: actors, claims and mocks are in the middle of a step.
  // False: such a one has called it; the run has failed.
  [[nodiscard]] bool may_move();
  void put_mock(drivers::sim::SimHost& host, const drivers::sim::Step& step);
  [[nodiscard]] uint64_t last_ns() const noexcept;  // of the longest run
  [[nodiscard]] uint64_t nanos_in_run(std::chrono::milliseconds time) const noexcept;
  void choose_throw();
  void check_waits();
  template <class F>
  auto short_of_memory(F&& step);
  void strike();
  void crash_for_a_while();
  void cut_for_a_while();
  [[nodiscard]] uint64_t outage_ns();
  [[nodiscard]] base::Allocator allocator() noexcept;
  [[nodiscard]] bool refuses_memory();
  [[nodiscard]] std::string name_of(uint32_t node, ActorId id) const {
    return trace_.name_of({node, id});
  }

  std::unique_ptr<Sim> sim_;  // before the nodes: who ends with them may still look at it
  std::vector<std::unique_ptr<SimNodeState>> nodes_;
  std::string failure_;
  bool has_finished_ = false;
  bool is_moving_ = false;  // in a step, or time goes on
  uint64_t current_step_ = 0;
  uint64_t step_without_memory_ = 0;  // the last in which some was refused
};

}  // namespace jzx::detail
