// What a handler can do through its Context: who it is, who asked, children, names, timers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Go {};
struct Ping {
  int number = 0;
};
struct Pong {
  int number = 0;
};
struct Fail {
  std::string why;
};

struct Idle {
  void on(Go, Context& context) { context.stop(); }
  void on(Fail fail, Context& context) { context.fail(fail.why); }
};

// Runs what a test wants to run inside a handler.
struct Inside {
  using Action = std::function<void(Context&)>;
  explicit Inside(Action the_action) : action(std::move(the_action)) {}
  void on(Go, Context& context) { action(context); }
  Action action;
};

void run_inside(ClockedLoop& loop, Inside::Action action) {
  const auto actor = loop.spawn<Inside>(std::move(action));
  actor << Go{};
  loop.settle();
}

// Takes numbers, also through a Pid.
struct Adder {
  using Messages = jzx::Messages<Ping, Go>;
  void on(Ping ping) { sum += ping.number; }
  void on(Go, Context& context) { context.stop(); }
  int on(Pong) { return sum; }
  int sum = 0;
};

// ---- who ----

JZX_SUITE_ON_ALL_DRIVERS(AContext);

TEST_P(AContext, KnowsItselfUntypedAndTyped) {
  struct Selfish {
    Pid pid;
    ActorRef<Selfish> ref;
    void on(Go, Context& context) {
      pid = context.self();
      ref = context.self(*this);
      ref << Ping{3};
    }
    void on(Ping ping) { number = ping.number; }
    int on(Pong) { return number; }
    ActorId on(Fail) { return pid == ref.pid() ? pid.id() : 0; }
    int number = 0;
  };
  ClockedLoop loop;
  const auto actor = loop.spawn<Selfish>();
  actor << Go{};
  loop.settle();
  EXPECT_EQ(loop.run_until(actor.ask(Pong{})).value(), 3);
  EXPECT_EQ(loop.run_until(actor.ask(Fail{})).value(), actor.id());
}

struct Answerer {
  void on(Ping ping, Context& context) {
    last = context.reply(Pong{ping.number + 1});
    sender = context.sender();
  }
  Errc last = Errc::unknown;
  Pid sender;
  std::pair<Errc, Pid> on(Go) { return {last, sender}; }
};

struct Asker {
  using Messages = jzx::Messages<Pong>;
  explicit Asker(ActorRef<Answerer> the_other) : other(the_other) {}
  void on(Go) { other << Ping{1}; }
  void on(Pong pong) { got = pong.number; }
  int on(Fail) { return got; }
  ActorRef<Answerer> other;
  int got = 0;
};

TEST_P(AContext, RepliesToTheActorThatSent) {
  ClockedLoop loop;
  const auto answerer = loop.spawn<Answerer>();
  const auto asker = loop.spawn<Asker>(answerer);
  asker << Go{};
  loop.settle();
  EXPECT_EQ(loop.run_until(asker.ask(Fail{})).value(), 2);
  const auto [sent, sender] = loop.run_until(answerer.ask(Go{})).value();
  EXPECT_EQ(sent, Errc::ok);
  EXPECT_EQ(sender, asker.pid());
}

TEST_P(AContext, HasNoSenderForWhatNoActorSent) {
  ClockedLoop loop;
  const auto answerer = loop.spawn<Answerer>();
  answerer << Ping{1};
  loop.settle();
  const auto [sent, sender] = loop.run_until(answerer.ask(Go{})).value();
  EXPECT_EQ(sent, Errc::no_such_actor);
  EXPECT_FALSE(sender);
}

TEST_P(AContext, SendsToAnyReference) {
  ClockedLoop loop;
  const auto adder = loop.spawn<Adder>();
  run_inside(loop, [&](Context& context) {
    EXPECT_EQ(context.send(adder, Ping{1}), Errc::ok);
    EXPECT_EQ(context.send(adder.pid(), Ping{10}), Errc::ok);
    EXPECT_EQ(context.send(Pid(), Ping{100}), Errc::no_such_actor);
  });
  EXPECT_EQ(loop.run_until(adder.ask(Pong{})).value(), 11);
}

// ---- ending ----

TEST_P(AContext, StopTakesEffectWhenTheHandlerReturns) {
  ClockedLoop loop;
  bool after = false;
  const auto actor = loop.spawn<Inside>([&](Context& context) {
    context.stop();
    EXPECT_EQ(context.self().send(Go{}), Errc::ok) << "still there";
    after = true;
  });
  actor << Go{} << Go{};
  loop.settle();
  EXPECT_TRUE(after);
  EXPECT_EQ(loop.seen().stop_of(actor.id()).reason, ExitReason::normal);
  EXPECT_EQ(loop.seen().dead.size(), 2u) << "the second, and the one it sent itself";
}

