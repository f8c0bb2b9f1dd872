// Handlers that are coroutines: they wait, and their actor waits with them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cpp/census.hpp"
#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Get {};
struct Add {
  int by = 0;
};
struct Later {
  int ms = 0;
};
struct Fail {};
struct Throw {};
struct Wait {};
struct Leave {};
struct Own {
  std::unique_ptr<int> content;
};

struct Clerk {
  using Messages = jzx::Messages<Get, Add, Later, Fail>;
  std::vector<std::string>* notes = nullptr;
  int value = 0;

  Task<int> on(Get) { co_return value; }
  void on(Add add) { value += add.by; }
  Task<int> on(Later later) {
    note("begin");
    auto slept = sleep(std::chrono::milliseconds(later.ms));
    Result<void> result = co_await slept;
    note(result.ok() ? "slept" : to_string(result.error().code()));
    co_await result;
    co_return ++value;
  }
  Task<int> on(Fail) { co_return Error(Errc::too_long, "much too long"); }
#ifndef JZX_LIBRARY_NOEXCEPT
  Task<int> on(Throw) {
    throw std::runtime_error("thrown");
    co_return 1;
  }
#endif
  Task<int> on(const Own& own) {  // refers to the message, which stays where it is
    auto slept = sleep(1ms);
    Result<void> result = co_await slept;
    co_return *own.content;
  }
  void on(Leave, Context& context) { context.stop(); }

  void note(const char* what) const {
    if (notes != nullptr) notes->emplace_back(what);
  }
};

JZX_SUITE_ON_ALL_DRIVERS(CoroutineHandler);

TEST_P(CoroutineHandler, AnswersWithWhatItsTaskReturns) {
  ClockedLoop loop;
  const auto clerk = loop.spawn<Clerk>();
  clerk << Add{42};
  static_assert(std::is_same_v<decltype(clerk.ask(Get{})), Future<int>>);
  EXPECT_EQ(loop.run_until(clerk.ask(Get{})).value(), 42);
  EXPECT_EQ(loop.run_until(ask<int>(clerk.pid(), Get{})).value(), 42) << "by a plain Pid";
}

TEST_P(CoroutineHandler, ThatDoesNotWaitNeedsOneTurn) {
  ClockedLoop loop;
  const auto clerk = loop.spawn<Clerk>();
  Future<int> first = clerk.ask(Get{});
  clerk << Add{1};
  Future<int> second = clerk.ask(Get{});
  (void)loop.run_once(0ms);
  ASSERT_TRUE(first.is_ready());
  ASSERT_TRUE(second.is_ready());
  EXPECT_EQ(second.get().value(), 1);
}

TEST_P(CoroutineHandler, KeepsTheNextMessageWaitingUntilItIsDone) {
  ClockedLoop loop;
  const auto clerk = loop.spawn<Clerk>();
  Future<int> later = clerk.ask(Later{10});
  clerk << Add{5};
  Future<int> now = clerk.ask(Get{});
  loop.advance(9ms);
  EXPECT_FALSE(later.is_ready());
  EXPECT_FALSE(now.is_ready());
  EXPECT_EQ(loop.ledger().queued, 3u) << "what is being handled counts as queued";
  loop.advance(1ms);
  EXPECT_EQ(later.get().value(), 1);
  EXPECT_EQ(now.get().value(), 6);
  EXPECT_EQ(loop.ledger().handled, 3u);
}

TEST_P(CoroutineHandler, MayReferToItsMessageWhileItWaits) {
  ClockedLoop loop(Time::jumping);
  const auto clerk = loop.spawn<Clerk>();
  EXPECT_EQ(loop.run_until(clerk.ask(Own{std::make_unique<int>(9)})).value(), 9);
}

TEST_P(CoroutineHandler, ThatEndsWithAnErrorRejectsTheAskAndItsActorGoesOn) {
  ClockedLoop loop;
  const auto clerk = loop.spawn<Clerk>();
  const Result<int> failed = loop.run_until(clerk.ask(Fail{}));
  EXPECT_EQ(failed.error().code(), Errc::too_long);
  EXPECT_STREQ(failed.error().message(), "much too long");
  EXPECT_TRUE(loop.run_until(clerk.ask(Get{})).ok());
}

