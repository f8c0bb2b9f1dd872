// Fibers that send to a full mailbox with Overload::wait: they are suspended, and nobody else is.
#include <gtest/gtest.h>

#include <vector>

#include "cpp/clocked_loop.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

struct Go {};

SpawnOptions small_and_waiting() {
  SpawnOptions options;
  options.mailbox_cap = 4 + 2;  // four are the system's
  options.overload = Overload::wait;
  return options;
}

JZX_SUITE_ON_ALL_DRIVERS(FiberWaitingSend);

TEST_P(FiberWaitingSend, GetsThroughWhenThereIsRoom) {
  ClockedLoop loop;
  std::vector<int> got;
  const Pid slow = loop.spawn_fn_with(small_and_waiting(), [&] {
    sleep_for(5ms);
    for (int i = 0; i < 6; ++i) receive([&](int number) { got.push_back(number); });
  });
  int sent = 0;
  bool other_ran = false;
  loop.spawn_fn([&] {
    for (; sent < 6; ++sent) EXPECT_EQ(slow.send(sent), Errc::ok);
  });
  loop.settle();
  EXPECT_EQ(sent, 2) << "it is suspended in the third send";
  loop.spawn_fn([&] { other_ran = true; });
  EXPECT_EQ(slow.send(7), Errc::mailbox_full) << "a loop's own thread does not wait";
  loop.advance(5ms);
  EXPECT_TRUE(other_ran);
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST_P(FiberWaitingSend, EveryMessageArrivesOnceInOrder) {
  ClockedLoop loop;
  std::vector<int> got;
  const Pid slow = loop.spawn_fn_with(small_and_waiting(), [&] {
    for (int i = 0; i < 100; ++i) {
      receive([&](int number) { got.push_back(number); });
      sleep_for(1ms);
    }
  });
  loop.spawn_fn([&] {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(slow.send(i), Errc::ok);
  });
  for (int i = 0; i < 120; ++i) loop.advance(1ms);
  ASSERT_EQ(got.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], i);
}

TEST_P(FiberWaitingSend, IsOverWhenTheReceiverEnds) {
  ClockedLoop loop;
  const Pid slow = loop.spawn_fn_with(small_and_waiting(), [] { receive([](Go) {}); });
  Errc result = Errc::ok;
  loop.spawn_fn([&] {
    while (result == Errc::ok) result = slow.send(1);
  });
  loop.settle();
  EXPECT_EQ(result, Errc::ok);
  EXPECT_EQ(loop.kill(slow), Errc::ok);
  loop.settle();
  EXPECT_EQ(result, Errc::no_such_actor);
}

TEST_P(FiberWaitingSend, IsOverWhenTheSenderIsKilled) {
  ClockedLoop loop;
  const Pid slow = loop.spawn_fn_with(small_and_waiting(), [] { receive([](Go) {}); });
  Errc result = Errc::ok;
  const Pid sender = loop.spawn_fn([&] {
    while (result == Errc::ok) result = slow.send(1);
  });
  loop.settle();
  EXPECT_EQ(loop.kill(sender), Errc::ok);
  loop.settle();
  EXPECT_EQ(result, Errc::killed);
  EXPECT_EQ(loop.seen().stop_of(sender.id()).reason, ExitReason::killed);
}

TEST_P(FiberWaitingSend, ToAnotherSystemIsRefusedAsToAHandler) {
  ClockedLoop loop;
  ClockedLoop other;
  const Pid slow = other.spawn_fn_with(small_and_waiting(), [] { receive([](Go) {}); });
  Errc result = Errc::ok;
  loop.spawn_fn([&] {
    while (result == Errc::ok) result = slow.send(1);
  });
  loop.settle();
  EXPECT_EQ(result, Errc::mailbox_full);
}

TEST(FiberWaitingSendOnWorkers, ManyFibersOnTwoWorkersAllGetThrough) {
  constexpr int kSenders = 20;
  constexpr int kEach = 200;
  RuntimeOptions wanted;
  wanted.workers = 2;
  Runtime runtime(wanted);
  ASSERT_TRUE(runtime);
  Tally done;
  std::vector<int> next(kSenders, 0);
  bool in_order = true;
  struct Numbered {
    int sender;
    int number;
  };
  const Pid slow = runtime.spawn_fn_with(small_and_waiting(), [&] {
    for (int i = 0; i < kSenders * kEach; ++i) {
      receive(
          [&](Numbered one) { in_order &= next[static_cast<size_t>(one.sender)]++ == one.number; });
      if (i % 7 == 0) yield();
    }
    done.add();
  });
  for (int sender = 0; sender < kSenders; ++sender) {
    runtime.spawn_fn([&, sender] {
      for (int i = 0; i < kEach; ++i) EXPECT_EQ(slow.send(Numbered{sender, i}), Errc::ok);
      done.add();
    });
  }
  EXPECT_TRUE(done.reaches(kSenders + 1));
  EXPECT_TRUE(in_order);
}

}  // namespace
}  // namespace jzx::testing
