// A runtime with nothing to do takes no CPU time, and nobody in it wakes up to look. The wait is a
// timer's, and what is measured is not how long it takes but what the process does meanwhile.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

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

// How often any thread of the process has gone to sleep.
long sleeps() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_nvcsw;
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

// First everybody goes to sleep, which takes a few naps at most; then the worker of the timer wakes
// up a few times as the wheel turns, and this thread once.
TEST_P(Idle, NobodyWakesUpToLook) {
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  auto [future, promise] = jzx::promise<void>();
  auto [second, second_promise] = jzx::promise<void>();
  const auto first_sleeper = runtime.spawn<Sleeper>(promise);
  const auto second_sleeper = runtime.spawn<Sleeper>(second_promise);
  ASSERT_EQ(runtime.send_after(100ms, first_sleeper, Alarm{}), Errc::ok);
  ASSERT_EQ(runtime.send_after(600ms, second_sleeper, Alarm{}), Errc::ok);
  ASSERT_TRUE(future.get().ok());
  const long before = sleeps();
  ASSERT_TRUE(second.get().ok());
  // One that looked every 10 ms would do so fifty times.
  EXPECT_LT(sleeps() - before, 20 + static_cast<long>(GetParam()));
}

struct Again {
  uint64_t times;
};
struct Soliloquist {
  struct Begin {
    ActorRef<Soliloquist> self;
    Again first;
    Promise<void> done;
  };
  ActorRef<Soliloquist> self{};
  Promise<void> done{};

  void on(Begin begin) {
    self = begin.self;
    done = std::move(begin.done);
    EXPECT_EQ(self.send(begin.first), Errc::ok);
  }
  void on(Again again) {
    if (again.times == 0) return done.resolve();
    EXPECT_EQ(self.send(Again{again.times - 1}), Errc::ok);
  }
};

// It is the only one that is ready, and goes on at once: nobody is told when a turn of it is over.
TEST_P(Idle, NobodyWakesUpForOneWhoTalksToItself) {
  constexpr uint64_t kMessages = 1'000'000;
  constexpr long kTurns = kMessages / 64;
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  auto [future, promise] = jzx::promise<void>();
  const auto actor = runtime.spawn<Soliloquist>();
  const long before = sleeps();
  ASSERT_EQ(actor.send(Soliloquist::Begin{actor, {kMessages}, std::move(promise)}), Errc::ok);
  ASSERT_TRUE(future.get().ok());
  EXPECT_LT(sleeps() - before, kTurns / 10);
}

}  // namespace
}  // namespace jzx::testing
