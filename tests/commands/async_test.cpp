// Async actors: tasks with an inbox and an outbox, whose results come in later ticks.
#include <jzx/async/combinators.hpp>
#include <jzx/async/spawn.hpp>

#include "commands/scene.hpp"

namespace jzx::commands {
namespace {

// Answers every message with a batch, at once.
struct Repeater {
  std::string name;
  std::vector<std::string>* journal = nullptr;

  Task<void> run(Inbox<Note> inbox, Outbox<Note> outbox) {
    for (;;) {
      Future<Note> next = inbox.next();
      Result<Note> note = co_await next;
      if (!note) break;
      Acts batch = outbox.actions();
      batch.send(outbox.output(), name + " 1 " + note->text);
      batch.send(outbox.output(), name + " 2 " + note->text);
      EXPECT_EQ(outbox.emit(std::move(batch)), Errc::ok);
    }
    if (journal != nullptr) journal->push_back(name + " unwinds");
  }
  void on_stop(ExitReason reason) {
    if (journal != nullptr) journal->push_back(name + " stopped: " + to_string(reason));
  }
};

TEST(CommandAsync, ResultsComeInALaterTickAndBatchesStayTogether) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Note note, Context& context) -> Acts {
    if (note.text != "begin") return context.send(context.output(), "root " + note.text);
    const ActorId a = context.reserve();
    const ActorId b = context.reserve();
    return context.actions()
        .spawn<Repeater>(a, "a")
        .spawn<Repeater>(b, "b")
        .send(a, "x")
        .send(b, "y")
        .send(context.self(), "goes on");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"root goes on", "a 1 x", "a 2 x", "b 1 y", "b 2 y"}));
}

TEST(CommandAsync, TakesItsMessagesInOrderOneInATurn) {
  Stage stage;
  (void)stage.scheduler.start<Repeater>("a");
  for (const char* text : {"x", "y", "z"}) (void)stage.scheduler.dispatch(text);
  const RunReport report = stage.scheduler.run();
  EXPECT_EQ(report.steps, 4u);  // its first turn, and one for each
  EXPECT_EQ(stage.outputs(), (Story{"a 1 x", "a 2 x", "a 1 y", "a 2 y", "a 1 z", "a 2 z"}));
}

TEST(CommandAsync, TimersAreVirtualAndSoIsTheTimeOfItsCommands) {
  CommandOptions options;
  options.keeps_log = true;
  Stage stage(options);
  (void)stage.scheduler.start_fn([](Inbox<Note>, Outbox<Note> outbox) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      Future<void> waiting = jzx::sleep(24h);
      Result<void> slept = co_await waiting;
      EXPECT_TRUE(slept.ok());
      EXPECT_EQ(outbox.now(), (i + 1) * 24h);
      EXPECT_EQ(outbox.send(outbox.output(), "day"), Errc::ok);
    }
  });
  EXPECT_EQ(stage.scheduler.run_ready().end, RunEnd::time_up);
  EXPECT_EQ(stage.scheduler.run_for(25h).end, RunEnd::time_up);
  EXPECT_EQ(stage.scheduler.now(), 25h);
  EXPECT_EQ(stage.scheduler.try_output()->text, "day");
  EXPECT_EQ(stage.outputs(), (Story{"day", "day"}));
  EXPECT_TRUE(stage.scheduler.is_ended());
  EXPECT_EQ(stage.scheduler.log().records.back().time_ns,
            static_cast<uint64_t>(std::chrono::nanoseconds(72h).count()));
}

TEST(CommandAsync, WhatItEmitsIsCausedByWhatItTookLast) {
  CommandOptions options;
  options.keeps_log = true;
  Stage stage(options);
  (void)stage.scheduler.start<Repeater>("a");
  (void)stage.scheduler.dispatch("x");  // 2
  (void)stage.scheduler.dispatch("y");  // 3
  (void)stage.outputs();
  const std::vector<CommandRecord>& records = stage.scheduler.log().records;
  ASSERT_EQ(records.size(), 7u);
  EXPECT_EQ(records[3].cause, 2u);
  EXPECT_EQ(records[4].cause, 2u);
  EXPECT_EQ(records[5].cause, 3u);
  EXPECT_EQ(records[6].cause, 3u);
}

