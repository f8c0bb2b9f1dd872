// The faults of the outside world, under the names that are used here.
#pragma once

#include <jzx/sim/world_faults.hpp>

namespace jzx::drivers::sim {

using namespace sim_units;  // NOLINT: three constants
using NetworkFaults = SimNetworkFaults;
using DiskFaults = SimDiskFaults;

inline constexpr size_t kSectorBytes = 512;

}  // namespace jzx::drivers::sim