TEST_P(AContext, FailEndsTheActorWithItsText) {
  ClockedLoop loop;
  const auto actor = loop.spawn<Idle>();
  actor << Fail{"out of patience"};
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(actor.id()).reason, ExitReason::fail);
  EXPECT_EQ(loop.seen().stop_of(actor.id()).text, "out of patience");
}

TEST_P(AContext, StopsAndKillsOthers) {
  ClockedLoop loop;
  const auto a = loop.spawn<Idle>();
  const auto b = loop.spawn<Idle>();
  run_inside(loop, [&](Context& context) {
    EXPECT_EQ(context.stop(a), Errc::ok);
    EXPECT_EQ(context.kill(b), Errc::ok);
    EXPECT_EQ(context.stop(a), Errc::no_such_actor) << "asked before";
  });
  EXPECT_EQ(loop.seen().stop_of(a.id()).reason, ExitReason::normal);
  EXPECT_EQ(loop.seen().stop_of(b.id()).reason, ExitReason::killed);
}

// ---- children ----

struct Parent {
  explicit Parent(std::vector<ChildExit>& the_exits) : exits(the_exits) {}
  ActorId on(Go, Context& context) {
    const auto child = context.spawn_child<Idle>();
    return child.id();
  }
  void on(Ping, Context& context) { context.stop(); }
  void on(const ChildExit& exit) { exits.push_back(exit); }
  std::vector<ChildExit>& exits;
};

JZX_SUITE_ON_ALL_DRIVERS(SpawnChild);

TEST_P(SpawnChild, TellsTheParentHowTheChildEnded) {
  std::vector<ChildExit> exits;
  ClockedLoop loop;
  const auto parent = loop.spawn<Parent>(exits);
  const ActorId first = loop.run_until(parent.ask(Go{})).value();
  const ActorId second = loop.run_until(parent.ask(Go{})).value();
  ActorRef<Idle>(Pid(parent.pid().port(), first)) << Fail{"spoilt"};
  loop.settle();
  ActorRef<Idle>(Pid(parent.pid().port(), second)) << Go{};
  loop.settle();
  ASSERT_EQ(exits.size(), 2u);
  EXPECT_EQ(exits[0].child, first);
  EXPECT_EQ(exits[0].reason, ExitReason::fail);
  EXPECT_EQ(exits[0].text.view(), "spoilt");
  EXPECT_EQ(exits[1].child, second);
  EXPECT_EQ(exits[1].reason, ExitReason::normal);
  EXPECT_TRUE(loop.seen().is_alive(parent.id())) << "a plain parent goes on";
}

TEST_P(SpawnChild, StopsTheChildrenWithTheParentTheYoungestFirst) {
  std::vector<ChildExit> exits;
  ClockedLoop loop;
  const auto parent = loop.spawn<Parent>(exits);
  const ActorId first = loop.run_until(parent.ask(Go{})).value();
  const ActorId second = loop.run_until(parent.ask(Go{})).value();
  parent << Ping{};
  loop.settle();
  ASSERT_EQ(loop.seen().stops.size(), 3u);
  EXPECT_EQ(loop.seen().stops[0].id, second);
  EXPECT_EQ(loop.seen().stops[1].id, first);
  EXPECT_EQ(loop.seen().stops[2].id, parent.id());
  EXPECT_TRUE(exits.empty()) << "it is ending and hears nothing";
}

JZX_SUITE_ON_ALL_DRIVERS(SpawnInside);

TEST_P(SpawnInside, FromAHandlerMakesNoChild) {
  ClockedLoop loop;
  ActorRef<Idle> made;
  const auto maker = loop.spawn<Inside>([&](Context& context) { made = context.spawn<Idle>(); });
  maker << Go{};
  loop.settle();
  ASSERT_TRUE(made);
  EXPECT_EQ(loop.stop(maker), Errc::ok);
  loop.settle();
  EXPECT_TRUE(loop.seen().is_alive(made.id()));
}

// ---- names ----

JZX_SUITE_ON_ALL_DRIVERS(Names);

