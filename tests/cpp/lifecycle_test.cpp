// How a typed actor begins and ends: on_start, on_stop, its destructor, and their order.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

using Log = std::vector<std::string>;

struct Note {};
struct Finish {};
struct Fail {};

struct Whole {
  explicit Whole(Log& the_log) : log(the_log) { log.push_back("made"); }
  Whole(const Whole&) = delete;
  ~Whole() { log.push_back("destroyed"); }
  void on_start(Context&) { log.push_back("started"); }
  void on_stop(Context&, ExitReason reason) {
    log.push_back(std::string("stopped: ") + to_string(reason));
  }
  void on(Note) { log.push_back("note"); }
  void on(Finish, Context& context) { context.stop(); }
  void on(Fail, Context& context) { context.fail("as asked"); }
  Log& log;
};

JZX_SUITE_ON_ALL_DRIVERS(Lifecycle);

TEST_P(Lifecycle, StartsBeforeTheFirstMessageAndStopsBeforeTheDestructor) {
  Log log;
  ClockedLoop loop;
  const auto actor = loop.spawn<Whole>(log);
  actor << Note{} << Finish{};
  EXPECT_EQ(log, Log{"made"}) << "only the constructor runs inside spawn";
  loop.settle();
  EXPECT_EQ(log, (Log{"made", "started", "note", "stopped: normal", "destroyed"}));
}

TEST_P(Lifecycle, TellsOnStopWhyItEnds) {
  Log log;
  ClockedLoop loop;
  const auto failing = loop.spawn<Whole>(log);
  failing << Fail{};
  loop.settle();
  const auto killed = loop.spawn<Whole>(log);
  loop.settle();
  EXPECT_EQ(loop.kill(killed), Errc::ok);
  loop.settle();
  EXPECT_EQ(log, (Log{"made", "started", "stopped: fail", "destroyed",  //
                      "made", "started", "stopped: killed", "destroyed"}));
}

TEST_P(Lifecycle, DoesNotStopWhatNeverStarted) {
  Log log;
  ClockedLoop loop;
  const auto actor = loop.spawn<Whole>(log);
  EXPECT_EQ(loop.stop(actor), Errc::ok);
  loop.settle();
  EXPECT_EQ(log, (Log{"made", "destroyed"}));
}

TEST_P(Lifecycle, DestroysWithoutOnStopWhenTheLoopIsDestroyed) {
  Log log;
  std::optional<ClockedLoop> loop(std::in_place);
  (void)loop->spawn<Whole>(log);
  loop->settle();
  loop.reset();
  EXPECT_EQ(log, (Log{"made", "started", "destroyed"}));
}

TEST_P(Lifecycle, StopInOnStartEndsItBeforeAnyMessage) {
  struct Shy {
    explicit Shy(Log& the_log) : log(the_log) {}
    void on_start(Context& context) { context.stop(); }
    void on(Note) { log.push_back("note"); }
    void on_stop() { log.push_back("stopped"); }
    Log& log;
  };
  Log log;
  ClockedLoop loop;
  const auto actor = loop.spawn<Shy>(log);
  actor << Note{};
  loop.settle();
  EXPECT_EQ(log, Log{"stopped"});
  EXPECT_EQ(loop.seen().stop_of(actor.id()).reason, ExitReason::normal);
  EXPECT_EQ(loop.seen().dead.size(), 1u);
}

TEST_P(Lifecycle, FailInOnStartEndsItWithThatText) {
  struct Refusing {
    void on_start(Context& context) { context.fail("not today"); }
  };
  ClockedLoop loop;
  const auto actor = loop.spawn<Refusing>();
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(actor.id()).reason, ExitReason::fail);
  EXPECT_EQ(loop.seen().stop_of(actor.id()).text, "not today");
}

// ---- which of on_start and on_stop are found ----

struct StartAlone {
  explicit StartAlone(Log& the_log) : log(the_log) {}
  void on_start() { log.push_back("start()"); }
  Log& log;
};
struct StopAlone {
  explicit StopAlone(Log& the_log) : log(the_log) {}
  void on_stop() { log.push_back("stop()"); }
  Log& log;
};
struct StopContext {
  explicit StopContext(Log& the_log) : log(the_log) {}
  void on_stop(Context&) { log.push_back("stop(context)"); }
  Log& log;
};
struct StopReason {
  explicit StopReason(Log& the_log) : log(the_log) {}
  void on_stop(ExitReason) { log.push_back("stop(reason)"); }
  Log& log;
};

template <class A>
Log life_of() {
  Log log;
  ClockedLoop loop;
  const auto actor = loop.spawn<A>(log);
  loop.settle();
  EXPECT_EQ(loop.stop(actor), Errc::ok);
  loop.settle();
  return log;
}

TEST_P(Lifecycle, FindsOnStartAndOnStopWithAndWithoutTheirArguments) {
  EXPECT_EQ(life_of<StartAlone>(), Log{"start()"});
  EXPECT_EQ(life_of<StopAlone>(), Log{"stop()"});
  EXPECT_EQ(life_of<StopContext>(), Log{"stop(context)"});
  EXPECT_EQ(life_of<StopReason>(), Log{"stop(reason)"});
}

TEST_P(Lifecycle, OfAnEmptyStructNeedsNothing) {
  struct Empty {};
  ClockedLoop loop;
  const auto actor = loop.spawn<Empty>();
  loop.settle();
  EXPECT_TRUE(loop.seen().is_alive(actor.id()));
  EXPECT_EQ(loop.stop(actor), Errc::ok);
  loop.settle();
  EXPECT_FALSE(loop.seen().is_alive(actor.id()));
}

