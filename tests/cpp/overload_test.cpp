// What a full mailbox does is the user's choice; high-water marks tell before it is too late.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx {
namespace {

using testing::ClockedLoop;

struct Item {
  int number;
};

struct Sink {
  explicit Sink(std::vector<int>* taken) : log(taken) {}
  std::vector<int>* log;
  void on(Item item) { log->push_back(item.number); }
  void on(const Down&) { log->push_back(-1); }
};

constexpr uint32_t kShare = 8;
constexpr uint32_t kCap = kShare + 4;

std::vector<int> numbers(int from, int to) {
  std::vector<int> result;
  for (int i = from; i < to; ++i) result.push_back(i);
  return result;
}

// Sends from inside, since what a loop's own thread sends from outside of its run counts as
// foreign.
struct Source {
  ActorRef<Sink> sink;
  std::vector<Errc>* answers;
  int count;
  void on(Item) {
    for (int i = 0; i < count; ++i) answers->push_back(sink.send(Item{i}));
  }
};

struct Outcome {
  std::vector<int> handled;
  std::vector<Errc> answers;
};

// Both are killed afterwards.
void flood(ClockedLoop& loop, const ActorRef<Sink>& sink, int count, Outcome& outcome) {
  const auto source = loop.spawn<Source>(Source{sink, &outcome.answers, count});
  EXPECT_EQ(source.send(Item{0}), Errc::ok);
  loop.settle();
  EXPECT_EQ(loop.kill(sink), Errc::ok);
  EXPECT_EQ(loop.kill(source), Errc::ok);
  loop.settle();
}

Outcome flood(ClockedLoop& loop, Overload overload, int count) {
  Outcome outcome;
  const auto sink =
      loop.spawn_with<Sink>({.mailbox_cap = kCap, .overload = overload}, &outcome.handled);
  flood(loop, sink, count, outcome);
  return outcome;
}

JZX_SUITE_ON_ALL_DRIVERS(AFullMailbox);

TEST_P(AFullMailbox, RefusesWhatDoesNotFitUnlessToldOtherwise) {
  ClockedLoop loop;
  const Outcome outcome = flood(loop, Overload::refuse, 12);
  EXPECT_EQ(outcome.handled, numbers(0, 8));
  EXPECT_EQ(outcome.answers[7], Errc::ok);
  EXPECT_EQ(outcome.answers[8], Errc::mailbox_full);
  EXPECT_TRUE(loop.seen().dead.empty());
}

TEST_P(AFullMailbox, DropNewestKeepsTheOldAndTellsTheObserver) {
  ClockedLoop loop;
  const Outcome outcome = flood(loop, Overload::drop_newest, 12);
  EXPECT_EQ(outcome.handled, numbers(0, 8));
  for (const Errc answer : outcome.answers) EXPECT_EQ(answer, Errc::ok);
  ASSERT_EQ(loop.seen().dead.size(), 4u);
  EXPECT_EQ(loop.seen().dead[0].reason, DeadLetterReason::overload);
}

TEST_P(AFullMailbox, DropNewestAnswersOkAlsoToTheOwnThreadOutsideOfARun) {
  ClockedLoop loop;
  std::vector<int> handled;
  const auto sink =
      loop.spawn_with<Sink>({.mailbox_cap = kCap, .overload = Overload::drop_newest}, &handled);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(sink.send(Item{i}), Errc::ok) << i;
  ASSERT_EQ(loop.seen().dead.size(), 4u) << "told at once";
  EXPECT_EQ(loop.seen().dead[0].reason, DeadLetterReason::overload);
  loop.settle();
  EXPECT_EQ(handled, numbers(0, 8));
  EXPECT_EQ(loop.kill(sink), Errc::ok);
  loop.settle();
}

// The loop's observer hears everything on the loop's thread, so another one has to keep its
// message.
TEST(AFullMailboxOfALoop, ThatDropsTheNewestRefusesOtherThreads) {
  ClockedLoop loop;
  std::vector<int> handled;
  const auto sink =
      loop.spawn_with<Sink>({.mailbox_cap = kCap, .overload = Overload::drop_newest}, &handled);
  std::thread other([&] {
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(sink.send(Item{i}), i < static_cast<int>(kShare) ? Errc::ok : Errc::mailbox_full);
    }
  });
  other.join();
  EXPECT_TRUE(loop.seen().dead.empty());
  loop.settle();
  EXPECT_EQ(handled, numbers(0, 8));
  EXPECT_EQ(loop.kill(sink), Errc::ok);
  loop.settle();
}

