// Falling asleep and being woken: whatever others leave, and whenever, the worker finds it. First
// at chosen moments on a scripted reactor, then with real threads on real reactors.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/rig.hpp"
#include "drivers/loop/worker.hpp"
#include "drivers/scripted_reactor.hpp"
#include "support/scale.hpp"

namespace jzx::drivers {
namespace {

using base::kNever;
using jzx::testing::make_scripted_reactor;
using jzx::testing::Rig;
using jzx::testing::scaled;
using jzx::testing::ScriptedReactor;

class Job : public base::Runnable {
 public:
  explicit Job(std::function<void()> action = {})
      : Runnable(&Job::execute), action_(std::move(action)) {}
  int runs = 0;

 private:
  static void execute(base::Runnable& self, base::Executor&) {
    auto& job = static_cast<Job&>(self);
    ++job.runs;
    if (job.action_) job.action_();
  }
  std::function<void()> action_;
};

class Alarm : public base::Timer {
 public:
  Alarm() : Timer([](base::Timer& self, base::Executor&) { ++static_cast<Alarm&>(self).fired; }) {}
  int fired = 0;
};

// A manual clock that lets the test act inside the worker's last clock read before it sleeps.
class TellingClock final : public base::Clock {
 public:
  uint64_t now_ns() noexcept override { return now; }
  uint64_t allowed_wait_ns(uint64_t deadline_ns) noexcept override {
    if (when_asked) std::exchange(when_asked, nullptr)();
    return deadline_ns == kNever ? kNever : deadline_ns - now;
  }
  uint64_t now = 1'000'000'000;
  std::function<void()> when_asked;
};

class ASleepyWorker : public ::testing::Test {
 protected:
  ASleepyWorker() : ASleepyWorker(make_scripted_reactor()) {}
  explicit ASleepyWorker(std::pair<io::ReactorPtr, ScriptedReactor*> made)
      : reactor(*made.second), worker(system, clock, std::move(made.first), WorkerOptions{}) {}

  void tick() { ASSERT_EQ(worker.tick(kNever), 0); }

