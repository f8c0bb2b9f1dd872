// Exceptions: what escapes from a handler ends the actor, with its text, and nobody else.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpp/census.hpp"
#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Boom {
  std::string text;
};
struct Watch {
  Pid target;
};

// Remembers the Down of whom it watches.
struct Watcher {
  explicit Watcher(std::vector<Down>& the_downs) : downs(the_downs) {}
  void on(Watch watch, Context& context) { EXPECT_EQ(context.monitor(watch.target), Errc::ok); }
  void on(const Down& down) { downs.push_back(down); }
  std::vector<Down>& downs;
};

// ---- in a constructor given to spawn: the exception is the caller's ----

struct BadStart {
  explicit BadStart(Census& census) : part(census) { throw std::runtime_error("cannot be made"); }
  void on(Boom) {}
  Small part;
};

JZX_SUITE_ON_ALL_DRIVERS(AnException);

TEST_P(AnException, InAConstructorReachesTheCallerOfSpawnAndLeavesNothing) {
  Census census;
  ClockedLoop loop;
  EXPECT_THROW((void)loop.spawn<BadStart>(census), std::runtime_error);
  EXPECT_EQ(census.ended(), 1);
  const int64_t before = loop.allocator().live_blocks();  // with a chunk of small blocks
  for (int i = 0; i < 1000; ++i) {
    EXPECT_THROW((void)loop.spawn<BadStart>(census), std::runtime_error);
  }
  EXPECT_EQ(loop.allocator().live_blocks(), before) << "each gave its block back";
  EXPECT_TRUE(loop.seen().starts.empty());
  EXPECT_FALSE(loop.run_once(0ms)) << "nobody is there";
}

#ifndef JZX_LIBRARY_NOEXCEPT

// ---- in a handler ----

// Has nothing to say.
struct Silent : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

struct Bomb {
  using Messages = jzx::Messages<Boom>;
  void on(Boom boom) { throw std::runtime_error(boom.text); }
  void on(int) { throw 42; }
  void on(char) { throw "a text, but no exception"; }
  void on(bool) { throw Silent(); }
};

TEST_P(AnException, InAHandlerEndsTheActorWithItsTextForMonitorsAndObservers) {
  std::vector<Down> downs;
  ClockedLoop loop;
  const auto bomb = loop.spawn<Bomb>();
  loop.spawn<Watcher>(downs) << Watch{bomb};
  loop.settle();
  bomb << Boom{"the disk is full"};
  loop.settle();
  const Recorder::Stop stop = loop.seen().stop_of(bomb.id());
  EXPECT_EQ(stop.reason, ExitReason::panic);
  EXPECT_EQ(stop.text, "the disk is full");
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0].actor, bomb.id());
  EXPECT_EQ(downs[0].reason, ExitReason::panic);
  EXPECT_EQ(downs[0].text.view(), "the disk is full");
}

TEST_P(AnException, OfAHandlerFoundByTypeKeyIsTheSame) {
  ClockedLoop loop;
  const Pid bomb = loop.spawn<Bomb>();
  bomb << Boom{"untyped"};
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(bomb.id()).text, "untyped");
}

TEST_P(AnException, ThatIsNoStdExceptionIsAPanicToo) {
  ClockedLoop loop;
  const auto a = loop.spawn<Bomb>();
  const auto b = loop.spawn<Bomb>();
  a << 1;
  b << 'x';
  loop.settle();
  for (const ActorId id : {a.id(), b.id()}) {
    EXPECT_EQ(loop.seen().stop_of(id).reason, ExitReason::panic);
    EXPECT_EQ(loop.seen().stop_of(id).text, "an exception that is no std::exception");
  }
}

TEST_P(AnException, WhoseTextIsNullIsAPanicToo) {
  ClockedLoop loop;
  const auto bomb = loop.spawn<Bomb>();
  bomb << true;
  const auto fiber = loop.spawn_fn([] { throw Silent(); });
  loop.settle();
  for (const ActorId id : {bomb.id(), fiber.id()}) {
    EXPECT_EQ(loop.seen().stop_of(id).reason, ExitReason::panic);
    EXPECT_EQ(loop.seen().stop_of(id).text, "an exception whose what() is null");
  }
}

TEST_P(AnException, WhoseTextIsNullRejectsAFuture) {
  ClockedLoop loop;
  auto future = loop.spawn_async([]() -> Task<void> {
    throw Silent();
    co_return;
  }());
  loop.settle();
  const Result<void> result = future.get();
  EXPECT_EQ(result.error().code(), Errc::exception);
  EXPECT_STREQ(result.error().message(), "an exception whose what() is null");
}

// An exception that looks, when it ends, whether the actor that threw it is still there.
struct Look {
  explicit Look(const bool& is_alive, bool& seen) : is_alive_(&is_alive), seen_(&seen) {}
  Look(const Look&) = default;
  Look& operator=(const Look&) = default;
  ~Look() { *seen_ = *is_alive_; }

