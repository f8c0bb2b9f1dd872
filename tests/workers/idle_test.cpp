// A runtime with nothing to do takes no CPU time. The wait is a timer's, and what is measured is
// not how long it takes but what the process spends meanwhile.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  EXPECT_EQ(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

struct Alarm {};
struct Sleeper {
  Promise<void>& rings;
  void on(Alarm) { rings.resolve(); }
};
struct Resident {
  int on(Alarm) { return 1; }
};

class Idle : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, Idle, ::testing::Values(1u, 2u, 8u));

TEST_P(Idle, ARuntimeThatWaitsForATimerTakesNoCpuTime) {
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  auto [future, promise] = jzx::promise<void>();
  const auto sleeper = runtime.spawn<Sleeper>(promise);
  const auto resident = runtime.spawn<Resident>();
  ASSERT_TRUE(runtime.block_on(resident.ask(Alarm{})).ok());
  ASSERT_TRUE(runtime.spawn_blocking([] { return 1; }).get().ok());
  ASSERT_EQ(runtime.send_after(300ms, sleeper, Alarm{}), Errc::ok);
  const auto before = cpu_time();
  ASSERT_TRUE(future.get().ok());
  EXPECT_LT(cpu_time() - before, 20ms);
}

}  // namespace
}  // namespace jzx::testing
