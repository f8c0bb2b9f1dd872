// Times that are for ever, and times that make no sense: no run may pass because it did nothing.
#include <gtest/gtest.h>

#include <jzx/sim/testkit.hpp>

#include "simulation/cast.hpp"

namespace jzx {
namespace {

using namespace cast;
using namespace std::chrono_literals;

constexpr auto kForEver = std::chrono::milliseconds::max();

// One number comes after 5 ms.
std::vector<int>& number_after_a_while(Sim& sim) {
  auto& list = sim.make<std::vector<int>>();
  const auto collector = sim.spawn<Collector>(&list);
  sim.check(ok(sim.send_after(5ms, collector, Number{1})), "it is armed");
  return list;
}

TEST(SimTimes, MayBeForEver) {
  SimOptions options = quiet("x", 2);
  options.max_time = kForEver;
  options.settle = kForEver;
  const SimReport ran = simulate(options, [](Sim& sim) {
    const auto& list = number_after_a_while(sim);
    sim.run();
    sim.check(list.size() == 1, "max_time");
  });
  EXPECT_TRUE(ran) << ran.text();
  EXPECT_EQ(ran.steps, 2u);
  const SimReport finished = simulate(options, [](Sim& sim) {
    const auto& list = number_after_a_while(sim);
    sim.finish();
    sim.check(list.size() == 1, "settle");
  });
  EXPECT_TRUE(finished) << finished.text();
}

TEST(SimTimes, EndARunForEverWhenNothingIsLeftToDo) {
  const SimReport report = simulate(quiet("x", 1), [](Sim& sim) {
    const auto& list = number_after_a_while(sim);
    sim.run_for(kForEver);
    sim.check(list.size() == 1, "it came");
    sim.check(sim.now() == 5ms, "no time passes in vain");
    const auto& later = number_after_a_while(sim);
    sim.run_for(20ms);
    sim.check(later.size() == 1, "and it goes on");
    sim.check(sim.now() == 25ms, "all of it");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimTimes, HaveAnEndAndStayThere) {
  TestKit kit;
  const auto& list = number_after_a_while(kit.sim());
  kit.advance(kForEver);
  const auto end = kit->now();
  EXPECT_GT(end, std::chrono::hours(24 * 365 * 145));
  EXPECT_TRUE(list.empty()) << "nobody runs";
  kit->run();
  EXPECT_EQ(list.size(), 1u);
  kit.advance(kForEver);
  EXPECT_EQ(kit->now(), end);
  EXPECT_EQ(kit.finish(), "");
}

TEST(SimTimes, OfManyRunsAddUpToForEverAtMost) {
  SimOptions options = quiet("x", 5);
  const SimReport report =
      simulate(options, [](Sim& sim) { sim.run_for(std::chrono::hours(24 * 365 * 140)); });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(report.simulated, std::chrono::nanoseconds::max());
}

TEST(SimTimes, OfATimerMayBeForEver) {
  const SimReport report = simulate(quiet("x", 1), [](Sim& sim) {
    auto& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    (void)sim.send_after(kForEver, collector, Number{1});
    (void)sim.send_after(std::chrono::milliseconds(20'000'000'000'000), collector, Number{2});
    sim.run();
    sim.run_for(std::chrono::hours(24));
    sim.check(list.empty(), "they never come");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimTimes, OfADelayAreNotLongerThanTheRun) {
  for (const auto longest : {0ms, 20'000'000'000'000ms, kForEver}) {
    SimOptions options = quiet("x", 3);
    options.faults.delay = kAlways;
    options.faults.longest_delay = longest;
    const SimReport report = simulate(options, [](Sim& sim) {
      auto& list = sim.make<std::vector<int>>();
      const auto repeater = sim.spawn<Repeater>(sim.spawn<Collector>(&list));
      for (int i = 0; i < 3; ++i) repeater << Number{i};
      sim.run();
      sim.check(list == std::vector<int>{0, 1, 2}, "all come");
      for (int i = 3; i < 6; ++i) repeater << Number{i};
      sim.run();
      sim.check(list.size() == 6, "also late in the run");
    });
    EXPECT_TRUE(report) << longest.count() << ' ' << report.text();
  }
}

TEST(SimTimes, OfJumpsAndOutagesMayBeForEver) {
  SimOptions options = quiet("x", 5);
  options.faults.clock_jump = kAlways;
  options.faults.longest_jump = kForEver;
  options.faults.crash = kAlways / 2;
  options.faults.longest_outage = kForEver;
  const SimReport report = simulate(options, [](Sim& sim) {
    sim.node("b").on_start([](SimNode& node) { node.spawn<Clockwork>() << Tick{}; });
    const auto& list = number_after_a_while(sim);
    sim.node("main").jump_clock(kForEver);
    sim.run_for(10s);
    sim.check(list.size() == 1, "the timer goes by the clock");
    sim.finish();
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimTimes, AreNotNegative) {
  const auto refused = [](auto&& change) {
    SimOptions options = quiet("x", 3);
    change(options);
    const SimReport report = simulate(options, [](Sim&) { ADD_FAILURE() << "nothing is run"; });
    EXPECT_FALSE(report);
    EXPECT_EQ(report.runs, 0u);
    return report.failure;
  };
  EXPECT_EQ(refused([](SimOptions& options) { options.max_time = -1ms; }),
            "SimOptions::max_time is a negative time: -1 ms");
  EXPECT_EQ(refused([](SimOptions& options) { options.settle = -2ms; }),
            "SimOptions::settle is a negative time: -2 ms");
  EXPECT_EQ(refused([](SimOptions& options) { options.faults.longest_delay = -3ms; }),
            "SimFaults::longest_delay is a negative time: -3 ms");
  EXPECT_EQ(refused([](SimOptions& options) { options.faults.longest_jump = -4ms; }),
            "SimFaults::longest_jump is a negative time: -4 ms");
  EXPECT_EQ(refused([](SimOptions& options) { options.faults.longest_outage = -5ms; }),
            "SimFaults::longest_outage is a negative time: -5 ms");
}

TEST(SimTimes, OfASingleCallAreNotNegativeEither) {
  const auto failure = [](auto&& call) {
    return simulate(quiet("x", 1), std::forward<decltype(call)>(call)).failure;
  };
  EXPECT_EQ(failure([](Sim& sim) { sim.run_for(-5ms); }),
            "what Sim::run_for() is given is a negative time: -5 ms");
  EXPECT_EQ(failure([](Sim& sim) { sim.node("main").jump_clock(-5ms); }),
            "what SimNode::jump_clock() is given is a negative time: -5 ms");
  EXPECT_EQ(failure([](Sim& sim) {
              SimFaults faults;
              faults.longest_delay = -5ms;
              sim.set_faults(faults);
            }),
            "SimFaults::longest_delay is a negative time: -5 ms");
  TestKit kit;
  kit.advance(-5ms);
  EXPECT_EQ(kit->now(), 0ms);
  EXPECT_EQ(kit.finish(), "what TestKit::advance() is given is a negative time: -5 ms");
  SimOptions options;
  options.settle = -1ms;
  TestKit wrong(options);
  EXPECT_EQ(wrong.finish(), "SimOptions::settle is a negative time: -1 ms");
}

}  // namespace
}  // namespace jzx