 private:
  const bool* is_alive_;
  bool* seen_;
};
struct Mortal {
  Mortal(bool& the_flag, bool& the_seen) : is_alive(the_flag), seen(the_seen) {}
  ~Mortal() { is_alive = false; }
  void on(int) { throw Look(is_alive, seen); }
  void on(char, Context&) { throw Look(is_alive, seen); }
  bool& is_alive;
  bool& seen;
};

TEST_P(AnException, EndsBeforeTheActorWhoseMembersItMayUse) {
  for (const bool with_context : {false, true}) {
    for (const int messages_before : {0, 1}) {
      bool is_alive = true;
      bool seen = false;
      ClockedLoop loop;
      const auto mortal = loop.spawn<Mortal>(is_alive, seen);
      if (messages_before > 0) mortal << 0;
      with_context ? (void)mortal.send('x') : (void)mortal.send(1);
      loop.settle();
      EXPECT_FALSE(is_alive);
      EXPECT_TRUE(seen) << "with a context: " << with_context;
      EXPECT_EQ(loop.seen().stop_of(mortal.id()).reason, ExitReason::panic);
    }
  }
}

TEST_P(AnException, WithALongTextIsCutToFit) {
  ClockedLoop loop;
  const auto bomb = loop.spawn<Bomb>();
  bomb << Boom{std::string(5000, 'x')};
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(bomb.id()).text, std::string(95, 'x'));
}

TEST_P(AnException, DeadLettersWhatWasQueuedBehindItAndHarmsNobodyElse) {
  struct Peaceful {
    int count = 0;
    int on(Boom) { return ++count; }
  };
  ClockedLoop loop;
  const auto bomb = loop.spawn<Bomb>();
  const auto other = loop.spawn<Peaceful>();
  bomb << Boom{"first"} << Boom{"second"};
  Future<int> future = other.ask(Boom{});
  loop.settle();
  EXPECT_EQ(loop.seen().dead.size(), 1u);
  EXPECT_EQ(future.get().value(), 1);
  EXPECT_TRUE(loop.seen().is_alive(other.id()));
}

TEST_P(AnException, InAHandlerDestroysTheMessageAndTheActorOnce) {
  struct Holder {
    explicit Holder(Census& census) : own(census) {}
    void on(Small) { throw std::runtime_error("by value"); }
    void on(Big&&) { throw std::runtime_error("by reference"); }
    Small own;
  };
  Census census;
  ClockedLoop loop;
  loop.spawn<Holder>(census) << Small(census);
  loop.spawn<Holder>(census) << Big(census);
  loop.settle();
  EXPECT_EQ(census.ended(), 4);
}

TEST_P(AnException, AfterAWishToStopIsStillAPanic) {
  struct Confused {
    void on(Boom, Context& context) {
      context.stop();
      throw std::runtime_error("and yet");
    }
  };
  ClockedLoop loop;
  const auto actor = loop.spawn<Confused>();
  actor << Boom{};
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(actor.id()).reason, ExitReason::panic);
}

TEST_P(AnException, InAHandlerOfASystemMessageIsAPanicOfThatActor) {
  struct Mourner {
    explicit Mourner(Pid the_friend) : beloved(the_friend) {}
    void on_start(Context& context) { EXPECT_EQ(context.monitor(beloved), Errc::ok); }
    void on(const Down&) { throw std::runtime_error("cannot bear it"); }
    Pid beloved;
  };
  ClockedLoop loop;
  const auto bomb = loop.spawn<Bomb>();
  const auto mourner = loop.spawn<Mourner>(bomb);
  loop.settle();
  bomb << 1;
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(mourner.id()).text, "cannot bear it");
}

// ---- in on_start and on_stop ----

TEST_P(AnException, InOnStartIsAPanicWithoutOnStop) {
  struct BadBeginning {
    explicit BadBeginning(int& the_stops) : stops(the_stops) {}
    void on_start() { throw std::runtime_error("no beginning"); }
    void on_stop() { ++stops; }
    void on(Boom) {}
    int& stops;
  };
  int stops = 0;
  ClockedLoop loop;
  const auto actor = loop.spawn<BadBeginning>(stops);
  actor << Boom{};
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(actor.id()).reason, ExitReason::panic);
  EXPECT_EQ(loop.seen().stop_of(actor.id()).text, "no beginning");
  EXPECT_EQ(loop.seen().dead.size(), 1u);
  EXPECT_EQ(stops, 0) << "on_stop undoes an on_start that returned";
}

TEST_P(AnException, InOnStopChangesNothingAboutTheEnd) {
  struct BadEnding {
    explicit BadEnding(Census& census) : part(census) {}
    void on_stop() { throw std::runtime_error("unheard"); }
    Small part;
  };
  Census census;
  ClockedLoop loop;
  const auto actor = loop.spawn<BadEnding>(census);
  EXPECT_EQ(loop.stop(actor), Errc::ok);
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(actor.id()).reason, ExitReason::normal);
  EXPECT_EQ(loop.seen().stop_of(actor.id()).text, "");
  EXPECT_EQ(census.ended(), 1);
}

// ---- in a constructor inside a handler ----

