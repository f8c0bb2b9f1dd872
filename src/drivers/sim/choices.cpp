#include "drivers/sim/choices.hpp"

#include <limits>

#include "base/assert.hpp"

namespace jzx::drivers::sim {

namespace {

ChoiceSite amount_of(ChoiceSite site) noexcept {
  switch (site) {
    case ChoiceSite::fault:
      return ChoiceSite::fault_amount;
    case ChoiceSite::network:
      return ChoiceSite::network_amount;
    case ChoiceSite::disk:
      return ChoiceSite::disk_amount;
    default:
      return site;
  }
}

}  // namespace

uint64_t Choices::between(uint64_t least, uint64_t most, ChoiceSite site) {
  if (most <= least) return least;
  constexpr uint64_t kSteps = std::numeric_limits<uint32_t>::max();
  const uint64_t span = most - least;
  site = amount_of(site);
  if (span < kSteps) return least + choose(static_cast<uint32_t>(span + 1), site);
  // Too many alternatives for one choice: take them in equal steps.
  const uint64_t step = span / kSteps + 1;
  return least + choose(static_cast<uint32_t>(span / step + 1), site) * step;
}

uint32_t Choices::note(ChoiceSite site, uint32_t count, uint32_t taken) {
  JZX_ASSERT(taken < count);
  made_.push_back({site, count, taken});
  return taken;
}

}  // namespace jzx::drivers::sim
