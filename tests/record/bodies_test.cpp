// Whatever actors are made of, and whatever they do, a replay has them do it again.
#include <gtest/gtest.h>

#include <jzx/async/sleep.hpp>
#include <jzx/fiber.hpp>
#include <jzx/router.hpp>
#include <jzx/runtime.hpp>
#include <jzx/supervisor.hpp>

#include <atomic>
#include <thread>

#include "record/cast.hpp"
#include "support/fds.hpp"

using namespace std::chrono_literals;

namespace jzx::testing {
namespace {

// Builds it on a loop and runs that until the log has so many lines; then on a Sim, from the
// record. What was written must be the same.
void expect_same(size_t lines, const std::function<void(SystemFace&, Log*)>& build) {
  Recorded made;
  {
    Loop loop(made.options());
    ASSERT_TRUE(loop) << made.recorder.error();
    build(loop, &made.log);
    while (made.log.size() < lines) loop.run_once(1s);
  }
  Log log;
  const Recording recording = made.recording();
  const ReplayReport report = replay_with(recording, [&](Sim& sim) { build(sim, &log); });
  EXPECT_TRUE(report) << report.text() << recording.dump();
  EXPECT_EQ(log, made.log) << recording.dump();
}

TEST(ReplayOfBodies, FibersReceiveAndSleepAsTheyDid) {
  expect_same(6, [](SystemFace& system, Log* log) {
    const Pid fiber = system.spawn_fn([log] {
      (void)receive([&](Word word) { log->push_back(word.text); });
      (void)sleep_for(2ms);
      log->push_back("slept");
      for (int i = 0; i < 2; ++i) {
        (void)receive_for(1h, [&](Number number) { log->push_back(std::to_string(number.value)); });
      }
      (void)receive_for(
          1ms, [](Sealed) {}, after([&] { log->push_back("nothing came"); }));
      log->push_back("done");
    });
    fiber << Number{1} << Word{"first"} << Number{2};
  });
}

struct Answerer {
  Task<int> on(Word word) {
    auto nap = sleep(std::chrono::milliseconds(word.text.size()));
    (void)co_await nap;
    co_return static_cast<int>(word.text.size());
  }
};

struct Asker {
  ActorRef<Answerer> answerer;
  Log* log;
  static constexpr bool interleaves = true;
  Asker(ActorRef<Answerer> the_answerer, Log* the_log) : answerer(the_answerer), log(the_log) {}
  Task<void> on(Number number) {
    auto answer = answerer.ask(Word{std::string(static_cast<size_t>(number.value), 'x')});
    Result<int> got = co_await answer;
    log->push_back(std::to_string(number.value) + " is " + std::to_string(got.ok() ? *got : -1));
  }
};

TEST(ReplayOfBodies, CoroutineHandlersWaitAsTheyDid) {
  expect_same(3, [](SystemFace& system, Log* log) {
    const auto answerer = system.spawn<Answerer>();
    const auto asker = system.spawn<Asker>(answerer, log);
    asker << Number{3} << Number{1} << Number{2};
  });
}

struct Child {
  Log* log;
  Child(Log* the_log) : log(the_log) {}
  void on_start(Context& context) {
    log->push_back("starts");
    (void)context.send_after(1ms, context.self(), Number{1});
  }
  void on(Number, Context& context) { context.fail("on purpose"); }
  using Messages = jzx::Messages<Number>;
};

TEST(ReplayOfBodies, SupervisorsRestartAfterTheSameJitter) {
  expect_same(4, [](SystemFace& system, Log* log) {
    (void)system.supervise(
        {.intensity = 10},
        {child<Child>("child", log).backoff({.initial = 2ms, .factor = 1.0f, .jitter = 2ms})});
  });
}

// The limit of a child that is stopped is a timer like others.
TEST(ReplayOfBodies, AChildThatDoesNotStopIsKilledWhenItWas) {
  const auto wait_deaf = [](Log* log) {
    log->push_back("is deaf");
    for (;;) {
      try {
        (void)receive([](Sealed) {});
      } catch (...) {  // NOLINT: this is what it must not do
      }
    }
  };
  expect_same(6, [wait_deaf](SystemFace& system, Log* log) {
    (void)system.supervise(
        {.strategy = Strategy::one_for_all, .intensity = 10},
        {child_fn("deaf", [=] { wait_deaf(log); }).stop_within(2ms), child<Child>("child", log)});
  });
}

struct Named {
  Log* log;
  std::string name;
  Named(Log* the_log, std::string the_name) : log(the_log), name(std::move(the_name)) {}
  void on(Number number) { log->push_back(name + std::to_string(number.value)); }
};

struct NamedChooser {
  Router<Named> router;
  explicit NamedChooser(Router<Named> the_router) : router(std::move(the_router)) {}
  void on(Number number) { router << number; }
};

TEST(ReplayOfBodies, ARandomRouterChoosesAgainWhomItChose) {
  expect_same(40, [](SystemFace& system, Log* log) {
    std::vector<ActorRef<Named>> actors;
    for (const char* name : {"a", "b", "c", "d"}) actors.push_back(system.spawn<Named>(log, name));
    const auto chooser = system.spawn<NamedChooser>(Router<Named>(system, Routing::random, actors));
    for (int i = 0; i < 40; ++i) chooser << Number{i};
  });
}

struct Stasher {
  Log* log;
  int seen = 0;
  explicit Stasher(Log* the_log) : log(the_log) {}
  void on(Number number, Context& context) {
    if (++seen < 4) {
      (void)context.stash(number);
      if (seen == 3) context.unstash_all();
      return;
    }
    log->push_back(std::to_string(number.value));
  }
};

TEST(ReplayOfBodies, WhatWasPutAsideIsTakenAgain) {
  expect_same(4, [](SystemFace& system, Log* log) {
    const auto stasher = system.spawn<Stasher>(log);
    for (int i = 1; i <= 4; ++i) stasher << Number{i};
  });
}

// Watches a pipe; reads nothing, since in a replay there is nothing to read.
struct Watcher {
  Log* log;
  int fd;
  Watcher(Log* the_log, int the_fd) : log(the_log), fd(the_fd) {}
  void on_start(Context& context) {
    log->push_back(ok(context.watch_fd(fd, kIoRead)) ? "watches" : "cannot watch");
  }
  void on(const IoEvent& event) { log->push_back("ready for " + std::to_string(event.readiness)); }
};

TEST(ReplayOfBodies, AWatchedFdIsReadyWhenItWas) {
  Recorded made;
  Pipe pipe;
  {
    Loop loop(made.options());
    (void)loop.spawn<Watcher>(&made.log, pipe.reader.get());
    loop.run_once(0ms);
    for (size_t i = 2; i < 4; ++i) {
      put(pipe.writer);
      while (made.log.size() < i) loop.run_once(1s);
    }
  }
  Log log;
  const ReplayReport report =
      replay_with(made.recording(), [&](Sim& sim) { (void)sim.spawn<Watcher>(&log, 12345); });
  EXPECT_TRUE(report) << report.text() << made.recording().dump();
  EXPECT_EQ(log, made.log);
}

// ---- much of it at once ----

struct Spark {
  int depth = 0;
  int salt = 0;
};

// Sends, spawns, arms and ends as a hash of what it gets says.
struct Firework {
  Log* log;
  explicit Firework(Log* the_log) : log(the_log) {}
  void on(Spark spark, Context& context) {
    log->push_back(std::to_string(spark.depth) + ':' + std::to_string(spark.salt));
    if (spark.depth == 0) return;
    const Spark next{spark.depth - 1, (spark.salt * 31 + 7) % 101};
    const ActorRef<Firework> self{context.self()};
    switch (spark.salt % 5) {
      case 0:
        (void)context.send_after(std::chrono::milliseconds(spark.salt % 4), self, next);
        break;
      case 1:
        context.spawn<Firework>(log) << next << Spark{next.depth, next.salt + 1};
        break;
      case 2:
        self << next << Spark{next.depth, next.salt + 2};
        break;
      case 3:
        context.spawn_child<Firework>(log) << next;
        break;
      default: {
        const auto child = context.spawn<Firework>(log);
        (void)context.monitor(child);
        child << next << Spark{0, 1000};
        (void)context.stop(child);
        self << next;
      }
    }
  }
  size_t on(Number) { return log->size(); }
  void on(const Down&) { log->push_back("down"); }
  void on(const ChildExit&) { log->push_back("child exit"); }
};

}  // namespace
}  // namespace jzx::testing

