// Interceptors: observe, filter, rewrite, delay, inject, mock; they cannot change an order.
#include "commands/scene.hpp"

namespace jzx::commands {
namespace {

std::string describe(const Interception<Note>& command) {
  std::string text = to_string(command.kind());
  if (command.message() != nullptr) text += " " + command.message()->text;
  return text;
}

TEST(CommandInterceptors, ObserveEveryCommandInItsOrder) {
  Stage stage;
  std::vector<uint64_t> numbers;
  stage.scheduler.intercept([&](Interception<Note>& command) {
    stage.journal.push_back(describe(command));
    numbers.push_back(command.sequence());
  });
  const ActorId root = *stage.scheduler.start<Echo>("e");
  (void)stage.scheduler.dispatch("a");
  (void)stage.scheduler.fail(root, "broken");
  (void)stage.scheduler.kill(root);
  (void)stage.scheduler.run();
  EXPECT_EQ(stage.journal, (Story{"spawn", "send a", "fail", "kill", "send e got a"}));
  EXPECT_EQ(numbers, (std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

TEST(CommandInterceptors, FilterAndRewriteFromLeftToRight) {
  Stage stage;
  const auto is_input = [&](const Interception<Note>& command) {
    return command.kind() == CommandKind::send && command.target() == stage.scheduler.input();
  };
  stage.scheduler.filter([&](const Interception<Note>& command) {
    return !is_input(command) || command.message()->text != "secret";
  });
  stage.scheduler.intercept([&](Interception<Note>& command) {
    if (is_input(command)) command.message()->text += ", rewritten";
  });
  stage.scheduler.intercept([&](Interception<Note>& command) {
    if (is_input(command)) stage.journal.push_back(command.message()->text);
  });
  (void)stage.scheduler.start<Echo>("e");
  for (const char* text : {"a", "secret", "b"}) (void)stage.scheduler.dispatch(text);
  EXPECT_EQ(stage.outputs(), (Story{"e got a, rewritten", "e got b, rewritten"}));
  EXPECT_EQ(stage.journal, (Story{"a, rewritten", "b, rewritten"}));
}

TEST(CommandInterceptors, MayDropSpawnsKillsAndFails) {
  Stage stage;
  stage.scheduler.filter([](const Interception<Note>& command) {
    return command.sequence() == 1 || command.kind() == CommandKind::send;
  });
  (void)stage.scheduler.start_fn([](Note, Context& context) -> Acts {
    const ActorId child = context.reserve();
    return context.actions()
        .spawn<Echo>(child, "child")
        .send(child, "hello")
        .kill(context.self())
        .fail(context.self(), "no");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(stage.scheduler.live_actors(), 1u);
  EXPECT_EQ(stage.recorder.dead.size(), 1u);
}

TEST(CommandInterceptors, RedirectToAnother) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  scheduler.intercept([&](Interception<Note>& command) {
    if (command.target() == scheduler.input()) command.redirect(scheduler.output());
  });
  (void)scheduler.start<Echo>("e");
  (void)scheduler.dispatch("straight through");
  EXPECT_EQ(stage.outputs(), (Story{"straight through"}));
}

TEST(CommandInterceptors, ADelayHoldsUpTheLineAndKeepsItsOrder) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  std::vector<std::chrono::nanoseconds> times;
  int seen = 0;
  scheduler.intercept([&](Interception<Note>& command) {
    ++seen;
    if (command.message() != nullptr && command.message()->text == "slow") command.delay(5ms);
  });
  scheduler.intercept([&](Interception<Note>& command) {
    if (command.message() != nullptr && command.message()->text == "slow") command.delay(2ms);
    times.push_back(scheduler.now());
  });
  (void)scheduler.start_fn([](Note note, Context& context) -> Acts {
    return context.send(context.output(), note.text + " at " + std::to_string(context.now() / 1ms));
  });
  for (const char* text : {"a", "slow", "b"}) (void)scheduler.dispatch(text);
  EXPECT_EQ(scheduler.run_ready().end, RunEnd::time_up);
  EXPECT_EQ(scheduler.phase(), SchedulerPhase::queued);
  EXPECT_EQ(stage.outputs(), (Story{"a at 0", "slow at 7", "b at 7"}));
  EXPECT_EQ(seen, 7);        // each command once
  EXPECT_EQ(times[2], 5ms);  // it saw the slow one when that was let through by the first
}

TEST(CommandInterceptors, WhileTheLineWaitsTimersGoOn) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  scheduler.intercept([&](Interception<Note>& command) {
    const bool is_input = command.target() == scheduler.input();
    if (is_input && command.message()->text == "slow") command.delay(10ms);
  });
  (void)scheduler.start_fn([](Note note, Context& context) -> Acts {
    if (note.text != "begin") return context.send(context.output(), note.text);
    const ActorId ticker = context.reserve();
    return context.actions().spawn_with(ticker, [root = context.self()] {
      return [root](Inbox<Note>, Outbox<Note> outbox) -> Task<void> {
        Future<void> waiting = jzx::sleep(5ms);
        Result<void> slept = co_await waiting;
        (void)slept;
        (void)outbox.send(root, "tick");
      };
    });
  });
  (void)scheduler.dispatch("begin");
  (void)scheduler.run_ready();
  (void)scheduler.dispatch("slow");
  EXPECT_EQ(stage.outputs(), (Story{"slow", "tick"}));  // the tick stands behind
  EXPECT_EQ(scheduler.now(), 10ms);
}

TEST(CommandInterceptors, InjectAtTheTail) {
  CommandOptions options;
  options.keeps_log = true;
  Stage stage(options);
  Scheduler& scheduler = stage.scheduler;
  scheduler.intercept([&](Interception<Note>& command) {
    if (command.target() != scheduler.input() || command.is_injected()) return;
    command.inject(command.actions().send(scheduler.input(), command.message()->text + "'"));
    command.inject(command.actions().send(scheduler.input(), command.message()->text + "\""));
  });
  (void)scheduler.start<Echo>("e");
  (void)scheduler.dispatch("a");
  (void)scheduler.dispatch("b");
  EXPECT_EQ(stage.outputs(),
            (Story{"e got a", "e got b", "e got a'", "e got a\"", "e got b'", "e got b\""}));
  const std::vector<CommandRecord>& records = scheduler.log().records;
  EXPECT_TRUE(records[3].is_injected);
  EXPECT_EQ(records[3].cause, 2u);
  EXPECT_EQ(records[3].source, 0u);
  EXPECT_FALSE(records[3].moment);  // it is no input from outside
}

struct Database {
  Task<void> run(Inbox<Note>, Outbox<Note>) {
    ADD_FAILURE() << "the real one was spawned";
    co_return;
  }
};
struct Client {
  Acts on_start(Context& context) {
    const ActorId database = context.reserve();
    return context.actions().spawn<Database>(database).send(database, "query");
  }
  Acts handle(Note note, Context& context) { return context.send(context.output(), note.text); }
};

TEST(CommandInterceptors, MockAnActorByItsType) {
  Stage stage;
  stage.scheduler.mock<Database>([] { return Echo{"mock"}; });
  stage.scheduler.mock<Echo>([]() -> Echo { return {"a mock of something else"}; });
  (void)stage.scheduler.start<Client>();
  EXPECT_EQ(stage.outputs(), (Story{"a mock of something else got query"}));
}

TEST(CommandInterceptors, AMockOfTheRootGetsTheInput) {
  Stage stage;
  stage.scheduler.mock<Client>([] { return Echo{"mock"}; });
  (void)stage.scheduler.start<Client>();
  (void)stage.scheduler.dispatch("hello");
  EXPECT_EQ(stage.outputs(), (Story{"mock got hello"}));
}

TEST(CommandInterceptors, MayBeAddedByOneThatRuns) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  scheduler.intercept([&](Interception<Note>& command) {
    if (command.sequence() > 100) return;
    scheduler.intercept([&](Interception<Note>& later) {
      if (later.target() == scheduler.input()) later.message()->text += "+";
    });
  });
  (void)scheduler.start<Echo>("e");
  (void)scheduler.dispatch("a");
  EXPECT_EQ(stage.outputs(), (Story{"e got a++"}));
}

TEST(CommandInterceptors, WhatIsLetThroughKeepsItsOrder) {
  // All of them at once, and the numbers of what arrives still grow.
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  scheduler.intercept([](Interception<Note>& command) {
    if (command.sequence() % 5 == 0) command.delay(1ms);
  });
  scheduler.filter([](const Interception<Note>& command) { return command.sequence() % 7 != 0; });
  scheduler.intercept([&](Interception<Note>& command) {
    if (!command.is_injected() && command.sequence() % 3 == 0) {
      command.inject(command.actions().send(scheduler.input(), "extra"));
    }
  });
  std::vector<uint64_t> arrived;
  (void)scheduler.start_fn([&](Note, Context& context) { arrived.push_back(context.sequence()); });
  for (int i = 0; i < 100; ++i) (void)scheduler.dispatch("x");
  (void)scheduler.run();
  EXPECT_GT(arrived.size(), 100u);
  EXPECT_TRUE(std::is_sorted(arrived.begin(), arrived.end()));
}

TEST(CommandInterceptors, ADelayThatIsTooLongLastsToTheEndOfTime) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  (void)scheduler.run();
  scheduler.intercept([&](Interception<Note>& command) {
    for (int i = 0; i < 3; ++i) command.delay(std::chrono::nanoseconds::max());
  });
  for (const char* text : {"a", "b"}) (void)scheduler.dispatch(text);
  EXPECT_EQ(scheduler.run_for(1h).end, RunEnd::time_up);
  EXPECT_EQ(scheduler.queued(), 2u);
  EXPECT_EQ(stage.outputs(), (Story{"e got a", "e got b"}));
  EXPECT_GT(scheduler.now(), 24h * 365 * 100);  // a hundred years
}

}  // namespace
}  // namespace jzx::commands
