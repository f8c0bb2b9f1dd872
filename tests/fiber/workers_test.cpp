// Fibers on workers: they go from thread to thread, and what is theirs goes with them.
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fiber/checked_runtime.hpp"
#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

struct Go {};
struct Late {
  uint32_t round;
};

class FiberOnWorkers : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(All, FiberOnWorkers, ::testing::Values(1u, 2u), [](const auto& workers) {
  return "workers_" + std::to_string(workers.param);
});

TEST_P(FiberOnWorkers, ATimersMessageThatWasKeptGoesBackToTheWorkerItCameFrom) {
  CheckedRuntime runtime(GetParam());
  Tally done;
  const uint32_t last_worker = GetParam() - 1;
  SpawnOptions options;
  options.placement = Placement::pin_to(last_worker);
  runtime.spawn_fn_with(options, [&] {
    FiberSystem system;
    for (uint32_t round = 0; round < 20; ++round) {
      (void)system.send_after(0ms, self(), Late{round});
      (void)system.send_after(2ms, self(), Go{});
      receive([](Go) {});
      receive([&](Late late) { EXPECT_EQ(late.round, round); });
    }
    done.add();
  });
  EXPECT_TRUE(done.reaches(1));
}

}  // namespace
}  // namespace jzx::testing
