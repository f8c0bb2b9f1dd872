// jzx_send_async: the one way in from another thread. It reports the truth at the
// call, loses nothing, and wakes the loop only when it sleeps.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "jzx/jzx.h"
#include "support/scale.hpp"
#include "support/system_calls.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

// What another thread is answered.
template <class Call>
jzx_err from_another_thread(Call call) {
  jzx_err answer = JZX_ERR_UNKNOWN;
  std::thread([&] { answer = call(); }).join();
  return answer;
}

TEST(SendAsync, ReportsAGoneActorAtTheCallFromAnotherThread) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
  EXPECT_EQ(from_another_thread([&] { return loop.send_async(id); }), JZX_ERR_NO_SUCH_ACTOR)
      << "as soon as it was told to stop";
  loop.settle();
  EXPECT_EQ(from_another_thread([&] { return loop.send_async(id); }), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(from_another_thread([&] { return loop.send_async(0); }), JZX_ERR_NO_SUCH_ACTOR);
}

TEST(SendAsync, ReportsAFullMailboxAtTheCallFromAnotherThread) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 6);  // the user's share is 2
  EXPECT_EQ(from_another_thread([&] { return loop.send_async(id, kTag, 1); }), JZX_OK);
  EXPECT_EQ(from_another_thread([&] { return loop.send_async(id, kTag, 2); }), JZX_OK);
  EXPECT_EQ(from_another_thread([&] { return loop.send_async(id, kTag, 3); }),
            JZX_ERR_MAILBOX_FULL);
  loop.settle();
  EXPECT_EQ(probe.values(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(from_another_thread([&] { return loop.send_async(id, kTag, 4); }), JZX_OK)
      << "there is room again";
}

TEST(SendAsync, SharesTheMailboxesCapacityWithSend) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 6);
  EXPECT_EQ(loop.send_async(id), JZX_OK);
  EXPECT_EQ(loop.send(id), JZX_OK);
  EXPECT_EQ(loop.send(id), JZX_ERR_MAILBOX_FULL);
  EXPECT_EQ(loop.send_async(id), JZX_ERR_MAILBOX_FULL);
}

TEST(SendAsync, ReportsAClosedLoopAtTheCallFromAnotherThread) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(loop.send(id), JZX_OK);
  int asked = 0;
  loop.on_event = [&](const Event& event) {
    if (event.kind != Kind::dead_letter) return;
    ++asked;
    EXPECT_EQ(from_another_thread([&] { return loop.send_async(id); }), JZX_ERR_LOOP_CLOSED);
  };
  loop.close();
  EXPECT_EQ(asked, 1);
}

TEST(SendAsync, ReportsMissingMemoryAtTheCallAndTheLoopGoesOn) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe, 1u << 20);
  loop.allocator().refuse_all(true);
  jzx_err answer = JZX_OK;
  uint64_t accepted = 0;
  // What is pooled may serve some; a million messages cannot come out of nothing.
  for (size_t n = 0; n < 1'000'000 && answer == JZX_OK; ++n) {
    answer = loop.send_async(id);
    if (answer == JZX_OK) ++accepted;
  }
  EXPECT_EQ(answer, JZX_ERR_NO_MEMORY);
  loop.allocator().refuse_all(false);
  EXPECT_EQ(loop.send_async(id), JZX_OK);
  loop.settle();
  EXPECT_EQ(probe.log.size(), accepted + 1);
}

TEST(SendAsync, HasNoSenderWhenCalledOutsideABehaviour) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(from_another_thread([&] { return loop.send_async(id, kTag, 5); }), JZX_OK);
  loop.settle();
  ASSERT_EQ(probe.log.size(), 1u);
  EXPECT_EQ(probe.log[0].sender, 0u);
  EXPECT_EQ(probe.log[0].value, 5u);
  EXPECT_EQ(probe.log[0].len, sizeof(uint64_t));
  EXPECT_EQ(probe.log[0].tag, kTag);
}

TEST(SendAsync, FromAnotherThreadHasNoSenderAlsoWhileABehaviourRuns) {
  TestLoop loop;
  Probe& target = loop.probe();
  const jzx_actor_id target_id = loop.spawn(target);
  const jzx_actor_id busy = loop.spawn(loop.probe([&](jzx_context*, const Received&) {
    EXPECT_EQ(from_another_thread([&] { return loop.send_async(target_id); }), JZX_OK);
    return JZX_BEHAVIOR_OK;
  }));
  ASSERT_EQ(loop.send(busy), JZX_OK);
  loop.settle();
  ASSERT_EQ(target.log.size(), 1u);
  EXPECT_EQ(target.log[0].sender, 0u);
}

TEST(SendAsync, WakesALoopThatIsWaiting) {
  TestLoop loop(Time::real);
  std::atomic<bool> up{false};
  Probe& probe = loop.probe([&](jzx_context* ctx, const Received& received) {
    if (received.value == 1) up = true;
    if (received.value == 2) jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  });
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id, kTag, 1), JZX_OK);
  std::thread other([&] {
    while (!up) std::this_thread::yield();
    EXPECT_EQ(loop.send_async(id, kTag, 2), JZX_OK);
  });
  EXPECT_EQ(loop.run(), 0);
  other.join();
  EXPECT_EQ(probe.log.size(), 2u);
}

