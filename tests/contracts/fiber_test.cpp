// The contracts carry stackful actors: they block in receive and in other waits, mail and wakers
// find them, and a kill unwinds them, over several turns if need be. Not built with sanitizers,
// which must be told about switches.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "contracts/fiber_kind.hpp"
#include "core/bonds.hpp"
#include "core/rig.hpp"

namespace jzx::contracts {
namespace {

using core::Actor;
using core::Outcome;
using core::Turn;
using jzx::testing::Rig;

// Counts how often what it stands for was taken and given back.
struct Resource {
  explicit Resource(int& the_releases) : releases(the_releases) {}
  ~Resource() { ++releases; }
  int& releases;
};

// Why the target ended, told to a watcher.
class Watcher {
 public:
  Watcher(Rig& rig, ActorId target) {
    id_ = rig.spawn({.handle = [this](Turn&, Envelope& envelope) {
      downs.push_back(static_cast<const Down*>(envelope.as<RawMessage>().data)->reason);
      return Outcome::wants_mail;
    }});
    uint64_t ref = 0;
    EXPECT_EQ(core::monitor(rig.host(), id_, target, ref), Errc::ok);
  }
  std::vector<ExitReason> downs;

 private:
  ActorId id_ = core::kNobody;
};

TEST(FiberContract, ABlockedReceiveIsAnIdleActorThatMailWakes) {
  Rig rig;
  std::vector<uint32_t> received;
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) {
    for (int n = 0; n < 3; ++n) received.push_back(self.receive().tag);
  });
  rig.settle();
  EXPECT_FALSE(rig.actor(id).state.is_scheduled());
  for (const uint32_t value : {7u, 8u}) {
    EXPECT_EQ(rig.send(id, value), Errc::ok);
    rig.settle();
  }
  EXPECT_EQ(received, (std::vector<uint32_t>{7, 8}));
  EXPECT_TRUE(rig.is_alive(id));
  EXPECT_EQ(rig.send(id, 9), Errc::ok);
  rig.settle();
  EXPECT_FALSE(rig.is_alive(id)) << "its main returned";
}

TEST(FiberContract, MailSentBeforeItsFirstTurnIsReceived) {
  Rig rig;
  uint32_t received = 0;
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) { received = self.receive().tag; });
  EXPECT_EQ(rig.send(id, 5), Errc::ok);
  rig.settle();
  EXPECT_EQ(received, 5u);
}

TEST(FiberContract, ItsTurnsHaveABudgetAsEverybodys) {
  runtime::LoopOptions options;
  options.max_msgs_per_actor = 4;
  options.max_actors_per_tick = 1;
  Rig rig(options);
  int received = 0;
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) {
    for (;;) {
      self.receive();
      ++received;
    }
  });
  rig.tick();
  for (uint32_t n = 0; n < 10; ++n) EXPECT_EQ(rig.send(id, n), Errc::ok);
  rig.settle();
  std::vector<int> after;
  for (uint32_t n = 0; n < 10; ++n) EXPECT_EQ(rig.send(id, n), Errc::ok);
  for (int tick = 0; tick < 3; ++tick) {
    rig.tick();
    after.push_back(received);
  }
  EXPECT_EQ(after, (std::vector<int>{14, 18, 20}));
}

TEST(FiberContract, AWaitIsNotEndedByMailWhichQueues) {
  Rig rig;
  Signal signal;
  int turns = 0;
  std::vector<uint32_t> received;
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) {
    self.wait(signal);
    ++turns;
    for (int n = 0; n < 2; ++n) received.push_back(self.receive().tag);
  });
  rig.settle();
  EXPECT_EQ(rig.send(id, 1), Errc::ok);
  EXPECT_EQ(rig.send(id, 2), Errc::ok);
  EXPECT_FALSE(rig.worker().has_work()) << "mail does not schedule the suspended";
  EXPECT_EQ(core::queued_count(rig.actor(id)), 2u);
  rig.settle();
  EXPECT_EQ(turns, 0);
  signal.raise(rig.host());
  rig.settle();
  EXPECT_EQ(turns, 1);
  EXPECT_EQ(received, (std::vector<uint32_t>{1, 2}));
}

