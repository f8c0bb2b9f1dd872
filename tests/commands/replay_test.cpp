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

// Sends on what it gets, and fails at a hundred and at a thousand.
void start_relay(NumberScheduler& scheduler) {
  (void)scheduler.start_fn([](Number number, NumberContext& context) -> NumberActs {
    NumberActs acts = context.actions();
    if (number.value == 100) {
      const ActorId child = context.reserve();
      acts.spawn_with(child, [] { return [](Number) {}; }).fail(child, "a hundred");
    } else if (number.value == 1000) {
      const ActorId child = context.reserve();
      acts.spawn_with(child, [] {
        return [](Inbox<Number>, Outbox<Number>) -> Task<void> {
          Future<void> waiting = jzx::sleep(1ms);
          Result<void> slept = co_await waiting;
          if (slept) co_await jzx::fail(Errc::timed_out, "a thousand");
        };
      });
    }
    acts.send(context.output(), Number{number.value});
    acts.send(context.output(), Number{-1});
    return acts;
  });
}

// Whoever waits for an output, without being a task of the scheduler, is outside of it: what he
// dispatches at once is an input, at the moment of that output.
TEST(CommandReplay, DispatchesAgainWhatAContinuationDid) {
  NumberScheduler first(with_log());
  start_relay(first);
  std::vector<Future<int>> done;
  const auto dispatch_when_told = [&](int64_t value) {
    done.push_back(first.next_output().then([&first, value](Result<Number>) {
      EXPECT_TRUE(first.dispatch(Number{value}).ok());
      return 0;
    }));
  };
  for (const int64_t value : {1, 2, 100, 3, 4, 1000, 5, 6, 7}) dispatch_when_told(value);
  (void)first.dispatch(Number{0});
  EXPECT_EQ(first.run().end, RunEnd::idle);
  for (const Future<int>& each : done) EXPECT_TRUE(each.is_ready());
  size_t inputs = 0;
  for (const CommandRecord& record : first.log().records) {
    if (!record.moment) continue;
    ++inputs;
    EXPECT_EQ(record.source, 0u);
    EXPECT_EQ(record.cause, 0u);
  }
  EXPECT_EQ(inputs, 1 + 1 + done.size());  // with the start
  NumberScheduler second(with_log());
  start_relay(second);
  const RunReport report = second.replay(first.log());
  EXPECT_EQ(report.end, RunEnd::idle) << report.report;
  EXPECT_EQ(second.log().to_json_lines(), first.log().to_json_lines());
}

// A task of the scheduler is inside: it does so again by itself.
TEST(CommandReplay, LeavesToATaskWhatTheTaskDispatched) {
  const auto start = [](NumberScheduler& scheduler) {
    start_relay(scheduler);
    return scheduler.system().spawn_async([](NumberScheduler& from) -> Task<void> {
      for (int64_t i = 1; i < 5; ++i) {
        Future<Number> next = from.next_output();
        Result<Number> taken = co_await next;
        if (taken) (void)from.dispatch(Number{i});
      }
    }(scheduler));
  };
  NumberScheduler first(with_log());
  Future<void> first_task = start(first);
  (void)first.dispatch(Number{0});
  EXPECT_EQ(first.run().end, RunEnd::idle);
  EXPECT_TRUE(first_task.is_ready());
  NumberScheduler second(with_log());
  Future<void> second_task = start(second);
  const RunReport report = second.replay(first.log());
  EXPECT_EQ(report.end, RunEnd::idle) << report.report;
  EXPECT_TRUE(second_task.is_ready());
  EXPECT_EQ(second.log().to_json_lines(), first.log().to_json_lines());
}

