// The output as an iterator: in order, drained before it ends, shared by those who wait, bounded.
#include "commands/scene.hpp"

namespace jzx::commands {
namespace {

// A consumer beside the actors: takes until the end, then says why.
Task<void> consume(Scheduler& scheduler, std::vector<std::string>& journal, std::string name) {
  for (;;) {
    Future<Note> next = scheduler.next_output();
    Result<Note> note = co_await next;
    if (!note) {
      journal.push_back(name + ": " + note.error().message());
      if (note.error().code() == Errc::closed) co_return;
    } else {
      journal.push_back(name + ": " + note->text);
    }
  }
}

TEST(CommandOutput, IsAnAsyncIteratorThatDrainsBeforeItEnds) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Note note, Context& context) -> Acts {
    return context.send(context.output(), note.text).kill(context.self());
  });
  (void)stage.scheduler.dispatch("a");
  (void)stage.scheduler.dispatch("b");
  EXPECT_EQ(stage.scheduler.run().end, RunEnd::ended);
  Future<void> done =
      stage.scheduler.system().spawn_async(consume(stage.scheduler, stage.journal, "c"));
  (void)stage.scheduler.run();
  EXPECT_TRUE(done.is_ready());
  EXPECT_EQ(stage.journal, (Story{"c: a", "c: b", "c: the scheduler has ended"}));
}

TEST(CommandOutput, ManyWaitingConsumersAreServedInTheirOrder) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  std::vector<Future<Note>> waiting;
  for (int i = 0; i < 1000; ++i) waiting.push_back(scheduler.next_output());
  for (int i = 0; i < 1000; ++i) (void)scheduler.dispatch(std::to_string(i));
  (void)scheduler.run();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(waiting[static_cast<size_t>(i)].is_ready());
    EXPECT_EQ(waiting[static_cast<size_t>(i)].get()->text, "e got " + std::to_string(i));
  }
}

TEST(CommandOutput, ConsumersThatComeBackStandBehindTheOthers) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start_fn([](Note note, Context& context) -> Acts {
    if (note.text == "end") return context.kill(context.self());
    return context.send(context.output(), note.text);
  });
  std::vector<Future<void>> done;
  for (const char* name : {"a", "b"}) {
    done.push_back(scheduler.system().spawn_async(consume(scheduler, stage.journal, name)));
  }
  (void)scheduler.run();  // both wait
  for (const char* text : {"1", "2", "3", "end"}) {
    (void)scheduler.dispatch(text);
    (void)scheduler.run();
  }
  EXPECT_EQ(stage.journal, (Story{"a: 1", "b: 2", "a: 3", "b: the scheduler has ended",
                                  "a: the scheduler has ended"}));
}

TEST(CommandOutput, ACancelledWaitTakesNothing) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  Future<Note> first = scheduler.next_output();
  Future<Note> dropped = scheduler.next_output();
  Future<Note> second = scheduler.next_output();
  first.cancel();
  EXPECT_EQ(first.get().error().code(), Errc::cancelled);
  dropped = Future<Note>();
  (void)scheduler.dispatch("a");
  (void)scheduler.dispatch("b");
  (void)scheduler.run();
  EXPECT_EQ(second.get()->text, "e got a");
  EXPECT_EQ(scheduler.try_output()->text, "e got b");
}

TEST(CommandOutput, AWaitThatHasItsResultCannotBeCancelled) {
  Stage stage;
  (void)stage.scheduler.start<Echo>("e");
  Future<Note> first = stage.scheduler.next_output();
  (void)stage.scheduler.dispatch("a");
  (void)stage.scheduler.run();
  first.cancel();
  EXPECT_EQ(first.get()->text, "e got a");
}

TEST(CommandOutput, ErrorsReachWhoeverWaits) {
  Stage stage;
  const ActorId root = *stage.scheduler.start<Echo>("e");
  Future<Note> first = stage.scheduler.next_output();
  Future<Note> second = stage.scheduler.next_output();
  (void)stage.scheduler.fail(root, "broken");
  (void)stage.scheduler.run();
  EXPECT_STREQ(first.get().error().message(), "broken");
  EXPECT_EQ(second.get().error().code(), Errc::closed);
}

TEST(CommandOutput, TakeOutputRunsUntilThereIsOne) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Inbox<Note>, Outbox<Note> outbox) -> Task<void> {
    Future<void> waiting = jzx::sleep(1h);
    Result<void> slept = co_await waiting;
    (void)slept;
    (void)outbox.send(outbox.output(), "at last");
  });
  EXPECT_EQ(stage.scheduler.take_output()->text, "at last");
}

TEST(CommandOutput, TakeOutputSaysWhenNoneIsToCome) {
  Stage stage;
  (void)stage.scheduler.start<Echo>("e");
  EXPECT_EQ(stage.scheduler.take_output().error().code(), Errc::empty);
  (void)stage.scheduler.dispatch("a");
  EXPECT_EQ(stage.scheduler.take_output()->text, "e got a");  // the one before took nothing
}

