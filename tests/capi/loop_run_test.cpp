// Running a loop: when a run ends, what a stop request does, run_once, and the fd by
// which a foreign event loop can own the thread.
#include <gtest/gtest.h>
#include <poll.h>
#include <time.h>

#include <atomic>
#include <thread>
#include <vector>

#include "jzx/jzx.h"
#include "support/fds.hpp"
#include "support/scale.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

// Stops the loop on every message.
Probe& stopper(TestLoop& loop) {
  return loop.probe([](jzx_context* ctx, const Received&) {
    jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  });
}

uint64_t thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

// ---- run ---------------------------------------------------------------------

TEST(LoopRun, ReturnsZeroAtOnceWhenNobodyIsAlive) {
  TestLoop loop;
  EXPECT_EQ(loop.run(), 0);
}

TEST(LoopRun, ReturnsZeroWhenTheLastActorEnds) {
  TestLoop loop;
  const jzx_actor_id one = loop.spawn_quiet();
  const jzx_actor_id two = loop.spawn_quiet();
  ASSERT_EQ(loop.send(one, kTagStop), JZX_OK);
  ASSERT_EQ(loop.send(two, kTagFail), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(loop.alive_count(), 0u);
}

TEST(LoopRun, HandlesWhatWasSentBeforeIt) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id, kTag, 1), JZX_OK);
  ASSERT_EQ(loop.send_async(id, kTag, 2), JZX_OK);
  ASSERT_EQ(loop.send(id, kTagStop, 3), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(probe.values(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST(LoopRun, CanBeCalledAgainAfterAStopAndTheLoopIsOpenInBetween) {
  TestLoop loop;
  Probe& probe = stopper(loop);
  const jzx_actor_id id = loop.spawn(probe);
  for (uint64_t round = 0; round < 3; ++round) {
    ASSERT_EQ(loop.send(id, kTag, round), JZX_OK);
    ASSERT_EQ(loop.run(), 0);
    EXPECT_TRUE(loop.is_alive(id));
    EXPECT_EQ(probe.log.size(), round + 1);
  }
}

TEST(LoopRun, CanBeCalledAgainAfterEverybodyEnded) {
  TestLoop loop;
  for (int round = 0; round < 3; ++round) {
    const jzx_actor_id id = loop.spawn_quiet();
    ASSERT_EQ(loop.send(id, kTagStop), JZX_OK);
    ASSERT_EQ(loop.run(), 0);
  }
  EXPECT_EQ(loop.events().count(Kind::stop), 3u);
}

TEST(LoopRun, WaitsForTimersOfTheLiving) {
  TestLoop loop(Time::jumping);
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send_after(id, 3'600'000, kTagStop), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(probe.count(kTagStop), 1u);
}

TEST(LoopRun, IsNotHeldByTimersAndFdsOfTheDead) {
  TestLoop loop;
  const Pipe pipe;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(loop.send_after(id, 3'600'000), JZX_OK);
  ASSERT_EQ(jzx_watch_fd(loop, pipe.reader.get(), id, JZX_IO_READ), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(loop.events().count(Kind::dead_letter, id), 1u);
}

TEST(LoopRun, IsKeptWaitingByALiveIdleActorSinceAnotherThreadMaySend) {
  TestLoop loop(Time::real);
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  std::atomic<bool> returned{false};
  std::thread other([&] {
    EXPECT_FALSE(returned);
    EXPECT_EQ(loop.send_async(id, kTagStop), JZX_OK);
  });
  EXPECT_EQ(loop.run(), 0);
  returned = true;
  other.join();
  EXPECT_EQ(probe.log.size(), 1u);
}

TEST(LoopRun, WaitsAtNoCpuCost) {
  // An end-to-end test on the real clock: a loop that spun would burn most of the
  // 200 ms; one that waits burns next to nothing, however busy the machine is.
  TestLoop loop(Time::real);
  const jzx_actor_id id = loop.spawn(stopper(loop));
  loop.spawn_quiet();
  ASSERT_EQ(loop.send_after(id, 200), JZX_OK);
  const uint64_t before = thread_cpu_ms();
  EXPECT_EQ(loop.run(), 0);
  EXPECT_LT(thread_cpu_ms() - before, 50u);
}

TEST(LoopRun, InsideABehaviourOfTheSameLoopIsRefused) {
  TestLoop loop;
  int answers = 0;
  const jzx_actor_id id = loop.spawn(loop.probe([&](jzx_context* ctx, const Received&) {
    EXPECT_LT(jzx_loop_run(ctx->loop), 0);
    EXPECT_LT(jzx_loop_run_once(ctx->loop, 0), 0);
    ++answers;
    return JZX_BEHAVIOR_STOP;
  }));
  ASSERT_EQ(loop.send(id), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(answers, 1);
}

TEST(LoopRun, InsideABehaviourOfAnotherLoopRunsNested) {
  TestLoop inner;
  const jzx_actor_id guest = inner.spawn(stopper(inner));
  ASSERT_EQ(inner.send(guest), JZX_OK);
  TestLoop loop;
  int answers = 0;
  const jzx_actor_id id = loop.spawn(loop.probe([&](jzx_context*, const Received&) {
    EXPECT_EQ(jzx_loop_run(inner), 0);
    ++answers;
    return JZX_BEHAVIOR_STOP;
  }));
  ASSERT_EQ(loop.send(id), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(answers, 1);
}

// ---- request_stop ----------------------------------------------------------------

TEST(LoopRequestStop, BeforeTheRunEndsTheRun) {
  TestLoop loop;
  loop.spawn_quiet();
  jzx_loop_request_stop(loop);
  EXPECT_EQ(loop.run(), 0);
}

TEST(LoopRequestStop, IsRememberedUntilARunConsumesItAndThenForgotten) {
  TestLoop loop(Time::jumping);
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  jzx_loop_request_stop(loop);
  jzx_loop_request_stop(loop);
  EXPECT_EQ(loop.run(), 0);
  ASSERT_TRUE(loop.is_alive(id));
  ASSERT_EQ(loop.send_after(id, 1000, kTagStop), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(probe.count(kTagStop), 1u) << "two requests before one run count as one";
}

TEST(LoopRequestStop, AlsoEndsARunOnceAndIsConsumedByIt) {
  TestLoop loop;
  loop.spawn_quiet();
  jzx_loop_request_stop(loop);
  EXPECT_EQ(jzx_loop_run_once(loop, 1000), 0);
  EXPECT_EQ(jzx_loop_run_once(loop, 0), 1);
}

TEST(LoopRequestStop, InsideABehaviourEndsTheRunAndLosesNothing) {
  TestLoop loop;
  Probe& probe = stopper(loop);
  const jzx_actor_id id = loop.spawn(probe);
  for (uint64_t value = 0; value < 200; ++value) ASSERT_EQ(loop.send(id, kTag, value), JZX_OK);
  ASSERT_EQ(loop.run(), 0);
  EXPECT_LT(probe.log.size(), 200u) << "a run does not first drain what is queued";
  loop.settle();
  while (probe.log.size() < 200) ASSERT_EQ(loop.run(), 0);
  EXPECT_EQ(probe.values().back(), 199u);
}

TEST(LoopRequestStop, FromAnotherThreadAtAnyMomentEndsTheRun) {
  // The request may fall before the run, between its last check and its wait, or into
  // the wait; many rounds meet them all. A lost request would hang.
  TestLoop loop(Time::real);
  loop.spawn_quiet();
  const size_t rounds = scaled(20'000);
  std::atomic<size_t> asked{0};
  std::atomic<size_t> ended{0};
  std::thread other([&] {
    for (size_t round = 1; round <= rounds; ++round) {
      asked = round;
      jzx_loop_request_stop(loop);
      while (ended < round) std::this_thread::yield();
    }
  });
  for (size_t round = 1; round <= rounds; ++round) {
    // Half of the rounds begin the run before the request exists.
    if (round % 2 == 0) {
      while (asked < round) std::this_thread::yield();
    }
    EXPECT_EQ(loop.run(), 0);
    ended = round;
  }
  other.join();
  EXPECT_EQ(ended, rounds);
}

// ---- run_once ----------------------------------------------------------------------

TEST(LoopRunOnce, AnswersZeroWhenNobodyIsAlive) {
  TestLoop loop;
  EXPECT_EQ(jzx_loop_run_once(loop, 0), 0);
  EXPECT_EQ(jzx_loop_run_once(loop, 10'000), 0) << "and does not wait";
}

TEST(LoopRunOnce, AnswersOneWhileSomebodyIsAliveAndZeroWhenTheLastOneEnded) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  EXPECT_EQ(jzx_loop_run_once(loop, 0), 1);
  ASSERT_EQ(loop.send(id, kTagStop), JZX_OK);
  EXPECT_EQ(jzx_loop_run_once(loop, 0), 0);
  EXPECT_EQ(loop.alive_count(), 0u);
}

TEST(LoopRunOnce, HandlesWhatIsQueuedInOneTick) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id), JZX_OK);
  EXPECT_EQ(jzx_loop_run_once(loop, 0), 1);
  EXPECT_EQ(probe.log.size(), 1u);
}

TEST(LoopRunOnce, IsOneTickOfAtMostMaxActorsPerTickTurnsOfMaxMsgsPerActorMessages) {
  jzx_config config = default_config();
  config.max_actors_per_tick = 2;
  config.max_msgs_per_actor = 3;
  TestLoop loop(Time::manual, config);
  std::vector<Probe*> probes;
  for (int actor = 0; actor < 4; ++actor) {
    probes.push_back(&loop.probe());
    const jzx_actor_id id = loop.spawn(*probes.back());
    for (int n = 0; n < 10; ++n) ASSERT_EQ(loop.send(id), JZX_OK);
  }
  const auto handled = [&] {
    size_t sum = 0;
    for (const Probe* probe : probes) sum += probe->log.size();
    return sum;
  };
  ASSERT_EQ(jzx_loop_run_once(loop, 0), 1);
  EXPECT_GE(handled(), 1u);
  EXPECT_LE(handled(), 6u);
  loop.settle();
  EXPECT_EQ(handled(), 40u);
}

TEST(LoopRunOnce, WaitsNoLongerThanUntilTheNextTimer) {
  TestLoop loop(Time::jumping);
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send_after(id, 50), JZX_OK);
  for (int tick = 0; tick < 4 && probe.log.empty(); ++tick) {
    ASSERT_EQ(jzx_loop_run_once(loop, 1000), 1);
  }
  EXPECT_EQ(probe.log.size(), 1u);
}

TEST(LoopRunOnce, ReturnsAfterMaxWaitWithNothingDone) {
  TestLoop loop(Time::real);
  Probe& probe = loop.probe();
  loop.spawn(probe);
  EXPECT_EQ(jzx_loop_run_once(loop, 1), 1);
  EXPECT_TRUE(probe.log.empty());
}

TEST(LoopRunOnce, WithoutWaitDoesNotRunTimersThatAreNotDue) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send_after(id, 1000), JZX_OK);
  for (int tick = 0; tick < 20; ++tick) ASSERT_EQ(jzx_loop_run_once(loop, 0), 1);
  EXPECT_TRUE(probe.log.empty());
}

// ---- fairness ------------------------------------------------------------------------

TEST(Fairness, ABusyActorCannotKeepTheOthersFromRunning) {
  TestLoop loop;
  Probe& quiet = loop.probe();
  const jzx_actor_id quiet_id = loop.spawn(quiet);
  size_t busy_messages = 0;
  const jzx_actor_id busy = loop.spawn(loop.probe([&](jzx_context* ctx, const Received&) {
    ++busy_messages;
    EXPECT_EQ(loop.send(ctx->self), JZX_OK);  // for ever
    return quiet.log.empty() ? JZX_BEHAVIOR_OK : JZX_BEHAVIOR_STOP;
  }));
  ASSERT_EQ(loop.send(busy), JZX_OK);
  ASSERT_EQ(loop.send(quiet_id), JZX_OK);
  loop.settle();
  EXPECT_EQ(quiet.log.size(), 1u);
  EXPECT_LE(busy_messages, 3u * 64u);
}

TEST(Fairness, ABusyActorCannotKeepTimersAndStopRequestsAway) {
  TestLoop loop(Time::real);
  const jzx_actor_id busy = loop.spawn(loop.probe([&](jzx_context* ctx, const Received&) {
    EXPECT_EQ(loop.send(ctx->self), JZX_OK);
    return JZX_BEHAVIOR_OK;
  }));
  const jzx_actor_id timed = loop.spawn(stopper(loop));
  ASSERT_EQ(loop.send(busy), JZX_OK);
  ASSERT_EQ(loop.send_after(timed, 1), JZX_OK);
  EXPECT_EQ(loop.run(), 0);
}

// ---- loop_fd -----------------------------------------------------------------------------

class LoopFd : public ::testing::Test {
 protected:
  void SetUp() override {
    fd_ = jzx_loop_fd(loop_);
    ASSERT_GE(fd_, 0);
    id_ = loop_.spawn(probe_);
    loop_.settle();
  }

  // As an embedding program would: tick while the fd says there is work.
  void serve() {
    for (int tick = 0; tick < 1000 && is_readable(fd_); ++tick) {
      ASSERT_EQ(jzx_loop_run_once(loop_, 0), 1);
    }
    EXPECT_FALSE(is_readable(fd_));
  }

  TestLoop loop_{Time::real};
  Probe& probe_ = loop_.probe();
  jzx_actor_id id_ = 0;
  int fd_ = -1;
};

TEST_F(LoopFd, IsTheSameAtEveryCall) { EXPECT_EQ(jzx_loop_fd(loop_), fd_); }

TEST_F(LoopFd, IsNotReadableWhenThereIsNothingToDo) { EXPECT_FALSE(is_readable(fd_)); }

TEST_F(LoopFd, IsReadableAfterASendUntilTheMessageIsHandled) {
  ASSERT_EQ(loop_.send(id_), JZX_OK);
  EXPECT_TRUE(is_readable(fd_));
  serve();
  EXPECT_EQ(probe_.log.size(), 1u);
}

TEST_F(LoopFd, IsReadableAfterASendFromAnotherThread) {
  std::thread([&] { EXPECT_EQ(loop_.send_async(id_), JZX_OK); }).join();
  EXPECT_TRUE(is_readable(fd_));
  serve();
  EXPECT_EQ(probe_.log.size(), 1u);
}

TEST_F(LoopFd, IsNotReadableAnyMoreAfterTheOneTickThatDidTheWork) {
  ASSERT_EQ(loop_.send(id_), JZX_OK);
  ASSERT_EQ(jzx_loop_run_once(loop_, 0), 1);
  EXPECT_FALSE(is_readable(fd_)) << "after a send on the loop's thread";
  std::thread([&] { EXPECT_EQ(loop_.send_async(id_), JZX_OK); }).join();
  ASSERT_EQ(jzx_loop_run_once(loop_, 0), 1);
  EXPECT_FALSE(is_readable(fd_)) << "after a send from another thread";
  EXPECT_EQ(probe_.log.size(), 2u);
}

TEST_F(LoopFd, StaysReadableWhileABudgetLeavesWorkBehind) {
  for (int n = 0; n < 200; ++n) ASSERT_EQ(loop_.send(id_), JZX_OK);
  serve();
  EXPECT_EQ(probe_.log.size(), 200u);
}

TEST_F(LoopFd, IsReadableAfterAStopRequestUntilARunConsumedIt) {
  jzx_loop_request_stop(loop_);
  EXPECT_TRUE(is_readable(fd_));
  EXPECT_EQ(jzx_loop_run_once(loop_, 0), 0);
  EXPECT_FALSE(is_readable(fd_));
}

TEST_F(LoopFd, IsReadableAfterAnActorWasToldToStop) {
  loop_.spawn_quiet();
  ASSERT_EQ(jzx_actor_stop(loop_, id_), JZX_OK);
  EXPECT_TRUE(is_readable(fd_));
  serve();
  EXPECT_FALSE(loop_.is_alive(id_));
}

TEST_F(LoopFd, IsReadableWhenAWatchedFdIsReady) {
  const Pipe pipe;
  ASSERT_EQ(jzx_watch_fd(loop_, pipe.reader.get(), id_, JZX_IO_READ), JZX_OK);
  loop_.settle();
  EXPECT_FALSE(is_readable(fd_));
  put(pipe.writer);
  EXPECT_TRUE(is_readable(fd_));
  serve();
  EXPECT_EQ(probe_.count(JZX_TAG_SYS_IO), 1u);
}

TEST_F(LoopFd, BecomesReadableWhenATimerIsDueAndNotBefore) {
  ASSERT_EQ(loop_.send_after(id_, 3'600'000), JZX_OK);
  loop_.settle();
  EXPECT_FALSE(is_readable(fd_));
  ASSERT_EQ(loop_.send_after(id_, 5, kTag, 1), JZX_OK);
  for (int tick = 0; tick < 1000 && probe_.log.empty(); ++tick) {
    pollfd one{fd_, POLLIN, 0};
    ASSERT_EQ(poll(&one, 1, 10'000), 1) << "a due timer makes it readable";
    ASSERT_EQ(jzx_loop_run_once(loop_, 0), 1);
  }
  EXPECT_EQ(probe_.values(), std::vector<uint64_t>{1});
}

}  // namespace
}  // namespace jzx::testing
