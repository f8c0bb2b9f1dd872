// What several tasks at once promise about those that lose: one that is asked to stop before its
// turn has come takes nothing any more, although what it waited for is there.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

using std::chrono::milliseconds;

// Two channels whose messages come in the same moment: both receivers are woken for one turn.
struct TwoChannels {
  TwoChannels() {
    auto [first_sender, first_receiver] = unbounded_channel<int>();
    auto [second_sender, second_receiver] = unbounded_channel<int>();
    a_in = std::move(first_sender);
    a = std::move(first_receiver);
    b_in = std::move(second_sender);
    b = std::move(second_receiver);
  }
  template <class T>
  Result<T> decide(Task<T> task) {
    Future<T> future = loop.spawn_async(std::move(task));
    loop.run_once(milliseconds(0));
    EXPECT_FALSE(future.is_ready());
    EXPECT_EQ(a_in.send(1), Errc::ok);
    EXPECT_EQ(b_in.send(2), Errc::ok);
    EXPECT_EQ(loop.run(), Errc::ok);
    return future.get();
  }
  [[nodiscard]] size_t left() const { return a.size() + b.size(); }

  ClockedLoop loop;
  UnboundedSender<int> a_in, b_in;
  Receiver<int> a, b;
};

Task<int> failing_after(Receiver<int>& receiver) {
  auto receiving = receiver.ready();
  Result<void> is_ready = co_await receiving;
  co_return Error(Errc::lagged);
}

JZX_SUITE_ON_ALL_DRIVERS(Losers);

TEST_P(Losers, OfARaceTakeNoMessage) {
  TwoChannels two;
  const int won = *two.decide(race(two.a.recv(), two.b.recv()));
  EXPECT_EQ(two.left(), 1u);
  EXPECT_EQ(*(won == 1 ? two.b : two.a).try_recv(), won == 1 ? 2 : 1);
}

TEST_P(Losers, OfARaceOfAListTakeNoMessage) {
  TwoChannels two;
  std::vector<Task<int>> tasks;
  tasks.push_back(two.a.recv());
  tasks.push_back(two.b.recv());
  EXPECT_TRUE(two.decide(race(std::move(tasks))).ok());
  EXPECT_EQ(two.left(), 1u);
}

TEST_P(Losers, OfAnyTakeNoMessage) {
  TwoChannels two;
  EXPECT_TRUE(two.decide(any(two.a.recv(), two.b.recv())).ok());
  EXPECT_EQ(two.left(), 1u);
}

TEST_P(Losers, OfAllTakeNoMessageWhenAnotherHasFailed) {
  TwoChannels two;
  EXPECT_EQ(two.decide(all(failing_after(two.a), two.b.recv())).error().code(), Errc::lagged);
  EXPECT_EQ(two.left(), 2u);
}

TEST_P(Losers, TakeNothingWhenTheRaceIsDecidedBeforeTheyBegin) {
  auto [sender, receiver] = unbounded_channel<int>();
  EXPECT_EQ(sender.send(2), Errc::ok);
  const auto at_once = []() -> Task<int> { co_return 1; };
  EXPECT_EQ(*race(at_once(), receiver.recv()).get(), 1);
  EXPECT_EQ(receiver.size(), 1u);
}

TEST_P(Losers, OfARaceTakeNoBroadcast) {
  ClockedLoop loop;
  auto [sender, first] = broadcast<int>(4);
  BroadcastReceiver<int> second = sender.subscribe();
  auto future = loop.spawn_async(race(first.recv(), second.recv()));
  loop.run_once(milliseconds(0));
  EXPECT_EQ(sender.send(1), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(*future.get(), 1);
  EXPECT_NE(first.try_recv().ok(), second.try_recv().ok());
}

TEST_P(Losers, OfARaceHaveEndedWhenItsResultIsThere) {
  ClockedLoop loop;
  auto [future, promise] = jzx::promise<int>();
  auto [slow_future, slow_promise] = jzx::promise<int>();
  std::vector<std::string> log;
  const auto slow_to_stop = [&]() -> Task<int> {
    Result<int> result = co_await slow_future;
    log.push_back(result ? "value" : "stopped");
    co_return result;
  };
  const auto quick = [&]() -> Task<int> {
    Result<int> result = co_await future;
    log.push_back("won");
    co_return result;
  };
  auto raced = loop.spawn_async(race(slow_to_stop(), quick()));
  loop.run_once(milliseconds(0));
  promise.resolve(7);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(*raced.get(), 7);
  EXPECT_EQ(log, (std::vector<std::string>{"won", "stopped"}));
}

TEST_P(Losers, OfARaceThatIsCancelledTakeOnlyWhatIsDelivered) {
  TwoChannels two;
  auto future = two.loop.spawn_async(race(two.a.recv(), two.b.recv()));
  two.loop.run_once(milliseconds(0));
  future.cancel();
  EXPECT_EQ(two.a_in.send(1), Errc::ok);
  EXPECT_EQ(two.b_in.send(2), Errc::ok);
  EXPECT_EQ(two.loop.run(), Errc::ok);
  const Result<int> result = future.get();
  EXPECT_EQ(result.error().code(), result ? Errc::ok : Errc::cancelled);
  EXPECT_EQ(two.left(), result ? 1u : 2u);
}

// The future of a scope's task is only a view of it.
TEST_P(Losers, AreNotStoppedByTheFutureOfATaskThatAScopeStarted) {
  auto [sender, receiver] = unbounded_channel<int>();
  EXPECT_EQ(sender.send(2), Errc::ok);
  int got = 0;
  const auto taking = [&]() -> Task<int> {
    auto receiving = receiver.recv();
    Result<int> result = co_await receiving;
    got = result.ok() ? *result : -1;
    co_return got;
  };
  auto whole = scope([&](Scope& own) -> Task<void> {
    Future<int> future = own.start(taking());
    future.cancel();
    co_return;
  });
  EXPECT_TRUE(whole.get().ok());
  EXPECT_EQ(got, 2);
}

JZX_SUITE_ON_ALL_DRIVERS(RecvOfATask);

TEST_P(RecvOfATask, ThatIsAskedToStopTakesNothing) {
  ClockedLoop loop;
  auto [sender, receiver] = unbounded_channel<int>();
  auto future = loop.spawn_async(receiver.recv());
  loop.run_once(milliseconds(0));
  EXPECT_EQ(sender.send(1), Errc::ok);  // it is woken, and has not had its turn
  future.cancel();
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
  EXPECT_EQ(receiver.size(), 1u);
}

}  // namespace
}  // namespace jzx::testing