TEST(CommandReplay, OfAShutdownEndsToo) {
  for (const bool is_between : {false, true}) {
    NumberScheduler first(with_log());
    (void)first.start<Ticker>(100);
    start_relay(first);
    (void)first.run_for(5ms + 500us);
    (void)first.dispatch(Number{1});
    (void)first.dispatch(Number{2});
    if (is_between) (void)first.step();
    first.shutdown();
    ASSERT_TRUE(first.log().shutdown.has_value());
    const Result<CommandLog> loaded = CommandLog::parse(first.log().to_json_lines());
    ASSERT_TRUE(loaded.ok()) << loaded.error().message();
    NumberScheduler second(with_log());
    (void)second.start<Ticker>(100);
    start_relay(second);
    const RunReport report = second.replay(*loaded);
    EXPECT_EQ(report.end, RunEnd::ended) << report.report;
    EXPECT_TRUE(second.is_ended());
    EXPECT_EQ(second.now(), first.now());
    EXPECT_EQ(second.log().to_json_lines(), first.log().to_json_lines());
  }
}

// From inside it is done again by who did it.
TEST(CommandReplay, OfAShutdownFromInsideEndsToo) {
  const auto start = [](NumberScheduler& scheduler) {
    (void)scheduler.start_fn([&](Number number) {
      if (number.value == 2) scheduler.shutdown();
    });
  };
  NumberScheduler first(with_log());
  start(first);
  for (const int64_t value : {1, 2, 3}) (void)first.dispatch(Number{value});
  EXPECT_EQ(first.run().end, RunEnd::ended);
  EXPECT_FALSE(first.log().shutdown.has_value());
  NumberScheduler second(with_log());
  start(second);
  const RunReport report = second.replay(first.log());
  EXPECT_EQ(report.end, RunEnd::ended) << report.report;
  EXPECT_EQ(second.log().to_json_lines(), first.log().to_json_lines());
}

TEST(CommandReplay, OfAShutdownWithOtherCommandsTellsTheDifference) {
  NumberScheduler first(with_log());
  start_relay(first);
  (void)first.run();
  (void)first.dispatch(Number{1});
  (void)first.step();
  first.shutdown();  // before the relay's two outputs
  const auto report_of = [](const CommandLog& log) {
    NumberScheduler second(with_log());
    start_relay(second);
    const RunReport report = second.replay(log);
    EXPECT_EQ(report.end, RunEnd::differs);
    return report.report;
  };
  CommandLog log = first.log();
  for (const size_t place : {2u, 3u}) log.records[place].payload = "ff00000000000000";
  const std::string other = report_of(log);
  EXPECT_NE(other.find("differs from the log at command #3"), std::string::npos) << other;
  log = first.log();
  log.records.push_back(log.records.back());
  log.records.back().sequence = 5;
  const std::string longer = report_of(log);
  EXPECT_NE(longer.find("come to its end before command #5"), std::string::npos) << longer;
}

TEST(CommandReplay, TheLogSaysWhatInterceptorsMadeOfACommand) {
  const auto start = [](NumberScheduler& scheduler) {
    start_relay(scheduler);
    scheduler.intercept([&](Interception<Number>& command) {
      if (command.target() != scheduler.input()) return;
      command.message()->value = 9;
      command.redirect(scheduler.output());
    });
    scheduler.mock<Ticker>([] { return [](Number) {}; });
    (void)scheduler.start<Ticker>(1);
  };
  NumberScheduler first(with_log());
  start(first);
  (void)first.dispatch(Number{1});
  (void)first.run();
  EXPECT_EQ(first.try_output()->value, 9);
  const CommandRecord& spawn = first.log().records[1];
  ASSERT_TRUE(spawn.rewritten.has_value());
  EXPECT_NE(*spawn.rewritten, spawn.type);
  const CommandRecord& send = first.log().records[2];
  EXPECT_EQ(send.target, first.input());
  EXPECT_EQ(send.redirected, first.output());
  EXPECT_EQ(send.payload, "0100000000000000");
  EXPECT_EQ(send.rewritten, "0900000000000000");
  EXPECT_FALSE(first.log().records[0].redirected.has_value());
  EXPECT_FALSE(first.log().records[0].rewritten.has_value());
  const std::string text = first.log().to_text();
  EXPECT_NE(text.find("0100000000000000, redirected to output, rewritten to 0900000000000000"),
            std::string::npos)
      << text;
  const Result<CommandLog> loaded = CommandLog::parse(first.log().to_json_lines());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  EXPECT_EQ(loaded->to_json_lines(), first.log().to_json_lines());
  NumberScheduler second(with_log());
  start(second);
  const RunReport report = second.replay(*loaded);
  EXPECT_EQ(report.end, RunEnd::idle) << report.report;
  EXPECT_EQ(second.log().to_json_lines(), first.log().to_json_lines());
}

