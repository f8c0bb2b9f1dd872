// Replays that must come to an end, and what came from outside in the middle of a run.
#include <jzx/async/spawn.hpp>

#include "commands/scene.hpp"

namespace jzx::commands {
namespace {

struct Number {
  int64_t value = 0;
};
using NumberContext = CommandContext<Number>;
using NumberActs = Actions<Number>;
using NumberScheduler = CommandScheduler<Number>;

CommandOptions with_log() {
  CommandOptions options;
  options.keeps_log = true;
  options.turn_budget = 1000;
  return options;
}

// Says one thing after so many ticks of its clock; 0: never, and its clock never stops.
struct Ticker {
  int last;
  Task<void> run(Inbox<Number>, Outbox<Number> outbox) {
    for (int i = 1;; ++i) {
      Future<void> waiting = jzx::sleep(1ms);
      Result<void> slept = co_await waiting;
      if (!slept) co_return;
      if (i != last) continue;
      (void)outbox.send(outbox.output(), Number{i});
      co_return;
    }
  }
};

TEST(CommandReplay, OfWhatNeverComesIsARunaway) {
  NumberScheduler first(with_log());
  (void)first.start<Ticker>(3);
  EXPECT_EQ(first.run().end, RunEnd::ended);
  NumberScheduler second(with_log());
  (void)second.start<Ticker>(0);
  const RunReport report = second.replay(first.log());
  EXPECT_EQ(report.end, RunEnd::budget_spent);
  EXPECT_NE(report.report.find("a runaway?"), std::string::npos) << report.report;
  EXPECT_LE(report.steps, 1000u);
}

TEST(CommandReplay, ThatMissesTheMomentOfAnInputSaysSo) {
  NumberScheduler first(with_log());
  (void)first.start_fn([](Number) {});
  (void)first.start<Ticker>(2);
  (void)first.run_for(2ms);
  EXPECT_TRUE(first.dispatch(Number{1}).ok());  // after what the ticker said
  (void)first.run();
  NumberScheduler second(with_log());
  (void)second.start_fn([](Number) {});
  (void)second.start<Ticker>(0);
  const RunReport report = second.replay(first.log());
  EXPECT_EQ(report.end, RunEnd::differs);
  EXPECT_NE(report.report.find("took another way before command #4"), std::string::npos)
      << report.report;
}

// Each of them within its budget, and together far beyond it.
TEST(CommandReplay, OfManyRunsHasTheBudgetOfAll) {
  NumberScheduler first(with_log());
  const auto start = [](NumberScheduler& scheduler) {
    (void)scheduler.start_fn([](Number number, NumberContext& context) -> NumberActs {
      if (number.value == 0) return {};
      return context.send(context.self(), Number{number.value - 1});
    });
  };
  start(first);
  for (int i = 0; i < 3; ++i) {
    (void)first.dispatch(Number{900});
    EXPECT_EQ(first.run().end, RunEnd::idle);
  }
  NumberScheduler second(with_log());
  start(second);
  const RunReport report = second.replay(first.log());
  EXPECT_EQ(report.end, RunEnd::idle) << report.report;
  EXPECT_EQ(report.commands, first.log().records.size());
}

}  // namespace
}  // namespace jzx::commands
