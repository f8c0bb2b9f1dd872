// Asks that get no answer: why not, and what becomes of answers that nobody waits for.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Get {};
struct Explode {};
struct Give {};
struct Leave {};
struct Keep {};
struct Unknown {};

struct Cell {
  using Messages = jzx::Messages<Get>;
  std::unique_ptr<Promise<int>> kept = nullptr;
  int on(Get) { return 1; }
#ifndef JZX_LIBRARY_NOEXCEPT
  int on(Explode) { throw std::runtime_error("too far"); }
#endif
  int on(Give, Context& context) {
    context.fail("gave up");
    return 2;
  }
  void on(Leave, Context& context) { context.stop(); }
};

void expect_gone(Future<int>& future, const char* text) {
  ASSERT_TRUE(future.is_ready());
  const Result<int> result = future.get();
  EXPECT_EQ(result.error().code(), Errc::no_such_actor);
  EXPECT_STREQ(result.error().message(), text);
}

JZX_SUITE_ON_ALL_DRIVERS(AskReason);

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(AskReason, IsTheExceptionOfTheHandlerAndOfAllThatIsQueuedBehindIt) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  Future<int> first = cell.ask(Explode{});
  Future<int> second = cell.ask(Get{});
  EXPECT_EQ(loop.run(), Errc::ok);
  expect_gone(first, "the actor ended: panic: too far");
  expect_gone(second, "the actor ended: panic: too far");
}
#endif

TEST_P(AskReason, IsThatOfAnActorWhichFails) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  Future<int> first = cell.ask(Give{});
  Future<int> second = cell.ask(Get{});
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(first.get().value(), 2) << "it has returned";
  expect_gone(second, "the actor ended: fail: gave up");
}

TEST_P(AskReason, IsThatOfAnActorWhichWasKilled) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  Future<int> asked = cell.ask(Get{});
  EXPECT_EQ(loop.kill(cell), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  expect_gone(asked, "the actor ended: killed");
}

struct Sleeper {
  using Messages = jzx::Messages<Get>;
  Task<int> on(Get) {
    auto slept = sleep(std::chrono::seconds(1));
    Result<void> result = co_await slept;
    co_await result;
    co_return 1;
  }
};

TEST_P(AskReason, IsThatOfAnActorWhoseHandlerWaited) {
  ClockedLoop loop;
  const auto sleeper = loop.spawn<Sleeper>();
  Future<int> asked = sleeper.ask(Get{});
  loop.settle();
  EXPECT_EQ(loop.kill(sleeper), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  expect_gone(asked, "the actor ended: killed");
}

TEST_P(AskReason, IsThatOfAnActorWhichKeptThePromise) {
  struct Keeper {
    std::unique_ptr<Promise<int>> kept = nullptr;
    void on(Leave, Context& context) { context.fail("forgot"); }
  };
  auto [future, promise] = jzx::promise<int>();
  ClockedLoop loop;
  const auto keeper = loop.spawn<Keeper>(std::make_unique<Promise<int>>(std::move(promise)));
  keeper << Leave{};
  EXPECT_EQ(loop.run(), Errc::ok);
  expect_gone(future, "the actor ended: fail: forgot");
}

TEST_P(AskReason, IsAMissingHandlerIfTheActorLivesOn) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  const Result<int> result = loop.run_until(ask<int>(cell, Unknown{}));
  EXPECT_EQ(result.error().code(), Errc::broken_promise);
  EXPECT_STREQ(result.error().message(), "the actor has no handler for this message");
}

TEST_P(AskReason, IsToldByAChildThatEndsBeforeItsParent) {
  struct Parent {
    void on_start(Context& context) { child = context.spawn_child<Cell>(); }
    ActorRef<Cell> child{};
    int on(Get) { return 1; }
    void on(Leave, Context& context) { context.fail("parent"); }
  };
  ClockedLoop loop;
  const auto parent = loop.spawn<Parent>();
  parent << Leave{};
  Future<int> asked = parent.ask(Get{});
  EXPECT_EQ(loop.run(), Errc::ok);
  expect_gone(asked, "the actor ended: fail: parent");
}

// ---- late replies ----

using LateReply = Recorder::DeadLetter;

JZX_SUITE_ON_ALL_DRIVERS(ALateReply);

TEST_P(ALateReply, IsToldToTheObserver) {
  ClockedLoop loop(Time::jumping);
  const auto cell = loop.spawn<Cell>();
  const auto sleeper = loop.spawn<Sleeper>();
  { Future<int> dropped = cell.ask(Get{}); }
  { Future<int> dropped = sleeper.ask(Get{}); }
  while (loop.seen().dead.size() < 2) (void)loop.run_once(1ms);
  for (const LateReply& one : loop.seen().dead) {
    EXPECT_EQ(one.reason, DeadLetterReason::late_reply);
    EXPECT_EQ(one.target, 0u) << "no actor asked";
    EXPECT_NE(one.type.find("Get"), std::string::npos);
  }
  EXPECT_EQ(loop.ledger().dead_lettered, 0u) << "the questions were handled";
  EXPECT_EQ(loop.ledger().handled, 2u);
}

