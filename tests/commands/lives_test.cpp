// Births, ends and hand-overs of command actors.
#include <algorithm>
#include <jzx/async/spawn.hpp>

#include "commands/scene.hpp"

namespace jzx::commands {
namespace {

TEST(CommandSpawn, AHandleCanBeSentBeforeItsActorIsThere) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Note, Context& context) -> Acts {
    const ActorId child = context.reserve();
    return context.actions().spawn<Echo>(child, "child").send(child, "hello");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"child got hello"}));
  EXPECT_EQ(stage.scheduler.live_actors(), 2u);
}

TEST(CommandSpawn, AMessageBeforeTheSpawnIsADeadLetter) {
  Stage stage;
  ActorId child = 0;
  (void)stage.scheduler.start_fn([&](Note, Context& context) -> Acts {
    child = context.reserve();
    return context.actions().send(child, "early").spawn<Echo>(child, "child").send(child, "late");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"child got late"}));
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].target, child);
  EXPECT_EQ(stage.recorder.dead[0].reason, DeadLetterReason::target_gone);
}

TEST(CommandSpawn, AKillBeforeTheSpawnWins) {
  Stage stage;
  ActorId child = 0;
  (void)stage.scheduler.start_fn([&](Note note, Context& context) -> Acts {
    if (note.text == "again") return context.send(child, "anybody?");
    child = context.reserve();
    return context.actions().kill(child).spawn<Echo>(child, "child").send(child, "hello");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"error: killed before it was spawned"}));
  EXPECT_EQ(stage.scheduler.live_actors(), 1u);
  (void)stage.scheduler.dispatch("again");
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(stage.recorder.dead.size(), 2u);
}

TEST(CommandSpawn, ADuplicateIsRefusedAndTheFirstLivesOn) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Note, Context& context) -> Acts {
    const ActorId child = context.reserve();
    return context.actions()
        .spawn<Echo>(child, "first")
        .send(child, "one")
        .spawn<Echo>(child, "second")
        .send(child, "two");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"error: there is one with this handle already", "first got one",
                                    "first got two"}));
  EXPECT_EQ(stage.scheduler.live_actors(), 2u);
}

TEST(CommandSpawn, AHandleThatIsNotReservedIsRefused) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Note, Context& context) -> Acts {
    return context.actions().spawn<Echo>(12345, "nobody").spawn<Echo>(context.self(), "me");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"error: the handle is not reserved, or was used",
                                    "error: there is one with this handle already"}));
}

TEST(CommandSpawn, AReservationThatIsNotReturnedIsReleased) {
  CommandOptions options;
  options.max_actors = 4;
  Stage stage(options);
  std::vector<ActorId> seen;
  (void)stage.scheduler.start_fn([&](Note note, Context& context) -> Acts {
    if (note.text == "use") {
      // It is not this call's, and not reserved any more.
      return context.actions().spawn<Echo>(seen[0], "late");
    }
    seen.push_back(context.reserve());
    Acts unreturned = context.actions();
    unreturned.spawn<Echo>(context.reserve(), "planned, but not returned");
    return {};
  });
  for (int i = 0; i < 100; ++i) (void)stage.scheduler.dispatch("waste");
  EXPECT_EQ(stage.outputs(), Story{});
  for (const ActorId id : seen) EXPECT_NE(id, 0u);
  EXPECT_NE(seen[0], seen[1]);  // an id is never given twice
  (void)stage.scheduler.dispatch("use");
  EXPECT_EQ(stage.outputs(), (Story{"error: the handle is not reserved, or was used"}));
}

