// Times that a user gives a simulation, in the simulator's own units. What is longer than virtual
// time itself is for ever; a negative one is a mistake, which is told.
//
// Threads: any.
#pragma once

#include <jzx/sim/simulation.hpp>

#include <algorithm>
#include <chrono>
#include <string>

#include "drivers/sim/sim_clock.hpp"

namespace jzx::runtime {

// Not more than virtual time has: sums of a few do not overflow.
[[nodiscard]] constexpr uint64_t nanos_of(std::chrono::milliseconds time) noexcept {
  constexpr uint64_t kMost = drivers::sim::VirtualTime::kEnd;
  if (time.count() <= 0) return 0;
  const auto millis = static_cast<uint64_t>(time.count());
  return millis < kMost / base::kNanosPerMilli ? millis * base::kNanosPerMilli : kMost;
}

// VirtualTime::kEnd: for ever.
[[nodiscard]] constexpr uint64_t time_after(uint64_t now_ns,
                                            std::chrono::milliseconds time) noexcept {
  return std::min(now_ns + nanos_of(time), drivers::sim::VirtualTime::kEnd);
}

// What is wrong; empty: nothing.
[[nodiscard]] std::string wrong_time(const char* what, std::chrono::milliseconds time);
[[nodiscard]] std::string wrong_times(const SimFaults& faults);
[[nodiscard]] std::string wrong_times(const jzx::SimOptions& options);

}  // namespace jzx::runtime