TEST(CommandOutput, IsBoundedAndNothingIsLost) {
  CommandOptions options;
  options.max_outputs = 2;
  Stage stage(options);
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  for (int i = 0; i < 5; ++i) (void)scheduler.dispatch(std::to_string(i));
  const RunReport report = scheduler.run();
  EXPECT_EQ(report.end, RunEnd::output_full);
  EXPECT_EQ(scheduler.phase(), SchedulerPhase::queued);
  EXPECT_EQ(scheduler.run().commands, 0u);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(scheduler.take_output()->text, "e got " + std::to_string(i));
  }
  EXPECT_EQ(scheduler.run().end, RunEnd::idle);
}

// Spawns so many of the same handle: all but the first are refused.
Acts refused_spawns(Context& context, int count) {
  const ActorId child = context.reserve();
  Acts acts = context.actions();
  for (int i = 0; i <= count; ++i) acts.spawn<Echo>(child, "child");
  return acts;
}
constexpr const char* kTaken = "error: there is one with this handle already";

TEST(CommandOutput, FailuresThatNobodyTakesAreCountedWhenThereAreTooMany) {
  CommandOptions options;
  options.max_outputs = 2;
  Stage stage(options);
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start_fn([](Note note, Context& context) -> Acts {
    if (note.text == "fail") return refused_spawns(context, 1000);
    return context.send(context.output(), note.text);
  });
  for (const char* text : {"before", "fail", "after"}) (void)scheduler.dispatch(text);
  EXPECT_EQ(scheduler.run().end, RunEnd::idle);  // they take no room from messages
  const Story story{"before", kTaken, kTaken, "error: and 998 more failures", "after"};
  EXPECT_EQ(stage.outputs(), story);
  // What comes after they were taken is told one by one again.
  for (const char* text : {"before", "fail", "after"}) (void)scheduler.dispatch(text);
  EXPECT_EQ(stage.outputs(), story);
}

TEST(CommandOutput, AFailureThatIsTakenMakesRoomForAnother) {
  CommandOptions options;
  options.max_outputs = 1;
  Stage stage(options);
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start_fn([](Note note, Context& context) -> Acts {
    return refused_spawns(context, std::stoi(note.text));
  });
  (void)scheduler.dispatch("2");
  (void)scheduler.run();
  // One too many is told as it is, since there is nothing to be added to it.
  EXPECT_STREQ(scheduler.try_output().error().message(), "there is one with this handle already");
  (void)scheduler.dispatch("3");
  (void)scheduler.run();
  const Result<Note> many = scheduler.try_output();
  EXPECT_EQ(many.error().code(), Errc::lagged);
  EXPECT_STREQ(many.error().message(), "and 3 more failures");
  EXPECT_EQ(stage.outputs(), (Story{kTaken}));
}

TEST(CommandOutput, AConsumerInsideMakesRoom) {
  CommandOptions options;
  options.max_outputs = 1;
  Stage stage(options);
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  Future<void> done = scheduler.system().spawn_async(consume(scheduler, stage.journal, "c"));
  for (int i = 0; i < 5; ++i) (void)scheduler.dispatch(std::to_string(i));
  EXPECT_EQ(scheduler.run().end, RunEnd::idle);
  EXPECT_EQ(stage.journal,
            (Story{"c: e got 0", "c: e got 1", "c: e got 2", "c: e got 3", "c: e got 4"}));
}

TEST(CommandOutput, WhoWaitsHearsOfTheEndOfTheScheduler) {
  Future<Note> waiting;
  {
    Scheduler scheduler;
    (void)scheduler.start<Echo>("e");
    waiting = scheduler.next_output();
  }
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
}

TEST(CommandOutput, AContinuationMayDispatch) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  scheduler.next_output().then([&](Result<Note> note) {
    EXPECT_EQ(scheduler.phase(), SchedulerPhase::busy);
    (void)scheduler.dispatch(note->text + ", again");
  });
  (void)scheduler.dispatch("a");
  EXPECT_EQ(stage.outputs(), (Story{"e got e got a, again"}));
}

// Whoever waits for an output that does not come is told so by the run that ends, or by the end.
TEST(CommandOutput, AContinuationAtTheEndCannotRun) {
  for (const std::string how : {"kill", "shutdown", "destroy"}) {
    auto stage = std::make_unique<Stage>();
    Scheduler& scheduler = stage->scheduler;
    const ActorId root = *scheduler.start<Echo>("e");
    (void)scheduler.run();
    RunEnd inner = RunEnd::idle;
    SchedulerPhase phase = SchedulerPhase::idle;
    Errc dispatched = Errc::ok;
    Future<int> told = scheduler.next_output().then([&](Result<Note> none) {
      EXPECT_EQ(none.error().code(), Errc::closed);
      scheduler.shutdown();
      inner = scheduler.run().end;
      phase = scheduler.phase();
      dispatched = scheduler.dispatch("late").error().code();
      return 0;
    });
    if (how == "kill") {
      (void)scheduler.kill(root);
      EXPECT_EQ(scheduler.run().end, RunEnd::ended);
    } else if (how == "shutdown") {
      scheduler.shutdown();
    } else {
      stage.reset();
    }
    EXPECT_TRUE(told.is_ready()) << how;
    EXPECT_EQ(inner, RunEnd::refused) << how;
    EXPECT_EQ(phase, SchedulerPhase::busy) << how;
    EXPECT_EQ(dispatched, Errc::closed) << how;
    if (stage != nullptr) {
      EXPECT_EQ(scheduler.phase(), SchedulerPhase::idle) << how;
    }
  }
}

}  // namespace
}  // namespace jzx::commands