TEST_P(ALateReply, IsToldOfAFutureThatWasCancelled) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  Future<int> asked = cell.ask(Get{});
  asked.cancel();
  EXPECT_EQ(asked.get().error().code(), Errc::cancelled);
  loop.settle();
  ASSERT_EQ(loop.seen().dead.size(), 1u);
  EXPECT_EQ(loop.seen().dead.front().reason, DeadLetterReason::late_reply);
}

TEST_P(ALateReply, IsNotToldOfOneThatWasTaken) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  int got = 0;
  cell.ask(Get{}).then([&](Result<int> result) { got = result.value(); });
  EXPECT_EQ(loop.run_until(cell.ask(Get{})).value(), 1);
  EXPECT_EQ(got, 1);
  EXPECT_TRUE(loop.seen().dead.empty());
}

// ---- for so long only ----

JZX_SUITE_ON_ALL_DRIVERS(AskFor);

TEST_P(AskFor, GivesTheAnswerThatComesInTime) {
  ClockedLoop loop;
  const auto sleeper = loop.spawn<Sleeper>();
  Future<int> asked = sleeper.ask_for(1001ms, Get{});
  loop.advance(1000ms);
  EXPECT_EQ(asked.get().value(), 1);
  EXPECT_TRUE(loop.seen().dead.empty());
}

TEST_P(AskFor, IsTimedOutWhenTheTimeIsUpAndTheAnswerIsLate) {
  ClockedLoop loop;
  const auto sleeper = loop.spawn<Sleeper>();
  Future<int> asked = sleeper.ask_for(10ms, Get{});
  loop.advance(9ms);
  EXPECT_FALSE(asked.is_ready());
  loop.advance(1ms);
  ASSERT_TRUE(asked.is_ready());
  EXPECT_EQ(asked.get().error().code(), Errc::timed_out);
  loop.advance(1000ms);
  ASSERT_EQ(loop.seen().dead.size(), 1u);
  EXPECT_EQ(loop.seen().dead.front().reason, DeadLetterReason::late_reply);
}

TEST_P(AskFor, ByAPlainPidIsTimedOutToo) {
  ClockedLoop loop(Time::jumping);
  const Pid slow = loop.spawn<Sleeper>();
  EXPECT_EQ(loop.run_until(ask_for<int>(5ms, slow, Get{})).error().code(), Errc::timed_out);
  EXPECT_EQ(loop.run_until(ask_for<int>(5s, slow, Get{})).value(), 1);
}

TEST_P(AskFor, OfOneThatIsGoneFailsAtOnce) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  EXPECT_EQ(loop.kill(cell), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(cell.ask_for(1s, Get{}).get().error().code(), Errc::no_such_actor);
  EXPECT_EQ(ActorRef<Cell>().ask_for(1s, Get{}).get().error().code(), Errc::no_such_actor);
}

TEST_P(AskFor, HearsWhyTheActorEnds) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  Future<int> asked = cell.ask_for(1s, Get{});
  EXPECT_EQ(loop.kill(cell), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  expect_gone(asked, "the actor ended: killed");
}

TEST_P(AskFor, MayBeDroppedAndTheLoopEnded) {
  ClockedLoop loop;
  const auto sleeper = loop.spawn<Sleeper>();
  { Future<int> dropped = sleeper.ask_for(2s, Get{}); }
  Future<int> kept = sleeper.ask_for(3s, Get{});
  loop.advance(1000ms);
  EXPECT_FALSE(kept.is_ready());
}

struct Quick {
  static constexpr bool interleaves = true;
  Task<int> on(Get) {
    auto slept = sleep(std::chrono::milliseconds(1));
    Result<void> result = co_await slept;
    co_return 1;
  }
};

TEST(AskForOnWorkers, HasOneEndWhateverComesFirst) {
  Runtime runtime = Runtime::builder().workers(2).build();
  const auto quick = runtime.spawn<Quick>();
  for (int round = 0; round < 20; ++round) {
    std::vector<Future<int>> asked;
    for (int i = 0; i < 50; ++i)
      asked.push_back(quick.ask_for(std::chrono::milliseconds(i % 3), Get{}));
    for (Future<int>& one : asked) {
      const Result<int> result = one.get();
      EXPECT_TRUE(result.ok() || result.error().code() == Errc::timed_out);
    }
  }
}

}  // namespace
}  // namespace jzx::testing
