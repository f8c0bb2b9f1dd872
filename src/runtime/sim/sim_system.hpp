// Puts one node of a simulation together: System and SimHost, in memory of the user's allocator.
// What jzx::Simulation and jzx::CommandScheduler are made of.
//
// Threads: one, that of the simulator.
#pragma once

#include "drivers/loop/fd_watches.hpp"
#include "drivers/sim/sim_host.hpp"
#include "drivers/sim/simulator.hpp"
#include "runtime/port.hpp"

namespace jzx::detail {
class SimRun;
}

namespace jzx::runtime {

struct SimOptions {
  base::Allocator allocator;
  uint32_t max_actors = 65536;
  uint32_t default_mailbox_cap = 1024;
  uint32_t node = 0;
  uint32_t max_watches = 1;  // mostly there is nothing to watch, but the answer should be the usual
  bool detect_deadlocks = true;
};

class SimSystem final : public detail::Port {
 public:
  // nullptr: no memory.
  [[nodiscard]] static SimSystem* create(const SimOptions& options, drivers::sim::Simulator& sim,
                                         io::ReactorPtr reactor) noexcept;

  // Everything ends, and nobody has a last word. References to what was here are answered
  // loop_closed from then on. False: from inside a step of its own.
  bool power_off() noexcept;
  // The same, and the memory goes too.
  bool destroy() noexcept override;
  core::Host& any_host() noexcept override { return host; }
  bool is_run_by_this_thread() const noexcept override { return true; }
  core::Host* begin_call() noexcept override { return is_open() ? &host : nullptr; }
  void end_call(core::Host&) noexcept override {}
  core::Host* begin_turn() noexcept override;
  void end_turn(core::Host& turn_host) noexcept override;
  drivers::FdWatches& watches_for(int) noexcept override { return watches_; }
  void wake() noexcept override {}
  void request_stop() noexcept override { is_stop_requested_ = true; }

  // True once per request.
  [[nodiscard]] bool take_stop_request() noexcept {
    return std::exchange(is_stop_requested_, false);
  }

  drivers::sim::SimHost host;
  detail::SimRun* run = nullptr;  // the run of a simulation that it is part of, if it is

 private:
  template <class T, class... Args>
  friend T* create_aligned(const base::Allocator&, Args&&...) noexcept;
  template <class T>
  friend void destroy_aligned(base::Allocator, T*) noexcept;

  SimSystem(const SimOptions& options, drivers::sim::Simulator& sim,
            io::ReactorPtr reactor) noexcept;
  ~SimSystem() = default;

  drivers::FdWatches watches_;
  std::vector<base::Executor*> outer_;  // whose thread it was before turns by hand
  bool is_stop_requested_ = false;
};

}  // namespace jzx::runtime
