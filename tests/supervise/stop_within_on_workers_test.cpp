// The limit of a child that is stopped, where threads and real clocks are: nothing here depends on
// how long it is.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

constexpr SupervisorOptions kAllTogether{.strategy = Strategy::one_for_all, .intensity = 100'000};

struct Never {};

void wait_deaf() {
  for (;;) {
    try {
      (void)receive([](Never) {});
    } catch (...) {  // NOLINT: this is what it must not do
    }
  }
}

Task<void> await_deaf(Tally& begun) {
  begun.add();
  for (;;) {
    auto nap = sleep(1h);
    (void)co_await nap;
  }
}

struct Parent {
  Tally& begun;
  void on_start(Context& context) {
    SpawnOptions options;
    options.supervisor = context.self();
    EXPECT_TRUE(context.spawn_fn_with(options, [&begun = begun] {
      begun.add();
      wait_deaf();
    }));
  }
  void on(Never) {}
};

struct Plain {
  void on(Never) {}
};

TEST(StopWithinOnWorkers, AGroupOfDeafChildrenIsRestartedAgainAndAgain) {
  Tally begun;
  Runtime runtime(RuntimeOptions{.workers = 2});
  const SupervisorRef family = runtime.supervise(
      kAllTogether,
      {child_fn("fiber",
                [&begun] {
                  begun.add();
                  wait_deaf();
                })
           .stop_within(1ms),
       child_async("task", [&begun] { return await_deaf(begun); }).stop_within(1ms),
       child<Parent>("parent", std::ref(begun)).stop_within(1ms), child<Plain>("last")});
  for (uint64_t round = 1; round <= 10; ++round) {
    ASSERT_TRUE(begun.reaches(3 * round)) << "round " << round;
    Pid last;
    while (!last) last = family.child(3);
    (void)runtime.kill(last);
  }
  EXPECT_TRUE(runtime.shutdown(std::chrono::minutes(1)).empty());
}

struct Begin {};
struct Busy {
  Gate& entered;
  Gate& release;
  void on(Begin) {
    entered.open();
    EXPECT_TRUE(release.wait());
  }
};

// No code is interrupted: not even a kill ends a handler.
TEST(StopWithinOnWorkers, AHandlerThatRunsIsWaitedForAndNamedByTheShutdown) {
  Gate entered;
  Gate release;
  Runtime runtime(RuntimeOptions{.workers = 2});
  const SupervisorRef family = runtime.supervise(
      kAllTogether, {child<Busy>("busy", std::ref(entered), std::ref(release)).stop_within(0ms)});
  family.child_as<Busy>(0) << Begin{};
  ASSERT_TRUE(entered.wait());
  const std::vector<StillAlive> left = runtime.shutdown(0ms);
  const auto busy = std::find_if(left.begin(), left.end(),
                                 [](const StillAlive& one) { return one.name == "busy"; });
  ASSERT_NE(busy, left.end());
  EXPECT_EQ(busy->why, "its handler is still running");
  release.open();
  EXPECT_TRUE(runtime.shutdown(std::chrono::minutes(1)).empty());
}

}  // namespace
}  // namespace jzx::testing
