// Tests that run on a loop and on the simulator, unchanged: their system is a ClockedLoop, which is
// driven by what the test's parameter says.
//
//   JZX_SUITE_ON_ALL_DRIVERS(Timers);            or: class Timers : public OnAnyDriver { … };
//   TEST_P(Timers, …) { ClockedLoop loop; … }        JZX_ON_ALL_DRIVERS(Timers);
//
// What nobody promised differs between them: who of several runs first, and how many messages an
// actor takes in one turn.
//
// JZX_SEED=n runs the orders of that seed in place of the usual ones, JZX_SEED_COUNT=n so many.
//
// Threads: the test's.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/seeds.hpp"
#include "support/sim_engine.hpp"

namespace jzx::testing {

[[nodiscard]] inline std::vector<std::string> sim_drivers() {
  std::vector<std::string> all = {"sim_fifo"};
  for (const uint64_t seed : seeds({1, 2})) {
    all.push_back("sim_random_" + std::to_string(seed));
    all.push_back("sim_pct_" + std::to_string(seed));
  }
  return all;
}
[[nodiscard]] inline std::vector<std::string> all_drivers() {
  std::vector<std::string> all = sim_drivers();
  all.insert(all.begin(), "loop");
  return all;
}

// What a ClockedLoop is driven by now.
[[nodiscard]] inline std::string& chosen_driver() {
  static std::string chosen = "loop";
  return chosen;
}

// For the length of a test.
class ChosenDriver {
 public:
  explicit ChosenDriver(const std::string& driver)
      : before_(std::exchange(chosen_driver(), driver)) {}
  ~ChosenDriver() { chosen_driver() = before_; }
  ChosenDriver(const ChosenDriver&) = delete;
  ChosenDriver& operator=(const ChosenDriver&) = delete;

 private:
  std::string before_;
};

class OnAnyDriver : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static bool is_on_sim() { return is_simulated(GetParam()); }

 private:
  ChosenDriver driver_{GetParam()};
};

#define JZX_ON_ALL_DRIVERS(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(All, suite, ::testing::ValuesIn(jzx::testing::all_drivers()), \
                           [](const auto& one) { return one.param; })
#define JZX_SUITE_ON_ALL_DRIVERS(suite)                \
  class suite : public ::jzx::testing::OnAnyDriver {}; \
  JZX_ON_ALL_DRIVERS(suite)

}  // namespace jzx::testing