TEST(CommandAsync, AReplyAfterAKillIsNotDelivered) {
  Stage stage;
  Errc emitted = Errc::ok;
  ActorId victim = 0;
  (void)stage.scheduler.start_fn([&](Note note, Context& context) -> Acts {
    if (note.text == "stop") return context.kill(victim);
    victim = context.reserve();
    return context.actions()
        .spawn_with(victim,
                    [&] {
                      return [&](Inbox<Note> inbox, Outbox<Note> outbox) -> Task<void> {
                        Future<Note> next = inbox.next();
                        Result<Note> question = co_await next;
                        Future<void> waiting = jzx::sleep(10ms);
                        Result<void> slept = co_await waiting;
                        EXPECT_EQ(slept.error().code(), Errc::cancelled);
                        emitted = outbox.send(outbox.output(), "a reply");
                        EXPECT_EQ(outbox.reserve(), 0u);
                        Future<Note> more = inbox.next();
                        Result<Note> none = co_await more;
                        EXPECT_EQ(none.error().code(), Errc::cancelled);
                      };
                    })
        .send(victim, "ask")
        .send(victim, "left in the inbox");
  });
  (void)stage.scheduler.dispatch("begin");
  (void)stage.scheduler.run_for(5ms);
  (void)stage.scheduler.dispatch("stop");
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(emitted, Errc::killed);
  EXPECT_EQ(stage.recorder.stop_of(victim).reason, ExitReason::killed);
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].reason, DeadLetterReason::target_gone);
}

TEST(CommandAsync, ABatchThatIsQueuedBehindTheKillIsNotDeliveredEither) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  scheduler.intercept([](Interception<Note>& command) {
    if (command.kind() == CommandKind::kill) command.delay(10ms);
  });
  const ActorId root = *scheduler.start_fn([](Inbox<Note>, Outbox<Note> outbox) -> Task<void> {
    Future<void> waiting = jzx::sleep(5ms);
    Result<void> slept = co_await waiting;
    EXPECT_EQ(outbox.send(outbox.output(), "while the kill waits"), Errc::ok);
    Future<void> longer = jzx::sleep(1h);
    slept = co_await longer;
  });
  (void)scheduler.run_ready();
  (void)scheduler.kill(root);
  EXPECT_EQ(stage.outputs(), Story{});
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].reason, DeadLetterReason::sender_killed);
}

TEST(CommandAsync, AKillBeforeItsFirstTurnIsEnough) {
  Stage stage;
  const ActorId root = *stage.scheduler.start<Repeater>("a", &stage.journal);
  (void)stage.scheduler.dispatch("x");
  (void)stage.scheduler.kill(root);
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(stage.journal, Story{});
  EXPECT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_TRUE(stage.scheduler.is_ended());
}

TEST(CommandAsync, AFailBeforeItsFirstTurnIsEnough) {
  Stage stage;
  const ActorId root = *stage.scheduler.start<Repeater>("a", &stage.journal);
  (void)stage.scheduler.fail(root, "not wanted");
  EXPECT_EQ(stage.outputs(), (Story{"error: not wanted"}));
  EXPECT_EQ(stage.recorder.stop_of(root).text, "not wanted");
}

TEST(CommandAsync, FailUnwindsTheTaskFirst) {
  Stage stage;
  const ActorId root = *stage.scheduler.start<Repeater>("a", &stage.journal);
  (void)stage.scheduler.run();
  (void)stage.scheduler.fail(root, "power cut");
  EXPECT_EQ(stage.outputs(), (Story{"error: power cut"}));
  EXPECT_EQ(stage.journal, (Story{"a unwinds", "a stopped: fail"}));
  EXPECT_EQ(stage.recorder.stop_of(root).text, "power cut");
}

TEST(CommandAsync, EndsWhenItsTaskReturns) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Inbox<Note>, Outbox<Note> outbox) -> Task<void> {
    const ActorId next = outbox.reserve();
    EXPECT_EQ(outbox.emit(outbox.actions().hand_off<Echo>(next, "next")), Errc::ok);
    EXPECT_NE(outbox.reserve(), 0u);  // never used
    co_return;
  });
  (void)stage.scheduler.run();
  EXPECT_FALSE(stage.scheduler.is_ended());
  (void)stage.scheduler.dispatch("hello");
  EXPECT_EQ(stage.outputs(), (Story{"next got hello"}));
}

