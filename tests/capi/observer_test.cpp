// The observer: what it is told, on which thread, and in which order.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

TEST(Observer, IsToldOfAStartInsideTheSpawnWithItsName) {
  TestLoop loop;
  jzx_spawn_opts opts{};
  opts.behavior = &Probe::behave;
  opts.state = &loop.probe();
  std::string name = "worker";
  opts.name = name.c_str();
  jzx_actor_id named = 0;
  ASSERT_EQ(jzx_spawn(loop, &opts, &named), JZX_OK);
  const jzx_actor_id nameless = loop.spawn_quiet();
  const std::vector<Event> starts = loop.events().of(Kind::start);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].id, named);
  EXPECT_EQ(starts[0].name, "worker");
  EXPECT_EQ(starts[1].id, nameless);
  EXPECT_EQ(starts[1].name, "");
}

TEST(Observer, IsToldOfEveryEndOnceWithItsReason) {
  TestLoop loop;
  const jzx_actor_id stops = loop.spawn_quiet();
  const jzx_actor_id fails = loop.spawn_quiet();
  ASSERT_EQ(loop.send(stops, kTagStop), JZX_OK);
  ASSERT_EQ(loop.send(fails, kTagFail), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().count(Kind::stop, stops), 1u);
  EXPECT_EQ(loop.events().count(Kind::stop, fails), 1u);
  EXPECT_EQ(loop.events().stop_reason(stops), JZX_EXIT_NORMAL);
  EXPECT_EQ(loop.events().stop_reason(fails), JZX_EXIT_FAIL);
}

TEST(Observer, HearsOfAStopWhenTheActorHasEndedNotWhenItWasAsked) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
  EXPECT_EQ(loop.events().count(Kind::stop), 0u);
  loop.settle();
  EXPECT_EQ(loop.events().count(Kind::stop, id), 1u);
}

TEST(Observer, OfARestartHearsTheStartFirstThenTheRestartWithACountFromOne) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children(2, child_spec(probe));
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  const auto fail_and_check = [&](size_t index, int attempt) {
    loop.events().clear();
    ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, index)), JZX_OK);
    loop.settle();
    const std::vector<Event> all = loop.events().all();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].kind, Kind::stop);
    EXPECT_EQ(all[1].kind, Kind::start);
    EXPECT_EQ(all[2].kind, Kind::restart);
    EXPECT_EQ(all[1].id, loop.child(supervisor, index));
    EXPECT_EQ(all[2].id, loop.child(supervisor, index));
    EXPECT_EQ(all[2].supervisor, supervisor);
    EXPECT_EQ(all[2].value, attempt);
  };
  fail_and_check(0, 1);
  fail_and_check(0, 2);
  fail_and_check(1, 1);  // counted per child
  fail_and_check(0, 3);
}

TEST(Observer, HearsOfAnEscalationBeforeTheSupervisorsEnd) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_actor_id supervisor =
      loop.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 0, 1000));
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
  loop.settle();
  EXPECT_LT(loop.events().position(Kind::escalate, supervisor),
            loop.events().position(Kind::stop, supervisor));
  EXPECT_EQ(loop.events().count(Kind::stop, supervisor), 1u);
}

TEST(Observer, GetsTheWholeDeadLetter) {
  TestLoop loop;
  const jzx_actor_id victim = loop.spawn_quiet();
  const jzx_actor_id sender = loop.spawn(loop.probe([&](jzx_context* ctx, const Received&) {
    EXPECT_EQ(loop.send(victim, 55, 66), JZX_OK);
    EXPECT_EQ(jzx_actor_stop(ctx->loop, victim), JZX_OK);
    return JZX_BEHAVIOR_OK;
  }));
  ASSERT_EQ(loop.send(sender), JZX_OK);
  loop.settle();
  const std::vector<Event> letters = loop.events().of(Kind::dead_letter);
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].id, victim);
  EXPECT_EQ(letters[0].tag, 55u);
  EXPECT_EQ(letters[0].data, 66u);
  EXPECT_EQ(letters[0].sender, sender);
}

TEST(Observer, GetsNoDeadLetterForSystemMessages) {
  TestLoop loop;
  const jzx_actor_id boss = loop.spawn_quiet();
  const jzx_actor_id child = loop.spawn_quiet(boss);
  ASSERT_EQ(jzx_monitor(loop, boss, child, nullptr), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop, child), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop, boss), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.alive_count(), 0u);
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 0u);
}