TEST(CommandSpawn, TooManyActorsAreNoHandle) {
  CommandOptions options;
  options.max_actors = 3;
  Stage stage(options);
  std::vector<bool> given;
  (void)stage.scheduler.start_fn([&](Note, Context& context) -> Acts {
    Acts acts = context.actions();
    for (int i = 0; i < 4; ++i) {
      const ActorId child = context.reserve();
      given.push_back(child != 0);
      acts.spawn<Echo>(child, "child");
    }
    return acts;
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs().size(), 2u);  // two errors
  EXPECT_EQ(given, (std::vector{true, true, false, false}));
}

// ---- kill ----

TEST(CommandKill, NothingFromTheDeadIsDelivered) {
  // The victim's reply is in the queue already, behind the kill.
  Stage stage;
  (void)stage.scheduler.start_fn([&](Note note, Context& context) -> Acts {
    if (note.text != "begin") return context.send(context.output(), "root got " + note.text);
    const ActorId victim = context.reserve();
    return context.actions()
        .spawn_with(victim,
                    [root = context.self()] {
                      return [root](Note, Context& own) -> Acts {
                        const ActorId child = own.reserve();
                        return own.actions().send(root, "a reply").spawn<Echo>(child, "orphan");
                      };
                    })
        .send(victim, "ask")
        .kill(victim);
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), Story{});
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].reason, DeadLetterReason::sender_killed);
  EXPECT_EQ(stage.scheduler.live_actors(), 1u);
}

TEST(CommandKill, RunsTheStopHookAndDeadLettersWhatComesLater) {
  Stage stage;
  ActorId victim = 0;
  (void)stage.scheduler.start_fn([&](Note, Context& context) -> Acts {
    victim = context.reserve();
    return context.actions()
        .spawn<Puppet>(
            victim, [](Note, Context&) -> Acts { return {}; }, &stage.journal, "victim")
        .kill(victim)
        .send(victim, "too late")
        .kill(victim);  // of no effect
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(stage.journal, (Story{"victim stopped: killed"}));
  EXPECT_EQ(stage.recorder.stop_of(victim).reason, ExitReason::killed);
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].reason, DeadLetterReason::target_gone);
}

TEST(CommandKill, CancelsTheTasksOfASyncActor) {
  Stage stage;
  const ActorId root = *stage.scheduler.start<Puppet>(
      [&](Note, Context& context) -> Acts {
        Future<void> task = jzx::spawn_async([](std::vector<std::string>& seen) -> Task<void> {
          Future<void> waiting = jzx::sleep(1h);
          Result<void> slept = co_await waiting;
          seen.push_back(slept ? "slept" : "cancelled");
        }(stage.journal));
        return context.send(context.output(), "begun");
      },
      &stage.journal, "root");
  (void)stage.scheduler.dispatch("begin");
  (void)stage.scheduler.run_ready();
  (void)stage.scheduler.kill(root);
  EXPECT_EQ(stage.scheduler.run().end, RunEnd::ended);
  EXPECT_EQ(stage.scheduler.now(), 0ns);
  EXPECT_EQ(stage.journal, (Story{"cancelled", "root stopped: killed"}));
}

TEST(CommandKill, WhatAStopHookDispatchesIsFromTheDead) {
  Stage stage;
  struct Talker {
    Scheduler* scheduler;
    void handle(Note) {}
    void on_stop() { EXPECT_TRUE(scheduler->dispatch("from the grave").ok()); }
  };
  (void)stage.scheduler.start<Echo>("root");
  const ActorId talker = stage.scheduler.reserve();
  (void)stage.scheduler.dispatch(
      stage.scheduler.actions().spawn<Talker>(talker, &stage.scheduler).kill(talker));
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(stage.recorder.dead.size(), 1u);
}

TEST(CommandActions, OfAnotherSchedulerAreRefused) {
  Stage stage;
  Stage other;
  const ActorId root = *stage.scheduler.start_fn([&](Note, Context& context) -> Acts {
    Acts acts = context.send(context.output(), "mine");
    acts.append(other.scheduler.actions().send(other.scheduler.output(), "not mine"));
    return acts;
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"error: the actions were made with another scheduler"}));
  EXPECT_EQ(stage.recorder.stop_of(root).reason, ExitReason::fail);
  EXPECT_EQ(stage.scheduler.dispatch(other.scheduler.actions().kill(1)).error().code(),
            Errc::closed);
  EXPECT_EQ(other.scheduler.dispatch(stage.scheduler.actions().kill(1)).error().code(),
            Errc::actor_not_local);
}