TEST(CommandAsync, CanWaitForMailAndForTimeAtOnce) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Inbox<Note> inbox, Outbox<Note> outbox) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      Future<Note> next = inbox.next();
      Future<Note> late = jzx::sleep(10ms).then([] { return Note("nothing came"); });
      Future<Note> both = jzx::race(std::move(next), std::move(late));
      Result<Note> first = co_await both;
      EXPECT_EQ(outbox.send(outbox.output(), first->text), Errc::ok);
    }
  });
  (void)stage.scheduler.run_for(5ms);
  (void)stage.scheduler.dispatch("one");
  (void)stage.scheduler.run_for(15ms);  // one, then nothing
  (void)stage.scheduler.dispatch("two");
  EXPECT_EQ(stage.outputs(), (Story{"one", "nothing came", "two"}));
}

struct Add {
  int by;
};
struct Sum {
  int value = 0;
  int on(Add add) { return value += add.by; }
};

TEST(CommandAsync, AsksAndTasksWorkInside) {
  Stage stage;
  const ActorRef<Sum> sum = stage.scheduler.system().spawn<Sum>();
  (void)stage.scheduler.start_fn([sum](Inbox<Note> inbox, Outbox<Note> outbox) -> Task<void> {
    for (;;) {
      Future<Note> next = inbox.next();
      Result<Note> note = co_await next;
      if (!note) co_return;
      Future<int> asked = sum.ask(Add{std::stoi(note->text)});
      Result<int> total = co_await asked;
      Future<int> beside = jzx::spawn_async([](int value) -> Task<int> {
        Future<void> waiting = jzx::sleep(1ms);
        Result<void> slept = co_await waiting;
        (void)slept;
        co_return 10 * value;
      }(*total));
      Result<int> result = co_await beside;
      EXPECT_EQ(outbox.send(outbox.output(), std::to_string(*result)), Errc::ok);
    }
  });
  (void)stage.scheduler.dispatch("1");
  (void)stage.scheduler.dispatch("2");
  EXPECT_EQ(stage.outputs(), (Story{"10", "30"}));
}

TEST(CommandAsync, ItsTasksAreCancelledWithIt) {
  Stage stage;
  std::vector<std::string>& journal = stage.journal;
  const ActorId root =
      *stage.scheduler.start_fn([&](Inbox<Note> inbox, Outbox<Note> outbox) -> Task<void> {
        Future<void> beside =
            jzx::spawn_async([](std::vector<std::string>& seen, Outbox<Note> out) -> Task<void> {
              Future<void> waiting = jzx::sleep(1h);
              Result<void> slept = co_await waiting;
              seen.push_back(slept ? "slept" : "the task was cancelled");
              (void)out.send(out.output(), "from a task of the dead");
            }(journal, outbox));
        Future<Note> next = inbox.next();
        Result<Note> note = co_await next;
        journal.push_back(note ? "got one" : "the actor was cancelled");
      });
  (void)stage.scheduler.run_ready();
  (void)stage.scheduler.kill(root);
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(stage.journal, (Story{"the actor was cancelled", "the task was cancelled"}));
  EXPECT_EQ(stage.scheduler.now(), 0ns);
  EXPECT_TRUE(stage.scheduler.is_ended());
}

TEST(CommandAsync, ATaskOfItsOwnMayTakeFromItsInbox) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Inbox<Note> inbox, Outbox<Note> outbox) -> Task<void> {
    Future<void> beside = jzx::spawn_async([](Inbox<Note> in, Outbox<Note> out) -> Task<void> {
      for (int i = 0; i < 2; ++i) {
        Future<Note> next = in.next();
        Result<Note> note = co_await next;
        if (!note) co_return;
        (void)out.send(out.output(), "task " + note->text);
      }
    }(inbox, outbox));
    Result<void> done = co_await beside;
    (void)done;
    (void)outbox.send(outbox.output(), "done");
  });
  (void)stage.scheduler.dispatch("a");
  (void)stage.scheduler.run();
  (void)stage.scheduler.dispatch("b");
  EXPECT_EQ(stage.outputs(), (Story{"task a", "task b", "done"}));
}

TEST(CommandAsync, AFullInboxDeadLettersWhatDoesNotFit) {
  CommandOptions options;
  options.inbox_cap = 4 + 2;  // four are the system's
  Stage stage(options);
  (void)stage.scheduler.start<Repeater>("a");
  for (const char* text : {"x", "y", "z"}) (void)stage.scheduler.dispatch(text);
  EXPECT_EQ(stage.outputs(), (Story{"a 1 x", "a 2 x", "a 1 y", "a 2 y"}));
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].reason, DeadLetterReason::overload);
  (void)stage.scheduler.dispatch("later");
  EXPECT_EQ(stage.outputs().size(), 2u);
}

