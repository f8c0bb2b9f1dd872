// Watching file descriptors: one readiness, one event; everything arrives as messages.
#include <gtest/gtest.h>

#include <vector>

#include "jzx/jzx.h"
#include "support/fds.hpp"
#include "support/scale.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

class WatchFd : public ::testing::Test {
 protected:
  void SetUp() override { id_ = loop_.spawn(probe_); }

  jzx_err watch(const Fd& fd, uint32_t interest = JZX_IO_READ) {
    return jzx_watch_fd(loop_, fd.get(), id_, interest);
  }
  [[nodiscard]] size_t events() const { return probe_.count(JZX_TAG_SYS_IO); }
  // The event number `n`, counted from 1; waits until it is there and checks that no
  // further one follows.
  jzx_io_event event(size_t n) {
    EXPECT_TRUE(loop_.run_until([&] { return events() >= n; })) << "event " << n << " never came";
    loop_.settle();
    EXPECT_EQ(events(), n);
    return events() >= n ? probe_.received(JZX_TAG_SYS_IO)[n - 1].io : jzx_io_event{};
  }

  TestLoop loop_{Time::real};
  Probe& probe_ = loop_.probe();
  jzx_actor_id id_ = 0;
};

TEST_F(WatchFd, SendsAnEventWhenReadinessBegins) {
  const Pipe pipe;
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  loop_.settle();
  EXPECT_EQ(events(), 0u);
  put(pipe.writer);
  const jzx_io_event got = event(1);
  EXPECT_EQ(got.fd, pipe.reader.get());
  EXPECT_EQ(got.readiness, JZX_IO_READ);
  EXPECT_EQ(probe_.log[0].len, sizeof(jzx_io_event));
  EXPECT_EQ(probe_.log[0].sender, 0u);
}

TEST_F(WatchFd, SendsAnEventWhenTheFdIsReadyAlready) {
  const Pipe pipe;
  put(pipe.writer);
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  EXPECT_EQ(event(1).readiness, JZX_IO_READ);
}

TEST_F(WatchFd, SendsAnotherEventWhenNewDataArrivesAfterTheBehaviourRan) {
  const Pipe pipe;
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  put(pipe.writer);
  event(1);
  drain(pipe.reader);
  put(pipe.writer);
  event(2);
  put(pipe.writer);  // new data on top of data that was not read
  event(3);
}

TEST_F(WatchFd, UnreadOldDataAloneGivesNoSecondEventAndDoesNotSpinTheLoop) {
  const Pipe pipe;
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  put(pipe.writer);
  event(1);
  for (int tick = 0; tick < 200; ++tick) ASSERT_EQ(jzx_loop_run_once(loop_, 0), 1);
  EXPECT_EQ(events(), 1u);
  EXPECT_FALSE(is_readable(jzx_loop_fd(loop_))) << "there is nothing to do";
}

TEST_F(WatchFd, WatchingAgainRearmsItAndGivesOneMoreEventIfItIsReadyNow) {
  const Pipe pipe;
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  put(pipe.writer);
  event(1);
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  event(2);
  drain(pipe.reader);
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  loop_.settle();
  EXPECT_EQ(events(), 2u) << "not ready, no event";
}

TEST_F(WatchFd, RearmingInsideTheBehaviourTurnsItIntoALevel) {
  const Pipe pipe;
  for (int n = 0; n < 10; ++n) put(pipe.writer);
  probe_.on = [&](jzx_context* ctx, const Received& received) {
    char byte = 0;
    EXPECT_EQ(::read(received.io.fd, &byte, 1), 1);
    if (events() < 10) {
      EXPECT_EQ(jzx_watch_fd(ctx->loop, received.io.fd, ctx->self, JZX_IO_READ), JZX_OK);
    }
    return JZX_BEHAVIOR_OK;
  };
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  event(10);
}

TEST_F(WatchFd, ReadAndWriteThatAreReadyTogetherArriveInOneEvent) {
  const SocketPair pair;
  put(pair.far);
  ASSERT_EQ(watch(pair.near, JZX_IO_READ | JZX_IO_WRITE), JZX_OK);
  EXPECT_EQ(event(1).readiness, JZX_IO_READ | JZX_IO_WRITE);
}

TEST_F(WatchFd, TellsOnlyWhatWasAskedFor) {
  const SocketPair pair;
  put(pair.far);
  ASSERT_EQ(watch(pair.near, JZX_IO_WRITE), JZX_OK);
  EXPECT_EQ(event(1).readiness, JZX_IO_WRITE);
  drain(pair.near);
  ASSERT_EQ(watch(pair.near, JZX_IO_READ), JZX_OK);
  loop_.settle();
  EXPECT_EQ(events(), 1u) << "writable, but only reading was asked for";
}