  core::System system{core::SystemOptions{}};
  TellingClock clock;
  ScriptedReactor& reactor;
  Worker worker;
};

TEST_F(ASleepyWorker, SleepsWithoutAnEndWhenThereIsNothingToDo) {
  tick();
  EXPECT_EQ(reactor.sleeps, 1);
  EXPECT_EQ(reactor.last_timeout_ns, kNever);
  EXPECT_TRUE(reactor.overslept);
}

TEST_F(ASleepyWorker, IsWokenByAPostBetweenItsLastLookAndItsSleep) {
  Job job;
  reactor.before_sleep = [&] { worker.post(job); };
  tick();
  EXPECT_FALSE(reactor.overslept);
  EXPECT_EQ(job.runs, 1) << "in the same tick";
}

TEST_F(ASleepyWorker, IsWokenByAStopRequestBetweenItsLastLookAndItsSleep) {
  reactor.before_sleep = [&] { worker.request_stop(); };
  tick();
  EXPECT_FALSE(reactor.overslept);
  EXPECT_TRUE(worker.take_stop_request());
  EXPECT_FALSE(worker.take_stop_request()) << "once per request";
}

TEST_F(ASleepyWorker, DoesNotSleepOnAPostThatCameWhileItReckonedHowLong) {
  Alarm alarm;
  worker.arm(alarm, 50);
  Job job;
  clock.when_asked = [&] { worker.post(job); };
  tick();
  EXPECT_EQ(reactor.sleeps, 0);
  EXPECT_EQ(reactor.wakes, 0) << "it had not said yet that it sleeps";
  EXPECT_EQ(job.runs, 1);
  worker.disarm(alarm);
}

TEST_F(ASleepyWorker, DoesNotSleepOnAStopRequestThatCameWhileItReckonedHowLong) {
  Alarm alarm;
  worker.arm(alarm, 50);
  clock.when_asked = [&] { worker.request_stop(); };
  tick();
  EXPECT_EQ(reactor.sleeps, 0);
  EXPECT_TRUE(worker.take_stop_request());
  worker.disarm(alarm);
}

TEST_F(ASleepyWorker, DoesNotSleepOnWhatWasPostedBeforeTheTick) {
  Job job;
  worker.post(job);
  tick();
  EXPECT_EQ(reactor.sleeps, 0);
  EXPECT_EQ(reactor.wakes, 0);
  EXPECT_EQ(job.runs, 1);
}

TEST_F(ASleepyWorker, SleepsNoLongerThanUntilItsNextTimer) {
  Alarm alarm;
  worker.arm(alarm, 50);
  tick();
  EXPECT_EQ(reactor.sleeps, 1);
  EXPECT_LE(reactor.last_timeout_ns, 50 * base::kNanosPerMilli);
  EXPECT_GT(reactor.last_timeout_ns, 0u);
  worker.disarm(alarm);
}

TEST_F(ASleepyWorker, IsWokenByOneSystemCallHoweverManyPost) {
  std::vector<Job> jobs(10);
  reactor.before_sleep = [&] {
    for (Job& job : jobs) worker.post(job);
    worker.request_stop();
  };
  tick();
  EXPECT_EQ(reactor.wakes, 1);
  EXPECT_TRUE(worker.take_stop_request());
}

TEST_F(ASleepyWorker, IsNotWokenWhileItIsAwake) {
  Job late;
  Job job([&] { worker.post(late); });
  worker.post(job);
  tick();
  EXPECT_EQ(reactor.wakes, 0);
  EXPECT_EQ(late.runs, 1) << "what is posted meanwhile belongs to the same tick";
}

TEST_F(ASleepyWorker, IsNotWokenAgainAfterItWokeUp) {
  Job first;
  Job second;
  reactor.before_sleep = [&] { worker.post(first); };
  tick();
  worker.post(second);
  EXPECT_EQ(reactor.wakes, 1);
  tick();
  EXPECT_EQ(second.runs, 1);
}

// ---- with real threads; a lost wake-up shows as a test that never ends ----

TEST(SleepUnderThreads, EveryPostIsFoundAlthoughTheWorkerKeepsFallingAsleep) {
  const size_t rounds = scaled(2000, 10);
  constexpr int kThreads = 2;
  Rig rig;
  Worker& worker = rig.worker();
  std::atomic<int> still_posting{kThreads};
  std::vector<std::thread> threads;
  std::atomic<uint64_t> runs{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      std::atomic<bool> done{false};
      Job job([&] {
        runs.fetch_add(1);
        done.store(true);
      });
      for (size_t n = 0; n < rounds; ++n) {
        done.store(false);
        worker.post(job);
        while (!done.load()) std::this_thread::yield();
      }
      if (still_posting.fetch_sub(1) == 1) worker.request_stop();
    });
  }
  while (!worker.take_stop_request()) ASSERT_EQ(worker.tick(kNever), 0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs.load(), kThreads * rounds);
}

TEST(SleepUnderThreads, EveryStopRequestEndsOneRunWheneverItComes) {
  const size_t rounds = scaled(1000, 10);
  Rig rig;
  rig.spawn();  // alive and idle: only a stop ends the run
  std::atomic<size_t> about_to_run{0};
  std::thread stopper([&] {
    for (size_t n = 1; n <= rounds; ++n) {
      while (about_to_run.load() < n) std::this_thread::yield();
      for (size_t spin = 0; spin < n % 64; ++spin) (void)about_to_run.load();
      rig.parts->loop.request_stop();
    }
  });
  for (size_t n = 1; n <= rounds; ++n) {
    about_to_run.store(n);
    ASSERT_EQ(rig.parts->loop.run(), Errc::ok);
  }
  stopper.join();
  EXPECT_FALSE(rig.worker().take_stop_request()) << "each was consumed by its run";
}

}  // namespace
}  // namespace jzx::drivers