TEST(CommandKill, OfItselfLetsItsLastWordsThrough) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Note, Context& context) -> Acts {
    return context.actions()
        .send(context.output(), "before")
        .kill(context.self())
        .send(context.output(), "after");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"before", "after"}));
  EXPECT_TRUE(stage.scheduler.is_ended());
}

TEST(CommandKill, FromOutsideWorksToo) {
  Stage stage;
  const ActorId root = *stage.scheduler.start<Echo>("root");
  (void)stage.scheduler.dispatch("one");
  (void)stage.scheduler.kill(root);
  (void)stage.scheduler.dispatch("two");
  EXPECT_EQ(stage.outputs(), Story{});  // its answer to "one" is from the dead
  EXPECT_TRUE(stage.scheduler.is_ended());
}

TEST(CommandFail, HasAReasonWithATextThatTheOutputHears) {
  Stage stage;
  ActorId child = 0;
  (void)stage.scheduler.start_fn([&](Note, Context& context) -> Acts {
    child = context.reserve();
    return context.actions()
        .spawn<Puppet>(
            child, [](Note, Context&) -> Acts { return {}; }, &stage.journal, "child")
        .fail(child, "the disk is gone");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"error: the disk is gone"}));
  EXPECT_EQ(stage.recorder.stop_of(child).reason, ExitReason::fail);
  EXPECT_EQ(stage.recorder.stop_of(child).text, "the disk is gone");
  EXPECT_EQ(stage.journal, (Story{"child stopped: fail"}));
}

TEST(CommandFail, AnActorMayFailItself) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Note, Context& context) -> Acts {
    return context.fail("enough").send(context.output(), "last words");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"error: enough", "last words"}));
}

// ---- hand-over ----

// Counts to `left`, each message by a successor.
struct Relay {
  int left = 0;
  bool kills_first = false;
  Acts handle(Note note, Context& context) {
    Acts acts = context.actions();
    acts.send(context.output(), std::to_string(left) + " " + note.text);
    if (left == 0) return acts.kill(context.self()), std::move(acts);
    const ActorId next = context.reserve();
    if (kills_first) acts.kill(context.self());
    acts.hand_off<Relay>(next, left - 1, kills_first);
    if (!kills_first) acts.kill(context.self());
    return acts;
  }
};

TEST(CommandHandOff, WorksInBothOrders) {
  for (const bool kills_first : {false, true}) {
    Stage stage;
    (void)stage.scheduler.start<Relay>(2, kills_first);
    (void)stage.scheduler.dispatch("a");
    (void)stage.scheduler.run();
    EXPECT_FALSE(stage.scheduler.is_ended()) << "between the two nobody was alive";
    EXPECT_EQ(stage.scheduler.live_actors(), 1u);
    (void)stage.scheduler.dispatch("b");
    while (stage.scheduler.step()) EXPECT_FALSE(stage.scheduler.is_ended());
    (void)stage.scheduler.dispatch("c");
    EXPECT_EQ(stage.outputs(), (Story{"2 a", "1 b", "0 c"})) << kills_first;
    EXPECT_TRUE(stage.scheduler.is_ended());
  }
}

TEST(CommandHandOff, APlainSpawnDoesNotTakeTheInput) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Note, Context& context) -> Acts {
    const ActorId next = context.reserve();
    return context.actions().spawn<Echo>(next, "next").kill(context.self());
  });
  (void)stage.scheduler.dispatch("a");
  (void)stage.scheduler.run();
  (void)stage.scheduler.dispatch("b");
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(stage.recorder.dead.size(), 1u);
}

// ---- the end ----

TEST(CommandEnd, ADispatchAfterItIsRefusedWithAClearError) {
  Stage stage;
  (void)stage.scheduler.start_fn(
      [](Note, Context& context) -> Acts { return context.kill(context.self()); });
  EXPECT_TRUE(stage.scheduler.dispatch("a").ok());
  EXPECT_TRUE(stage.scheduler.dispatch("b").ok());  // it has not ended yet
  EXPECT_EQ(stage.scheduler.run().end, RunEnd::ended);
  EXPECT_EQ(stage.recorder.dead.size(), 0u);  // b was handled: the kill was behind it
  const Result<uint64_t> late = stage.scheduler.dispatch("c");
  EXPECT_EQ(late.error().code(), Errc::closed);
  EXPECT_STREQ(late.error().message(),
               "the scheduler has ended: its last actor is gone, or it was shut down");
  EXPECT_EQ(stage.scheduler.start<Echo>("again").error().code(), Errc::closed);
}