TEST(Observer, IsCalledOnTheLoopsThreadOnly) {
  TestLoop loop(Time::real);
  const std::thread::id mine = std::this_thread::get_id();
  loop.on_event = [&](const Event&) { EXPECT_EQ(std::this_thread::get_id(), mine); };
  const jzx_actor_id id = loop.spawn(loop.probe(), 5);
  std::thread([&] {
    for (int n = 0; n < 100; ++n) (void)loop.send_async(id);
  }).join();
  loop.settle();
  EXPECT_GE(loop.events().count(Kind::mailbox_full, id), 1u);
}

// ---- setting and removing it ------------------------------------------------------------

struct Counts {
  int starts = 0;
  int stops = 0;
};

jzx_observer counting_observer() {
  jzx_observer observer{};
  observer.on_actor_start = [](void* ctx, jzx_actor_id, const char*) {
    ++static_cast<Counts*>(ctx)->starts;
  };
  observer.on_actor_stop = [](void* ctx, jzx_actor_id, int) { ++static_cast<Counts*>(ctx)->stops; };
  return observer;
}

TEST(Observer, IsCopied) {
  TestLoop loop;
  Counts counts;
  {
    jzx_observer observer = counting_observer();
    jzx_loop_set_observer(loop, &observer, &counts);
    observer = jzx_observer{};
  }
  loop.spawn_quiet();
  EXPECT_EQ(counts.starts, 1);
}

TEST(Observer, MembersThatAreNullAreSkipped) {
  TestLoop loop;
  loop.skip_message_accounting();  // its dead letters go unseen
  const jzx_observer nothing{};
  jzx_loop_set_observer(loop, &nothing, nullptr);
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_actor_id supervisor =
      loop.spawn_supervisor(family(children, JZX_SUP_ONE_FOR_ONE, 1, 1000));
  const jzx_actor_id small = loop.spawn(loop.probe(), 5);
  ASSERT_EQ(loop.send(small), JZX_OK);
  ASSERT_EQ(loop.send(small), JZX_ERR_MAILBOX_FULL);
  for (int n = 0; n < 2; ++n) {
    ASSERT_EQ(loop.send(loop.child(supervisor, 0)), JZX_OK);
    ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
    loop.settle();
  }
  EXPECT_EQ(loop.send(supervisor), JZX_ERR_NO_SUCH_ACTOR) << "it escalated, silently";
}

TEST(Observer, IsRemovedByNull) {
  TestLoop loop;
  Counts counts;
  const jzx_observer observer = counting_observer();
  jzx_loop_set_observer(loop, &observer, &counts);
  const jzx_actor_id id = loop.spawn_quiet();
  jzx_loop_set_observer(loop, nullptr, nullptr);
  ASSERT_EQ(jzx_actor_stop(loop, id), JZX_OK);
  loop.settle();
  EXPECT_EQ(counts.starts, 1);
  EXPECT_EQ(counts.stops, 0);
}

TEST(Observer, MayBeReplacedInsideACallback) {
  TestLoop loop;
  Counts counts;
  const jzx_observer observer = counting_observer();
  loop.on_event = [&](const Event&) { jzx_loop_set_observer(loop, &observer, &counts); };
  loop.spawn_quiet();
  loop.spawn_quiet();
  EXPECT_EQ(loop.events().count(Kind::start), 1u);
  EXPECT_EQ(counts.starts, 1);
}

TEST(Observer, ChangesNothingByItsPresence) {
  const auto run = [](bool observed) {
    TestLoop loop(Time::jumping);
    if (!observed) {
      loop.skip_message_accounting();
      jzx_loop_set_observer(loop, nullptr, nullptr);
    }
    std::vector<uint64_t> order;
    std::vector<jzx_actor_id> ids;
    for (uint64_t n = 0; n < 10; ++n) {
      ids.push_back(loop.spawn(loop.probe([&, n](jzx_context*, const Received& received) {
        order.push_back(n * 1000 + received.value);
        const jzx_actor_id next = ids[(n + received.value) % ids.size()];
        if (received.value > 0) (void)loop.send(next, kTag, received.value - 1);
        return received.value == 3 ? JZX_BEHAVIOR_STOP : JZX_BEHAVIOR_OK;
      })));
    }
    for (uint64_t n = 0; n < 10; ++n) EXPECT_EQ(loop.send(ids[n], kTag, n + 5), JZX_OK);
    loop.settle();
    return order;
  };
  EXPECT_EQ(run(true), run(false));
}

}  // namespace
}  // namespace jzx::testing
