// Makes a list of choices that fails into a simpler one that fails as well: choices are put back to
// the plain alternative, many at once and then fewer, and what is left is made smaller.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/sim/choices.hpp"

namespace jzx::runtime {

using Taken = std::vector<drivers::sim::Choice>;

// How much work shrinking may be. Short runs are tried often and long ones less, until both the
// runs and the steps are used up. A run that is long by itself, as that of a livelock is, is tried
// only a few times.
class ShrinkBudget {
 public:
  // A run has had so many steps.
  void spend(uint64_t steps) noexcept {
    ++runs_;
    steps_ += steps;
  }
  [[nodiscard]] bool is_spent() const noexcept {
    return runs_ >= kMostRuns || steps_ >= kMostSteps || (runs_ >= kRuns && steps_ >= kSteps);
  }

 private:
  static constexpr uint64_t kRuns = 400;
  static constexpr uint64_t kSteps = 1'000'000;
  static constexpr uint64_t kMostRuns = 20'000;
  static constexpr uint64_t kMostSteps = 8'000'000;

  uint64_t runs_ = 0;
  uint64_t steps_ = 0;
};

// `fails(list)` says whether a run with this list still fails in the same way, and spends of the
// budget. It is not called when that is spent.
[[nodiscard]] Taken shrink(Taken failing, const std::function<bool(const Taken&)>& fails,
                           const ShrinkBudget& budget);

[[nodiscard]] size_t count_of_choices(const Taken& taken) noexcept;

// "n3:1,f17:2": of the choices of who is next the fourth is 1, of faults the eighteenth 2; all
// others are plain. "none": all are.
[[nodiscard]] std::string to_text(const Taken& taken);
// One of them, in the same way.
[[nodiscard]] std::string to_text(drivers::sim::ChoiceSite site, size_t place, uint32_t taken);
// False: not such a text.
[[nodiscard]] bool from_text(std::string_view text, Taken& taken);

}  // namespace jzx::runtime
