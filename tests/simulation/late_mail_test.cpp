// Messages between actors that come late: one is held, others overtake it, and the order of each
// pair stays.
#include <gtest/gtest.h>

#include <jzx/fiber.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "simulation/cast.hpp"

namespace jzx {
namespace {

using namespace cast;

// Sends 1 and 2 to the one, and then has another send 3 there.
struct First {
  ActorRef<Collector> to;
  ActorRef<Repeater> other;
  First(ActorRef<Collector> the_to, ActorRef<Repeater> the_other) : to(the_to), other(the_other) {}
  void on(Tick) {
    to << Number{1} << Number{2};
    other << Number{3};
  }
};

size_t place_of(const std::vector<int>& list, int value) {
  return static_cast<size_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

// How many of the seeds have 3 before 1.
int overtakes(uint32_t rate) {
  SimOptions options = quiet("x", 60);
  options.faults.delay = rate;
  options.check_determinism = true;
  int count = 0;
  const SimReport report = simulate(options, [&](Sim& sim) {
    std::vector<int> list;
    const auto collector = sim.spawn<Collector>(&list);
    const auto other = sim.spawn<Repeater>(collector);
    sim.spawn<First>(collector, other) << Tick{};
    sim.run();
    sim.check(list.size() == 3, "all of them arrive");
    sim.check(place_of(list, 1) < place_of(list, 2), "those of one sender in their order");
    if (place_of(list, 3) < place_of(list, 1)) ++count;
  });
  EXPECT_TRUE(report) << report.text();
  return count;
}

TEST(LateMail, IsOvertakenByOthersOnly) {
  EXPECT_EQ(overtakes(0), 0) << "it was sent first, and its effect is seen later";
  EXPECT_GT(overtakes(kAlways / 2), 0);
}

TEST(LateMail, IsToldInTheTraceAndShrunkToOne) {
  SimOptions options = quiet("x", 500);
  options.faults.delay = kAlways / 10;
  const SimReport report = simulate(options, [&](Sim& sim) {
    std::vector<int>& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    const auto other = sim.spawn<Repeater>(collector);
    sim.always("1 comes before 3", [&] { return list.empty() || list[0] == 1; });
    sim.spawn<First>(collector, other) << Tick{};
    sim.run();
  });
  ASSERT_FALSE(report);
  EXPECT_LE(report.shrunk, 2u) << report.text();
  EXPECT_NE(report.trace.find("jzx::cast::Number to jzx::cast::Collector#0 is delayed (fault)"),
            std::string::npos)
      << report.trace;
}

TEST(LateMail, IsNoneOfTheScenariosOwn) {
  SimOptions options = quiet("x", 5);
  options.faults.delay = kAlways;
  const SimReport report = simulate(options, [](Sim& sim) {
    std::vector<int> list;
    const auto collector = sim.spawn<Collector>(&list);
    collector << Number{1} << Number{2};
    sim.run();
    sim.check(sim.now().count() == 0 && list.size() == 2, "the scenario says itself what is late");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(LateMail, IsNoneOfWhomTheTestProtects) {
  SimOptions options = quiet("x", 5);
  options.faults.delay = kAlways;
  const SimReport report = simulate(options, [](Sim& sim) {
    std::vector<int> list;
    const auto collector = sim.spawn<Collector>(&list);
    const auto repeater = sim.spawn<Repeater>(collector);
    sim.protect(collector);
    repeater << Number{1};
    sim.run();
    sim.check(sim.now().count() == 0 && list.size() == 1, "it comes at once");
  });
  EXPECT_TRUE(report) << report.text();
}

struct Heir {
  explicit Heir(std::vector<int>* the_list) : list(the_list) {}
  void on(Number number) { list->push_back(number.value); }
  void on(const Down&) { list->push_back(-1); }
  std::vector<int>* list;
};

struct Testator {
  ActorRef<Heir> heir;
  bool throws;
  Testator(ActorRef<Heir> the_heir, bool the_throws) : heir(the_heir), throws(the_throws) {}
  void on(Tick, Context& self) {
    heir << Number{1} << Number{2};
    if (throws) return self.fail("no more");
    self.stop();
  }
  void on_stop(Context&, ExitReason) { heir << Number{3}; }
};

TEST(LateMail, ComesBeforeTheNewsOfItsSendersEnd) {
  for (const bool throws : {false, true}) {
    SimOptions options = quiet("x", 20);
    options.faults.delay = kAlways;
    const SimReport report = simulate(options, [&](Sim& sim) {
      std::vector<int> list;
      const auto heir = sim.spawn<Heir>(&list);
      const auto testator = sim.spawn<Testator>(heir, throws);
      sim.check(ok(sim.monitor(heir.pid(), testator.pid())), "it is monitored");
      testator << Tick{};
      sim.run();
      sim.check(list == std::vector<int>{1, 2, 3, -1}, "its last words, and then its end");
    });
    EXPECT_TRUE(report) << report.text();
  }
}

TEST(LateMail, WaitsForRoomIfThereIsNoneWhenItArrives) {
  SimOptions options = quiet("x", 10);
  options.policy = SimPolicy::random;
  options.faults.delay = kAlways;
  options.default_mailbox_cap = 1;
  const SimReport report = simulate(options, [](Sim& sim) {
    std::vector<int>& list = sim.make<std::vector<int>>();
    const Pid busy = sim.spawn_fn([&list] {
      (void)sleep_for(std::chrono::seconds(10));
      for (int i = 0; i < 2; ++i) {
        (void)receive([&](Number number) { list.push_back(number.value); });
      }
    });
    sim.spawn_fn([busy] {
      (void)busy.send(Number{1});
      (void)sleep_for(std::chrono::seconds(20));
    });
    sim.run_for(std::chrono::milliseconds(0));
    busy << Number{2};  // there is room for one
    sim.run_for(std::chrono::seconds(5));
    sim.check(sim.mailbox(busy).size() == 1, "the other one does not fit");
    sim.run();
    sim.check(list == std::vector<int>{2, 1}, "it came when there was room");
  });
  EXPECT_TRUE(report) << report.text();
}

struct Questioner {
  Pid to;
  Errc* answer;
  Questioner(Pid the_to, Errc* the_answer) : to(the_to), answer(the_answer) {}
  void on(Tick) {
    ask<int>(to, Number{1}).then([at = answer](Result<int> result) {
      *at = result.error().code();
    });
  }
};

TEST(LateMail, IsDeadIfItsReceiverHasEndedMeanwhile) {
  struct DeadLetters final : Observer {
    void dead_letter(ActorId, Envelope&, DeadLetterReason reason) override {
      reasons.push_back(reason);
    }
    std::vector<DeadLetterReason> reasons;
  } dead;
  SimOptions options = quiet("x", 1);
  options.faults.delay = kAlways;
  options.observer = &dead;
  const SimReport report = simulate(options, [](Sim& sim) {
    Errc& answer = sim.make<Errc>(Errc::ok);
    std::vector<int>& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    sim.spawn<Questioner>(collector.pid(), &answer) << Tick{};
    sim.run_for(std::chrono::milliseconds(0));
    sim.check(ok(sim.kill(collector.pid())), "it ends");
    sim.run();
    sim.check(list.empty(), "it has got nothing");
    sim.check(!ok(answer), "and who asked hears of it");
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(dead.reasons, std::vector<DeadLetterReason>{DeadLetterReason::target_gone});
}

TEST(LateMail, GoesDownWithItsNode) {
  SimOptions options = quiet("x", 3);
  options.faults.delay = kAlways;
  const SimReport report = simulate(options, [](Sim& sim) {
    Errc& answer = sim.make<Errc>(Errc::ok);
    std::vector<int>& list = sim.make<std::vector<int>>();
    SimNode& server = sim.node("server");
    const auto collector = server.spawn<Collector>(&list);
    server.spawn<Questioner>(collector.pid(), &answer) << Tick{};
    sim.run_for(std::chrono::milliseconds(0));
    server.crash();
    sim.check(!ok(answer), "who asked hears of it");
    sim.run();
    sim.check(list.empty(), "nothing arrives");
  });
  EXPECT_TRUE(report) << report.text();
}

}  // namespace
}  // namespace jzx
