// Asks: what the handler returns, or why nothing came back.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "cpp/census.hpp"
#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Get {};
struct Set {
  int to = 0;
};
struct Wrap {
  std::unique_ptr<int> content;
};
struct Name {};
struct Finish {};
struct Explode {};

struct Cell {
  int value = 0;
  std::string name = "cell";

  int on(Get) { return value; }
  void on(Set set) { value = set.to; }
  std::unique_ptr<int> on(Wrap wrap) {
    ++*wrap.content;
    return std::move(wrap.content);
  }
  const std::string& on(Name) { return name; }
  void on(Finish, Context& context) { context.stop(); }
  int on(Explode) { throw std::runtime_error("exploded"); }
};

JZX_SUITE_ON_ALL_DRIVERS(Ask);

TEST_P(Ask, IsAnsweredWithWhatTheHandlerReturns) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>(42);
  Result<int> answer = loop.run_until(cell.ask(Get{}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, 42);
}

// Says what it takes from a plain Pid.
struct ListedCell {
  using Messages = jzx::Messages<Get, Set>;
  int value = 7;
  int on(Get) { return value; }
  void on(Set set) { value = set.to; }
  const char* on(Name) { return "not listed"; }
};

TEST_P(Ask, ByAPlainPidIsAnsweredIfTheActorListsTheMessageAndTheReplyIsOfThatType) {
  ClockedLoop loop;
  const Pid cell = loop.spawn<ListedCell>();
  EXPECT_TRUE(loop.run_until(ask<void>(cell, Set{8})).ok());
  EXPECT_EQ(loop.run_until(ask<int>(cell, Get{})).value(), 8);
  EXPECT_FALSE(loop.run_until(ask<long>(cell, Get{})).ok()) << "it answers an int";
  EXPECT_FALSE(loop.run_until(ask<const char*>(cell, Name{})).ok()) << "it is not listed";
  EXPECT_EQ(loop.run_until(ask<int>(Pid(), Get{})).error().code(), Errc::no_such_actor);
}

TEST_P(Ask, OfAHandlerThatReturnsNothingSaysThatItWasDone) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  const Result<void> done = loop.run_until(cell.ask(Set{5}));
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(loop.run_until(cell.ask(Get{})).value(), 5);
}

TEST_P(Ask, CarriesAMoveOnlyMessageAndAMoveOnlyReply) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  Result<std::unique_ptr<int>> answer = loop.run_until(cell.ask(Wrap{std::make_unique<int>(1)}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(**answer, 2);
}

TEST_P(Ask, CopiesAReferenceThatTheHandlerReturns) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  Future<std::string> future = cell.ask(Name{});
  cell << Finish{};
  loop.settle();
  EXPECT_EQ(future.get().value(), "cell") << "the actor is gone";
}

TEST(AskMessage, TravelsInsideTheEnvelopeWithAMessageOf24Bytes) {
  struct Three {
    uint64_t words[3];
  };
  static_assert(detail::fits_inline<detail::Ask<Three, std::string>>);
}

TEST_P(Ask, IsHandledInOrderWithSends) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  cell << Set{1};
  Future<int> first = cell.ask(Get{});
  cell << Set{2};
  Future<int> second = cell.ask(Get{});
  EXPECT_FALSE(first.is_ready());
  loop.settle();
  ASSERT_TRUE(first.is_ready());
  EXPECT_EQ(first.get().value(), 1);
  EXPECT_EQ(second.get().value(), 2);
}

TEST_P(Ask, CanBeSentAsAPlainMessageAndTheReplyIsDropped) {
  Census census;
  ClockedLoop loop;
  struct Maker {
    explicit Maker(Census& the_census) : census(the_census) {}
    Small on(Get) { return Small(census); }
    Census& census;
  };
  loop.spawn<Maker>(census) << Get{};
  loop.settle();
  EXPECT_EQ(census.ended(), 1);
}