TEST(FiberContract, ASignalThatComesBeforeTheWaitOrDuringItsTurnIsNotLost) {
  Rig rig;
  Signal before;
  Signal during;
  before.raise(rig.host());
  bool done = false;
  (void)spawn_fiber(rig.host(), [&](Fiber& self) {
    self.wait(before);
    during.wait_from(self.turn().actor);
    during.raise(self.turn().host);  // wakes the running: remembered in the state word
    self.wait(during);
    done = true;
  });
  rig.settle();
  EXPECT_TRUE(done);
}

TEST(FiberContract, AForeignThreadCanEndAWait) {
  Rig rig;
  for (int round = 0; round < 200; ++round) {
    Signal signal;
    const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) { self.wait(signal); });
    std::thread raiser([&] { signal.raise(rig.host(), false); });
    EXPECT_EQ(rig.parts->loop.run(), Errc::ok);  // until nobody is alive
    raiser.join();
    EXPECT_FALSE(rig.is_alive(id));
  }
}

TEST(FiberContract, AReceiveWithATimeoutEndsByMailOrByTheTimerWhicheverComesFirst) {
  Rig rig;
  Signal timeout;
  std::vector<std::optional<RawMessage>> results;
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) {
    results.push_back(self.receive_until(timeout));
    results.push_back(self.receive_until(timeout));
    self.receive();
  });
  rig.settle();
  EXPECT_EQ(rig.send(id, 3), Errc::ok);
  rig.settle();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]->tag, 3u);
  timeout.raise(rig.host());  // it is idle, not suspended
  rig.settle();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_FALSE(results[1].has_value());
}

TEST(FiberContract, AnExceptionBecomesAPanicWithItsText) {
  Rig rig;
  struct Texts final : jzx::Observer {
    void actor_stopped(ActorId, ExitReason reason, const ExitText& text) override {
      if (reason == ExitReason::panic) texts.emplace_back(text.view());
    }
    std::vector<std::string> texts;
  } observer;
  rig.system().set_observer(&observer);
  const ActorId id = spawn_fiber(rig.host(), [](Fiber& self) {
    self.receive();
    throw std::runtime_error("out of luck");
  });
  EXPECT_EQ(rig.send(id, 1), Errc::ok);
  rig.settle();
  EXPECT_EQ(observer.texts, std::vector<std::string>{"out of luck"});
  rig.system().set_observer(nullptr);
}

// ---- kill ----

TEST(FiberContract, AKillUnwindsABlockedReceiveAndThenTheOthersHearOfIt) {
  Rig rig;
  int releases = 0;
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) {
    const Resource resource(releases);
    self.receive();
  });
  Watcher watcher(rig, id);
  rig.settle();
  EXPECT_EQ(core::request_exit(rig.host(), id, ExitReason::killed), Errc::ok);
  rig.settle();
  EXPECT_EQ(releases, 1);
  EXPECT_EQ(watcher.downs, std::vector<ExitReason>{ExitReason::killed});
}

TEST(FiberContract, AKillWaitsOverSeveralTurnsForWhatIsUnderWay) {
  Rig rig;
  int releases = 0;
  int cancels = 0;
  Signal operation;
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) {
    const Resource resource(releases);
    self.wait(operation, [&] { ++cancels; });  // the completion takes its time
  });
  Watcher watcher(rig, id);
  rig.settle();
  EXPECT_EQ(rig.send(id, 1), Errc::ok);
  EXPECT_EQ(core::request_exit(rig.host(), id, ExitReason::killed), Errc::ok);
  rig.settle();
  EXPECT_EQ(cancels, 1);
  EXPECT_EQ(releases, 0) << "the operation may still write to its stack";
  EXPECT_TRUE(rig.is_alive(id));
  EXPECT_EQ(rig.send(id, 2), Errc::no_such_actor) << "to its users it is gone";
  EXPECT_TRUE(watcher.downs.empty());
  EXPECT_FALSE(rig.worker().has_work()) << "it does not spin meanwhile";
  operation.raise(rig.host());
  rig.settle();
  EXPECT_EQ(releases, 1);
  EXPECT_FALSE(rig.is_alive(id));
  EXPECT_EQ(watcher.downs, std::vector<ExitReason>{ExitReason::killed});
}