TEST(CommandEnd, ShutdownRunsStopHooksAndEndsTheOutputAfterItWasDrained) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start_fn([&](Note, Context& context) -> Acts {
    const ActorId child = context.reserve();
    return context.actions()
        .spawn<Puppet>(
            child, [](Note, Context&) -> Acts { return {}; }, &stage.journal, "child")
        .send(context.output(), "hello");
  });
  (void)scheduler.dispatch("begin");
  (void)scheduler.run();
  (void)scheduler.dispatch("never handled");
  scheduler.shutdown();
  EXPECT_TRUE(scheduler.is_ended());
  EXPECT_EQ(scheduler.phase(), SchedulerPhase::idle);
  EXPECT_EQ(stage.journal, (Story{"child stopped: normal"}));
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].reason, DeadLetterReason::closing);
  EXPECT_EQ(scheduler.dispatch("late").error().code(), Errc::closed);
  EXPECT_EQ(scheduler.take_output()->text, "hello");
  EXPECT_EQ(scheduler.take_output().error().code(), Errc::closed);
  scheduler.shutdown();  // of no effect
}

TEST(CommandEnd, ShutdownFromInsideWaitsForTheHandler) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start_fn([&](Note, Context& context) -> Acts {
    scheduler.shutdown();
    EXPECT_FALSE(scheduler.is_ended());
    EXPECT_EQ(scheduler.dispatch("late").error().code(), Errc::closed);
    stage.journal.push_back("handled");
    return context.send(context.output(), "too late");
  });
  (void)scheduler.dispatch("a");
  (void)scheduler.dispatch("b");
  EXPECT_EQ(scheduler.run().end, RunEnd::ended);
  EXPECT_EQ(stage.journal, (Story{"handled"}));
  EXPECT_EQ(stage.recorder.dead.size(), 2u);
}

TEST(CommandEnd, ASchedulerThatGoesAwayLeavesNothingBehind) {
  Recorder recorder;
  std::vector<std::string> journal;
  {
    CommandOptions options;
    options.observer = &recorder;
    Scheduler scheduler(options);
    (void)scheduler.start<Puppet>(
        [](Note note, Context& context) { return context.send(context.output(), note.text); },
        &journal, "root");
    (void)scheduler.dispatch("output that nobody takes");
    (void)scheduler.run();
    (void)scheduler.dispatch("queued");
    (void)scheduler.fail(scheduler.input(), "queued too");
    (void)scheduler.dispatch(scheduler.actions().spawn<Echo>(scheduler.reserve(), "planned"));
  }
  EXPECT_EQ(journal, Story{});  // nobody has a last word
  ASSERT_EQ(recorder.dead.size(), 1u);
  EXPECT_EQ(recorder.dead[0].reason, DeadLetterReason::closing);
}

// Handles of later actors are a function of the run, in the log too: not of how a table is hashed.
TEST(CommandSpawn, HandlesThatAnActorLeavesAreFreedInTheirOrder) {
  constexpr int kMany = 40;
  const auto slot = [](ActorId id) { return static_cast<uint32_t>(id); };
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  std::vector<uint32_t> left;
  (void)scheduler.start<Echo>("root");
  (void)scheduler.start_fn([&](Inbox<Note>, Outbox<Note> outbox) -> Task<void> {
    for (int i = 0; i < kMany; ++i) left.push_back(slot(outbox.reserve()));
    co_return;
  });
  (void)scheduler.run();
  ASSERT_EQ(scheduler.live_actors(), 1u);
  (void)scheduler.reserve();  // where the actor itself was
  std::vector<uint32_t> again;
  for (int i = 0; i < kMany; ++i) again.push_back(slot(scheduler.reserve()));
  std::reverse(left.begin(), left.end());  // the slot that was freed last is taken first
  EXPECT_EQ(again, left);
}

}  // namespace
}  // namespace jzx::commands