template <>
struct jzx::Codec<jzx::testing::Spark> : jzx::ByteCodec<jzx::testing::Spark> {};

namespace jzx::testing {
namespace {

Codecs spark_codecs() { return Codecs().add_for<Firework, Spark, Number>(); }

// Several threads light fireworks; nobody knows in which order.
void light(const std::vector<ActorRef<Firework>>& roots, std::atomic<int>& lit) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        roots[static_cast<size_t>((t + i) % 4)] << Spark{6, t * 40 + i};
        lit.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void expect_same_fireworks(const Recorder& recorder, const Log& expected) {
  const Result<Recording> recording = recorder.recording();
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  Log log;
  ReplayOptions options;
  options.codecs = spark_codecs();
  const ReplayReport report = replay(*recording, options, [&](Sim& sim) {
    for (int i = 0; i < 4; ++i) (void)sim.spawn<Firework>(&log);
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(report.turns, report.of);
  EXPECT_EQ(log, expected);
  EXPECT_GE(log.size(), 60u);
}

TEST(ReplayOfBodies, ALoopThatThreadsSendToIsReplayedWhole) {
  Recorder recorder(RecorderOptions{.codecs = spark_codecs()});
  Log log;
  {
    LoopOptions options;
    options.recorder = &recorder;
    Loop loop(options);
    std::vector<ActorRef<Firework>> roots;
    for (int i = 0; i < 4; ++i) roots.push_back(loop.spawn<Firework>(&log));
    std::atomic<int> lit{0};
    std::thread lighter([&] { light(roots, lit); });
    while (lit.load() < 60) loop.run_once(1ms);
    lighter.join();
    for (int i = 0; i < 50; ++i) loop.run_once(1ms);  // most timers
  }
  expect_same_fireworks(recorder, log);
}

TEST(ReplayOfBodies, ARuntimeWithOneWorkerIsReplayedWhole) {
  Recorder recorder(RecorderOptions{.codecs = spark_codecs()});
  Log log;
  {
    RuntimeOptions options;
    options.workers = 1;
    options.recorder = &recorder;
    Runtime runtime(options);
    ASSERT_TRUE(runtime) << recorder.error();
    std::vector<ActorRef<Firework>> roots;
    for (int i = 0; i < 4; ++i) roots.push_back(runtime.spawn<Firework>(&log));
    std::atomic<int> lit{0};
    light(roots, lit);
    for (int i = 0; i < 80; ++i) {
      EXPECT_TRUE(runtime.block_on(roots[static_cast<size_t>(i % 4)].ask(Number{})).ok());
    }
    // And now it is destroyed, in the middle of everything.
  }
  expect_same_fireworks(recorder, log);
}

// Exits that are asked for by this thread come when nobody has a turn.
TEST(ReplayOfBodies, TheShutdownOfARuntimeIsReplayed) {
  Recorder recorder(RecorderOptions{.codecs = all_codecs()});
  Log written;
  {
    Runtime runtime = Runtime::builder().workers(1).recorder(recorder).build();
    ASSERT_TRUE(runtime) << recorder.error();
    const auto writer = runtime.spawn<Writer>(&written);
    const auto relay = runtime.spawn<Relay>(writer);
    EXPECT_TRUE(runtime.block_on(relay.ask(Word{"three"})).ok());
    EXPECT_TRUE(runtime.shutdown(10s).empty());  // perhaps before the writer has had its turn
  }
  Log log;
  bool takes_more = true;
  ReplayOptions options;
  options.codecs = all_codecs();
  const ReplayReport report = replay(
      *recorder.recording(), options,
      [&](Sim& sim) {
        const auto writer = sim.spawn<Writer>(&log);
        (void)sim.spawn<Relay>(writer);
      },
      [&](Sim& sim) { takes_more = static_cast<bool>(sim.spawn<Writer>(&log)); });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(log, written);
  EXPECT_FALSE(takes_more);
}

}  // namespace
}  // namespace jzx::testing
