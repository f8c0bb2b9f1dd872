// Queues are bounded with a clear error, and runaways are stopped with a report.
#include "commands/scene.hpp"

namespace jzx::commands {
namespace {

struct Ping {
  ActorId other = 0;
  Acts handle(Note note, Context& context) {
    return context.send(other != 0 ? other : context.sender(), note.text);
  }
};

TEST(CommandBudget, ARunawayIsStoppedWithAReport) {
  CommandOptions options;
  options.turn_budget = 1000;
  Stage stage(options);
  Scheduler& scheduler = stage.scheduler;
  const ActorId pong = scheduler.reserve();
  (void)scheduler.dispatch(scheduler.actions().spawn<Ping>(pong));
  const ActorId ping = scheduler.reserve();
  (void)scheduler.dispatch(scheduler.actions().spawn<Ping>(ping, pong));
  (void)scheduler.dispatch_to(ping, "go");
  const RunReport report = scheduler.run();
  EXPECT_EQ(report.end, RunEnd::budget_spent);
  EXPECT_EQ(report.commands, 1000u);
  EXPECT_EQ(scheduler.phase(), SchedulerPhase::queued);
  const auto says = [&](const std::string& text) {
    return report.report.find(text) != std::string::npos;
  };
  EXPECT_TRUE(says("1000 commands")) << report.report;
  EXPECT_TRUE(says("Ping): 32")) << report.report;
  EXPECT_TRUE(says("#1000 send")) << report.report;
  EXPECT_TRUE(says("because of #999")) << report.report;
  EXPECT_TRUE(says("because of #985")) << report.report;
  // It can go on, and it can be ended.
  EXPECT_EQ(scheduler.run().commands, 1000u);
  scheduler.shutdown();
  EXPECT_EQ(scheduler.run().end, RunEnd::ended);
}

TEST(CommandBudget, AClockThatNeverStopsIsARunawayToo) {
  CommandOptions options;
  options.turn_budget = 500;
  Stage stage(options);
  (void)stage.scheduler.start_fn([](Inbox<Note>, Outbox<Note>) -> Task<void> {
    for (;;) {
      Future<void> waiting = jzx::sleep(1s);
      Result<void> slept = co_await waiting;
      if (!slept) co_return;
    }
  });
  const RunReport report = stage.scheduler.run();
  EXPECT_EQ(report.end, RunEnd::budget_spent);
  EXPECT_EQ(report.commands + report.steps, 500u);
  EXPECT_EQ(stage.scheduler.run_for(10s).end, RunEnd::time_up);
}

TEST(CommandBudget, TakingAnOutputStopsARunawayToo) {
  CommandOptions options;
  options.turn_budget = 1000;
  Stage stage(options);
  (void)stage.scheduler.start_fn(
      [](Note note, Context& context) -> Acts { return context.send(context.self(), note.text); });
  (void)stage.scheduler.dispatch("for ever");
  const Result<Note> none = stage.scheduler.take_output();
  EXPECT_EQ(none.error().code(), Errc::timed_out);
  EXPECT_NE(stage.scheduler.run().report.find("a runaway?"), std::string::npos);
}

TEST(CommandBudget, ExactlyEnoughIsEnough) {
  CommandOptions options;
  options.turn_budget = 3;
  Stage stage(options);
  (void)stage.scheduler.start<Echo>("e");
  (void)stage.scheduler.dispatch("a");
  EXPECT_EQ(stage.scheduler.run().end, RunEnd::idle);
  EXPECT_EQ(stage.scheduler.try_output()->text, "e got a");
}

TEST(CommandBudget, NoneIsNoLimit) {
  CommandOptions options;
  options.turn_budget = 0;
  Stage stage(options);
  (void)stage.scheduler.start<Echo>("e");
  for (int i = 0; i < 1000; ++i) (void)stage.scheduler.dispatch("a");
  EXPECT_EQ(stage.scheduler.run().end, RunEnd::idle);
}

TEST(CommandQueueLimit, ADispatchThatDoesNotFitIsRefused) {
  CommandOptions options;
  options.max_commands = 3;
  Stage stage(options);
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  EXPECT_TRUE(scheduler.dispatch("a").ok());
  const Result<uint64_t> batch = scheduler.dispatch(
      scheduler.actions().send(scheduler.input(), "b").send(scheduler.input(), "c"));
  EXPECT_EQ(batch.error().code(), Errc::mailbox_full);
  EXPECT_STREQ(batch.error().message(), "the command queue is full");
  EXPECT_TRUE(scheduler.dispatch("d").ok());  // the batch was refused as a whole
  EXPECT_FALSE(scheduler.dispatch("e").ok());
  EXPECT_EQ(stage.outputs(), (Story{"e got a", "e got d"}));
}

TEST(CommandQueueLimit, AHandlerWhoseActionsDoNotFitFails) {
  CommandOptions options;
  options.max_commands = 10;
  Stage stage(options);
  const ActorId root = *stage.scheduler.start_fn([](Note, Context& context) -> Acts {
    return context.send(context.self(), "left").send(context.self(), "right");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.scheduler.run().end, RunEnd::ended);
  EXPECT_EQ(stage.recorder.stop_of(root).reason, ExitReason::fail);
  EXPECT_EQ(stage.recorder.stop_of(root).text,
            "the command queue is full: 9 wait, 2 more do not fit");
  EXPECT_EQ(stage.recorder.dead.size(), 9u);
  EXPECT_EQ(stage.scheduler.take_output().error().code(), Errc::unknown);
  EXPECT_EQ(stage.scheduler.take_output().error().code(), Errc::closed);
}

TEST(CommandQueueLimit, ABatchThatDoesNotFitIsRefused) {
  CommandOptions options;
  options.max_commands = 2;
  Stage stage(options);
  Errc first = Errc::ok;
  Errc second = Errc::ok;
  (void)stage.scheduler.start_fn([&](Inbox<Note>, Outbox<Note> outbox) -> Task<void> {
    Acts batch = outbox.actions();
    for (int i = 0; i < 3; ++i) batch.send(outbox.output(), "x");
    first = outbox.emit(std::move(batch));
    second = outbox.send(outbox.output(), "y");
    co_return;
  });
  EXPECT_EQ(stage.outputs(), (Story{"y"}));
  EXPECT_EQ(first, Errc::mailbox_full);
  EXPECT_EQ(second, Errc::ok);
}

TEST(CommandQueueLimit, AnInterceptorWhoseActionsDoNotFitFails) {
  CommandOptions options;
  options.max_commands = 2;
  Stage stage(options);
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  (void)scheduler.run();
  int calls = 0;
  scheduler.intercept([&](Interception<Note>& command) {
    ++calls;
    Acts more = command.actions();
    for (int i = 0; i < 5; ++i) more.send(command.target(), "more");
    command.inject(std::move(more));
  });
  (void)scheduler.dispatch("a");
  (void)scheduler.dispatch("b");
  EXPECT_EQ(stage.outputs(), (Story{"error: the command queue is full: 2 wait, 5 more do not fit",
                                    "e got a", "e got b"}));
  EXPECT_EQ(calls, 1);
}

TEST(CommandQueueLimit, AnInterceptorThatInjectsActionsOfAnotherSchedulerFails) {
  Stage stage;
  Stage other;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  (void)scheduler.run();
  scheduler.intercept([&](Interception<Note>& command) {
    command.inject(command.actions().send(scheduler.output(), "all or nothing"));
    command.inject(other.scheduler.actions().send(other.scheduler.output(), "lost"));
  });
  (void)scheduler.dispatch("a");
  (void)scheduler.run();
  const Result<Note> told = scheduler.try_output();
  EXPECT_EQ(told.error().code(), Errc::actor_not_local);
  EXPECT_STREQ(told.error().source(), "interceptor");
  EXPECT_EQ(stage.outputs(), (Story{"e got a"}));
}

}  // namespace
}  // namespace jzx::commands