TEST(FiberContract, AWaitInADestructorWhileUnwindingSuspendsToo) {
  Rig rig;
  Signal flushed;
  int flushes = 0;
  struct Flusher {
    ~Flusher() {
      self.wait(flushed, [] {});
      ++flushes;
    }
    Fiber& self;
    Signal& flushed;
    int& flushes;
  };
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) {
    const Flusher flusher{self, flushed, flushes};
    self.receive();
  });
  rig.settle();
  EXPECT_EQ(core::request_exit(rig.host(), id, ExitReason::killed), Errc::ok);
  rig.settle();
  EXPECT_EQ(flushes, 0);
  flushed.raise(rig.host());
  rig.settle();
  EXPECT_EQ(flushes, 1);
  EXPECT_FALSE(rig.is_alive(id));
}

TEST(FiberContract, AKillIsStickyAndABodyThatSwallowsItStillCountsAsKilled) {
  Rig rig;
  int kills = 0;
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber& self) {
    for (int n = 0; n < 3; ++n) {
      try {
        self.receive();
      } catch (const Killed&) {
        ++kills;
      }
    }
  });
  Watcher watcher(rig, id);
  rig.settle();
  EXPECT_EQ(core::request_exit(rig.host(), id, ExitReason::killed), Errc::ok);
  rig.settle();
  EXPECT_EQ(kills, 3);
  EXPECT_EQ(watcher.downs, std::vector<ExitReason>{ExitReason::killed});
}

TEST(FiberContract, OneKilledBeforeItsFirstTurnNeverRuns) {
  Rig rig;
  bool ran = false;
  const ActorId id = spawn_fiber(rig.host(), [&](Fiber&) { ran = true; });
  EXPECT_EQ(core::request_exit(rig.host(), id, ExitReason::killed), Errc::ok);
  rig.settle();
  EXPECT_FALSE(ran);
  EXPECT_FALSE(rig.is_alive(id));
}

TEST(FiberContract, AStaleWakeAfterItsDeathTouchesNobody) {
  runtime::LoopOptions options;
  options.max_actors = 1;
  Rig rig(options);
  Signal signal;
  const ActorId first = spawn_fiber(rig.host(), [&](Fiber& self) { self.wait(signal); });
  rig.settle();
  EXPECT_EQ(core::request_exit(rig.host(), first, ExitReason::killed), Errc::ok);
  rig.settle();
  Signal other;
  int turns = 0;
  const ActorId second = spawn_fiber(rig.host(), [&](Fiber& self) {
    other.wait_from(self.turn().actor);
    self.wait(other);
    ++turns;
  });
  rig.settle();
  EXPECT_EQ(core::slot_of(first), core::slot_of(second));
  signal.raise(rig.host());
  EXPECT_FALSE(rig.worker().has_work());
  EXPECT_EQ(turns, 0);
}

TEST(FiberContract, TheEndOfTheSystemUnwindsEveryStack) {
  int releases = 0;
  Signal never;
  {
    Rig rig;
    for (int n = 0; n < 3; ++n) {
      (void)spawn_fiber(rig.host(), [&, n](Fiber& self) {
        const Resource resource(releases);
        if (n == 0) self.receive();
        self.wait(never, [] {});
      });
    }
    (void)spawn_fiber(rig.host(), [&](Fiber&) { ADD_FAILURE() << "it never had a turn"; });
    EXPECT_EQ(rig.system().alive_count(), 4u);
    // Only the first three get their turn.
    for (int n = 0; n < 3; ++n) rig.worker().ready.pop()->run(rig.worker());
  }
  EXPECT_EQ(releases, 3);
}

}  // namespace
}  // namespace jzx::contracts
