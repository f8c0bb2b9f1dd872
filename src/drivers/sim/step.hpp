// One step of a simulation: a piece of work that was chosen and run. What is told of it contains no
// address, so that two runs with the same choices tell the same.
#pragma once

#include <cstdint>

#include <jzx/envelope.hpp>
#include <jzx/errc.hpp>

namespace jzx::drivers::sim {

class SimHost;

enum class StepKind : uint8_t {
  first_turn,
  message,  // an actor takes its next message
  resumed,  // an actor goes on after it waited, or is told to end
  other,    // work that is no actor's: a file is closed, a name is looked up
};

// What was done to a step on purpose.
enum class Mishap : uint8_t { none, killed, threw, refused, no_memory, clock_jumped };

struct Step {
  uint64_t number = 0;  // from 1
  uint64_t time_ns = 0;
  uint64_t cause = 0;     // the step that sent the message, or woke it; 0: from outside
  uint64_t sequence = 0;  // of the message among all; 0: none
  ActorId actor = 0;
  ActorId sender = 0;
  const MessageType* message = nullptr;
  uint32_t tag = 0;  // of a raw message
  uint32_t node = 0;
  StepKind kind = StepKind::other;
  Mishap mishap = Mishap::none;
};

// Told of everything, changes nothing.
class Witness {
 public:
  virtual ~Witness() = default;

  virtual void before_step(SimHost&, const Step&) {}
  virtual void after_step(SimHost&, const Step&) {}
  // Outside of, or in the middle of, a step. `cause` is that step.
  virtual void message_sent(SimHost&, ActorId /*target*/, const Envelope&, uint64_t /*sequence*/,
                            uint64_t /*cause*/) {}
  virtual void send_refused(SimHost&, ActorId /*target*/, const Envelope&, Errc) {}
  // It comes later, and with it all that follows from that sender.
  virtual void message_held(SimHost&, ActorId /*target*/, const Envelope&) {}
  // Only where Simulator::tells_takes is on.
  virtual void message_taken(SimHost&, ActorId /*actor*/, const Envelope&, uint64_t /*sequence*/) {}
  virtual void time_moved(uint64_t /*from_ns*/, uint64_t /*to_ns*/) {}
};

}  // namespace jzx::drivers::sim
