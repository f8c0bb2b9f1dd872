// The seven invariants of the libjzx specification (seed 001, section 8), each as
// named tests. The finer print of each has a file of its own beside this one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
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

// ---- 1: actor identity ---------------------------------------------------

TEST(Invariant1ActorIdentity, AnIdHasASlotInTheLowHalfAndANonZeroGenerationInTheHighHalf) {
  TestLoop loop;
  const jzx_actor_id first = loop.spawn_quiet();
  const jzx_actor_id second = loop.spawn_quiet();
  EXPECT_NE(first >> 32, 0u);
  EXPECT_NE(second >> 32, 0u);
  EXPECT_NE(first & 0xffffffffu, second & 0xffffffffu);
}

TEST(Invariant1ActorIdentity, AStaleIdIsRefusedByEveryCallAlsoWhenItsSlotIsInUseAgain) {
  jzx_config config = default_config();
  config.max_actors = 1;  // so that the second actor must take the first one's slot
  TestLoop loop(Time::manual, config);
  const jzx_actor_id stale = loop.spawn_quiet();
  ASSERT_EQ(jzx_actor_stop(loop, stale), JZX_OK);
  loop.settle();
  Probe& heir_probe = loop.probe();
  const jzx_actor_id heir = loop.spawn(heir_probe);
  ASSERT_EQ(stale & 0xffffffffu, heir & 0xffffffffu) << "the slot is reused";
  ASSERT_NE(stale, heir);

  EXPECT_EQ(loop.send(stale), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(loop.send_async(stale), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(loop.send_after(stale, 1), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_actor_stop(loop, stale), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_actor_fail(loop, stale), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_trap_exit(loop, stale, 1), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_register(loop, stale, "name"), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_link(loop, heir, stale), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_watch_fd(loop, STDIN_FILENO, stale, JZX_IO_READ), JZX_ERR_NO_SUCH_ACTOR);

  loop.advance(10);
  EXPECT_TRUE(heir_probe.log.empty());
  EXPECT_TRUE(loop.is_alive(heir));
}

TEST(Invariant1ActorIdentity, NoIdIsEverGivenTwice) {
  jzx_config config = default_config();
  config.max_actors = 4;
  TestLoop loop(Time::manual, config);
  std::set<jzx_actor_id> seen;
  const size_t rounds = scaled(10'000);
  for (size_t round = 0; round < rounds; ++round) {
    const jzx_actor_id id = loop.spawn_quiet();
    ASSERT_TRUE(seen.insert(id).second) << "id given twice in round " << round;
    ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
    ASSERT_EQ(jzx_loop_run(loop), 0);
  }
}

TEST(Invariant1ActorIdentity, ASlotIsNotReusedWhileItsActorIsStillEnding) {
  jzx_config config = default_config();
  config.max_actors = 1;
  TestLoop loop(Time::manual, config);
  Probe& probe = loop.probe();
  const jzx_actor_id first = loop.spawn(probe);
  ASSERT_EQ(jzx_actor_stop(loop, first), JZX_OK);
  jzx_spawn_opts opts{};
  opts.behavior = &Probe::behave;
  opts.state = &probe;
  EXPECT_EQ(jzx_spawn(loop, &opts, nullptr), JZX_ERR_MAX_ACTORS);
  loop.settle();
  EXPECT_EQ(jzx_spawn(loop, &opts, nullptr), JZX_OK);
}

// ---- 2: message ordering -------------------------------------------------

TEST(Invariant2MessageOrdering, MessagesAreHandledInTheOrderOfSuccessfulSends) {
  jzx_config config = default_config();
  config.max_msgs_per_actor = 3;  // many turns
  TestLoop loop(Time::manual, config);
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  std::vector<uint64_t> sent;
  for (uint64_t value = 1; value <= 500; ++value) {
    const jzx_err err =
        value % 2 == 0 ? loop.send(id, kTag, value) : loop.send_async(id, kTag, value);
    ASSERT_EQ(err, JZX_OK);
    sent.push_back(value);
  }
  loop.settle();
  EXPECT_EQ(probe.values(), sent);
}

TEST(Invariant2MessageOrdering, RefusedSendsLeaveNoHoleInTheOrder) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 8);  // the user's share is 4
  std::vector<uint64_t> accepted;
  for (uint64_t value = 1; value <= 20; ++value) {
    if (loop.send(id, kTag, value) == JZX_OK) accepted.push_back(value);
    if (value % 6 == 0) loop.settle();
  }
  loop.settle();
  ASSERT_GE(accepted.size(), 12u);
  EXPECT_LT(accepted.size(), 20u);
  EXPECT_EQ(probe.values(), accepted);
}

TEST(Invariant2MessageOrdering, EachForeignThreadsMessagesKeepTheirOrder) {
  TestLoop loop(Time::real);
  const uint64_t per_thread = scaled(20'000);
  constexpr uint64_t kThreads = 3;
  uint64_t seen = 0;
  Probe& probe = loop.probe();
  probe.on = [&](jzx_context* ctx, const Received&) {
    if (++seen == kThreads * per_thread) jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  };
  const jzx_actor_id id = loop.spawn(probe);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t n = 0; n < per_thread;) {
        if (loop.send_async(id, static_cast<uint32_t>(thread), n) == JZX_OK) {
          ++n;
        } else {
          std::this_thread::yield();  // full: the loop will make room
        }
      }
    });
  }
  EXPECT_EQ(loop.run(), 0);
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> next(kThreads, 0);
  for (const Received& one : probe.log) {
    ASSERT_EQ(one.value, next[one.tag]++) << "from thread " << one.tag;
  }
}

