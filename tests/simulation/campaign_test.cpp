// simulate(), over all of its runs: how many they are, how they compare, and how one is repeated.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulation/cast.hpp"

namespace jzx {
namespace {

using namespace cast;

void one_number(Sim& sim) {
  auto& list = sim.make<std::vector<int>>();
  sim.spawn<Collector>(&list) << Number{1};
  sim.run();
}

TEST(Campaign, OfNoRunsHasNotPassed) {
  const auto scenario = [](Sim& sim) { sim.fail("always"); };
  for (const SimPolicy policy : {SimPolicy::random, SimPolicy::dfs}) {
    SimOptions options = quiet("x", 0);
    options.policy = policy;
    const SimReport report = simulate(options, scenario);
    EXPECT_FALSE(report);
    EXPECT_EQ(report.failure, "SimOptions::seeds is 0: nothing would be run");
    options.seeds = 5;
    const Environment count("JZX_SEED_COUNT", "0");
    const SimReport none = simulate(options, scenario);
    EXPECT_FALSE(none);
    EXPECT_EQ(none.failure, "JZX_SEED_COUNT is 0: nothing would be run");
  }
}

TEST(Campaign, OfOneSeedNeedsNoCount) {
  const Environment count("JZX_SEED_COUNT", "0");
  const Environment seed("JZX_SEED", "3");
  const SimReport report = simulate(quiet("x", 0), one_number);
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(report.runs, 1u);
}

TEST(Campaign, IsRepeatedByALineThatAShellAndCtestUnderstand) {
  const auto pattern = [](const char* name) {
    const std::string line = simulate(quiet(name, 1), [](Sim& sim) { sim.fail("x"); }).repeat;
    const std::string before = "JZX_SEED=1 ctest -R ";
    EXPECT_EQ(line.substr(0, before.size()), before);
    return line.substr(before.size());
  };
  EXPECT_EQ(pattern("Suite/Part.Test/0"), "Suite/Part.Test/0") << "nothing is special there";
  EXPECT_EQ(pattern("cinema sells (no) seat"), R"('cinema sells \(no\) seat')");
  EXPECT_EQ(pattern("a+b|c[1]$HOME"), R"('a\+b\|c\[1\]\$HOME')");
  EXPECT_EQ(pattern("nobody's"), R"('nobody'\''s')");
  EXPECT_EQ(pattern(""), "''");
  EXPECT_EQ(pattern("-V"), "'-V'");
}

TEST(Campaign, CountsTheChoicesThatItRepeats) {
  const Environment choices("JZX_CHOICES", "u0:2,u1:1");
  const SimReport report = simulate(quiet("x"), [](Sim& sim) {
    if (sim.choose(3) == 2 && sim.choose(3) == 1) sim.fail("both");
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.choices, 2u);
  EXPECT_EQ(report.shrunk, 2u);
}

TEST(Campaign, TellsTheFailureOfARunThatFailsOnlyTheSecondTime) {
  SimOptions options = quiet("x", 1);
  options.check_determinism = true;
  int runs = 0;
  const SimReport report = simulate(options, [&](Sim& sim) {
    one_number(sim);
    sim.check(++runs % 2 == 1, "odd");
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure,
            "the same seed ran differently the second time, after its last step; then it failed: "
            "odd");
  EXPECT_NE(report.trace.find("FAILED: odd"), std::string::npos) << report.trace;
}

TEST(Campaign, SaysWhichOfTwoRunsIsShorter) {
  SimOptions options = quiet("x", 1);
  options.check_determinism = true;
  int runs = 0;
  const SimReport report = simulate(options, [&](Sim& sim) {
    one_number(sim);
    if (++runs == 1) one_number(sim);
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure, "the same seed ran differently the second time, from step 2 on");
  EXPECT_NE(report.trace.find("second:\n  (it has no such step)"), std::string::npos)
      << report.trace;
}

TEST(Campaign, OfPctHasABoundForItsDepth) {
  SimOptions options = quiet("x", 1);
  options.policy = SimPolicy::pct;
  options.depth = 10'000;
  EXPECT_TRUE(simulate(options, one_number));
  options.depth = 200'000'000;
  const SimReport report = simulate(options, one_number);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure, "SimOptions::depth of SimPolicy::pct is at most 10000");
}

}  // namespace
}  // namespace jzx