TEST_P(Ask, IsAnsweredByAHandlerThatStopsItsActor) {
  struct Last {
    int on(Get, Context& context) {
      context.stop();
      return 8;
    }
  };
  ClockedLoop loop;
  const auto last = loop.spawn<Last>();
  Future<int> first = last.ask(Get{});
  Future<int> second = last.ask(Get{});
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(first.get().value(), 8);
  EXPECT_FALSE(second.get().ok());
}

TEST_P(Ask, WhoseFutureIsDroppedIsHandledAllTheSame) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  (void)cell.ask(Set{3});
  EXPECT_EQ(loop.run_until(cell.ask(Get{})).value(), 3);
}

// ---- no answer ----

void expect_error(Result<int> result, Errc code) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), code) << result.error().message();
}

TEST_P(Ask, OfAnActorThatIsGoneIsAnErrorAtOnce) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  EXPECT_EQ(loop.stop(cell), Errc::ok);
  Future<int> future = cell.ask(Get{});
  ASSERT_TRUE(future.is_ready());
  expect_error(future.get(), Errc::no_such_actor);
  expect_error(ActorRef<Cell>().ask(Get{}).get(), Errc::no_such_actor);
}

TEST_P(Ask, OfAFullMailboxIsAnErrorAtOnce) {
  ClockedLoop loop;
  SpawnOptions options;
  options.mailbox_cap = 5;
  const auto cell = loop.spawn_with<Cell>(options);
  cell << Set{1};
  Future<int> future = cell.ask(Get{});
  ASSERT_TRUE(future.is_ready());
  expect_error(future.get(), Errc::mailbox_full);
}

TEST_P(Ask, OfAnActorThatEndsFirstHearsWhy) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  cell << Finish{};
  Future<int> future = cell.ask(Get{});
  EXPECT_FALSE(future.is_ready());
  loop.settle();
  ASSERT_TRUE(future.is_ready());
  Result<int> result = future.get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::no_such_actor);
  EXPECT_STREQ(result.error().message(), "the actor ended: normal");
}

TEST_P(Ask, StillQueuedWhenTheLoopIsDestroyedIsABrokenPromise) {
  std::optional<ClockedLoop> loop(std::in_place);
  Future<int> future = loop->spawn<Cell>().ask(Get{});
  loop.reset();
  ASSERT_TRUE(future.is_ready());
  EXPECT_FALSE(future.get().ok());
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(Ask, OfAHandlerThatThrowsIsABrokenPromise) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  Future<int> future = cell.ask(Explode{});
  loop.settle();
  ASSERT_TRUE(future.is_ready());
  EXPECT_FALSE(future.get().ok());
  EXPECT_EQ(loop.seen().stop_of(cell.id()).reason, ExitReason::panic);
}
#endif

TEST_P(Ask, WithoutAnEnvelopeIsAnErrorAndTheOthersAreAnswered) {
  struct Echo {
    int on(int number) { return number; }
  };
  ClockedLoop loop;
  const auto echo = loop.spawn<Echo>();
  EXPECT_EQ(loop.run_until(echo.ask(0)).value(), 0);
  loop.allocator().refuse_all(true);
  std::vector<Future<int>> futures;
  bool is_refused = false;
  while (!is_refused) {
    ASSERT_LT(futures.size(), 1000u) << "it should have run out of envelopes";
    Future<int> future = echo.ask(static_cast<int>(futures.size()));
    is_refused = future.is_ready();
    if (is_refused) {
      expect_error(std::move(future).get(), Errc::no_memory);
    } else {
      futures.push_back(std::move(future));
    }
  }
  loop.allocator().refuse_all(false);
  loop.settle();
  for (size_t i = 0; i < futures.size(); ++i) {
    EXPECT_EQ(std::move(futures[i]).get().value(), static_cast<int>(i));
  }
}

