// One global order: first in, first out, breadth first, never one inside another.
#include "commands/scene.hpp"

namespace jzx::commands {
namespace {

TEST(CommandOrder, IsBreadthFirst) {
  // root sends to a and b; a sends to c and d; b to e: a b c d e, not a c d b e.
  Stage stage;
  std::vector<std::string>& journal = stage.journal;
  const auto leaf = [&](const char* name) {
    return [&journal, name] { return [&journal, name](Note) { journal.push_back(name); }; };
  };
  (void)stage.scheduler.start_fn([&](Note, Context& context) -> Acts {
    const ActorId a = context.reserve();
    const ActorId b = context.reserve();
    const ActorId c = context.reserve();
    const ActorId d = context.reserve();
    const ActorId e = context.reserve();
    Acts acts = context.actions();
    acts.spawn_with(a, [&journal, c, d] {
      return [&journal, c, d](Note, Context& own) -> Acts {
        journal.push_back("a");
        return own.send(c, "go").send(d, "go");
      };
    });
    acts.spawn_with(b, [&journal, e] {
      return [&journal, e](Note, Context& own) -> Acts {
        journal.push_back("b");
        return own.send(e, "go");
      };
    });
    acts.spawn_with(c, leaf("c")).spawn_with(d, leaf("d")).spawn_with(e, leaf("e"));
    return acts.send(a, "go").send(b, "go"), std::move(acts);
  });
  (void)stage.scheduler.dispatch("begin");
  const RunReport report = stage.scheduler.run();
  EXPECT_EQ(report.end, RunEnd::idle);
  EXPECT_EQ(stage.journal, (Story{"a", "b", "c", "d", "e"}));
}

TEST(CommandOrder, KeepsWhatAHandlerReturnsTogether) {
  Stage stage;
  const auto twice = [](const char* name) {
    return [name](Note, Context& context) -> Acts {
      return context.send(context.output(), std::string(name) + "1")
          .send(context.output(), std::string(name) + "2");
    };
  };
  (void)stage.scheduler.start_fn([&](Note, Context& context) -> Acts {
    const ActorId a = context.reserve();
    const ActorId b = context.reserve();
    return context.actions()
        .spawn_with(a, [twice] { return twice("a"); })
        .spawn_with(b, [twice] { return twice("b"); })
        .send(a, "go")
        .send(b, "go");
  });
  (void)stage.scheduler.dispatch("begin");
  EXPECT_EQ(stage.outputs(), (Story{"a1", "a2", "b1", "b2"}));
}

TEST(CommandOrder, ADispatchFromInsideOnlyAddsToTheQueue) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  std::vector<SchedulerPhase> phases;
  (void)scheduler.start_fn([&](Note note, Context& context) -> Acts {
    phases.push_back(scheduler.phase());
    stage.journal.push_back("begin " + note.text);
    if (note.text == "outer") {
      EXPECT_TRUE(scheduler.dispatch("inner").ok());
      EXPECT_EQ(scheduler.queued(), 1u);
    }
    stage.journal.push_back("end " + note.text);
    return context.send(context.output(), note.text);
  });
  EXPECT_EQ(scheduler.phase(), SchedulerPhase::queued);  // the spawn
  (void)scheduler.run();
  EXPECT_EQ(scheduler.phase(), SchedulerPhase::idle);
  (void)scheduler.dispatch("outer");
  EXPECT_EQ(scheduler.phase(), SchedulerPhase::queued);
  // What was dispatched inside came before what the handler returned.
  EXPECT_EQ(stage.outputs(), (Story{"outer", "inner"}));
  EXPECT_EQ(stage.journal, (Story{"begin outer", "end outer", "begin inner", "end inner"}));
  EXPECT_EQ(phases, (std::vector{SchedulerPhase::busy, SchedulerPhase::busy}));
  EXPECT_EQ(scheduler.phase(), SchedulerPhase::idle);
}

TEST(CommandOrder, ARunInsideOfARunIsRefused) {
  Stage stage;
  Scheduler& scheduler = stage.scheduler;
  (void)scheduler.start_fn([&](Note, Context&) {
    const RunReport inner = scheduler.run();
    stage.journal.push_back(inner.report);
    EXPECT_EQ(inner.end, RunEnd::refused);
    EXPECT_EQ(scheduler.take_output().error().code(), Errc::invalid_arg);
    EXPECT_FALSE(scheduler.step());
  });
  (void)scheduler.dispatch("go");
  EXPECT_EQ(scheduler.run().end, RunEnd::idle);
  ASSERT_EQ(stage.journal.size(), 1u);
  EXPECT_NE(stage.journal[0].find("inside of a run"), std::string::npos);
}

TEST(CommandOrder, CommandsKnowTheirNumbersSourcesAndCauses) {
  CommandOptions options;
  options.keeps_log = true;
  Stage stage(options);
  ActorId root = *stage.scheduler.start_fn([&](Note note, Context& context) -> Acts {
    EXPECT_EQ(context.sender(), note.text == "again" ? context.self() : 0u);
    EXPECT_EQ(context.sequence(), note.text == "again" ? 3u : 2u);
    return note.text == "again" ? context.send(context.output(), "done")
                                : context.send(context.self(), "again");
  });
  EXPECT_EQ(*stage.scheduler.dispatch("begin"), 2u);
  (void)stage.scheduler.run();
  const std::vector<CommandRecord>& records = stage.scheduler.log().records;
  ASSERT_EQ(records.size(), 4u);
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(records[i].sequence, i + 1);
  EXPECT_EQ(records[1].source, 0u);
  EXPECT_EQ(records[1].cause, 0u);
  EXPECT_EQ(records[2].source, root);
  EXPECT_EQ(records[2].cause, 2u);
  EXPECT_EQ(records[3].source, root);
  EXPECT_EQ(records[3].cause, 3u);
  EXPECT_EQ(records[3].target, stage.scheduler.output());
}

TEST(CommandOrder, StepsProcessOneCommandAtATime) {
  Stage stage;
  (void)stage.scheduler.start<Echo>("echo");
  (void)stage.scheduler.dispatch("a");
  (void)stage.scheduler.dispatch("b");
  EXPECT_TRUE(stage.scheduler.step());  // the spawn
  EXPECT_TRUE(stage.scheduler.step());
  EXPECT_EQ(stage.scheduler.queued(), 2u);
  EXPECT_EQ(stage.scheduler.try_output().error().code(), Errc::empty);
  EXPECT_TRUE(stage.scheduler.step());
  EXPECT_TRUE(stage.scheduler.step());
  EXPECT_EQ(stage.scheduler.try_output()->text, "echo got a");
  EXPECT_TRUE(stage.scheduler.step());
  EXPECT_FALSE(stage.scheduler.step());
}

struct Ball {
  uint64_t left = 0;
};

TEST(CommandOrder, ACascadeOfAMillionCommandsNeedsNeitherStackNorMemory) {
  constexpr uint64_t kCommands = 1'000'000;
  CommandOptions options;
  options.max_commands = 16;  // it never has more than one in the queue
  CommandScheduler<Ball> scheduler(options);
  uint64_t handled = 0;
  (void)scheduler.start_fn([&](Ball ball, CommandContext<Ball>& context) -> Actions<Ball> {
    ++handled;
    if (ball.left == 0) return context.send(context.output(), Ball{});
    return context.send(context.self(), Ball{ball.left - 1});
  });
  (void)scheduler.dispatch(Ball{kCommands - 1});
  const RunReport report = scheduler.run();
  EXPECT_EQ(report.end, RunEnd::idle);
  EXPECT_EQ(report.commands, kCommands + 2);  // the spawn, and the output
  EXPECT_EQ(handled, kCommands);
  EXPECT_TRUE(scheduler.try_output().ok());
}

TEST(CommandOrder, ACascadeMayBeAMillionWide) {
  constexpr uint64_t kWidth = 1'000'000;
  CommandScheduler<Ball> scheduler;
  uint64_t handled = 0;
  uint64_t next = 0;
  (void)scheduler.start_fn([&](Ball ball, CommandContext<Ball>& context) -> Actions<Ball> {
    Actions<Ball> acts = context.actions();
    if (context.sender() == 0) {
      for (uint64_t i = 0; i < ball.left; ++i) acts.send(context.self(), Ball{i});
    } else {
      ++handled;
      EXPECT_EQ(ball.left, next++);
    }
    return acts;
  });
  (void)scheduler.dispatch(Ball{kWidth});
  EXPECT_EQ(scheduler.run().end, RunEnd::idle);
  EXPECT_EQ(handled, kWidth);
}

}  // namespace
}  // namespace jzx::commands
