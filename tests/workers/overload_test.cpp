// Overload, stalls and the injection mark on several workers.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace jzx {
namespace {

using namespace std::chrono_literals;

struct Item {};
struct Block {};

// Counts what it hears; every count may come from several threads.
struct Watch final : Observer {
  // Asks are tried until one gets through, and do not count.
  void dead_letter(ActorId, Envelope& envelope, DeadLetterReason reason) override {
    const bool is_item = std::string_view(envelope.type->name).ends_with("Item");
    if (reason == DeadLetterReason::overload && is_item) dropped.fetch_add(1);
  }
  void handler_stalled(ActorId id, const char* message, uint64_t running_ms) override {
    if (stalls.fetch_add(1) > 0) return;
    stalled_id = id;
    stalled_type = message;
    EXPECT_GE(running_ms, 20u);
    const auto since_sent = std::chrono::steady_clock::now() - sent;
    EXPECT_LE(running_ms, std::chrono::duration_cast<std::chrono::milliseconds>(since_sent).count())
        << "it cannot have run for longer than there was anything to do";
    told.set_value();
  }
  void injection_high(uint64_t waiting) override {
    highest.store(waiting);
    marks.fetch_add(1);
  }
  std::atomic<uint64_t> dropped{0};
  std::atomic<int> stalls{0};
  std::chrono::steady_clock::time_point sent;  // what stalls
  ActorId stalled_id = 0;
  std::string stalled_type;
  std::promise<void> told;
  std::atomic<uint64_t> highest{0};
  std::atomic<int> marks{0};
};

struct Slow {
  explicit Slow(std::shared_future<void> gate) : open(std::move(gate)) {}
  std::shared_future<void> open;
  uint64_t items = 0;
  void on(Block) { open.wait(); }
  void on(Item) { ++items; }
  uint64_t on(int) { return items; }
};

class OverloadOnWorkers : public ::testing::TestWithParam<Overload> {};

TEST_P(OverloadOnWorkers, EveryMessageOfForeignThreadsHasOneFate) {
  Watch watch;
  std::promise<void> gate;
  Runtime runtime = Runtime::builder().workers(2).observer(watch).build();
  SpawnOptions options;
  options.mailbox_cap = 100;
  options.overload = GetParam();
  const auto slow = runtime.spawn_with<Slow>(options, gate.get_future().share());
  ASSERT_EQ(slow.send(Block{}), Errc::ok);
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) ++(ok(slow.send(Item{})) ? sent : refused);
    });
  }
  for (std::thread& thread : threads) thread.join();
  gate.set_value();
  Result<uint64_t> items = Error(Errc::mailbox_full);
  while (!items.ok()) items = runtime.block_on(slow.ask(0));
  EXPECT_EQ(sent.load() + refused.load(), 3000u);
  EXPECT_EQ(*items + watch.dropped.load(), sent.load());
  if (GetParam() == Overload::refuse) {
    EXPECT_EQ(watch.dropped.load(), 0u);
  }
  if (GetParam() == Overload::drop_newest) {
    EXPECT_EQ(refused.load(), 0u);
  }
  if (GetParam() != Overload::refuse) {
    EXPECT_GT(watch.dropped.load(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Choices, OverloadOnWorkers,
                         ::testing::Values(Overload::refuse, Overload::drop_newest,
                                           Overload::drop_oldest));

TEST(StallWatch, TellsOfAHandlerThatRunsTooLong) {
  Watch watch;
  std::promise<void> gate;
  Runtime runtime = Runtime::builder().workers(1).stall_limit(20ms).observer(watch).build();
  const auto slow = runtime.spawn<Slow>(gate.get_future().share());
  watch.sent = std::chrono::steady_clock::now();
  ASSERT_EQ(slow.send(Block{}), Errc::ok);
  watch.told.get_future().wait();
  gate.set_value();
  EXPECT_EQ(watch.stalled_id, slow.id());
  EXPECT_NE(watch.stalled_type.find("Block"), std::string::npos) << watch.stalled_type;
}

struct Handing {
  ActorRef<Slow> next;
  std::shared_future<void> open;
  void on(Block) {
    (void)next.send(Item{});  // goes into the slot that only this worker looks at
    open.wait();
  }
};

TEST(StallWatch, WhatWaitsBehindAStuckHandlerRunsOnAnotherWorker) {
  std::promise<void> gate;
  Runtime runtime = Runtime::builder().workers(2).build();
  const auto open = gate.get_future().share();
  const auto slow = runtime.spawn<Slow>(open);
  const auto handing = runtime.spawn<Handing>(Handing{slow, open});
  ASSERT_EQ(handing.send(Block{}), Errc::ok);
  uint64_t items = 0;
  while (items == 0) items = *runtime.block_on(slow.ask(0));
  EXPECT_EQ(items, 1u);
  gate.set_value();
}

struct Next {
  int number;
};
struct InOrder {
  using Messages = jzx::Messages<Next>;
  std::atomic<int>& handled;
  void on(Next next) {
    EXPECT_EQ(next.number, handled.load());
    ++handled;
  }
};

// Its worker writes to what waits in the slot; from the theft on it must not.
struct Insisting {
  ActorRef<InOrder> next;
  std::atomic<int>& handled;
  std::promise<void>& done;
  void on(Block) {
    int number = 0;
    const auto send = [&] { EXPECT_EQ(next.send(Next{number++}), Errc::ok); };
    for (int thefts = 0; thefts < 3; ++thefts) {
      for (int i = 0; i < 10; ++i) send();
      while (handled.load() == 0) std::this_thread::yield();  // another worker has it now
      for (int i = 0; i < 10; ++i) send();
      while (handled.load() < number) std::this_thread::yield();
    }
    done.set_value();
  }
};

TEST(StallWatch, AStuckHandlerSendsOnInOrderToOneThatWasTakenFromIt) {
  Runtime runtime = Runtime::builder().workers(2).build();
  std::atomic<int> handled{0};
  std::promise<void> done;
  const auto next = runtime.spawn<InOrder>(handled);
  ASSERT_EQ(runtime.spawn<Insisting>(Insisting{next, handled, done}).send(Block{}), Errc::ok);
  done.get_future().wait();
  EXPECT_EQ(handled.load(), 60);
}

TEST(InjectionMark, IsToldWhenMoreWaitsThanItSays) {
  Watch watch;
  std::promise<void> gate;
  Runtime runtime = Runtime::builder().workers(1).injection_high_water(10).observer(watch).build();
  const auto open = gate.get_future().share();
  const auto slow = runtime.spawn<Slow>(open);
  ASSERT_EQ(slow.send(Block{}), Errc::ok);
  std::vector<ActorRef<Slow>> others;
  for (int i = 0; i < 50; ++i) others.push_back(runtime.spawn<Slow>(open));
  for (const auto& other : others) ASSERT_EQ(other.send(Item{}), Errc::ok);
  gate.set_value();
  for (const auto& other : others) EXPECT_EQ(*runtime.block_on(other.ask(0)), 1u);
  EXPECT_GE(watch.marks.load(), 1);
  EXPECT_GT(watch.highest.load(), 10u);
}

// Says when it is stuck.
struct Stuck {
  std::promise<void>* stuck;
  std::shared_future<void> open;
  void on(Block) {
    stuck->set_value();
    open.wait();
  }
};

// They have had a turn before, and then wait in another way where there is one worker.
TEST(InjectionMark, IsToldOfActorsThatHaveRunBefore) {
  Watch watch;
  std::promise<void> gate;
  std::promise<void> stuck;
  Runtime runtime = Runtime::builder().workers(1).injection_high_water(10).observer(watch).build();
  const auto open = gate.get_future().share();
  std::vector<ActorRef<Slow>> others;
  for (int i = 0; i < 50; ++i) others.push_back(runtime.spawn<Slow>(open));
  for (const auto& other : others) EXPECT_EQ(*runtime.block_on(other.ask(0)), 0u);
  ASSERT_EQ(runtime.spawn<Stuck>(Stuck{&stuck, open}).send(Block{}), Errc::ok);
  stuck.get_future().wait();
  const auto before = watch.marks.load();
  for (const auto& other : others) ASSERT_EQ(other.send(Item{}), Errc::ok);
  EXPECT_EQ(watch.marks.load(), before + 1);
  gate.set_value();
  for (const auto& other : others) EXPECT_EQ(*runtime.block_on(other.ask(0)), 1u);
}

// Both kinds are work from outside: what counts is how many they are together.
TEST(InjectionMark, IsToldOfNewActorsAndOfOthersTogether) {
  for (const bool has_old_ones_first : {true, false}) {
    Watch watch;
    std::promise<void> gate;
    std::promise<void> stuck;
    Runtime runtime =
        Runtime::builder().workers(1).injection_high_water(10).observer(watch).build();
    const auto open = gate.get_future().share();
    std::vector<ActorRef<Slow>> others;
    for (int i = 0; i < 10; ++i) others.push_back(runtime.spawn<Slow>(open));
    for (const auto& other : others) EXPECT_EQ(*runtime.block_on(other.ask(0)), 0u);
    ASSERT_EQ(runtime.spawn<Stuck>(Stuck{&stuck, open}).send(Block{}), Errc::ok);
    stuck.get_future().wait();
    for (int i = 0; i < 10; ++i) others.push_back(runtime.spawn<Slow>(open));
    if (!has_old_ones_first) std::reverse(others.begin(), others.end());
    for (size_t i = 0; i < others.size(); ++i) {
      EXPECT_EQ(watch.marks.load(), i > 10 ? 1 : 0);
      ASSERT_EQ(others[i].send(Item{}), Errc::ok);
    }
    EXPECT_EQ(watch.highest.load(), 11u);
    gate.set_value();
    for (const auto& other : others) EXPECT_EQ(*runtime.block_on(other.ask(0)), 1u);
  }
}

}  // namespace
}  // namespace jzx
