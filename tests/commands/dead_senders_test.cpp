// A kill is absolute also for what its target sent past the queue: by a Pid or by a timer.
#include <jzx/async/spawn.hpp>

#include "commands/scene.hpp"
#include "runtime/commands/dead_senders.hpp"

namespace jzx::commands {
namespace {

size_t killed_letters(const Stage& stage) {
  size_t count = 0;
  for (const auto& letter : stage.recorder.dead) {
    if (letter.reason == DeadLetterReason::sender_killed) ++count;
  }
  return count;
}

// Reads its inbox from so late on.
struct LateReader {
  std::chrono::milliseconds late;
  Task<void> run(Inbox<Note> inbox, Outbox<Note> outbox) {
    Future<void> waiting = jzx::sleep(late);
    (void)co_await waiting;
    for (;;) {
      Future<Note> next = inbox.next();
      Result<Note> note = co_await next;
      if (!note) co_return;
      (void)outbox.send(outbox.output(), note->text);
    }
  }
};

// Sends past the queue, in the way that it is told.
struct PidTalker {
  Pid to;
  bool speaks_at_the_end = false;
  Future<void> task = {};

  void handle(Note note, Context& context) {
    if (note.text == "timer") {
      (void)context.system().send_after(10ms, to, Note("by timer"));
    } else if (note.text == "task") {
      task = jzx::spawn_async(talk(to));
    } else {
      (void)to.send(Note("by pid"));
    }
  }
  void on_stop() {
    if (speaks_at_the_end) (void)to.send(Note("last word"));
  }

 private:
  static Task<void> talk(Pid to) {
    struct Farewell {
      ~Farewell() { (void)to.send(Note("farewell of a task")); }
      Pid to;
    } farewell{to};
    Future<void> waiting = jzx::sleep(1h);
    (void)co_await waiting;
    (void)to.send(Note("a task that was cancelled"));
  }
};

TEST(CommandKillOfATalker, StopsItsTimers) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  const ActorId echo = *scheduler.start<Echo>("e");
  const ActorId talker = *scheduler.start<PidTalker>(scheduler.pid(echo));
  (void)scheduler.dispatch_to(talker, "timer");
  (void)scheduler.run_ready();
  (void)scheduler.kill(talker);
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(killed_letters(stage), 1u);
  ASSERT_EQ(stage.recorder.dead.size(), 1u);
  EXPECT_EQ(stage.recorder.dead[0].target, echo);
}

TEST(CommandKillOfATalker, StopsItsStopHook) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  const ActorId echo = *scheduler.start<Echo>("e");
  const ActorId talker = *scheduler.start<PidTalker>(scheduler.pid(echo), true);
  (void)scheduler.run();
  (void)scheduler.fail(talker, "enough");
  EXPECT_EQ(stage.outputs(), (Story{"error: enough"}));
  EXPECT_EQ(killed_letters(stage), 1u);
}

TEST(CommandKillOfATalker, StopsItsTasks) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  const ActorId echo = *scheduler.start<Echo>("e");
  const ActorId talker = *scheduler.start<PidTalker>(scheduler.pid(echo));
  (void)scheduler.dispatch_to(talker, "task");
  (void)scheduler.run_ready();
  (void)scheduler.kill(talker);
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(killed_letters(stage), 2u);
}

TEST(CommandKillOfATalker, StopsWhatNobodyHasReadYet) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  const ActorId reader = *scheduler.start<LateReader>(100ms);
  const ActorId talker = *scheduler.start<PidTalker>(scheduler.pid(reader));
  const ActorId other = *scheduler.start<PidTalker>(scheduler.pid(reader));
  for (const ActorId each : {talker, other}) (void)scheduler.dispatch_to(each, "pid");
  (void)scheduler.dispatch_to(talker, "timer");
  (void)scheduler.run_for(20ms);
  (void)scheduler.kill(talker);
  EXPECT_EQ(stage.outputs(), (Story{"by pid"}));  // of the other
  EXPECT_EQ(killed_letters(stage), 2u);
}

TEST(CommandKillOfATalker, LetsThroughWhatItSaidBefore) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  const ActorId echo = *scheduler.start<Echo>("e");
  const ActorId talker = *scheduler.start<PidTalker>(scheduler.pid(echo));
  (void)scheduler.dispatch_to(talker, "pid");
  (void)scheduler.run();
  (void)scheduler.kill(talker);
  EXPECT_EQ(stage.outputs(), (Story{"e got by pid"}));
}

TEST(CommandKillOfATalker, LeavesTheLastWordsOfWhoKillsItself) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  const ActorId echo = *scheduler.start<Echo>("e");
  const ActorId last = *scheduler.start_fn([&](Note, Context& context) -> Acts {
    (void)context.system().send_after(5ms, scheduler.pid(echo), Note("later"));
    (void)scheduler.pid(echo).send(Note("now"));
    return context.kill(context.self());
  });
  (void)scheduler.dispatch_to(last, "go");
  EXPECT_EQ(stage.outputs(), (Story{"e got now", "e got later"}));
  EXPECT_EQ(killed_letters(stage), 0u);
}

// The next actor in the same slot is another one.
TEST(CommandKillOfATalker, IsNotForgottenAndHitsNobodyElse) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  const ActorId echo = *scheduler.start<Echo>("e");
  (void)scheduler.run();
  for (int i = 0; i < 3; ++i) {
    const ActorId talker = *scheduler.start<PidTalker>(scheduler.pid(echo));
    (void)scheduler.dispatch_to(talker, "timer");
    (void)scheduler.dispatch_to(talker, "pid");
    (void)scheduler.run_ready();
    (void)scheduler.kill(talker);
    (void)scheduler.run_ready();
  }
  EXPECT_EQ(stage.outputs(), (Story{"e got by pid", "e got by pid", "e got by pid"}));
  EXPECT_EQ(killed_letters(stage), 3u);
}

TEST(CommandKillOfATalker, StopsWhatItsTaskDispatches) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start<Echo>("e");
  Future<void> task;
  const ActorId boss = *scheduler.start_fn([&](Note, Context&) {
    task = jzx::spawn_async([](Scheduler& to) -> Task<void> {
      Future<void> waiting = jzx::sleep(1h);
      (void)co_await waiting;
      (void)to.dispatch("from the dead");
    }(scheduler));
  });
  (void)scheduler.dispatch_to(boss, "go");
  (void)scheduler.run_ready();
  (void)scheduler.kill(boss);
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(killed_letters(stage), 1u);
}

TEST(DeadSenders, AreOneBitEach) {
  runtime::DeadSenders dead;
  EXPECT_FALSE(dead.contains(core::make_id(3, 1)));
  for (const uint32_t generation : {1u, 63u, 64u, 0xffffffffu}) {
    dead.add(core::make_id(3, generation));
    EXPECT_TRUE(dead.contains(core::make_id(3, generation)));
    EXPECT_FALSE(dead.contains(core::make_id(4, generation)));
  }
  EXPECT_FALSE(dead.contains(core::make_id(3, 2)));
  EXPECT_FALSE(dead.contains(core::make_id(3, 65)));
}

}  // namespace
}  // namespace jzx::commands