TEST_P(Names, AreFoundUntilTheirActorEnds) {
  ClockedLoop loop;
  const auto clerk = loop.spawn<Adder>();
  run_inside(loop, [&](Context& context) {
    EXPECT_FALSE(context.whereis("clerk"));
    EXPECT_EQ(context.register_name(clerk, "clerk"), Errc::ok);
    EXPECT_EQ(context.whereis("clerk"), clerk.pid());
    EXPECT_EQ(context.whereis("clerk").send(Ping{4}), Errc::ok);
  });
  EXPECT_EQ(loop.run_until(clerk.ask(Pong{})).value(), 4);
  const auto other = loop.spawn<Adder>();
  EXPECT_EQ(loop.register_name(other, "clerk"), Errc::invalid_arg) << "it is taken";
  loop.whereis("clerk") << Go{};
  loop.settle();
  EXPECT_FALSE(loop.whereis("clerk"));
  EXPECT_EQ(loop.register_name(other, "clerk"), Errc::ok) << "it is free again";
}

// ---- timers ----

struct Ticker {
  explicit Ticker(std::vector<int>& the_log) : log(the_log) {}
  void on(Go, Context& context) {
    EXPECT_EQ(context.send_after(20ms, context.self(*this), Ping{2}), Errc::ok);
    EXPECT_EQ(context.send_after(10ms, context.self(*this), Ping{1}), Errc::ok);
    EXPECT_EQ(context.send_after(30ms, context.self(*this), Ping{3}, &last), Errc::ok);
  }
  void on(Ping ping, Context& context) {
    log.push_back(ping.number);
    senders.push_back(context.sender());
  }
  Errc on(Fail, Context& context) { return context.cancel(last); }
  bool on(Pong, Context& context) {
    for (const Pid& sender : senders) {
      if (sender != context.self()) return false;
    }
    return true;
  }
  std::vector<int>& log;
  std::vector<Pid> senders;
  TimerId last;
};

JZX_SUITE_ON_ALL_DRIVERS(SendAfter);

TEST_P(SendAfter, DeliversInTheOrderOfTheDeadlinesAndNeverEarly) {
  std::vector<int> log;
  ClockedLoop loop;
  const auto ticker = loop.spawn<Ticker>(log);
  ticker << Go{};
  loop.advance(9ms);
  EXPECT_TRUE(log.empty());
  loop.advance(1ms);
  EXPECT_EQ(log, std::vector<int>{1});
  loop.advance(20ms);
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(loop.run_until(ticker.ask(Pong{})).value()) << "whoever armed it is the sender";
}

TEST_P(SendAfter, CanBeCancelledUntilItFires) {
  std::vector<int> log;
  ClockedLoop loop;
  const auto ticker = loop.spawn<Ticker>(log);
  ticker << Go{};
  loop.advance(25ms);
  EXPECT_EQ(loop.run_until(ticker.ask(Fail{})).value(), Errc::ok);
  EXPECT_EQ(loop.run_until(ticker.ask(Fail{})).value(), Errc::timer_invalid);
  loop.advance(100ms);
  EXPECT_EQ(log, (std::vector<int>{1, 2}));
}

TEST_P(SendAfter, ToAPidUsesItsListedHandlers) {
  ClockedLoop loop;
  const auto adder = loop.spawn<Adder>();
  EXPECT_EQ(loop.send_after(5ms, adder.pid(), Ping{6}), Errc::ok);
  EXPECT_EQ(loop.send_after(5ms, adder.pid(), Fail{"nobody handles this"}), Errc::ok);
  loop.advance(5ms);
  EXPECT_EQ(loop.run_until(adder.ask(Pong{})).value(), 6);
  EXPECT_EQ(loop.seen().dead.size(), 1u);
}

TEST_P(SendAfter, WithANegativeDelayIsDueAtOnceAndWithTheLongestNever) {
  std::vector<int> log;
  ClockedLoop loop;
  const auto ticker = loop.spawn<Ticker>(log);
  EXPECT_EQ(loop.send_after(-5ms, ticker, Ping{1}), Errc::ok);
  EXPECT_EQ(loop.send_after(std::chrono::milliseconds::max(), ticker, Ping{2}), Errc::ok);
  EXPECT_EQ(loop.send_after(std::chrono::milliseconds::max() / 500'000, ticker, Ping{3}), Errc::ok);
  loop.settle();
  EXPECT_EQ(log, std::vector<int>{1});
  loop.advance(std::chrono::hours(24 * 365));
  EXPECT_EQ(log, std::vector<int>{1});
}

TEST_P(SendAfter, RunsTheLoopToTheDeadline) {
  struct Alarm {
    void on(Go, Context& context) { context.stop(); }
  };
  ClockedLoop loop(Time::jumping);
  const uint64_t before = loop.now_ms();
  EXPECT_EQ(loop.send_after(250ms, loop.spawn<Alarm>(), Go{}), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(loop.now_ms() - before, 250u);
}

}  // namespace
}  // namespace jzx::testing
