// The host of one simulated node: it runs its actors one message at a time, when the Simulator says
// so. What gets ready waits in Host::ready until the step under way has ended; then the simulator
// takes it over, to choose from.
//
// Threads: one, that of the simulator.
#pragma once

#include "base/time/timer_wheel.hpp"
#include "core/host.hpp"
#include "drivers/sim/sim_clock.hpp"
#include "io/contract.hpp"

namespace jzx::drivers::sim {

class Simulator;

class SimHost final : public core::Host, private core::Tap {
 public:
  // `node` numbers the nodes of a simulation.
  SimHost(core::System& the_system, Simulator& simulator, io::ReactorPtr reactor,
          uint32_t node) noexcept;
  ~SimHost() override;

  // ---- Executor ----
  void post(base::Runnable& work) override;
  uint64_t now_ns() override { return clock_.now_ns(); }
  void arm(base::Timer& timer, uint64_t delay_ms) override;
  bool disarm(base::Timer& timer) override;
  uint32_t choose(uint32_t count, base::ChoiceSite site) override;
  // A step like all others.
  bool post_blocking(base::Runnable& work) override {
    ready.push(work);
    return true;
  }
  io::Reactor& io() override { return *reactor_; }
  void look_outside() noexcept override { (void)reactor_->wait(0); }

  // ---- Host ----
  void release_watches(core::Actor& actor) noexcept override {
    if (end_watches != nullptr) end_watches(system, actor);
  }
  void submit_last(base::Runnable& work, bool) noexcept override { submit_elsewhere(work); }
  bool unlink_timer(base::Timer& timer) noexcept override;

  // ---- for the simulator ----

  // Runs one piece of work, as its own thread.
  void run(base::Runnable& work);
  // Operations that are done are told of, and timers that are due are fired; without looking where
  // there can be none.
  void look();
  // The same, after time went on.
  void catch_up();
  // Fires this one, whether it is due or not.
  void fire(base::Timer& timer);
  // When the next timer is due, in the time of the simulation; kNever: there is none.
  [[nodiscard]] uint64_t next_timer_ns() const noexcept;
  // The actor that this is; nullptr: another piece of work.
  [[nodiscard]] core::Actor* actor_of(base::Runnable& work) noexcept;

  // Around a turn that is run by hand.
  void enter_thread() noexcept { set_current(this); }
  void leave_thread(base::Executor* outer) noexcept { set_current(outer); }

  // Forgets the fds that an actor watches; nullptr: there are none here.
  void (*end_watches)(core::System& system, core::Actor& actor) noexcept = nullptr;

  // Its actors have ended: no more steps, no more operations.
  void switch_off() noexcept;

  [[nodiscard]] NodeClock& clock() noexcept { return clock_; }
  [[nodiscard]] uint32_t node() const noexcept { return node_; }

 private:
  friend class InName;

  Errc before_send(core::ActorId target, const Envelope& envelope) noexcept override;
  bool hold(core::Actor& target, core::ActorId id, Envelope& envelope) noexcept override;
  void ending(core::Actor& actor) noexcept override;
  void sent(const core::Actor& target, Envelope& envelope) noexcept override;
  void armed(Envelope& envelope) noexcept override;
  void taken(const core::Actor& actor, const Envelope& envelope) noexcept override;

  Simulator& simulator_;
  NodeClock clock_;
  io::ReactorPtr reactor_;
  base::TimerWheel wheel_;
  const uint32_t node_;
  bool is_on_ = true;
  bool has_due_ = false;  // a timer is due that was armed since time last went on
};

// For the length of a scope this thread is that node's.
class InName {
 public:
  explicit InName(SimHost& host) noexcept : outer_(base::Executor::current()) {
    SimHost::set_current(&host);
  }
  ~InName() { SimHost::set_current(outer_); }
  InName(const InName&) = delete;
  InName& operator=(const InName&) = delete;

 private:
  base::Executor* outer_;
};

}  // namespace jzx::drivers::sim
