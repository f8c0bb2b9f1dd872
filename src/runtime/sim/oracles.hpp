// What must hold in every simulation, whatever the actors are:
//
//   ledger        every accepted message was handled, dead-lettered, or is queued
//   order         two messages from one actor to another are taken in the order they were sent
//   monitors      exactly one Down each
//   wake-ups      when everything has come to rest nobody has mail that he could take, and nobody
//   is
//                 left out of a queue that he should be in
//   supervisors   restart and escalate as a much simpler model of them says
//
// Each function answers what is wrong; empty: nothing.
//
// Threads: one.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "drivers/sim/sim_host.hpp"
#include "drivers/sim/step.hpp"
#include "runtime/port.hpp"
#include "runtime/sim/trace.hpp"

namespace jzx::supervise {
struct ChildSlot;
class Supervisor;
}  // namespace jzx::supervise

namespace jzx::runtime {

class Oracles {
 public:
  using SimHost = drivers::sim::SimHost;
  using Step = drivers::sim::Step;

  explicit Oracles(const Trace& trace) noexcept : trace_(trace) {}

  [[nodiscard]] std::string before_step(SimHost& host, const Step& step);
  [[nodiscard]] std::string after_step(SimHost& host, const Step& step);
  [[nodiscard]] std::string sent(const SimHost& host, ActorId target, const Envelope& envelope);
  [[nodiscard]] std::string restarted(const SimHost& host, ActorId supervisor, uint64_t step);
  [[nodiscard]] std::string escalated(const SimHost& host, ActorId supervisor);
  // The node is at rest: nothing is ready, and no timer is armed.
  [[nodiscard]] std::string at_rest(detail::Port& port, const SimHost& host) const;
  // Those on a node at rest that wait for something else than mail, by name. Empty: nobody.
  [[nodiscard]] std::string stuck(detail::Port& port, const SimHost& host) const;
  // At any moment between two steps.
  [[nodiscard]] std::string ledger(detail::Port& port) const;
  // A node has crashed: its actors are nobody's business any more.
  void forget(uint32_t node);

 private:
  struct Pair {
    ActorKey from;
    ActorId to = 0;
    friend auto operator<=>(const Pair&, const Pair&) noexcept = default;
  };
  // A supervisor about to hear of a child's end.
  struct Hearing {
    bool is_open = false;
    bool is_strange = false;  // a supervisor that it has no spec for: that is always too much
    const supervise::ChildSlot* ended = nullptr;  // one whose fate depends on nobody else
    bool comes_back = false;                      // and what that must be
    std::vector<ActorId> unconcerned;             // children that must stay as they are
  };
  struct Restarts {
    std::deque<uint64_t> times_ns;
    uint64_t last_step = 0;  // those of one step are one
  };

  [[nodiscard]] std::string check_order(const Step& step);
  void begin_hearing(SimHost& host, const Step& step);
  [[nodiscard]] std::string check_hearing(SimHost& host, const Step& step) const;
  [[nodiscard]] std::string check_unconcerned(SimHost& host,
                                              const supervise::Supervisor& supervisor,
                                              ActorId id) const;
  [[nodiscard]] Restarts& recent_restarts(const SimHost& host, ActorId supervisor);
  [[nodiscard]] std::string check_supervisor(const SimHost& host, const core::Actor& actor) const;
  [[nodiscard]] std::string name(const SimHost& host, ActorId id) const {
    return trace_.name_of({host.node(), id});
  }

  const Trace& trace_;
  std::map<Pair, uint64_t> newest_;  // message taken, of each pair
  std::vector<bool> taken_;          // by the numbers of messages: stashed ones come again
  std::set<std::pair<uint32_t, uint64_t>> told_downs_;  // node and reference
  std::map<ActorKey, Restarts> restarts_;               // of each supervisor
  Hearing hearing_;
};

}  // namespace jzx::runtime