TEST_P(Ask, WithoutMemoryForItsMessageIsAnError) {
  struct Big {
    explicit Big(int the_value) : value(the_value) {}
    int value;
    char rest[200] = {};
  };
  struct Reader {
    int on(Big big) { return big.value; }
  };
  ClockedLoop loop;
  const auto reader = loop.spawn<Reader>();
  EXPECT_EQ(loop.run_until(reader.ask(Big(1))).value(), 1);
  loop.allocator().refuse_all(true);
  expect_error(reader.ask(Big(2)).get(), Errc::no_memory);
  loop.allocator().refuse_all(false);
  EXPECT_EQ(loop.run_until(reader.ask(Big(3))).value(), 3);
}

// ---- where the answer is waited for ----

TEST_P(Ask, CannotBeWaitedForOnTheLoopsOwnThread) {
  struct Asker {
    Asker(ActorRef<Cell> the_cell, Errc& the_code) : cell(the_cell), code(the_code) {}
    void on(Get) { code = cell.ask(Get{}).get().error().code(); }
    ActorRef<Cell> cell;
    Errc& code;
  };
  ClockedLoop loop;
  Errc code = Errc::ok;
  const auto cell = loop.spawn<Cell>();
  loop.spawn<Asker>(cell, code) << Get{};
  loop.settle();
  EXPECT_EQ(code, Errc::invalid_arg);
}

TEST(AskFromAnotherThread, BlocksAnotherThreadUntilItIsAnswered) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>(7);
  int answer = 0;
  std::thread asker([&] {
    answer = cell.ask(Get{}).get().value();
    cell << Finish{};
  });
  EXPECT_EQ(loop.run(), Errc::ok);
  asker.join();
  EXPECT_EQ(answer, 7);
}

TEST_P(Ask, ByAnActorIsAnsweredThroughThen) {
  struct Asker {
    Asker(ActorRef<Cell> the_cell, int& the_answer) : cell(the_cell), answer(the_answer) {}
    void on(Get, Context& context) {
      cell.ask(Get{}).then(
          [self = context.self(*this)](Result<int> result) { self << Set{*result}; });
    }
    void on(Set set) { answer = set.to; }
    ActorRef<Cell> cell;
    int& answer;
  };
  ClockedLoop loop;
  int answer = 0;
  loop.spawn<Asker>(loop.spawn<Cell>(11), answer) << Get{};
  loop.settle();
  EXPECT_EQ(answer, 11);
}

TEST(RunUntil, IsAnErrorWhenTheLoopEndsFirst) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  auto [future, promise] = jzx::promise<int>();
  cell << Finish{};
  expect_error(loop.run_until(std::move(future)), Errc::loop_closed);
  promise.resolve(1);  // nobody listens any more
}

TEST(RunUntil, IsAnErrorWhenTheLoopIsStopped) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  auto [future, promise] = jzx::promise<int>();
  loop.request_stop();
  expect_error(loop.run_until(std::move(future)), Errc::loop_closed);
  EXPECT_TRUE(loop.run_until(cell.ask(Get{})).ok()) << "the request was for one run";
}

TEST(RunUntil, TakesAResultThatIsThereWithoutRunning) {
  ClockedLoop loop;
  const auto cell = loop.spawn<Cell>();
  cell << Set{1};
  EXPECT_EQ(loop.run_until(Future<int>(Result<int>(3))).value(), 3);
  EXPECT_EQ(loop.ledger().queued, 1u);
}

TEST(RunUntil, WakesWhenAnotherThreadResolvesTheFuture) {
  ClockedLoop loop;
  (void)loop.spawn<Cell>();  // keeps the loop waiting
  auto [future, promise] = jzx::promise<int>();
  std::thread resolver([promise = std::move(promise)]() mutable { promise.resolve(9); });
  EXPECT_EQ(loop.run_until(std::move(future)).value(), 9);
  resolver.join();
}

TEST(RunUntil, OfAnEmptyFutureIsAnError) {
  ClockedLoop loop;
  (void)loop.spawn<Cell>();
  expect_error(loop.run_until(Future<int>()), Errc::invalid_arg);
}

}  // namespace
}  // namespace jzx::testing