TEST(CommandAsync, MailThatComesPastTheQueueGoesThroughIt) {
  CommandOptions options;
  options.keeps_log = true;
  Stage stage(options);
  Scheduler& scheduler = stage.scheduler;
  const ActorId echo = *scheduler.start<Echo>("echo");
  const ActorId repeater = scheduler.reserve();
  (void)scheduler.dispatch(scheduler.actions().spawn<Repeater>(repeater, "a"));
  (void)scheduler.run();
  EXPECT_EQ(scheduler.pid(echo).send(Note("direct")), Errc::ok);
  EXPECT_EQ(scheduler.pid(repeater).send(Note("direct")), Errc::ok);
  EXPECT_EQ(scheduler.pid(echo).send(42), Errc::ok);  // nothing it knows
  EXPECT_EQ(scheduler.system().send_after(5ms, scheduler.pid(echo), Note("timer")), Errc::ok);
  EXPECT_EQ(stage.outputs(),
            (Story{"echo got direct", "a 1 direct", "a 2 direct", "echo got timer"}));
  EXPECT_EQ(scheduler.log().records.size(), 2u + 3u + 4u);
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].reason, DeadLetterReason::not_handled);
}

TEST(CommandAsync, ACommandFindsMailThatCamePastTheQueue) {
  // A turn of the echo is ready already when the command for it is processed.
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  const ActorId echo = *scheduler.start<Echo>("echo");
  (void)scheduler.run();
  EXPECT_EQ(scheduler.pid(echo).send(Note("direct")), Errc::ok);
  (void)scheduler.dispatch("command");
  (void)scheduler.dispatch("another");
  EXPECT_EQ(stage.outputs(), (Story{"echo got command", "echo got another", "echo got direct"}));
  EXPECT_EQ(scheduler.pid(echo).send(Note("direct")), Errc::ok);
  (void)scheduler.kill(echo);
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_TRUE(scheduler.is_ended());
}

TEST(CommandAsync, ASendToAnActorThatIsNoCommandActorIsADeadLetter) {
  Stage stage;
  const ActorRef<Sum> sum = stage.scheduler.system().spawn<Sum>();
  (void)stage.scheduler.dispatch_to(sum.pid().id(), "hello");
  (void)stage.scheduler.run();
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].reason, DeadLetterReason::not_handled);
}

TEST(CommandAsync, IsUnwoundWhenTheSchedulerGoesAway) {
  std::vector<std::string> journal;
  {
    Scheduler scheduler;
    (void)scheduler.start<Repeater>("a", &journal);
    (void)scheduler.dispatch("x");
    (void)scheduler.run();
    (void)scheduler.dispatch("y");
    EXPECT_TRUE(scheduler.step());
  }
  EXPECT_EQ(journal, (Story{"a unwinds"}));
}

TEST(CommandAsync, IsUnwoundAlsoIfATaskOfItsOwnWaitsForItsInbox) {
  std::vector<std::string> journal;
  for (const bool shuts_down : {false, true}) {
    Scheduler scheduler;
    (void)scheduler.start_fn([&](Inbox<Note> inbox, Outbox<Note>) -> Task<void> {
      Future<void> beside =
          jzx::spawn_async([](Inbox<Note> in, std::vector<std::string>& seen) -> Task<void> {
            Future<Note> next = in.next();
            Result<Note> note = co_await next;
            seen.push_back(note.error().message());
            Future<Note> more = in.next();
            note = co_await more;
            EXPECT_EQ(note.error().code(), Errc::cancelled);
          }(inbox, journal));
      Result<void> done = co_await beside;
      (void)done;
    });
    (void)scheduler.run();
    if (shuts_down) scheduler.shutdown();
  }
  EXPECT_EQ(journal, (Story{"it was cancelled", "it was cancelled"}));
}

TEST(CommandAsync, ShutdownUnwindsIt) {
  Stage stage;
  (void)stage.scheduler.start<Repeater>("a", &stage.journal);
  (void)stage.scheduler.run();
  stage.scheduler.shutdown();
  EXPECT_EQ(stage.journal, (Story{"a unwinds", "a stopped: normal"}));
  EXPECT_TRUE(stage.scheduler.is_ended());
}

}  // namespace
}  // namespace jzx::commands