// ---- 3: at-most-once delivery ---------------------------------------------

TEST(Invariant3AtMostOnceDelivery, EveryAcceptedMessageIsHandledExactlyOnce) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 10);
  std::multiset<uint64_t> accepted;
  for (uint64_t value = 0; value < 1000; ++value) {
    const jzx_err err = loop.send(id, kTag, value);
    if (err == JZX_OK) {
      accepted.insert(value);
    } else {
      ASSERT_EQ(err, JZX_ERR_MAILBOX_FULL);
    }
    if (value % 13 == 0) loop.settle();
  }
  loop.settle();
  const std::vector<uint64_t> handled = probe.values();
  EXPECT_EQ(std::multiset<uint64_t>(handled.begin(), handled.end()), accepted);
}

TEST(Invariant3AtMostOnceDelivery, ARefusedMessageIsNeitherHandledNorDeadLettered) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 5);  // the user's share is 1
  ASSERT_EQ(loop.send(id, kTag, 1), JZX_OK);
  ASSERT_EQ(loop.send(id, kTag, 2), JZX_ERR_MAILBOX_FULL);
  ASSERT_EQ(loop.send(id + 1, kTag, 3), JZX_ERR_NO_SUCH_ACTOR);
  loop.settle();
  EXPECT_EQ(probe.values(), std::vector<uint64_t>{1});
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 0u);
}

TEST(Invariant3AtMostOnceDelivery, AnAcceptedMessageThatIsNotHandledIsDeadLetteredOnce) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id, kTag, 1), JZX_OK);
  ASSERT_EQ(loop.send(id, kTagStop, 2), JZX_OK);
  ASSERT_EQ(loop.send(id, kTag, 3), JZX_OK);
  ASSERT_EQ(loop.send_async(id, kTag, 4), JZX_OK);
  loop.settle();
  EXPECT_EQ(probe.values(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(loop.events().dead_values(), (std::vector<uint64_t>{3, 4}));
}

// ---- 4: supervision --------------------------------------------------------

TEST(Invariant4Supervision, AFailedChildGivesItsSupervisorExactlyOneChildExit) {
  TestLoop loop;
  Probe& boss = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss);
  const jzx_actor_id child = loop.spawn_quiet(boss_id);
  ASSERT_EQ(loop.send(child, kTagFail), JZX_OK);
  loop.settle();
  const std::vector<Received> exits = boss.received(JZX_TAG_SYS_CHILD_EXIT);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].child_exit.child, child);
  EXPECT_EQ(exits[0].child_exit.reason, JZX_EXIT_FAIL);
}

TEST(Invariant4Supervision, AChildFailedTwiceOverStillGivesOneChildExit) {
  TestLoop loop;
  Probe& boss = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss);
  Probe& self_destroyer = loop.probe();
  self_destroyer.on = [](jzx_context* ctx, const Received&) {
    EXPECT_EQ(jzx_actor_fail(ctx->loop, ctx->self), JZX_OK);
    return JZX_BEHAVIOR_FAIL;
  };
  const jzx_actor_id child = loop.spawn(self_destroyer, 0, boss_id);
  ASSERT_EQ(loop.send(child), JZX_OK);
  loop.settle();
  EXPECT_EQ(boss.count(JZX_TAG_SYS_CHILD_EXIT), 1u);
  EXPECT_EQ(loop.events().count(Kind::stop, child), 1u);
}

