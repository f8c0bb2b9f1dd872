// Turns for nothing: the actor had no mail, and nothing that it waited for had come. A system has
// them in places where the simulator has none, so they are not in a record.
#include <gtest/gtest.h>

#include <jzx/async/sleep.hpp>
#include <jzx/async/spawn.hpp>
#include <jzx/fiber.hpp>
#include <jzx/runtime.hpp>
#include <jzx/supervisor.hpp>

#include "record/cast.hpp"

using namespace std::chrono_literals;

namespace jzx::testing {
namespace {

// ---- actors whose start is held back, or that are observed ----

struct Clerk {
  Log* log;
  explicit Clerk(Log* the_log) : log(the_log) {}
  int on(Number number) {
    log->push_back(std::to_string(number.value));
    return number.value;
  }
};

// Has children that never get a message.
struct Parent {
  Log* log;
  explicit Parent(Log* the_log) : log(the_log) {}
  int on(Number number, Context& context) {
    (void)context.spawn_child<Writer>(log);
    (void)context.spawn_child<Writer>(log);
    log->push_back("has children");
    return number.value;
  }
};

Codecs clerk_codecs() { return Codecs().add_for<Clerk, Number>().add_for<Parent, Number>(); }

// Records a runtime with one worker, and replays it.
void expect_same_runtime(const std::function<ActorRef<Clerk>(SystemFace&, Log*)>& build,
                         bool shuts_down) {
  Recorder recorder(RecorderOptions{.codecs = clerk_codecs()});
  Log written;
  {
    Runtime runtime = Runtime::builder().workers(1).recorder(recorder).build();
    ASSERT_TRUE(runtime) << recorder.error();
    const ActorRef<Clerk> clerk = build(runtime, &written);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(runtime.block_on(clerk.ask(Number{i})).ok());
    if (shuts_down) {
      EXPECT_TRUE(runtime.shutdown(10s).empty());
    }
  }
  const Result<Recording> recording = recorder.recording();
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  ReplayOptions options;
  options.codecs = clerk_codecs();
  Log log;
  const ReplayReport report =
      replay(*recording, options, [&](Sim& sim) { (void)build(sim, &log); });
  EXPECT_TRUE(report) << report.text() << recording->dump();
  EXPECT_EQ(log, written);
}

ActorRef<Clerk> build_family(SystemFace& system, Log* log) {
  (void)system.supervise(
      {}, {child<Clerk>("idle", log), child<Clerk>("watched", log).high_water(5),
           supervisor("below", {}, {child<Clerk>("deeper", log), child<Writer>("deepest", log)})});
  return system.spawn<Clerk>(log);
}

TEST(EmptyTurns, ARuntimeWithASupervisorIsReplayed) {
  expect_same_runtime(build_family, false);
  expect_same_runtime(build_family, true);
}

TEST(EmptyTurns, ChildrenWithoutMailAreReplayed) {
  const auto build = [](SystemFace& system, Log* log) {
    (void)system.spawn<Parent>(log).send(Number{1});
    return system.spawn<Clerk>(log);
  };
  expect_same_runtime(build, false);
  expect_same_runtime(build, true);
}

// ---- wake-ups that come twice ----

// Answers when the time of who asks is up.
struct LateAnswerer {
  int on(Word word) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
    while (!is_replayed && std::chrono::steady_clock::now() < until) {
    }
    return static_cast<int>(word.text.size());
  }
  bool is_replayed;
  explicit LateAnswerer(bool the_is_replayed) : is_replayed(the_is_replayed) {}
};

// Of the loop: one turn a tick, so that the time is seen to be up after the answer has come and
// before the asker has had its turn. It is woken by both.
void expect_same_on_slow_loop(size_t lines,
                              const std::function<Pid(SystemFace&, Log*, bool)>& build) {
  const Codecs codecs = Codecs().add<Number>();
  Recorder recorder(RecorderOptions{.codecs = codecs});
  Log written;
  {
    LoopOptions options;
    options.recorder = &recorder;
    options.max_actors_per_tick = 1;
    Loop loop(options);
    ASSERT_TRUE(loop) << recorder.error();
    build(loop, &written, false) << Number{1} << Number{2} << Number{3};
    while (written.size() < lines) loop.run_once(1s);
    for (int i = 0; i < 3; ++i) loop.run_once(0ms);
  }
  Log log;
  const Result<Recording> recording = recorder.recording();
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  ReplayOptions options;
  options.codecs = codecs;
  const ReplayReport report =
      replay(*recording, options, [&](Sim& sim) { (void)build(sim, &log, true); });
  EXPECT_TRUE(report) << report.text() << recording->dump();
  EXPECT_EQ(log, written) << recording->dump();
}

TEST(EmptyTurns, AFiberThatIsWokenTwiceAndThenReceives) {
  expect_same_on_slow_loop(4, [](SystemFace& system, Log* log, bool is_replayed) {
    const auto answerer = system.spawn<LateAnswerer>(is_replayed);
    const Pid fiber = system.spawn_fn([log, answerer] {
      const auto hear = [&] {
        (void)receive([&](Number number) { log->push_back(std::to_string(number.value)); });
      };
      hear();
      Future<int> asked = answerer.ask(Word{"abc"});
      log->push_back(asked.get_for(1ms).ok() ? "answered" : "too late");
      for (int i = 0; i < 10; ++i) hear();
    });
    return fiber;
  });
}

TEST(EmptyTurns, AFiberThatIsWokenTwiceAndThenWaitsForAFuture) {
  expect_same_on_slow_loop(5, [](SystemFace& system, Log* log, bool is_replayed) {
    const auto answerer = system.spawn<LateAnswerer>(is_replayed);
    const Pid fiber = system.spawn_fn([log, answerer] {
      const auto hear = [&] {
        (void)receive([&](Number number) { log->push_back(std::to_string(number.value)); });
      };
      hear();
      Future<int> asked = answerer.ask(Word{"abc"});
      log->push_back(asked.get_for(1ms).ok() ? "answered" : "too late");
      hear();
      hear();
      Future<void> nap = jzx::sleep(5ms);
      log->push_back(nap.get().ok() ? "waited" : "error");
    });
    return fiber;
  });
}

TEST(EmptyTurns, AFiberThatIsWokenTwiceAndThenSleeps) {
  expect_same_on_slow_loop(5, [](SystemFace& system, Log* log, bool is_replayed) {
    const auto answerer = system.spawn<LateAnswerer>(is_replayed);
    const Pid fiber = system.spawn_fn([log, answerer] {
      const auto hear = [&] {
        (void)receive([&](Number number) { log->push_back(std::to_string(number.value)); });
      };
      hear();
      Future<int> asked = answerer.ask(Word{"abc"});
      log->push_back(asked.get_for(1ms).ok() ? "answered" : "too late");
      hear();
      hear();
      (void)sleep_for(2ms);
      log->push_back("slept");
    });
    return fiber;
  });
}

// ---- and those that are not for nothing ----

// The turn after a yield has neither mail nor anything to be told of.
TEST(EmptyTurns, WhatAFiberDoesAfterAYieldIsReplayed) {
  expect_same_on_slow_loop(3, [](SystemFace& system, Log* log, bool) {
    return Pid(system.spawn_fn([log] {
      log->push_back("first");
      jzx::yield();
      log->push_back("second");
      jzx::yield();
      log->push_back("third");
      (void)receive([](Number) {});
    }));
  });
}

TEST(EmptyTurns, WhatATaskDoesAfterAWaitIsReplayed) {
  std::vector<Future<void>> tasks;
  expect_same_on_slow_loop(3, [&](SystemFace& system, Log* log, bool is_replayed) {
    const auto answerer = system.spawn<LateAnswerer>(is_replayed);
    tasks.push_back(system.spawn_async([](ActorRef<LateAnswerer> from, Log* to) -> Task<void> {
      for (int i = 0; i < 3; ++i) {
        Future<int> asked = from.ask(Word{"abc"});
        Result<int> got = co_await asked;
        to->push_back(got.ok() ? std::to_string(*got) : "error");
      }
    }(answerer, log)));
    return Pid();
  });
}

}  // namespace
}  // namespace jzx::testing
