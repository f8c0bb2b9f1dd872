// A livelock is told at once, and in few words, however many steps it had.
#include <gtest/gtest.h>

#include "runtime/sim/shrink.hpp"
#include "simulation/cast.hpp"

namespace jzx::cast {
namespace {

// Two of them send the same message to and fro for ever.
struct Player {
  uint64_t* handled;
  ActorRef<Player> other;
  explicit Player(uint64_t* the_handled) : handled(the_handled) {}
  void on(ActorRef<Player> the_other) { other = the_other; }
  void on(Number number) {
    ++*handled;
    other << number;
  }
};

struct Campaign {
  uint64_t runs = 0;
  uint64_t handled = 0;  // by all players of all runs
  SimReport report;
};

Campaign play(SimOptions options, int pairs) {
  Campaign campaign;
  campaign.report = simulate(options, [&](Sim& sim) {
    ++campaign.runs;
    for (int i = 0; i < pairs; ++i) {
      const auto first = sim.spawn<Player>(&campaign.handled);
      const auto second = sim.spawn<Player>(&campaign.handled);
      first << second;
      second << first;
      first << Number{i};
    }
    sim.run();
  });
  return campaign;
}

// The lines of what the report says after "because:".
std::vector<std::string> causes_in(const SimReport& report) {
  std::vector<std::string> lines;
  size_t at = report.trace.find("because:\n");
  if (at == std::string::npos) return lines;
  at += std::string_view("because:\n").size();
  for (size_t end = 0; (end = report.trace.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(report.trace.substr(at, end - at));
  }
  return lines;
}

bool has(const std::string& line, std::string_view text) {
  return line.find(text) != std::string::npos;
}

TEST(Livelock, IsToldWithTheBeginningAndTheEndOfItsCauses) {
  SimOptions options = quiet("x", 1);
  options.max_steps = 5000;
  const std::vector<std::string> causes = causes_in(play(options, 1).report);
  ASSERT_EQ(causes.size(), 101u);
  EXPECT_TRUE(has(causes.front(), "takes jzx::cast::Number from outside")) << causes.front();
  EXPECT_EQ(causes[20], "  … 4899 more causes");
  EXPECT_TRUE(has(causes[21], "(because of 4921)")) << causes[21];
  EXPECT_TRUE(has(causes.back(), "] 5001 ")) << causes.back();
}

TEST(Livelock, ThatIsShortIsToldWithAllItsCauses) {
  SimOptions options = quiet("x", 1);
  options.max_steps = 50;
  for (const std::string& line : causes_in(play(options, 1).report)) {
    EXPECT_FALSE(has(line, "more causes")) << line;
  }
}

// Once to find it, once to shrink its only choice, once to tell it.
TEST(Livelock, ToldAtTheDefaultLimitIsRunThreeTimes) {
  const Campaign campaign = play(quiet("x", 1), 1);
  EXPECT_EQ(campaign.report.failure,
            "livelock, or timers without end: after 1000000 steps there is still work");
  EXPECT_EQ(campaign.runs, 3u);
  EXPECT_EQ(causes_in(campaign.report).size(), 101u);
  EXPECT_LT(campaign.report.text().size(), 100'000u);
}

// Whatever is left out of its choices, it stays a livelock: so each try is as long as the first.
TEST(Livelock, IsShrunkInAFewTriesIfItsRunsAreLong) {
  runtime::ShrinkBudget budget;
  int tries = 0;
  const auto fails = [&](const runtime::Taken&) {
    ++tries;
    budget.spend(1'000'000);
    return true;
  };
  const drivers::sim::Choice choice{drivers::sim::ChoiceSite::user, 4, 3};
  const runtime::Taken shrunk = runtime::shrink(runtime::Taken(100'000, choice), fails, budget);
  EXPECT_EQ(tries, 8);
  EXPECT_EQ(shrunk.size(), 100'000u >> 8);
}

TEST(Livelock, IsNotWhatLimitsTheShrinkingOfShortRuns) {
  runtime::ShrinkBudget budget;
  for (int i = 0; i < 400; ++i) budget.spend(2'500);
  EXPECT_TRUE(budget.is_spent());
  budget = {};
  for (int i = 0; i < 19'999; ++i) budget.spend(10);
  EXPECT_FALSE(budget.is_spent());
}

}  // namespace
}  // namespace jzx::cast
