// Scenarios that use the simulator wrongly: they fail, and say why.
#include <gtest/gtest.h>

#include <jzx/sim/testkit.hpp>

#include <stdexcept>
#include <vector>

#include "simulation/cast.hpp"

namespace jzx {
namespace {

using namespace cast;
using namespace std::chrono_literals;

constexpr const char* kInTheMiddle =
    "a step, a run or finish() was called in the middle of a step: only the scenario may do so";

struct Meddler {
  std::function<void()> meddle;
  void on(Tick) { meddle(); }
};

TEST(Misuse, IsToRunTheSimulationInsideOfAnActor) {
  const auto failure = [](const std::function<void(Sim&, Pid)>& meddle) {
    return simulate(quiet("x", 2),
                    [&](Sim& sim) {
                      auto& list = sim.make<std::vector<int>>();
                      const auto other = sim.spawn<Collector>(&list);
                      const auto meddler =
                          sim.spawn<Meddler>([&meddle, &sim, other] { meddle(sim, other); });
                      meddler << Tick{};
                      other << Number{1};
                      sim.run();
                    })
        .failure;
  };
  EXPECT_EQ(failure([](Sim& sim, Pid) { sim.run(); }), kInTheMiddle);
  EXPECT_EQ(failure([](Sim& sim, Pid) { sim.run_for(1ms); }), kInTheMiddle);
  EXPECT_EQ(failure([](Sim& sim, Pid) { (void)sim.step(); }), kInTheMiddle);
  EXPECT_EQ(failure([](Sim& sim, Pid other) { (void)sim.step(other); }), kInTheMiddle);
  EXPECT_EQ(failure([](Sim& sim, Pid) { (void)sim.run_until([] { return false; }); }),
            kInTheMiddle);
  EXPECT_EQ(failure([](Sim& sim, Pid) { (void)sim.finish(); }), kInTheMiddle);
}

TEST(Misuse, IsToRunTheSimulationInsideOfAClaim) {
  const SimReport report = simulate(quiet("x", 2), [](Sim& sim) {
    auto& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    sim.always("it moves", [&sim] { return sim.step(), true; });
    collector << Number{1};
    sim.run();
  });
  EXPECT_EQ(report.failure, kInTheMiddle);
}

TEST(Misuse, IsToAdvanceATestKitInsideOfAnActor) {
  TestKit kit;
  kit->spawn<Meddler>([&kit] { kit.advance(1ms); }) << Tick{};
  kit->run();
  EXPECT_EQ(kit.finish(), kInTheMiddle);
}

TEST(Misuse, IsNotToSimulateSomethingElseInsideOfAScenario) {
  const SimReport report = simulate(quiet("x", 2), [](Sim& sim) {
    auto& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    collector << Number{1};
    sim.always("another runs", [] {
      return simulate(quiet("y", 1), [](Sim& inner) { inner.run_for(1ms); }).passed;
    });
    sim.run();
    sim.check(list.size() == 1, "it came");
  });
  EXPECT_TRUE(report) << report.text();
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST(Misuse, OfAClaimThatThrowsFailsWhoeverCatchesIt) {
  const SimReport report = simulate(quiet("x", 2), [](Sim& sim) {
    auto& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    sim.always("it can be seen", []() -> bool { throw std::runtime_error("too dark"); });
    collector << Number{1};
    try {
      sim.run();
    } catch (const std::runtime_error&) {
    }
    sim.run();
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure, "it must always be so: it can be seen (looking at it threw: too dark)");
}

TEST(Misuse, OfAnEndThatThrowsFailsWhoeverCatchesIt) {
  const SimReport report = simulate(quiet("x", 2), [](Sim& sim) {
    sim.eventually("it can be seen", []() -> bool { throw 42; });
    try {
      sim.finish();
    } catch (int) {
    }
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure,
            "in the end it is not so: it can be seen (looking at it threw: an exception that is no "
            "std::exception)");
}
#endif

}  // namespace
}  // namespace jzx
