// The simulator: the third driver. One thread runs the actors of one or more nodes, step by step,
// in virtual time.
//
//   step ──▶ something is ready ──▶ choose one of it, run it for one message
//        └─▶ nothing is ready ────▶ time jumps to the next timer or outside event
//
// What is ready is kept in the order in which it was caused: an actor by the number of its next
// message, others by when they were woken. So the first alternative of every choice is the oldest
// cause, and who always takes it runs everything in one global first-in first-out order.
//
// Threads: one.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <vector>

#include "core/actor.hpp"
#include "drivers/sim/choices.hpp"
#include "drivers/sim/late_mail.hpp"
#include "drivers/sim/sim_clock.hpp"
#include "drivers/sim/step.hpp"
#include "drivers/sim/step_faults.hpp"
#include "drivers/sim/world/events.hpp"

namespace jzx::drivers::sim {

// Decides when timers fire, in place of the time: see SimHost::fire().
class TimerKeeper {
 public:
  virtual ~TimerKeeper() = default;
  virtual void armed(SimHost& host, base::Timer& timer) = 0;
  // It will not fire, unless it is armed again.
  virtual void disarmed(base::Timer& timer) noexcept = 0;
};

class Simulator {
 public:
  explicit Simulator(Policy& policy) noexcept : choices_(policy) {}
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // ---- running ----

  // Does one thing; time may jump before it, but not beyond `latest_ns`. False: there is nothing to
  // do until then.
  bool step(uint64_t latest_ns = base::kNever);
  // Time goes on to there; what becomes due is ready then.
  void move_to(uint64_t ns);
  // Could something run without time going on?
  [[nodiscard]] bool has_ready();
  // Is there anything that will happen when time goes on?
  [[nodiscard]] bool has_timers() { return next_event_ns() != base::kNever; }
  // Is a message held up by a fault?
  [[nodiscard]] bool has_delayed() const noexcept { return !late_mail_.is_empty(); }
  // Who could run now, the oldest first.
  [[nodiscard]] std::span<const Candidate> candidates();
  // Runs the piece of work with this number among the candidates.
  void run_candidate(uint32_t index);
  // Out of what is ready, to be run by the caller; false: it is not there.
  [[nodiscard]] bool take_back(base::Runnable& work) noexcept;
  // When time could go on to, if nothing is ready; kNever: nothing will ever happen.
  [[nodiscard]] uint64_t next_event_ns();

  // How candidates name an actor.
  [[nodiscard]] static uint64_t name_of(uint32_t node, core::ActorId id) noexcept {
    return (uint64_t{node} << 56) ^ id;
  }

  [[nodiscard]] VirtualTime& time() noexcept { return time_; }
  [[nodiscard]] Choices& choices() noexcept { return choices_; }
  [[nodiscard]] uint64_t steps() const noexcept { return step_number_; }
  [[nodiscard]] uint64_t messages() const noexcept { return sequence_; }
  // How many turns have been had that could throw: for a message, or because a wait is over.
  [[nodiscard]] uint64_t throwable() const noexcept { return throwable_; }

  // ---- what may go wrong, and who looks on ----

  StepFaults faults;
  // Whom faults may concern; empty: everybody.
  std::function<bool(SimHost&, core::ActorId)> may_fail;
  // May be null. Must outlive the steps.
  Witness* witness = nullptr;
  Events* outside = nullptr;            // what happens in networks and on disks
  bool tells_takes = false;             // the witness hears of every single message taken
  TimerKeeper* timer_keeper = nullptr;  // null: timers fire when they are due

  // ---- for hosts ----

  void add(SimHost& host);
  // Forgets it with all its work.
  void remove(SimHost& host) noexcept;
  [[nodiscard]] Errc before_send(SimHost& host, core::ActorId target,
                                 const Envelope& envelope) noexcept;
  [[nodiscard]] bool hold(SimHost& host, core::Actor& target, core::ActorId id,
                          Envelope& envelope) noexcept;
  void ending(SimHost& host, core::ActorId id) noexcept {
    if (!late_mail_.is_empty()) late_mail_.let_go(host, id);
  }
  void sent(SimHost& host, const core::Actor& target, Envelope& envelope) noexcept;
  void taken(SimHost& host, const core::Actor& actor, const Envelope& envelope) noexcept {
    if (witness != nullptr) witness->message_taken(host, actor.id(), envelope, number_of(envelope));
  }
  // Remembers in a timer's message what it was armed by.
  void armed(Envelope& envelope) const noexcept {
    envelope.trace = static_cast<uint32_t>(current_step_);
  }

  // The number of a message that is queued.
  [[nodiscard]] uint64_t number_of(const Envelope& envelope) const noexcept;
  // The cause of a message: the step in which it was sent, 0 if from outside.
  [[nodiscard]] uint64_t cause_of(uint64_t sequence) const noexcept {
    return sequence == 0 || sequence > causes_.size() ? 0 : causes_[sequence - 1];
  }

 private:
  struct Ready {
    SimHost* host = nullptr;
    base::Runnable* work = nullptr;
    uint64_t cause = 0;
    bool is_resumed = false;  // it waited for something else than mail
  };

  void collect();
  void take_over(SimHost& host, base::Runnable& work);
  void insert(const Candidate& candidate, const Ready& ready);
  // False: there is nothing to wait for, or only after `latest_ns`.
  [[nodiscard]] bool advance(uint64_t latest_ns);
  void run(const Candidate& candidate, const Ready& ready);
  [[nodiscard]] Step describe(const Ready& ready, core::Actor* actor);
  // Something may go wrong with this step.
  void strike(SimHost& host, core::Actor* actor, Step& step);
  [[nodiscard]] bool is_to_throw(core::Actor& actor, const Step& step);
  void throw_in(SimHost& host, core::Actor& actor);
  [[nodiscard]] bool is_exempt(SimHost& host, core::ActorId id) const {
    return may_fail && !may_fail(host, id);
  }
  void tell_after(SimHost& host, const Step& step) {
    if (witness != nullptr) witness->after_step(host, step);
  }

  Choices choices_;
  VirtualTime time_;
  std::vector<SimHost*> hosts_;   // null: gone, since who is told of something may end another
  std::set<uint64_t> suspended_;  // who waits for something else than mail, by name
  // What is ready from first_ready_ on, in order; two arrays, since policies see one of them.
  std::vector<Candidate> candidates_;
  std::vector<Ready> ready_;
  size_t first_ready_ = 0;
  LateMail late_mail_;
  std::vector<uint64_t> causes_;  // of each message, by its number
  uint64_t sequence_ = 0;
  uint64_t step_number_ = 0;
  uint64_t current_step_ = 0;  // 0: outside of steps
  uint64_t others_ = 0;        // pieces of work that are no actors
  uint64_t throwable_ = 0;
  uint32_t storm_left_ = 0;
};

}  // namespace jzx::drivers::sim