TEST_F(WatchFd, EventsThatTheBehaviourHasNotSeenYetCoalesceIntoOne) {
  const SocketPair pair;
  Probe& blocker = loop_.probe();
  bool released = false;
  blocker.on = [&](jzx_context*, const Received&) {
    put(pair.far);
    put(pair.far);
    released = true;
    return JZX_BEHAVIOR_OK;
  };
  ASSERT_EQ(watch(pair.near, JZX_IO_READ), JZX_OK);
  loop_.settle();
  ASSERT_EQ(loop_.send(loop_.spawn(blocker)), JZX_OK);
  EXPECT_EQ(event(1).readiness, JZX_IO_READ);
  EXPECT_TRUE(released);
}

TEST_F(WatchFd, RewatchingReplacesTheOwner) {
  const Pipe pipe;
  Probe& heir = loop_.probe();
  const jzx_actor_id heir_id = loop_.spawn(heir);
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  ASSERT_EQ(jzx_watch_fd(loop_, pipe.reader.get(), heir_id, JZX_IO_READ), JZX_OK);
  put(pipe.writer);
  ASSERT_TRUE(loop_.run_until([&] { return heir.count(JZX_TAG_SYS_IO) == 1; }));
  loop_.settle();
  EXPECT_EQ(events(), 0u);
  // The old owner's death no longer matters to the watch.
  ASSERT_EQ(jzx_actor_stop(loop_, id_), JZX_OK);
  loop_.settle();
  put(pipe.writer);
  ASSERT_TRUE(loop_.run_until([&] { return heir.count(JZX_TAG_SYS_IO) == 2; }));
}

TEST_F(WatchFd, RewatchingReplacesTheInterest) {
  const SocketPair pair;
  ASSERT_EQ(watch(pair.near, JZX_IO_READ), JZX_OK);
  loop_.settle();
  EXPECT_EQ(events(), 0u);
  ASSERT_EQ(watch(pair.near, JZX_IO_WRITE), JZX_OK);
  EXPECT_EQ(event(1).readiness, JZX_IO_WRITE);
}

TEST_F(WatchFd, TheOtherSideHangingUpIsToldWithoutBeingAskedFor) {
  Pipe pipe;
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  loop_.settle();
  pipe.writer.close();
  EXPECT_TRUE((event(1).readiness & JZX_IO_HANGUP) != 0);
}

TEST_F(WatchFd, AnErrorIsToldWithoutBeingAskedFor) {
  Pipe pipe;
  pipe.reader.close();  // a pipe nobody reads is in error for its writer
  ASSERT_EQ(watch(pipe.writer, JZX_IO_WRITE), JZX_OK);
  EXPECT_TRUE((event(1).readiness & JZX_IO_ERROR) != 0);
}

TEST_F(WatchFd, AClosedFdGivesAnErrorEventOrIsNoLongerWatched) {
  Pipe pipe;
  const int fd = pipe.reader.get();
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  loop_.settle();
  pipe.reader.close();
  loop_.settle();
  bool told = false;
  for (const Received& one : probe_.received(JZX_TAG_SYS_IO)) {
    if ((one.io.readiness & (JZX_IO_ERROR | JZX_IO_HANGUP)) != 0) told = true;
  }
  const jzx_err err = jzx_unwatch_fd(loop_, fd);
  EXPECT_TRUE(told || err == JZX_ERR_IO_NOT_WATCHED) << "unwatch answered " << err;
}

TEST_F(WatchFd, ANumberThatIsReusedAfterACloseCanBeWatchedAnew) {
  Pipe old_pipe;
  const int number = old_pipe.reader.get();
  ASSERT_EQ(watch(old_pipe.reader), JZX_OK);
  loop_.settle();
  Pipe fresh;
  old_pipe.reader.close();
  const Fd moved(::dup2(fresh.reader.get(), number));
  ASSERT_EQ(moved.get(), number);
  ASSERT_EQ(watch(moved), JZX_OK);
  loop_.settle();
  probe_.log.clear();
  put(fresh.writer);
  EXPECT_EQ(event(1).fd, number);
}

TEST_F(WatchFd, ADeadOwnersFdsAreUnwatched) {
  const Pipe one;
  const Pipe two;
  ASSERT_EQ(watch(one.reader), JZX_OK);
  ASSERT_EQ(watch(two.reader), JZX_OK);
  loop_.spawn_quiet();
  loop_.settle();
  ASSERT_EQ(jzx_actor_fail(loop_, id_), JZX_OK);
  put(one.writer);
  loop_.settle();
  EXPECT_TRUE(probe_.log.empty());
  EXPECT_EQ(jzx_unwatch_fd(loop_, one.reader.get()), JZX_ERR_IO_NOT_WATCHED);
  EXPECT_EQ(jzx_unwatch_fd(loop_, two.reader.get()), JZX_ERR_IO_NOT_WATCHED);
}

TEST_F(WatchFd, AnEventOnTheWayToADyingOwnerHurtsNobody) {
  const Pipe pipe;
  loop_.spawn_quiet();
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  loop_.settle();
  probe_.on = [](jzx_context*, const Received&) { return JZX_BEHAVIOR_STOP; };
  ASSERT_EQ(loop_.send(id_), JZX_OK);
  put(pipe.writer);
  loop_.settle();
  EXPECT_FALSE(loop_.is_alive(id_));
  EXPECT_EQ(loop_.events().count(Kind::dead_letter), 0u) << "system messages are no dead letters";
}