TEST(Invariant4Supervision, RestartsFollowTheChildsMode) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe, JZX_CHILD_PERMANENT),
                                                child_spec(probe, JZX_CHILD_TRANSIENT),
                                                child_spec(probe, JZX_CHILD_TEMPORARY)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  for (size_t index = 0; index < children.size(); ++index) {
    ASSERT_EQ(loop.send(loop.child(supervisor, index), kTagStop), JZX_OK);
  }
  loop.settle();
  EXPECT_NE(loop.child(supervisor, 0), 0u);
  EXPECT_EQ(loop.child(supervisor, 1), 0u);
  EXPECT_EQ(loop.child(supervisor, 2), 0u);
}

TEST(Invariant4Supervision, ExceedingTheIntensityEscalatesExactlyOnce) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_actor_id supervisor =
      loop.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 2, 1000));
  for (int failure = 0; failure < 3; ++failure) {
    ASSERT_EQ(loop.events().count(Kind::escalate), 0u);
    ASSERT_EQ(loop.send(loop.child(supervisor, 0), kTagFail), JZX_OK);
    loop.settle();
  }
  EXPECT_EQ(loop.events().count(Kind::escalate, supervisor), 1u);
  EXPECT_FALSE(loop.is_alive(supervisor));
  EXPECT_EQ(loop.alive_count(), 0u);
}

// ---- 5: timer semantics -----------------------------------------------------

TEST(Invariant5TimerSemantics, ATimerDeliversItsMessageOnce) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send_after(id, 10, kTag, 42), JZX_OK);
  loop.advance(11);
  loop.advance(1000);
  EXPECT_EQ(probe.values(), std::vector<uint64_t>{42});
}

TEST(Invariant5TimerSemantics, ACancelledTimerNeverDelivers) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  jzx_timer_id timer = 0;
  ASSERT_EQ(loop.send_after(id, 10, kTag, 42, &timer), JZX_OK);
  loop.advance(5);
  ASSERT_EQ(loop.cancel(timer), JZX_OK);
  loop.advance(1000);
  EXPECT_TRUE(probe.log.empty());
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 0u);
}

// ---- 6: I/O semantics ---------------------------------------------------------

TEST(Invariant6IoSemantics, OneReadinessGivesExactlyOneEvent) {
  TestLoop loop(Time::real);
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  const Pipe pipe;
  ASSERT_EQ(jzx_watch_fd(loop, pipe.reader.get(), id, JZX_IO_READ), JZX_OK);
  loop.settle();
  EXPECT_TRUE(probe.log.empty()) << "nothing to read yet";

  put(pipe.writer);
  ASSERT_TRUE(loop.run_until([&] { return !probe.log.empty(); }));
  loop.settle();
  const std::vector<Received> events = probe.received(JZX_TAG_SYS_IO);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].io.fd, pipe.reader.get());
  EXPECT_EQ(events[0].io.readiness, JZX_IO_READ);
}

TEST(Invariant6IoSemantics, AnUnwatchedFdGivesNoEvent) {
  TestLoop loop(Time::real);
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  const Pipe pipe;
  ASSERT_EQ(jzx_watch_fd(loop, pipe.reader.get(), id, JZX_IO_READ), JZX_OK);
  loop.settle();
  put(pipe.writer);
  ASSERT_EQ(jzx_unwatch_fd(loop, pipe.reader.get()), JZX_OK);
  loop.settle();
  EXPECT_TRUE(probe.log.empty());
}

// ---- 7: loop lifetime ----------------------------------------------------------

TEST(Invariant7LoopLifetime, NothingCallsBackAfterDestroyReturned) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(loop.send(id), JZX_OK);
  ASSERT_EQ(loop.send_after(id, 10), JZX_OK);
  bool destroyed = false;
  loop.on_event = [&](const Event&) { EXPECT_FALSE(destroyed); };
  loop.close();
  destroyed = true;
  loop.clock().advance_ms(100);
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 2u);
}

TEST(Invariant7LoopLifetime, RunningALoopThatIsBeingDestroyedIsAnError) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(loop.send(id), JZX_OK);
  int answers = 0;
  loop.on_event = [&](const Event& event) {
    if (event.kind != Kind::dead_letter) return;
    EXPECT_EQ(jzx_loop_run(loop), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_loop_run_once(loop, 0), JZX_ERR_LOOP_CLOSED);
    ++answers;
  };
  loop.close();
  EXPECT_EQ(answers, 1);
}

TEST(Invariant7LoopLifetime, ALoopMayBeDestroyedWithoutEverRunning) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id), JZX_OK);
  loop.close();
  EXPECT_TRUE(probe.log.empty()) << "no behaviour runs inside destroy";
}

}  // namespace
}  // namespace jzx::testing