TEST(SendAsync, NeverLosesAWakeUpWhenTheLoopIsAboutToWait) {
  // Each round the loop runs out of work and goes to wait just as the other thread
  // answers: the moment in which a wake-up is easiest to lose. A lost one hangs.
  TestLoop loop(Time::real);
  const uint64_t rounds = scaled(20'000);
  std::atomic<uint64_t> asked{0};
  Probe& probe = loop.probe([&](jzx_context* ctx, const Received& received) {
    if (received.value == rounds) jzx_loop_request_stop(ctx->loop);
    asked = received.value + 1;
    return JZX_BEHAVIOR_OK;
  });
  const jzx_actor_id id = loop.spawn(probe);
  std::thread other([&] {
    for (uint64_t round = 0; round <= rounds; ++round) {
      while (asked < round) std::this_thread::yield();
      EXPECT_EQ(loop.send_async(id, kTag, round), JZX_OK);
    }
  });
  EXPECT_EQ(loop.run(), 0);
  other.join();
  EXPECT_EQ(probe.log.size(), rounds + 1);
}

TEST(SendAsync, AnAcceptedMessageIsNeverDroppedSilentlyWhileActorsComeAndGo) {
  // Threads send to actors that stop on every tenth message. Each message carries its
  // own number; at the end each accepted one was handled or dead-lettered, once.
  TestLoop loop(Time::real);
  constexpr uint64_t kThreads = 2;
  const uint64_t per_thread = scaled(20'000);
  std::multiset<uint64_t> handled;
  std::atomic<jzx_actor_id> current{0};
  std::atomic<uint64_t> finished{0};
  uint64_t seen = 0;
  Probe& probe = loop.probe();
  probe.on = [&](jzx_context*, const Received& received) {
    handled.insert(received.value);
    if (++seen % 10 != 0) return JZX_BEHAVIOR_OK;
    current = loop.spawn(probe);
    return JZX_BEHAVIOR_STOP;
  };
  current = loop.spawn(probe);
  // Keeps the loop alive and ends it when the senders are done.
  const jzx_actor_id warden = loop.spawn(loop.probe([&](jzx_context* ctx, const Received&) {
    jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  }));
  std::vector<std::vector<uint64_t>> accepted(kThreads);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t n = 0; n < per_thread; ++n) {
        const uint64_t value = thread * per_thread + n + 1;
        if (loop.send_async(current, kTag, value) == JZX_OK) accepted[thread].push_back(value);
      }
      if (++finished == kThreads) {
        EXPECT_EQ(loop.send_async(warden), JZX_OK);
      }
    });
  }
  EXPECT_EQ(loop.run(), 0);
  for (std::thread& thread : threads) thread.join();
  loop.close();  // dead-letters what is still queued

  std::multiset<uint64_t> fates = handled;
  for (const uint64_t value : loop.events().dead_values()) fates.insert(value);
  std::multiset<uint64_t> expected;
  for (const auto& one : accepted) expected.insert(one.begin(), one.end());
  EXPECT_GT(expected.size(), 0u);
  EXPECT_EQ(fates, expected);
}

TEST(SendAsync, MakesNoSystemCallWhileTheLoopIsAwake) {
  if (!can_count_system_calls()) GTEST_SKIP() << "cannot be counted under a sanitizer";
  TestLoop loop(Time::real);
  Probe& target = loop.probe();
  const jzx_actor_id target_id = loop.spawn(target);
  uint64_t writes = 0;
  const jzx_actor_id busy = loop.spawn(loop.probe([&](jzx_context*, const Received&) {
    std::thread([&] {
      const uint64_t before = writes_of_this_thread();
      for (int n = 0; n < 500; ++n) EXPECT_EQ(loop.send_async(target_id), JZX_OK);
      writes = writes_of_this_thread() - before;
    }).join();
    return JZX_BEHAVIOR_OK;
  }));
  ASSERT_EQ(loop.send(busy), JZX_OK);
  loop.settle();
  EXPECT_EQ(target.log.size(), 500u);
  EXPECT_EQ(writes, 0u);
}

TEST(SendAsync, WakeUpsOfALoopThatIsNotRunningCoalesceIntoOneSystemCall) {
  if (!can_count_system_calls()) GTEST_SKIP() << "cannot be counted under a sanitizer";
  TestLoop loop(Time::real);
  Probe& target = loop.probe();
  const jzx_actor_id id = loop.spawn(target);
  loop.settle();
  std::thread([&] {
    const uint64_t before = writes_of_this_thread();
    for (int n = 0; n < 500; ++n) EXPECT_EQ(loop.send_async(id), JZX_OK);
    EXPECT_LE(writes_of_this_thread() - before, 1u);
  }).join();
  loop.settle();
  EXPECT_EQ(target.log.size(), 500u);
}

TEST(SendAsync, TellsTheObserverOfAFullMailboxAtTheNextTickOncePerActor) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn(loop.probe(), 5);
  ASSERT_EQ(loop.send_async(id), JZX_OK);
  std::thread([&] {
    for (int n = 0; n < 10; ++n) EXPECT_EQ(loop.send_async(id), JZX_ERR_MAILBOX_FULL);
  }).join();
  EXPECT_EQ(loop.events().count(Kind::mailbox_full), 0u) << "not on the foreign thread";
  loop.settle();
  EXPECT_EQ(loop.events().count(Kind::mailbox_full, id), 1u);
  loop.settle();
  EXPECT_EQ(loop.events().count(Kind::mailbox_full, id), 1u) << "told once";
}

}  // namespace
}  // namespace jzx::testing
