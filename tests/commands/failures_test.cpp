// What throws or fails becomes an exit reason and an output, and the scheduler goes on.
#include <stdexcept>

#include "commands/scene.hpp"

namespace jzx::commands {
namespace {

TEST(CommandFailure, ATaskThatFailsEndsItsActorAndSaysWhy) {
  Stage stage;
  const ActorId root = *stage.scheduler.start_fn([](Inbox<Note> inbox, Outbox<Note>) -> Task<void> {
    Future<Note> next = inbox.next();
    Result<Note> note = co_await next;
    co_await jzx::fail(Errc::timed_out, note->text);
  });
  (void)stage.scheduler.dispatch("no answer");
  (void)stage.scheduler.run();
  const Result<Note> failure = stage.scheduler.try_output();
  EXPECT_EQ(failure.error().code(), Errc::timed_out);
  EXPECT_STREQ(failure.error().message(), "no answer");
  EXPECT_EQ(stage.recorder.stop_of(root).reason, ExitReason::fail);
  EXPECT_EQ(stage.recorder.stop_of(root).text, "no answer");
  EXPECT_TRUE(stage.scheduler.is_ended());
}

TEST(CommandFailure, IsOutputInItsPlace) {
  Stage stage;
  (void)stage.scheduler.start_fn([](Note note, Context& context) -> Acts {
    if (note.text != "fail") return context.send(context.output(), note.text);
    const ActorId child = context.reserve();
    return context.actions()
        .send(context.output(), "before")
        .spawn<Echo>(child, "child")
        .fail(child, "it is broken")
        .send(context.output(), "after");
  });
  (void)stage.scheduler.dispatch("one");
  (void)stage.scheduler.dispatch("fail");
  (void)stage.scheduler.dispatch("two");
  EXPECT_EQ(stage.outputs(), (Story{"one", "before", "error: it is broken", "after", "two"}));
}

TEST(CommandFailure, NamesTheTypeOfTheActor) {
  Stage stage;
  const ActorId root = *stage.scheduler.start<Echo>("echo");
  (void)stage.scheduler.fail(root, "enough");
  (void)stage.scheduler.run();
  const Result<Note> failure = stage.scheduler.try_output();
  EXPECT_NE(std::string(failure.error().source()).find("Echo"), std::string::npos);
}

#ifndef JZX_LIBRARY_NOEXCEPT

TEST(CommandFailure, AHandlerThatThrowsEndsItsActorAndNothingElse) {
  Stage stage;
  std::vector<ActorId> wasted;
  const ActorId root = *stage.scheduler.start_fn([&](Note note, Context& context) -> Acts {
    const ActorId child = context.reserve();
    Acts acts = context.actions();
    acts.spawn<Puppet>(
            child, [](Note said, Context&) -> Acts { throw std::runtime_error(said.text); },
            &stage.journal, "child")
        .send(child, note)
        .send(child, "never handled")
        .send(context.output(), "the root is fine");
    return acts;
  });
  (void)stage.scheduler.dispatch("too far");
  EXPECT_EQ(stage.outputs(), (Story{"error: too far", "the root is fine"}));
  (void)stage.scheduler.dispatch("once more");
  EXPECT_EQ(stage.outputs(), (Story{"error: once more", "the root is fine"}));
  EXPECT_EQ(stage.journal, (Story{"child stopped: panic", "child stopped: panic"}));
  EXPECT_EQ(stage.recorder.dead.size(), 2u);
  EXPECT_EQ(stage.scheduler.live_actors(), 1u);
  EXPECT_EQ(stage.scheduler.phase(), SchedulerPhase::idle);
  EXPECT_TRUE(stage.recorder.is_alive(root));
}

TEST(CommandFailure, WhatAHandlerWantedBeforeItThrewDoesNotHappen) {
  CommandOptions options;
  options.max_actors = 3;
  Stage stage(options);
  (void)stage.scheduler.start_fn([](Note note, Context& context) -> Acts {
    if (note.text == "fine") return context.send(context.output(), "fine");
    const ActorId child = context.reserve();
    return context.actions()
        .spawn_with(child,
                    [] {
                      return [](Note, Context& own) -> Acts {
                        Acts acts = own.actions();
                        acts.send(own.output(), "unsaid").spawn<Echo>(own.reserve(), "unborn");
                        (void)own.reserve();
                        throw std::runtime_error("changed my mind");
                      };
                    })
        .send(child, "go");
  });
  // More often than there are handles: all of them come back.
  for (int i = 0; i < 10; ++i) {
    (void)stage.scheduler.dispatch("go");
    EXPECT_EQ(stage.outputs(), (Story{"error: changed my mind"}));
  }
  (void)stage.scheduler.dispatch("fine");
  EXPECT_EQ(stage.outputs(), (Story{"fine"}));
}

struct BadBirth {
  BadBirth() { throw std::runtime_error("no such file"); }
  void handle(Note) {}
};
struct BadStart {
  std::vector<std::string>* journal;
  void on_start() { throw std::runtime_error("cannot begin"); }
  void handle(Note) {}
  void on_stop() { journal->push_back("stopped"); }
};

TEST(CommandFailure, AFactoryOrAnInitThatThrowsIsAnExitReason) {
  Stage stage;
  std::vector<ActorId> children;
  (void)stage.scheduler.start_fn([&](Note, Context& context) -> Acts {
    Acts acts = context.actions();
    for (int i = 0; i < 3; ++i) children.push_back(context.reserve());
    acts.spawn<BadBirth>(children[0]);
    acts.spawn<BadStart>(children[1], &stage.journal);
    acts.spawn_with(children[2], []() -> Echo { throw std::runtime_error("factory closed"); });
    return acts.send(children[0], "hello").send(context.output(), "fine"), std::move(acts);
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(),
            (Story{"error: no such file", "error: cannot begin", "error: factory closed", "fine"}));
  for (const ActorId id : children) {
    EXPECT_EQ(stage.recorder.stop_of(id).reason, ExitReason::panic);
  }
  EXPECT_EQ(stage.recorder.stop_of(children[0]).text, "no such file");
  EXPECT_EQ(stage.journal, Story{});  // what has not begun is not stopped
  EXPECT_EQ(stage.recorder.dead.size(), 1u);
}

TEST(CommandFailure, ARootThatCannotBeMadeEndsTheScheduler) {
  Stage stage;
  (void)stage.scheduler.start<BadBirth>();
  (void)stage.scheduler.dispatch("anybody?");
  EXPECT_EQ(stage.scheduler.run().end, RunEnd::ended);
  EXPECT_EQ(stage.scheduler.take_output().error().code(), Errc::exception);
  EXPECT_EQ(stage.scheduler.take_output().error().code(), Errc::closed);
}

TEST(CommandFailure, ATaskThatThrowsIsAPanic) {
  Stage stage;
  const ActorId root = *stage.scheduler.start_fn([](Inbox<Note> inbox, Outbox<Note>) -> Task<void> {
    Future<Note> next = inbox.next();
    Result<Note> note = co_await next;
    throw std::runtime_error(note->text);
  });
  (void)stage.scheduler.dispatch("boom");
  (void)stage.scheduler.dispatch("left in the inbox");
  EXPECT_EQ(stage.outputs(), (Story{"error: boom"}));
  EXPECT_EQ(stage.recorder.stop_of(root).reason, ExitReason::panic);
  EXPECT_EQ(stage.recorder.dead.size(), 1u);
}

TEST(CommandFailure, AnAsyncActorWhoseFactoryThrowsFails) {
  Stage stage;
  struct Bad {
    Bad() { throw std::runtime_error("not today"); }
    Task<void> run(Inbox<Note>, Outbox<Note>) { co_return; }
  };
  (void)stage.scheduler.start<Bad>();
  EXPECT_EQ(stage.outputs(), (Story{"error: not today"}));
  EXPECT_TRUE(stage.scheduler.is_ended());
}

TEST(CommandFailure, AStopHookThatThrowsChangesNothing) {
  Stage stage;
  struct Bad {
    void handle(Note) {}
    void on_stop() { throw std::runtime_error("never mind"); }
  };
  const ActorId root = *stage.scheduler.start<Bad>();
  (void)stage.scheduler.kill(root);
  EXPECT_EQ(stage.outputs(), Story{});
  EXPECT_EQ(stage.recorder.stop_of(root).reason, ExitReason::killed);
}

TEST(CommandFailure, AnInterceptorThatThrowsIsToldOnceAndSwitchedOff) {
  Stage stage;
  int calls = 0;
  stage.scheduler.intercept([&](Interception<Note>& command) {
    ++calls;
    command.inject(command.actions().send(command.target(), "not injected"));
    throw std::runtime_error("bad interceptor");
  });
  (void)stage.scheduler.start<Echo>("echo");
  (void)stage.scheduler.dispatch("a");
  (void)stage.scheduler.dispatch("b");
  EXPECT_EQ(stage.outputs(), (Story{"error: bad interceptor", "echo got a", "echo got b"}));
  EXPECT_EQ(calls, 1);
}

#endif

}  // namespace
}  // namespace jzx::commands