TEST_P(AFullMailbox, DropOldestKeepsTheNewestShare) {
  ClockedLoop loop;
  const Outcome outcome = flood(loop, Overload::drop_oldest, 12);
  EXPECT_EQ(outcome.handled, numbers(4, 12));
  ASSERT_EQ(loop.seen().dead.size(), 4u);
  EXPECT_EQ(loop.seen().dead[0].reason, DeadLetterReason::overload);
}

TEST_P(AFullMailbox, DropOldestRefusesAtTwiceTheShare) {
  ClockedLoop loop;
  const Outcome outcome = flood(loop, Overload::drop_oldest, 20);
  EXPECT_EQ(outcome.answers[15], Errc::ok);
  EXPECT_EQ(outcome.answers[16], Errc::mailbox_full);
  EXPECT_EQ(outcome.handled, numbers(8, 16));
}

struct Flooder {
  ActorRef<Sink> sink;
  Pid doomed;
  void on(Item, Context& context) {
    EXPECT_EQ(context.kill(doomed), Errc::ok);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(sink.send(Item{i}), Errc::ok);
  }
};

TEST_P(AFullMailbox, WhatTheSystemSendsIsNeverDropped) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto sink =
      loop.spawn_with<Sink>({.mailbox_cap = kCap, .overload = Overload::drop_oldest}, &log);
  const auto doomed = loop.spawn<Sink>(&log);
  ASSERT_EQ(loop.monitor(sink, doomed), Errc::ok);
  const auto flooder = loop.spawn<Flooder>(Flooder{sink, doomed});
  ASSERT_EQ(flooder.send(Item{0}), Errc::ok);
  loop.settle();
  std::vector<int> expected = numbers(8, 16);
  EXPECT_EQ(std::count(log.begin(), log.end(), -1), 1) << "the Down came through";
  std::erase(log, -1);
  EXPECT_EQ(log, expected);
}

// ---- senders that wait ----

// How many senders wait for room in this actor's mailbox.
size_t waiting(const SystemFace& face, Pid actor) {
  return detail::port_of(face)->system.waiting_senders.count(actor.id());
}
void wait_until_waiting(const SystemFace& face, Pid actor, size_t count) {
  while (waiting(face, actor) < count) std::this_thread::yield();
}

TEST(OverloadWait, RefusesTheLoopsOwnThreadInsideAndOutsideOfItsRun) {
  ClockedLoop loop;
  const Outcome outcome = flood(loop, Overload::wait, 12);
  EXPECT_EQ(outcome.handled, numbers(0, 8));
  EXPECT_EQ(outcome.answers[7], Errc::ok);
  EXPECT_EQ(outcome.answers[8], Errc::mailbox_full);
  std::vector<int> log;
  const auto sink = loop.spawn_with<Sink>({.mailbox_cap = kCap, .overload = Overload::wait}, &log);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(sink.send(Item{i}), Errc::ok);
  EXPECT_EQ(sink.send(Item{8}), Errc::mailbox_full);
}

TEST(OverloadWait, RefusesAHandlerOfAnotherLoop) {
  ClockedLoop loop;
  ClockedLoop other;
  std::vector<int> log;
  const auto sink = loop.spawn_with<Sink>({.mailbox_cap = kCap, .overload = Overload::wait}, &log);
  std::vector<Errc> answers;
  std::thread([&] {
    const auto source = other.spawn<Source>(Source{sink, &answers, 9});
    EXPECT_EQ(source.send(Item{0}), Errc::ok);
    other.settle();
  }).join();
  EXPECT_EQ(answers.back(), Errc::mailbox_full);
}