// ---- unwatch ------------------------------------------------------------------------

TEST_F(WatchFd, UnwatchingTwiceIsNotWatched) {
  const Pipe pipe;
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  EXPECT_EQ(jzx_unwatch_fd(loop_, pipe.reader.get()), JZX_OK);
  EXPECT_EQ(jzx_unwatch_fd(loop_, pipe.reader.get()), JZX_ERR_IO_NOT_WATCHED);
}

TEST_F(WatchFd, UnwatchingInsideTheBehaviourStopsFurtherEvents) {
  const Pipe pipe;
  probe_.on = [&](jzx_context* ctx, const Received& received) {
    EXPECT_EQ(jzx_unwatch_fd(ctx->loop, received.io.fd), JZX_OK);
    return JZX_BEHAVIOR_OK;
  };
  ASSERT_EQ(watch(pipe.reader), JZX_OK);
  put(pipe.writer);
  event(1);
  put(pipe.writer);
  loop_.settle();
  EXPECT_EQ(events(), 1u);
}

TEST_F(WatchFd, CanBeWatchedAgainAfterUnwatching) {
  const Pipe pipe;
  for (size_t round = 1; round <= 20; ++round) {
    ASSERT_EQ(watch(pipe.reader), JZX_OK);
    put(pipe.writer);
    event(round);
    ASSERT_EQ(jzx_unwatch_fd(loop_, pipe.reader.get()), JZX_OK);
    drain(pipe.reader);
  }
}

// ---- limits and errors ----------------------------------------------------------------

TEST(WatchFdLimit, OfWatchersIsEnforced) {
  jzx_config config = default_config();
  config.max_io_watchers = 2;
  TestLoop loop(Time::real, config);
  const Pipe one;
  const Pipe two;
  const Pipe three;
  const jzx_actor_id id = loop.spawn_quiet();
  const auto watch = [&](const Pipe& pipe) {
    return jzx_watch_fd(loop, pipe.reader.get(), id, JZX_IO_READ);
  };
  EXPECT_EQ(watch(one), JZX_OK);
  EXPECT_EQ(watch(two), JZX_OK);
  EXPECT_EQ(watch(three), JZX_ERR_IO_REG_FAILED);
  EXPECT_EQ(watch(two), JZX_OK) << "re-watching takes no further place";
  EXPECT_EQ(jzx_unwatch_fd(loop, three.reader.get()), JZX_ERR_IO_NOT_WATCHED);
  EXPECT_EQ(jzx_unwatch_fd(loop, one.reader.get()), JZX_OK);
  EXPECT_EQ(watch(three), JZX_OK) << "there is a place again";
}

TEST(WatchFdLimit, GetsItsPlacesBackFromTheDead) {
  jzx_config config = default_config();
  config.max_io_watchers = 1;
  TestLoop loop(Time::real, config);
  const Pipe pipe;
  loop.spawn_quiet();
  for (int round = 0; round < 10; ++round) {
    const jzx_actor_id id = loop.spawn_quiet();
    ASSERT_EQ(jzx_watch_fd(loop, pipe.reader.get(), id, JZX_IO_READ), JZX_OK);
    ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
    loop.settle();
  }
}

TEST_F(WatchFd, ManyReadyFdsAllGiveTheirOneEvent) {
  const size_t count = scaled(300, 4);
  std::vector<Pipe> pipes(count);
  for (const Pipe& pipe : pipes) ASSERT_EQ(watch(pipe.reader), JZX_OK);
  loop_.settle();
  for (const Pipe& pipe : pipes) put(pipe.writer);
  ASSERT_TRUE(loop_.run_until([&] { return events() >= count; }));
  loop_.settle();
  EXPECT_EQ(events(), count);
}

TEST_F(WatchFd, BadArgumentsAreRefused) {
  const Pipe pipe;
  EXPECT_EQ(jzx_watch_fd(loop_, pipe.reader.get(), id_, 0), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_watch_fd(loop_, pipe.reader.get(), id_, 0x100), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_watch_fd(loop_, -1, id_, JZX_IO_READ), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_watch_fd(loop_, pipe.reader.get(), 0, JZX_IO_READ), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_unwatch_fd(loop_, pipe.reader.get()), JZX_ERR_IO_NOT_WATCHED);
  EXPECT_EQ(jzx_unwatch_fd(loop_, -1), JZX_ERR_IO_NOT_WATCHED);
}

TEST_F(WatchFd, AClosedFdCannotBeWatched) {
  Pipe pipe;
  const int fd = pipe.reader.get();
  pipe.reader.close();
  EXPECT_EQ(jzx_watch_fd(loop_, fd, id_, JZX_IO_READ), JZX_ERR_IO_REG_FAILED);
  EXPECT_EQ(jzx_unwatch_fd(loop_, fd), JZX_ERR_IO_NOT_WATCHED);
  loop_.settle();
  EXPECT_TRUE(probe_.log.empty());
}

}  // namespace
}  // namespace jzx::testing