// ---- commands that were held when the next came from outside ----

// Does something from outside with one scheduler, and wants a replay to do the same.
void expect_same_again(const std::function<void(NumberScheduler&)>& start,
                       const std::function<void(NumberScheduler&)>& play) {
  NumberScheduler first(with_log());
  start(first);
  play(first);
  NumberScheduler second(with_log());
  start(second);
  const RunReport report = second.replay(first.log());
  EXPECT_NE(report.end, RunEnd::differs) << report.report;
  EXPECT_EQ(second.log().to_text(), first.log().to_text());
}

bool is_the_first(const NumberScheduler& scheduler, const Interception<Number>& command) {
  return command.target() == scheduler.input() && command.message() != nullptr &&
         command.message()->value == 1;
}

void start_delaying(NumberScheduler& scheduler) {
  start_relay(scheduler);
  scheduler.intercept([&](Interception<Number>& command) {
    if (is_the_first(scheduler, command)) command.delay(3ms);
  });
}

TEST(CommandReplay, HoldsADelayedCommandAsLongAsItWasHeld) {
  expect_same_again(start_delaying, [](NumberScheduler& scheduler) {
    (void)scheduler.dispatch(Number{1});
    (void)scheduler.run_for(1ms);
    (void)scheduler.dispatch(Number{2});
    (void)scheduler.run();
    EXPECT_EQ(scheduler.now(), 3ms);
  });
}

TEST(CommandReplay, HoldsACommandThatIsDelayedOnceMore) {
  const auto start = [](NumberScheduler& scheduler) {
    start_delaying(scheduler);
    scheduler.intercept([&](Interception<Number>& command) {
      if (is_the_first(scheduler, command)) command.delay(5ms);
    });
  };
  expect_same_again(start, [](NumberScheduler& scheduler) {
    (void)scheduler.dispatch(Number{1});
    (void)scheduler.run_for(7ms);  // the second delay is under way
    (void)scheduler.dispatch(Number{2});
    (void)scheduler.run();
    EXPECT_EQ(scheduler.now(), 8ms);
  });
}

TEST(CommandReplay, HoldsADelayedCommandWhileAnActorGoesOn) {
  const auto start = [](NumberScheduler& scheduler) {
    start_delaying(scheduler);
    (void)scheduler.start<Ticker>(4);
  };
  expect_same_again(start, [](NumberScheduler& scheduler) {
    (void)scheduler.run_ready();
    (void)scheduler.dispatch(Number{1});
    (void)scheduler.run_for(1ms + 500us);
    (void)scheduler.dispatch(Number{2});
    (void)scheduler.run();
    EXPECT_EQ(scheduler.now(), 4ms);
  });
}

// What an interceptor injects for a held command stands before what comes from outside after that.
void start_injecting(NumberScheduler& scheduler) {
  start_relay(scheduler);
  scheduler.intercept([&](Interception<Number>& command) {
    if (!is_the_first(scheduler, command)) return;
    command.inject(command.actions().send(command.target(), Number{7}));
    command.delay(3ms);
  });
}

TEST(CommandReplay, InjectsForAHeldCommandBeforeTheNextInput) {
  expect_same_again(start_injecting, [](NumberScheduler& scheduler) {
    (void)scheduler.dispatch(Number{1});
    (void)scheduler.run_ready();
    (void)scheduler.dispatch(Number{2});
    (void)scheduler.run();
  });
}

TEST(CommandReplay, InjectsForAHeldCommandBeforeTheShutdown) {
  expect_same_again(start_injecting, [](NumberScheduler& scheduler) {
    (void)scheduler.run();
    (void)scheduler.dispatch(Number{1});
    (void)scheduler.run_ready();
    scheduler.shutdown();
  });
}

}  // namespace
}  // namespace jzx::commands