TEST(OverloadWait, AForeignThreadGetsThroughInOrderAsTheLoopTakesMail) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto sink = loop.spawn_with<Sink>({.mailbox_cap = kCap, .overload = Overload::wait}, &log);
  std::thread sender([&] {
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(sink.send(Item{i}), Errc::ok);
  });
  wait_until_waiting(loop, sink, 1);
  EXPECT_TRUE(log.empty());
  while (log.size() < 1000) loop.run_once(std::chrono::milliseconds(1000));
  sender.join();
  EXPECT_EQ(log, numbers(0, 1000));
  EXPECT_EQ(waiting(loop, sink), 0u);
  EXPECT_TRUE(loop.seen().dead.empty());
}

TEST(OverloadWait, NeedsNoMemoryToWait) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto sink = loop.spawn_with<Sink>({.mailbox_cap = kCap, .overload = Overload::wait}, &log);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(sink.send(Item{i}), Errc::ok);
  loop.settle();  // there are envelopes now
  for (int i = 8; i < 16; ++i) ASSERT_EQ(sink.send(Item{i}), Errc::ok);
  loop.allocator().refuse_all(true);
  std::thread sender([&] { EXPECT_EQ(sink.send(Item{16}), Errc::ok); });
  wait_until_waiting(loop, sink, 1);
  while (log.size() < 17) loop.run_once(std::chrono::milliseconds(1000));
  sender.join();
  EXPECT_EQ(loop.allocator().refused(), 0u);
  loop.allocator().refuse_all(false);
  EXPECT_EQ(log, numbers(0, 17));
}

TEST(OverloadWait, EndsWithTheActor) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto sink = loop.spawn_with<Sink>({.mailbox_cap = kCap, .overload = Overload::wait}, &log);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(sink.send(Item{i}), Errc::ok);
  std::vector<std::thread> senders;
  for (int i = 0; i < 3; ++i) {
    senders.emplace_back([&] { EXPECT_EQ(sink.send(Item{99}), Errc::no_such_actor); });
  }
  wait_until_waiting(loop, sink, 3);
  EXPECT_EQ(loop.kill(sink), Errc::ok);
  for (std::thread& sender : senders) sender.join();  // without a turn of the loop
  loop.settle();
  EXPECT_EQ(loop.seen().dead.size(), 8u);
}

TEST(OverloadWait, EndsWithTheLoop) {
  auto loop = std::make_unique<Loop>();
  std::vector<int> log;
  const auto sink = loop->spawn_with<Sink>({.mailbox_cap = kCap, .overload = Overload::wait}, &log);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(sink.send(Item{i}), Errc::ok);
  std::vector<std::thread> senders;
  for (int i = 0; i < 3; ++i) {
    senders.emplace_back([&] { EXPECT_EQ(sink.send(Item{99}), Errc::loop_closed); });
  }
  wait_until_waiting(*loop, sink, 3);
  loop.reset();
  for (std::thread& sender : senders) sender.join();
}

// ---- of children and workers of pools ----

TEST_P(AFullMailbox, OfAChildDropsAsItsSpecSaysAlsoAfterARestart) {
  struct Choice {
    Overload overload;
    std::vector<int> handled;
    size_t dropped;
  };
  for (const Choice& choice :
       {Choice{Overload::refuse, numbers(0, 8), 0}, Choice{Overload::drop_newest, numbers(0, 8), 4},
        Choice{Overload::drop_oldest, numbers(4, 12), 4}}) {
    ClockedLoop loop;
    Outcome outcome;
    const SupervisorRef family = loop.supervise(
        {}, {child<Sink>("sink", &outcome.handled).mailbox_cap(kCap).overload(choice.overload)});
    ASSERT_TRUE(family);
    for (size_t life = 1; life <= 3; ++life) {
      flood(loop, family.child_as<Sink>(0), 12, outcome);
      EXPECT_EQ(std::exchange(outcome.handled, {}), choice.handled) << "life " << life;
      EXPECT_EQ(loop.seen().dead.size(), choice.dropped * life);
    }
  }
}

TEST_P(AFullMailbox, OfAWorkerOfAPoolDropsAsTheOptionsSayAlsoAfterARestart) {
  ClockedLoop loop;
  Outcome outcome;
  WorkerPoolOptions options;
  options.mailbox_cap = kCap;
  options.overload = Overload::drop_oldest;
  const auto pool = spawn_pool_with<Sink>(loop, options, &outcome.handled);
  ASSERT_TRUE(pool);
  for (int life = 1; life <= 3; ++life) {
    flood(loop, pool.workers().at(0), 12, outcome);
    EXPECT_EQ(std::exchange(outcome.handled, {}), numbers(4, 12)) << "life " << life;
  }
}

