// Actors that wait for one another's answers: with detect_deadlocks on, the one that would close
// the cycle hears of it at once.
#include <gtest/gtest.h>

#include <new>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Knows {
  Pid friend_pid;
};
struct Question {
  int depth = 0;
};

// Asks its friend, whose answer is one less.
struct Node {
  using Messages = jzx::Messages<Question, Knows>;
  Pid friend_pid{};

  void on(Knows knows) { friend_pid = knows.friend_pid; }
  Task<int> on(Question question) {
    if (question.depth == 0) co_return 0;
    auto asked = ask<int>(friend_pid, Question{question.depth - 1});
    Result<int> answer = co_await asked;
    co_return co_await answer + 1;
  }
};

LoopOptions detecting() {
  LoopOptions options;
  options.detect_deadlocks = true;
  return options;
}

ActorRef<Node> spawn_named(SystemFace& system, const char* name) {
  SpawnOptions options;
  options.name = name;
  return system.spawn_with<Node>(options);
}

JZX_SUITE_ON_ALL_DRIVERS(Deadlock);

TEST_P(Deadlock, OfTwoIsToldToTheOneThatClosesTheCycle) {
  ClockedLoop loop(Time::manual, detecting());
  const auto a = spawn_named(loop, "A");
  const auto b = spawn_named(loop, "B");
  a << Knows{b};
  b << Knows{a};
  const Result<int> answer = loop.run_until(a.ask(Question{5}));
  EXPECT_EQ(answer.error().code(), Errc::deadlock);
  EXPECT_STREQ(answer.error().message(), "B waits for A waits for B");
  // Both are free again, and what the cycle was closed with is answered too late.
  EXPECT_EQ(loop.run_until(a.ask(Question{1})).value(), 1);
  EXPECT_EQ(loop.run_until(b.ask(Question{0})).value(), 0);
}

TEST_P(Deadlock, OfThreeNamesThemAll) {
  ClockedLoop loop(Time::manual, detecting());
  const auto a = spawn_named(loop, "A");
  const auto b = spawn_named(loop, "B");
  const auto c = spawn_named(loop, "C");
  a << Knows{b};
  b << Knows{c};
  c << Knows{a};
  const Result<int> answer = loop.run_until(a.ask(Question{3}));
  EXPECT_STREQ(answer.error().message(), "C waits for A waits for B waits for C");
}

TEST_P(Deadlock, OfOneThatAsksItself) {
  ClockedLoop loop(Time::manual, detecting());
  const auto a = loop.spawn<Node>();
  a << Knows{a};
  const Result<int> answer = loop.run_until(a.ask(Question{1}));
  EXPECT_EQ(answer.error().code(), Errc::deadlock);
  EXPECT_NE(std::string(answer.error().message()).find("Node waits for"), std::string::npos);
}

TEST_P(Deadlock, IsNotSeenInAChainThatEnds) {
  ClockedLoop loop(Time::manual, detecting());
  const auto a = spawn_named(loop, "A");
  const auto b = spawn_named(loop, "B");
  a << Knows{b};
  b << Knows{a};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(loop.run_until(a.ask(Question{1})).value(), 1);
    EXPECT_EQ(loop.run_until(b.ask(Question{1})).value(), 1);
  }
}

TEST_P(Deadlock, OfFibersIsToldByGet) {
  ClockedLoop loop(Time::manual, detecting());
  Errc first = Errc::ok;
  Errc second = Errc::ok;
  std::string text;
  Pid one;
  Pid two;
  const auto body = [&](Pid& other, Errc& seen) {
    return [&] {
      (void)receive([&](Question) -> int {
        Result<int> answer = ask<int>(other, Question{1}).get();
        seen = answer.error().code();
        if (seen == Errc::deadlock) text = answer.error().message();
        return 1;
      });
    };
  };
  SpawnOptions options;
  options.name = "one";
  one = loop.spawn_fn_with(options, body(two, first));
  options.name = "two";
  two = loop.spawn_fn_with(options, body(one, second));
  Future<int> asked = ask<int>(one, Question{1});
  loop.settle();
  EXPECT_EQ(asked.get().value(), 1);
  EXPECT_EQ(first, Errc::ok);
  EXPECT_EQ(second, Errc::deadlock);
  EXPECT_EQ(text, "two waits for one waits for two");
}

TEST(DeadlockOfALoop, IsToldToTheObserver) {
  struct Listener final : Observer {
    std::vector<std::string> cycles;
    void deadlock(ActorId, const char* cycle) override { cycles.emplace_back(cycle); }
  };
  Listener listener;
  LoopOptions options = detecting();
  options.observer = &listener;
  Loop loop(options);
  const auto a = spawn_named(loop, "A");
  a << Knows{a};
  EXPECT_FALSE(loop.run_until(a.ask(Question{1})).ok());
  EXPECT_EQ(listener.cycles, std::vector<std::string>{"A waits for A"});
}

// Its callback begins with what looks like one who is asked: itself.
struct HesitatesToCallBack {
  struct Go {
    Pid whom;
  };
  struct Callback {
    explicit Callback(Pid the_self) : self(the_self) {}
    Callback(const Callback& other) : self(other.self) { throw std::bad_alloc(); }
    void operator()(Result<int>) const {}
    Pid self;
  };

  Task<int> on(Go go) {
    const Self self = co_await this_actor();
    auto asked = ask<int>(go.whom, Question{0});
    const Callback callback(self.pid());
    bool has_thrown = false;
    try {
      asked.then(callback);
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
    EXPECT_TRUE(has_thrown);
    Result<int> answer = co_await asked;
    co_return co_await answer + 42;
  }
};

TEST_P(Deadlock, IsNotSeenWhereACallbackCouldNotBeMade) {
  ClockedLoop loop(Time::manual, detecting());
  const auto b = spawn_named(loop, "B");
  const auto a = loop.spawn<HesitatesToCallBack>();
  const Result<int> answer = loop.run_until(a.ask(HesitatesToCallBack::Go{b}));
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(*answer, 42);
}

TEST(DeadlockOnWorkers, EveryRingIsBrokenAndNothingElseIs) {
  struct Quiet final : Observer {
    void deadlock(ActorId, const char*) override {}
  };
  Quiet quiet;
  Runtime runtime = Runtime::builder().workers(2).detect_deadlocks().observer(quiet).build();
  constexpr int kNodes = 4;
  for (int round = 0; round < 30; ++round) {
    std::vector<ActorRef<Node>> ring;
    for (int i = 0; i < kNodes; ++i) ring.push_back(spawn_named(runtime, "node"));
    for (size_t i = 0; i < kNodes; ++i) ring[i] << Knows{ring[(i + 1) % kNodes]};
    // Too short to close the ring: answered.
    EXPECT_EQ(ring[0].ask(Question{kNodes - 1}).get().value(), kNodes - 1);
    // Longer than the ring.
    EXPECT_EQ(ring[0].ask(Question{kNodes}).get().error().code(), Errc::deadlock);
    // All at once: each has an end.
    std::vector<Future<int>> asked;
    for (const auto& node : ring) asked.push_back(node.ask(Question{2}));
    for (Future<int>& one : asked) {
      const Result<int> result = one.get();
      EXPECT_TRUE(result.ok() || result.error().code() == Errc::deadlock);
    }
    for (const auto& node : ring) (void)runtime.stop(node);
  }
}

}  // namespace
}  // namespace jzx::testing