TEST_P(CoroutineHandler, OfAPlainMessageThatEndsWithAnErrorEndsItsActor) {
  ClockedLoop loop;
  const auto clerk = loop.spawn<Clerk>();
  clerk << Fail{} << Add{1};
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(loop.seen().stop_of(clerk.id()).reason, ExitReason::fail);
  EXPECT_EQ(loop.seen().stop_of(clerk.id()).text, "much too long");
  EXPECT_EQ(loop.ledger().handled, 1u);
  EXPECT_EQ(loop.ledger().dead_lettered, 1u);
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(CoroutineHandler, OfAPlainMessageThatThrowsEndsItsActorInPanic) {
  ClockedLoop loop;
  const auto clerk = loop.spawn<Clerk>();
  clerk << Throw{};
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(loop.seen().stop_of(clerk.id()).reason, ExitReason::panic);
  EXPECT_EQ(loop.seen().stop_of(clerk.id()).text, "thrown");
}

TEST_P(CoroutineHandler, ThatThrowsRejectsTheAskWithTheException) {
  ClockedLoop loop;
  const auto clerk = loop.spawn<Clerk>();
  Result<int> failed = loop.run_until(clerk.ask(Throw{}));
  EXPECT_EQ(failed.error().code(), Errc::exception);
  EXPECT_THROW((void)std::move(failed).or_throw(), std::runtime_error);
}
#endif

TEST_P(CoroutineHandler, IsFoundForAMessageThroughAPlainPid) {
  ClockedLoop loop(Time::jumping);
  const auto clerk = loop.spawn<Clerk>();
  clerk.pid() << Later{5};
  EXPECT_EQ(loop.run_until(clerk.ask(Get{})).value(), 1);
}

// ---- ending ----

TEST_P(CoroutineHandler, IsAskedToStopWhenItsActorIsStopped) {
  std::vector<std::string> notes;
  ClockedLoop loop;
  const auto clerk = loop.spawn<Clerk>(&notes);
  Future<int> asked = clerk.ask(Later{1000});
  clerk << Add{1};
  loop.settle();
  EXPECT_EQ(loop.stop(clerk), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(notes, (std::vector<std::string>{"begin", "it was cancelled"}));
  ASSERT_TRUE(asked.is_ready());
  EXPECT_FALSE(asked.get().ok());
  EXPECT_EQ(loop.ledger().handled, 1u) << "its handler has ended";
  EXPECT_EQ(loop.ledger().dead_lettered, 1u);
  EXPECT_EQ(loop.seen().stop_of(clerk.id()).reason, ExitReason::normal);
}

TEST_P(CoroutineHandler, IsAskedToStopWhenTheSystemEnds) {
  std::vector<std::string> notes;
  Future<int> asked;
  {
    ClockedLoop loop;
    const auto clerk = loop.spawn<Clerk>(&notes);
    asked = clerk.ask(Later{1000});
    loop.settle();
  }
  EXPECT_EQ(notes, (std::vector<std::string>{"begin", "it was cancelled"}));
  ASSERT_TRUE(asked.is_ready());
}

struct Employer {
  Task<int> on(Get) {
    Self self = co_await this_actor();
    auto job = self.spawn_async(sleeper());
    Result<int> done = co_await job;
    EXPECT_FALSE(done.ok());
    co_return co_await done;
  }
  static Task<int> sleeper() {
    auto slept = sleep(std::chrono::seconds(1));
    Result<void> result = co_await slept;
    co_await result;
    co_return 1;
  }
};

TEST_P(CoroutineHandler, ThatWaitsForATaskEndsWithTheSystemWhicheverIsEndedFirst) {
  for (const bool has_begun : {false, true}) {
    Future<int> asked;
    {
      ClockedLoop loop;
      const auto employer = loop.spawn<Employer>();
      asked = employer.ask(Get{});
      if (has_begun) {
        loop.settle();
      } else {
        (void)loop.run_once(0ms);
      }
    }
    ASSERT_TRUE(asked.is_ready());
    EXPECT_FALSE(asked.get().ok());
  }
}

TEST_P(CoroutineHandler, IsDoneBeforeItsActorEnds) {
  struct Stubborn {
    std::vector<std::string>& notes;
    Task<void> on(Wait) {
      auto [future, promise] = jzx::promise<int>();
      release = std::make_unique<Promise<int>>(std::move(promise));
      Result<int> first = co_await future;
      notes.emplace_back(to_string(first.error().code()));
      // What is asked for an early end may take its time; this one is told at once.
      notes.emplace_back(co_await stop_requested() ? "asked" : "not asked");
    }
    void on_stop() { notes.emplace_back("on_stop"); }
    std::unique_ptr<Promise<int>> release = nullptr;
  };
  std::vector<std::string> notes;
  ClockedLoop loop;
  const auto actor = loop.spawn<Stubborn>(notes);
  actor << Wait{};
  loop.settle();
  EXPECT_EQ(loop.kill(actor), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(notes, (std::vector<std::string>{"it was cancelled", "asked", "on_stop"}));
}

TEST_P(CoroutineHandler, MayStopItsActorAndStillAnswers) {
  struct Last {
    Task<int> on(Get) {
      Self self = co_await this_actor();
      EXPECT_EQ(self.stop(), Errc::ok);
      co_return 8;
    }
  };
  ClockedLoop loop;
  const auto last = loop.spawn<Last>();
  Future<int> answer = last.ask(Get{});
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(answer.get().value(), 8);
}

// ---- who it is ----

struct Reply {
  int value = 0;
};
struct Server {
  Task<void> on(Get) {
    Self self = co_await this_actor();
    auto slept = self.sleep(1ms);
    Result<void> result = co_await slept;
    co_await result;
    EXPECT_EQ(self.reply(Reply{7}), Errc::ok);
    EXPECT_EQ(self.ref(*this).pid(), self.pid());
  }
};
struct Client {
  using Messages = jzx::Messages<Reply>;
  ActorRef<Server> server;
  int& got;
  void on_start() { server << Get{}; }
  void on(Reply reply, Context& context) {
    got = reply.value;
    EXPECT_EQ(context.sender(), server.pid());
    context.stop();
  }
};

TEST_P(CoroutineHandler, KnowsItsActorAndTheSenderAfterAWait) {
  int got = 0;
  ClockedLoop loop(Time::jumping);
  const auto server = loop.spawn<Server>();
  const auto client = loop.spawn<Client>(server, got);
  while (loop.seen().is_alive(client.id())) (void)loop.run_once(1ms);
  EXPECT_EQ(got, 7);
}

TEST_P(CoroutineHandler, HearsOfOthersEnds) {
  struct Watcher {
    std::string& text;
    Task<void> on(const Down& down) {
      auto slept = sleep(1ms);
      Result<void> result = co_await slept;
      text = down.text.c_str();  // what the system tells stays there too
    }
    void on(Wait) {}
  };
  std::string text;
  ClockedLoop loop(Time::jumping);
  const auto clerk = loop.spawn<Clerk>();
  const auto watcher = loop.spawn<Watcher>(text);
  EXPECT_EQ(loop.monitor(watcher, clerk), Errc::ok);
  clerk << Fail{};
  (void)loop.run_until(watcher.ask(Wait{}));
  while (text.empty()) (void)loop.run_once(1ms);
  EXPECT_EQ(text, "much too long");
}

// ---- with become and stash ----

struct Door {
  std::vector<int> seen;
  Task<int> on(Get) { co_return static_cast<int>(seen.size()); }
  void on(Add add, Context& context) {
    if (add.by == 0) {
      // The function is a coroutine of the behaviour, which stays until it is done.
      auto held = std::make_shared<int>(100);
      EXPECT_EQ(context.become(*this,
                               [this, held](Get) -> Task<int> {
                                 auto slept = sleep(5ms);
                                 Result<void> result = co_await slept;
                                 co_return *held + static_cast<int>(seen.size());
                               }),
                Errc::ok);
      return;
    }
    if (add.by < 0) {
      EXPECT_TRUE(context.unbecome());
      return;
    }
    seen.push_back(add.by);
  }
  static constexpr bool interleaves = true;
};

TEST_P(CoroutineHandler, MayBeAFunctionOfBecomeAndOutlivesUnbecome) {
  ClockedLoop loop;
  const auto door = loop.spawn<Door>();
  door << Add{0};
  Future<int> slow = door.ask(Get{});
  door << Add{-1} << Add{3};
  Future<int> fast = door.ask(Get{});
  loop.settle();
  ASSERT_TRUE(fast.is_ready());
  EXPECT_EQ(fast.get().value(), 1);
  loop.advance(5ms);
  EXPECT_EQ(slow.get().value(), 101);
}

struct Gate {
  bool is_open = false;
  int handled = 0;
  Task<int> on(Get) {
    auto slept = sleep(1ms);
    Result<void> result = co_await slept;
    co_return handled;
  }
  void on(Add add, Context& context) {
    if (!is_open) {
      EXPECT_EQ(context.stash(std::move(add)), Errc::ok);
      return;
    }
    ++handled;
  }
  void on(Leave, Context& context) {
    is_open = true;
    context.unstash_all();
  }
};

TEST_P(CoroutineHandler, StandsBesideHandlersThatStash) {
  ClockedLoop loop(Time::jumping);
  const auto gate = loop.spawn<Gate>();
  gate << Add{1} << Add{2};
  EXPECT_EQ(loop.run_until(gate.ask(Get{})).value(), 0);
  gate << Leave{};
  EXPECT_EQ(loop.run_until(gate.ask(Get{})).value(), 2);
}

// ---- memory ----

TEST_P(CoroutineHandler, EndsItsMessageExactlyOnce) {
  struct Keeper {
    Task<void> on(Small) {
      auto slept = sleep(1ms);
      Result<void> result = co_await slept;
    }
    Task<void> on(Big) {
      auto slept = sleep(1ms);
      Result<void> result = co_await slept;
    }
  };
  Census census;
  ClockedLoop loop;
  const auto keeper = loop.spawn<Keeper>();
  keeper << Small(census) << Big(census) << Small(census);
  loop.settle();
  EXPECT_EQ(census.ended(), 0);
  loop.advance(1ms);
  EXPECT_EQ(census.ended(), 1);
  EXPECT_EQ(loop.kill(keeper), Errc::ok);
  loop.settle();
  EXPECT_EQ(census.ended(), 3);
}

TEST_P(CoroutineHandler, WithoutMemoryForTheActorsRecordsRejectsTheAsk) {
  ClockedLoop loop;
  const auto clerk = loop.spawn<Clerk>();
  clerk << Add{1};
  loop.settle();
  Future<int> asked = clerk.ask(Get{});
  loop.allocator().refuse_all(true);
  loop.settle();
  loop.allocator().refuse_all(false);
  EXPECT_EQ(asked.get().error().code(), Errc::no_memory);
  EXPECT_EQ(loop.run_until(clerk.ask(Get{})).value(), 1);
}

}  // namespace
}  // namespace jzx::testing
