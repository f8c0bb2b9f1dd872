#include "runtime/sim/sim_times.hpp"

namespace jzx::runtime {

std::string wrong_time(const char* what, std::chrono::milliseconds time) {
  if (time.count() >= 0) return {};
  return std::string(what) + " is a negative time: " + std::to_string(time.count()) + " ms";
}

std::string wrong_times(const SimFaults& faults) {
  std::string wrong = wrong_time("SimFaults::longest_delay", faults.longest_delay);
  if (wrong.empty()) wrong = wrong_time("SimFaults::longest_jump", faults.longest_jump);
  if (wrong.empty()) wrong = wrong_time("SimFaults::longest_outage", faults.longest_outage);
  return wrong;
}

std::string wrong_times(const jzx::SimOptions& options) {
  std::string wrong = wrong_time("SimOptions::max_time", options.max_time);
  if (wrong.empty()) wrong = wrong_time("SimOptions::settle", options.settle);
  return wrong.empty() ? wrong_times(options.faults) : wrong;
}

}  // namespace jzx::runtime