// ---- what can be done in on_stop ----

JZX_SUITE_ON_ALL_DRIVERS(OnStop);

TEST_P(OnStop, MaySendAndIsTheSender) {
  struct Heir {
    Heir(Log& the_log, ActorId& the_from) : log(the_log), from(the_from) {}
    void on(Note, Context& context) {
      log.push_back("inherited");
      from = context.sender().id();
    }
    Log& log;
    ActorId& from;
  };
  struct Testator {
    explicit Testator(ActorRef<Heir> the_heir) : heir(the_heir) {}
    void on_stop() { heir << Note{}; }
    ActorRef<Heir> heir;
  };
  Log log;
  ClockedLoop loop;
  ActorId from = 0;
  const auto heir = loop.spawn<Heir>(log, from);
  const auto testator = loop.spawn<Testator>(heir);
  EXPECT_EQ(loop.stop(testator), Errc::ok);
  loop.settle();
  EXPECT_EQ(log, Log{"inherited"});
  EXPECT_EQ(from, testator.id());
}

TEST_P(OnStop, CanNeitherHaveChildrenNorStayAlive) {
  struct Stubborn {
    explicit Stubborn(Errc& the_error) : error(the_error) {}
    void on_stop(Context& context) {
      EXPECT_FALSE(context.spawn_child<Stubborn>(error));
      error = context.spawn_error();
      EXPECT_EQ(context.self().send(Note{}), Errc::no_such_actor);
      EXPECT_EQ(context.send_after(1ms, context.self(), Note{}), Errc::no_such_actor);
      context.fail("in vain");
    }
    Errc& error;
  };
  ClockedLoop loop;
  Errc error = Errc::ok;
  const auto actor = loop.spawn<Stubborn>(error);
  EXPECT_EQ(loop.stop(actor), Errc::ok);
  loop.settle();
  EXPECT_EQ(error, Errc::no_such_actor);
  EXPECT_EQ(loop.seen().stop_of(actor.id()).reason, ExitReason::normal);
  EXPECT_EQ(loop.seen().alive_count(), 0u);
}

// ---- spawning ----

JZX_SUITE_ON_ALL_DRIVERS(Spawn);

TEST_P(Spawn, MakesAStructWithoutConstructorsFromItsMembers) {
  struct Plain {
    int number = 0;
    std::string text;
    std::string on(Note) { return text + std::to_string(number); }
  };
  ClockedLoop loop;
  const auto actor = loop.spawn<Plain>(4, "four");
  EXPECT_EQ(loop.run_until(actor.ask(Note{})).value(), "four4");
}

TEST_P(Spawn, MovesItsArgumentsIntoTheActor) {
  struct Owner {
    explicit Owner(std::unique_ptr<int> the_value) : value(std::move(the_value)) {}
    int on(Note) { return *value; }
    std::unique_ptr<int> value;
  };
  ClockedLoop loop;
  const auto actor = loop.spawn<Owner>(std::make_unique<int>(3));
  EXPECT_EQ(loop.run_until(actor.ask(Note{})).value(), 3);
}

TEST_P(Spawn, PastTheLimitOfActorsGivesAnEmptyReferenceAndLeavesNothing) {
  LoopOptions options;
  options.max_actors = 2;
  Log log;
  ClockedLoop loop(Time::manual, options);
  EXPECT_TRUE(loop.spawn<Whole>(log));
  EXPECT_TRUE(loop.spawn<Whole>(log));
  EXPECT_FALSE(loop.spawn<Whole>(log));
  EXPECT_EQ(loop.spawn_error(), Errc::max_actors);
  EXPECT_EQ(log, (Log{"made", "made", "made", "destroyed"}));
}

TEST_P(Spawn, WithoutMemoryGivesAnEmptyReferenceAndLeavesNothing) {
  Log log;
  ClockedLoop loop;
  SpawnOptions options;
  options.name = "labelled";
  // The first allocation is the actor itself; the rest are the table, the label and so on.
  int refusals = 0;
  for (uint64_t nth = 1;; ++nth) {
    loop.allocator().refuse_nth(nth);
    const auto actor = loop.spawn_with<Whole>(options, log);
    loop.allocator().refuse_nth(0);
    if (actor) break;
    ++refusals;
    EXPECT_EQ(loop.spawn_error(), Errc::no_memory);
  }
  EXPECT_GE(refusals, 2);
  EXPECT_EQ(std::count(log.begin(), log.end(), "made"),
            std::count(log.begin(), log.end(), "destroyed") + 1);
  loop.settle();
  EXPECT_EQ(log.back(), "started");
}

TEST_P(Spawn, TellsTheObserverTheName) {
  struct Empty {};
  ClockedLoop loop;
  SpawnOptions options;
  options.name = "clerk";
  (void)loop.spawn_with<Empty>(options);
  (void)loop.spawn<Empty>();
  EXPECT_EQ(loop.seen().started(), (Log{"clerk", ""}));
}

TEST_P(Spawn, WithASupervisorThatIsGoneIsRefused) {
  struct Empty {};
  ClockedLoop loop;
  const auto gone = loop.spawn<Empty>();
  EXPECT_EQ(loop.stop(gone), Errc::ok);
  loop.settle();
  SpawnOptions options;
  options.supervisor = gone;
  EXPECT_FALSE(loop.spawn_with<Empty>(options));
  EXPECT_EQ(loop.spawn_error(), Errc::no_such_actor);
}

}  // namespace
}  // namespace jzx::testing
