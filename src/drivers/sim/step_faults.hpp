// Faults of a simulation that concern actors and their messages. Each rate is in cases of a
// million; 0, which is the default, switches it off.
#pragma once

#include <cstdint>

#include "drivers/sim/sim_clock.hpp"

namespace jzx::drivers::sim {

struct StepFaults {
  uint32_t kill = 0;    // per turn: the actor is killed instead
  uint32_t throws = 0;  // per message, and per wait that ends: it throws
  // So does this one of them all, counted from the first of the run; 0: none. See
  // Simulator::throwable().
  uint64_t throw_at = 0;
  uint32_t delay = 0;  // per send between actors: it comes later, see late_mail.hpp
  uint64_t longest_delay_ns = 100'000'000;
  uint64_t last_arrival_ns = VirtualTime::kEnd;  // what would come later comes then
  uint32_t full_mailbox = 0;                     // per send: refused, as if there was no room
  uint32_t no_memory = 0;                        // per send: refused, as if there was no memory
  uint32_t clock_jump = 0;                       // per step: the node's clock jumps ahead
  uint64_t longest_jump_ns = 10'000'000'000;
  // After a kill, in every second case: so many actors of that node at most, of those that start
  // next, are killed in their first turn.
  uint32_t storm = 0;
};

}  // namespace jzx::drivers::sim