TEST(OverloadWait, OfAChildMakesSendersWaitAlsoAfterARestart) {
  Loop loop;
  std::vector<int> log;
  const SupervisorRef family =
      loop.supervise({}, {child<Sink>("sink", &log).mailbox_cap(kCap).overload(Overload::wait)});
  for (int life = 1; life <= 2; ++life) {
    const auto sink = family.child_as<Sink>(0);
    for (int i = 0; i < 8; ++i) ASSERT_EQ(sink.send(Item{i}), Errc::ok);
    std::thread sender([&] { EXPECT_EQ(sink.send(Item{8}), Errc::ok); });
    wait_until_waiting(loop, sink, 1);
    while (log.size() < 9) loop.run_once(std::chrono::milliseconds(0));
    sender.join();
    EXPECT_EQ(std::exchange(log, {}), numbers(0, 9)) << "life " << life;
    ASSERT_EQ(loop.kill(sink), Errc::ok);
    while (!family.child(0)) loop.run_once(std::chrono::milliseconds(0));
  }
}

struct MarkObserver final : Observer {
  void mailbox_high(ActorId id, uint32_t queued) override { marks.push_back({id, queued}); }
  std::vector<std::pair<ActorId, uint32_t>> marks;
};

TEST(HighWater, IsToldOnceUntilHalfIsWorkedOff) {
  MarkObserver observer;
  LoopOptions options;
  options.observer = &observer;
  options.max_msgs_per_actor = 4;
  Loop loop(options);
  std::vector<int> log;
  const auto sink = loop.spawn_with<Sink>({.high_water = 10}, &log);
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(sink.send(Item{i}), Errc::ok);
  };
  send(9);
  for (int i = 0; i < 5; ++i) loop.run_once(std::chrono::milliseconds(0));
  EXPECT_TRUE(observer.marks.empty()) << "below the mark";
  send(20);
  for (int i = 0; i < 20; ++i) loop.run_once(std::chrono::milliseconds(0));
  ASSERT_EQ(observer.marks.size(), 1u);
  EXPECT_EQ(observer.marks[0].first, sink.id());
  EXPECT_EQ(observer.marks[0].second, 20u);
  send(12);
  for (int i = 0; i < 20; ++i) loop.run_once(std::chrono::milliseconds(0));
  EXPECT_EQ(observer.marks.size(), 2u) << "and again, after it was low";
}

TEST(HighWater, OfAChildIsToldAlsoAfterARestart) {
  MarkObserver observer;
  LoopOptions options;
  options.observer = &observer;
  Loop loop(options);
  std::vector<int> log;
  const SupervisorRef family = loop.supervise({}, {child<Sink>("sink", &log).high_water(10)});
  for (size_t life = 1; life <= 3; ++life) {
    const auto sink = family.child_as<Sink>(0);
    for (int i = 0; i < 12; ++i) ASSERT_EQ(sink.send(Item{i}), Errc::ok);
    loop.run_once(std::chrono::milliseconds(0));
    ASSERT_EQ(observer.marks.size(), life);
    EXPECT_EQ(observer.marks.back().first, sink.id());
    ASSERT_EQ(loop.kill(sink), Errc::ok);
    while (!family.child(0)) loop.run_once(std::chrono::milliseconds(0));
  }
}

TEST(HighWater, MayBeAboveTheShareDownToWhichTheOldestAreDropped) {
  MarkObserver observer;
  LoopOptions options;
  options.observer = &observer;
  Loop loop(options);
  std::vector<int> log;
  const auto sink = loop.spawn_with<Sink>(
      {.mailbox_cap = kCap, .overload = Overload::drop_oldest, .high_water = kShare + 4}, &log);
  for (int i = 0; i < static_cast<int>(2 * kShare); ++i) ASSERT_EQ(sink.send(Item{i}), Errc::ok);
  loop.run_once(std::chrono::milliseconds(0));
  ASSERT_EQ(observer.marks.size(), 1u);
  EXPECT_EQ(observer.marks[0].second, 2 * kShare);
  EXPECT_EQ(log.size(), kShare);
}

}  // namespace
}  // namespace jzx
