// jzx::simulate(): what users' tests stand on.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulation/cast.hpp"

namespace jzx {
namespace {

using namespace cast;

// Two who repeat what they are told to a third.
void race_of_two(Sim& sim, std::vector<int>& list) {
  const auto collector = sim.spawn<Collector>(&list);
  const auto a = sim.spawn<Repeater>(collector);
  const auto b = sim.spawn<Repeater>(collector);
  a << Number{1};
  b << Number{2};
  sim.run();
}

TEST(Simulate, RunsTheScenarioOnceForEachSeed) {
  std::vector<uint64_t> seeds;
  SimOptions options = quiet("x", 3);
  options.first_seed = 7;
  const SimReport report = simulate(options, [&](Sim& sim) { seeds.push_back(sim.seed()); });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(seeds, (std::vector<uint64_t>{7, 8, 9}));
  EXPECT_EQ(report.runs, 3u);
}

TEST(Simulate, TriesBothOrdersOfARace) {
  bool has_seen[2] = {};
  const SimReport report = simulate(quiet("x"), [&](Sim& sim) {
    std::vector<int> list;
    race_of_two(sim, list);
    ASSERT_EQ(list.size(), 2u);
    has_seen[list[0] - 1] = true;
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_TRUE(has_seen[0]);
  EXPECT_TRUE(has_seen[1]);
}

TEST(Simulate, OfFifoKeepsOneGlobalOrder) {
  SimOptions options = quiet("x", 10);
  options.policy = SimPolicy::fifo;
  const SimReport report = simulate(options, [&](Sim& sim) {
    std::vector<int> list;
    race_of_two(sim, list);
    sim.check(list == std::vector<int>{1, 2}, "the first to be told is the first to tell");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(Simulate, TellsTheSeedAndTheCausesOfAFailure) {
  const SimReport report = simulate(quiet("Suite.Test"), [&](Sim& sim) {
    std::vector<int> list;
    sim.always("1 comes before 2", [&] { return list.empty() || list[0] == 1; });
    race_of_two(sim, list);
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure, "it must always be so: 1 comes before 2");
  EXPECT_EQ(report.repeat, "JZX_SEED=" + std::to_string(report.seed) + " ctest -R Suite.Test");
  EXPECT_NE(report.trace.find("takes jzx::cast::Number from"), std::string::npos) << report.trace;
  EXPECT_NE(report.trace.find("because of"), std::string::npos) << report.trace;
  EXPECT_GE(report.choices, report.shrunk);
}

TEST(Simulate, ShrinksAFailureToTheChoicesThatMatter) {
  SimOptions options = quiet("x", 1000);
  options.faults = SimFaults::all();
  options.faults.throws = 0;
  options.faults.kill = 0;
  options.faults.allocation = 0;
  const SimReport report = simulate(options, [&](Sim& sim) {
    // Many that do not matter, and two that do.
    std::vector<int> noise;
    std::vector<int> list;
    const auto sink = sim.spawn<Collector>(&noise);
    for (int i = 0; i < 20; ++i) sim.spawn<Repeater>(sink) << Number{i};
    sim.always("1 comes before 2", [&] { return list.empty() || list[0] == 1; });
    race_of_two(sim, list);
  });
  ASSERT_FALSE(report);
  EXPECT_GT(report.choices, 3u);
  EXPECT_LE(report.shrunk, 3u) << report.text();
  EXPECT_GE(report.shrunk, 1u);
}

TEST(Simulate, RepeatsAFailureByItsSeedAndByItsChoices) {
  const auto scenario = [](Sim& sim) {
    std::vector<int> list;
    sim.always("1 comes before 2", [&] { return list.empty() || list[0] == 1; });
    race_of_two(sim, list);
  };
  const SimReport found = simulate(quiet("x"), scenario);
  ASSERT_FALSE(found);
  {
    const Environment seed("JZX_SEED", std::to_string(found.seed));
    const SimReport again = simulate(quiet("x"), scenario);
    EXPECT_FALSE(again);
    EXPECT_EQ(again.runs, 1u);
    EXPECT_EQ(again.failure, found.failure);
  }
  const size_t at = found.repeat_shrunk.find("JZX_CHOICES=") + 12;
  const std::string choices =
      found.repeat_shrunk.substr(at, found.repeat_shrunk.find(' ', at) - at);
  {
    const Environment shrunk("JZX_CHOICES", choices);
    const SimReport again = simulate(quiet("x"), scenario);
    EXPECT_FALSE(again);
    EXPECT_EQ(again.failure, found.failure);
    EXPECT_EQ(again.trace, found.trace);
  }
  SimOptions kept = quiet("x");
  kept.first_seed = found.seed;
  kept.choices = choices;
  const SimReport again = simulate(kept, scenario);
  EXPECT_EQ(again.failure, found.failure);
  EXPECT_EQ(again.trace, found.trace);
  EXPECT_EQ(again.runs, 1u);
}

TEST(Simulate, SaysSoIfTheChoicesThatATestKeepsAreNoList) {
  SimOptions options = quiet("x");
  options.choices = "sometimes";
  EXPECT_EQ(simulate(options, [](Sim&) {}).failure,
            "SimOptions::choices = sometimes is not a list of choices");
}

TEST(Simulate, SaysSoIfTheChoicesToRepeatAreNoList) {
  const Environment choices("JZX_CHOICES", "often");
  const SimReport report = simulate(quiet("x"), [](Sim&) {});
  EXPECT_FALSE(report);
  EXPECT_EQ(report.failure, "JZX_CHOICES=often is not a list of choices");
}

TEST(Simulate, GivesTheSameHashForTheSameSeeds) {
  const auto scenario = [](Sim& sim) {
    std::vector<int> list;
    race_of_two(sim, list);
  };
  SimOptions options = quiet("x", 20);
  options.check_determinism = true;
  const SimReport first = simulate(options, scenario);
  EXPECT_TRUE(first) << first.text();
  EXPECT_EQ(first.hash, simulate(options, scenario).hash);
  options.first_seed = 100;
  EXPECT_NE(first.hash, simulate(options, scenario).hash);
}

TEST(Simulate, FindsAScenarioThatIsNotDeterministic) {
  int runs = 0;
  SimOptions options = quiet("x", 1);
  options.check_determinism = true;
  const SimReport report = simulate(options, [&](Sim& sim) {
    std::vector<int> list;
    const auto collector = sim.spawn<Collector>(&list);
    const auto repeater = sim.spawn<Repeater>(collector);
    if (++runs == 2) collector << Number{9};
    repeater << Number{1};
    sim.run();
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure, "the same seed ran differently the second time, from step 1 on");
}

TEST(Simulate, JumpsOverTheTimeInWhichNothingHappens) {
  const SimReport report = simulate(quiet("x", 1), [](Sim& sim) {
    sim.spawn<Clockwork>() << Tick{};
    sim.run();
    sim.check(sim.now() == std::chrono::seconds(3599), "an hour has passed");
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(report.simulated, std::chrono::seconds(3599));
}

TEST(Simulate, RunsForAWhile) {
  const SimReport report = simulate(quiet("x", 1), [](Sim& sim) {
    sim.spawn<Clockwork>() << Tick{};
    sim.run_for(std::chrono::milliseconds(2500));
    sim.check(sim.now() == std::chrono::milliseconds(2500), "and no longer");
    sim.check(sim.steps() == 3, "a tick at 0, 1 and 2 s");
  });
  EXPECT_TRUE(report) << report.text();
}

struct Spinner {
  void on(Tick, Context& self) { self.self(*this) << Tick{}; }
};

TEST(Simulate, RunsUntilAFutureHasItsResultAndNoLonger) {
  const SimReport report = simulate(quiet("x", 1), [](Sim& sim) {
    auto later = sim.sleep(std::chrono::hours(1));
    sim.check(sim.run_until(sim.sleep(std::chrono::seconds(1))).ok(), "it has slept");
    sim.check(sim.now() == std::chrono::seconds(1), "no time has passed in vain");
    sim.check(!later.is_ready(), "and what comes later has not come");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(Simulate, CallsALivelockOne) {
  SimOptions options = quiet("x", 1);
  options.max_steps = 1000;
  const SimReport report = simulate(options, [](Sim& sim) {
    sim.spawn<Spinner>() << Tick{};
    sim.run();
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure,
            "livelock, or timers without end: after 1000 steps there is still work");
}

TEST(Simulate, ChecksAtTheEndWhatMustComeTrueEventually) {
  const SimReport report = simulate(quiet("x", 1), [](Sim& sim) {
    sim.eventually("pigs fly", [] { return false; });
    sim.finish();
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure, "in the end it is not so: pigs fly");
}

TEST(Simulate, FinishesOnceInTheMiddleOfTheScenarioIfThatSaysSo) {
  int looks = 0;
  const SimReport report = simulate(quiet("x", 1), [&](Sim& sim) {
    std::vector<int> list;
    const auto collector = sim.spawn<Collector>(&list);
    sim.eventually("it has come", [&] { return ++looks > 0 && list.size() == 1; });
    collector << Number{1};
    sim.finish();
    sim.check(looks == 1, "the claims were looked at");
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(looks, 1);
}

TEST(Simulate, SaysSoIfNobodyAsksForTheEnd) {
  const SimReport report =
      simulate(quiet("x", 1), [](Sim& sim) { sim.eventually("pigs fly", [] { return true; }); });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure,
            "the scenario says what must be so eventually, but did not call finish()");
}

TEST(Simulate, RunsNothingAfterTheScenarioHasReturned) {
  int ticks = 0;
  const SimReport report = simulate(quiet("x", 1), [&](Sim& sim) {
    int& counted = sim.make<int>(0);
    sim.always("counted", [&] { return ++counted > 0; });
    sim.spawn<Clockwork>() << Tick{};
    sim.step();
    sim.step();
    ticks = counted;
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(ticks, 2);
  EXPECT_EQ(report.steps, 2u);
}

TEST(Simulate, ExploresEveryOrderDepthFirst) {
  std::vector<std::vector<int>> orders;
  SimOptions options = quiet("x", 1000);
  options.policy = SimPolicy::dfs;
  options.depth = 50;
  const SimReport report = simulate(options, [&](Sim& sim) {
    std::vector<int> list;
    const auto collector = sim.spawn<Collector>(&list);
    for (int i = 0; i < 3; ++i) sim.spawn<Repeater>(collector) << Number{i};
    sim.run();
    orders.push_back(list);
  });
  EXPECT_TRUE(report) << report.text();
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  EXPECT_EQ(orders.size(), 6u) << "all orders of three";
  EXPECT_LT(report.runs, 1000u) << "and then it is done";
}

TEST(Simulate, ExploresFaultsDepthFirstToo) {
  std::vector<size_t> handled;
  SimOptions options = quiet("x", 1000);
  options.policy = SimPolicy::dfs;
  options.depth = 50;
  options.faults.kill = 1;  // of a million: how often is no matter here
  const auto scenario = [&](Sim& sim) {
    std::vector<int>& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    collector << Number{1} << Number{2} << Number{3};
    sim.run();
    handled.push_back(list.size());
  };
  const SimReport report = simulate(options, scenario);
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(handled, (std::vector<size_t>{3, 2, 1, 0})) << "killed never, and before each of them";
  const SimReport found = simulate(options, [&](Sim& sim) {
    scenario(sim);
    sim.check(handled.back() != 1, "one is not enough");
  });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.shrunk, 1u) << found.text();
}

TEST(Simulate, ExploresNoSwarm) {
  SimOptions options = quiet("x", 1000);
  options.policy = SimPolicy::dfs;
  options.swarm = true;
  const SimReport report = simulate(options, [](Sim&) { FAIL() << "nothing is run"; });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure,
            "SimPolicy::dfs tries all faults itself: it does not go with SimOptions::swarm");
}

TEST(Simulate, ExploresNothingThatIsNotTheSameTwice) {
  SimOptions options = quiet("x", 1000);
  options.policy = SimPolicy::dfs;
  options.depth = 10;
  uint32_t runs = 0;
  const SimReport report = simulate(options, [&](Sim& sim) { (void)sim.choose(++runs + 1); });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure,
            "run 2 had other choices than those before it: the scenario is not deterministic");
}

TEST(Simulate, SaysSoIfTheChoicesToRepeatDoNotFit) {
  const auto scenario = [](Sim& sim) { (void)sim.choose(3); };
  const auto with = [&](const char* choices) {
    const Environment list("JZX_CHOICES", choices);
    return simulate(quiet("x"), scenario);
  };
  EXPECT_EQ(with("u0:2").misfit, "");
  EXPECT_EQ(with("u0:3").misfit, "u0:3 is none of 3 alternatives, counted from 0");
  const SimReport unused = with("u0:1,n7:1");
  EXPECT_TRUE(unused) << "it says so, and no more: the program may be right now";
  EXPECT_EQ(unused.misfit, "n7:1 was never asked for");
  EXPECT_NE(unused.text().find("does not fit: n7:1"), std::string::npos) << unused.text();
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST(Simulate, TakesAScenarioThatThrowsForAFailure) {
  const SimReport report =
      simulate(quiet("x", 1), [](Sim&) { throw std::runtime_error("no luck"); });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure, "the scenario threw: no luck");
}
#endif

TEST(Simulate, TakesARunDownWhileTheScenarioIsStillThere) {
  bool was_told = false;
  const SimReport report = simulate(quiet("x", 1), [&](Sim& sim) {
    bool is_there = true;
    sim.sleep(std::chrono::hours(1)).then([&](Result<void> slept) {
      was_told = is_there && !slept.ok();
    });
    sim.fail("no luck");
    is_there = false;
  });
  EXPECT_FALSE(report);
  EXPECT_TRUE(was_told);
}

}  // namespace
}  // namespace jzx