TEST_P(AnException, InTheConstructorOfAChildIsThatOfTheHandlerThatSpawnsIt) {
  struct Parent {
    explicit Parent(Census& the_census) : census(the_census) {}
    void on(Boom, Context& context) { (void)context.spawn_child<BadStart>(census); }
    Census& census;
  };
  Census census;
  ClockedLoop loop;
  const auto parent = loop.spawn<Parent>(census);
  parent << Boom{};
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(parent.id()).reason, ExitReason::panic);
  EXPECT_EQ(loop.seen().stop_of(parent.id()).text, "cannot be made");
  EXPECT_EQ(loop.seen().alive_count(), 0u);
}

// ---- supervised ----

TEST_P(AnException, InTheConstructorOfASupervisedChildIsAFailedStart) {
  struct Fine {};
  Census census;
  ClockedLoop loop;
  const SupervisorRef family =
      loop.supervise({}, {jzx::child<Fine>("fine"), jzx::child<BadStart>("bad", std::ref(census))});
  EXPECT_FALSE(family);
  EXPECT_EQ(loop.supervise_error(), Errc::start_failed);
  loop.settle();
  EXPECT_EQ(loop.seen().alive_count(), 0u) << "a half-started supervisor leaves nothing behind";
}

// Can be made as long as its allowance lasts.
struct Sickly {
  explicit Sickly(int& allowance) {
    if (--allowance < 0) throw std::runtime_error("cannot be made again");
  }
  void on(Boom boom) { throw std::runtime_error(boom.text); }
};

TEST_P(AnException, InTheConstructorOfARestartCountsAsAFailureUntilItEscalates) {
  int allowance = 1;
  ClockedLoop loop;
  const SupervisorRef family = loop.supervise({.intensity = 3, .period = 1000ms},
                                              {jzx::child<Sickly>("sickly", std::ref(allowance))});
  ASSERT_TRUE(family);
  family.child_as<Sickly>(0) << Boom{"once"};
  loop.settle();
  EXPECT_EQ(allowance, -3) << "every restart that is allowed was tried";
  EXPECT_EQ(loop.seen().escalations, std::vector<ActorId>{family.pid().id()});
  EXPECT_EQ(loop.seen().alive_count(), 0u);
}

TEST_P(AnException, OfASupervisedChildBringsItBackAfresh) {
  int allowance = 2;
  ClockedLoop loop;
  const SupervisorRef family =
      loop.supervise({}, {jzx::child<Sickly>("sickly", std::ref(allowance))});
  const auto first = family.child_as<Sickly>(0);
  first << Boom{"once"};
  loop.settle();
  const auto second = family.child_as<Sickly>(0);
  EXPECT_NE(first, second);
  EXPECT_TRUE(loop.seen().is_alive(second.id()));
  EXPECT_EQ(allowance, 0);
  EXPECT_EQ(loop.seen().stop_of(first.id()).text, "once");
}

// ---- in the copy of a message that is put aside ----

struct Frail {
  explicit Frail(int& the_count) : count(&the_count) { ++*count; }
  Frail(const Frail&) : count(nullptr) { throw std::runtime_error("one of a kind"); }
  Frail(Frail&& other) noexcept : count(other.count) { ++*count; }
  ~Frail() { --*count; }
  int* count;  // of those alive
};
struct PutsAside {
  void on(Frail message, Context& context) { (void)context.stash(message); }
};

TEST_P(AnException, InTheCopyOfAStashedMessageEndsTheMessageOnce) {
  int alive = 0;
  {
    ClockedLoop loop;
    const auto actor = loop.spawn<PutsAside>();
    actor << Frail(alive);
    loop.settle();
    EXPECT_EQ(loop.seen().stop_of(actor.id()).text, "one of a kind");
  }
  EXPECT_EQ(alive, 0);
}

struct PutsAsideInVain {
  explicit PutsAsideInVain(int* the_result) : result(the_result) {}
  int* result;

  void on(Frail message, Context& context) {
    EXPECT_EQ(context.self(*this).send(Boom{"later in this turn"}), Errc::ok);
    EXPECT_THROW((void)context.stash(message), std::runtime_error);
  }
  void on(Boom) { *result = 7; }
};
struct SendsOne {
  ActorRef<PutsAsideInVain> target;
  int* alive;

  void on(Boom) { EXPECT_EQ(target.send(Frail(*alive)), Errc::ok); }
};

TEST_P(AnException, InTheCopyOfAStashedMessageMayBeCaughtAndTheTurnGoesOn) {
  int alive = 0;
  int result = 0;
  {
    ClockedLoop loop;
    const auto actor = loop.spawn<PutsAsideInVain>(&result);
    loop.settle();
    loop.spawn<SendsOne>(actor, &alive) << Boom{"now"};
    loop.settle();
    EXPECT_TRUE(loop.seen().is_alive(actor.id()));
  }
  EXPECT_EQ(result, 7);
  EXPECT_EQ(alive, 0);
}

#endif  // JZX_LIBRARY_NOEXCEPT

}  // namespace
}  // namespace jzx::testing
