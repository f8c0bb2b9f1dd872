// A program may die anywhere, and its record ends there. Such a record replays up to its end,
// whatever the turn under way would have done next.
#include <gtest/gtest.h>

#include <jzx/async/sleep.hpp>
#include <jzx/fiber.hpp>
#include <jzx/router.hpp>
#include <jzx/runtime.hpp>
#include <jzx/supervisor.hpp>

#include "record/cast.hpp"

using namespace std::chrono_literals;

namespace jzx::testing {
namespace {

struct Seed {
  int depth = 0;
  int salt = 0;
};

}  // namespace
}  // namespace jzx::testing

template <>
struct jzx::Codec<jzx::testing::Seed> : jzx::ByteCodec<jzx::testing::Seed> {};

namespace jzx::testing {
namespace {

// Spawns the actors; with `sends`, does the rest of what the program does from outside.
using Build = std::function<void(SystemFace&, Log*, bool sends)>;

// Does all that a turn can do, as the salt says.
struct Sower {
  Log* log;
  explicit Sower(Log* the_log) : log(the_log) {}
  void on(Seed seed, Context& context) {
    log->push_back(std::to_string(seed.salt));
    if (seed.depth == 0) return;
    const Seed next{seed.depth - 1, seed.salt + 1};
    const ActorRef<Sower> self{context.self()};
    switch (seed.salt % 4) {
      case 0:
        (void)context.send_after(1ms, self, next);
        self << Seed{0, next.salt};
        break;
      case 1:
        context.spawn<Sower>(log) << next << Seed{0, next.salt + 1};
        break;
      case 2:
        context.spawn_child<Sower>(log) << next;
        (void)context.send_after(1h, self, Seed{0, 0});
        break;
      default: {
        const auto other = context.spawn<Sower>(log);
        (void)context.monitor(other);
        other << next;
        (void)context.stop(other);
        self << next;
      }
    }
  }
  int on(Number number) { return number.value; }
  void on(const Down&) { log->push_back("down"); }
  void on(const ChildExit&) { log->push_back("child exit"); }
};

struct Dreamer {
  Task<int> on(Word word) {
    auto nap = sleep(std::chrono::milliseconds(word.text.size()));
    (void)co_await nap;
    co_return static_cast<int>(word.text.size());
  }
};

struct Waker {
  ActorRef<Dreamer> dreamer;
  Log* log;
  static constexpr bool interleaves = true;
  Waker(ActorRef<Dreamer> the_dreamer, Log* the_log) : dreamer(the_dreamer), log(the_log) {}
  Task<void> on(Number number) {
    auto answer = dreamer.ask(Word{std::string(static_cast<size_t>(number.value), 'x')});
    Result<int> got = co_await answer;
    log->push_back(got.ok() ? std::to_string(*got) : "error");
  }
};

struct Frail {
  Log* log;
  explicit Frail(Log* the_log) : log(the_log) {}
  void on_start(Context& context) {
    log->push_back("starts");
    (void)context.send_after(1ms, context.self(), Number{1});
  }
  void on(Number, Context& context) { context.fail("on purpose"); }
  using Messages = jzx::Messages<Number>;
};

struct Chooser {
  Router<Writer> router;
  explicit Chooser(Router<Writer> the_router) : router(std::move(the_router)) {}
  void on(Number number) { router << number; }
};

Codecs cut_codecs() {
  Codecs codecs = all_codecs();
  codecs.add_for<Sower, Seed, Number>().add_for<Waker, Number>().add_for<Chooser, Number>();
  codecs.add<Number, Word>();
  return codecs;
}

std::string record_loop(size_t lines, const Build& build) {
  Recorder recorder(RecorderOptions{.codecs = cut_codecs()});
  Log log;
  {
    LoopOptions options;
    options.recorder = &recorder;
    Loop loop(options);
    EXPECT_TRUE(loop) << recorder.error();
    build(loop, &log, true);
    while (log.size() < lines) loop.run_once(1s);
  }
  const Result<Recording> recording = recorder.recording();
  EXPECT_TRUE(recording.ok()) << recording.error().message();
  return recording.ok() ? recording->text() : std::string();
}

std::string last_line(const std::string& text) {
  return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

void expect_every_cut_replays(const std::string& text, const Build& build) {
  ReplayOptions options;
  options.codecs = cut_codecs();
  size_t cuts = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1)) {
    const std::string cut = text.substr(0, end + 1);
    const Result<Recording> recording = Recording::parse(cut);
    ASSERT_TRUE(recording.ok()) << recording.error().message();
    for (const bool sends : {true, false}) {
      Log log;
      const ReplayReport report =
          replay(*recording, options, [&](Sim& sim) { build(sim, &log, sends); });
      EXPECT_TRUE(report) << "cut after " << last_line(cut) << report.text() << recording->dump();
      if (!report) return;
    }
    ++cuts;
  }
  EXPECT_GT(cuts, 20u);
}

void expect_every_cut_of_a_loop_replays(size_t lines, const Build& build) {
  expect_every_cut_replays(record_loop(lines, build), build);
}

TEST(CutRecord, OfRelaysAndTimersReplays) {
  expect_every_cut_of_a_loop_replays(5, [](SystemFace& system, Log* log, bool sends) {
    const auto writer = system.spawn<Writer>(log);
    const auto relay = system.spawn<Relay>(writer);
    if (!sends) return;
    relay << Number{1} << Number{2} << Number{3};
    (void)system.send_after(2ms, writer, Number{50});
    writer << Word{"direct"};
  });
}

TEST(CutRecord, OfActorsThatSpawnAndMonitorReplays) {
  expect_every_cut_of_a_loop_replays(60, [](SystemFace& system, Log* log, bool sends) {
    for (int i = 0; i < 3; ++i) {
      const auto sower = system.spawn<Sower>(log);
      if (sends) sower << Seed{9, i} << Seed{9, i + 2};
    }
  });
}

TEST(CutRecord, OfFibersReplays) {
  expect_every_cut_of_a_loop_replays(5, [](SystemFace& system, Log* log, bool sends) {
    const auto relay = system.spawn<Relay>(system.spawn<Writer>(log));
    const Pid fiber = system.spawn_fn([log, relay] {
      (void)receive([&](Word word) { log->push_back(word.text); });
      (void)sleep_for(2ms);
      Future<int> asked = relay.ask(Word{"four"});
      log->push_back(asked.get_for(1h).ok() ? "answered" : "too late");
      for (int i = 0; i < 2; ++i) {
        (void)receive_for(1h, [&](Number number) { relay << Number{number.value * 2}; });
      }
      (void)spawn_fn([log] { log->push_back("another"); });
    });
    if (sends) fiber << Number{1} << Word{"first"} << Number{2};
  });
}

TEST(CutRecord, OfCoroutinesReplays) {
  expect_every_cut_of_a_loop_replays(3, [](SystemFace& system, Log* log, bool sends) {
    const auto dreamer = system.spawn<Dreamer>();
    const auto waker = system.spawn<Waker>(dreamer, log);
    if (sends) waker << Number{3} << Number{1} << Number{2};
  });
}

TEST(CutRecord, OfASupervisorWithJitterReplays) {
  expect_every_cut_of_a_loop_replays(5, [](SystemFace& system, Log* log, bool) {
    (void)system.supervise(
        {.intensity = 10},
        {child<Frail>("frail", log).backoff({.initial = 2ms, .factor = 1.0f, .jitter = 2ms})});
  });
}

TEST(CutRecord, OfRandomChoicesReplays) {
  expect_every_cut_of_a_loop_replays(9, [](SystemFace& system, Log* log, bool sends) {
    std::vector<ActorRef<Writer>> writers;
    for (int i = 0; i < 3; ++i) writers.push_back(system.spawn<Writer>(log));
    const auto chooser = system.spawn<Chooser>(Router<Writer>(system, Routing::random, writers));
    for (int i = 0; sends && i < 9; ++i) chooser << Number{i};
  });
}

TEST(CutRecord, OfARuntimeWithOneWorkerReplays) {
  const Build build = [](SystemFace& system, Log* log, bool sends) {
    (void)system.supervise({.intensity = 10}, {child<Writer>("writer", log)});
    for (int i = 0; i < 2; ++i) {
      const auto sower = system.spawn<Sower>(log);
      if (sends) sower << Seed{5, i};
    }
  };
  for (const bool shuts_down : {false, true}) {
    Recorder recorder(RecorderOptions{.codecs = cut_codecs()});
    Log log;
    {
      Runtime runtime = Runtime::builder().workers(1).recorder(recorder).build();
      ASSERT_TRUE(runtime) << recorder.error();
      build(runtime, &log, true);
      const auto last = runtime.spawn<Sower>(&log);
      EXPECT_TRUE(runtime.block_on(last.ask(Number{1})).ok());
      if (shuts_down) {
        EXPECT_TRUE(runtime.shutdown(10s).empty());
      }
    }
    const Result<Recording> recording = recorder.recording();
    ASSERT_TRUE(recording.ok()) << recording.error().message();
    expect_every_cut_replays(recording->text(), [&](SystemFace& system, Log* to, bool sends) {
      build(system, to, sends);
      (void)system.spawn<Sower>(to);
    });
  }
}

// A line that is not whole is left out.
TEST(CutRecord, AtAnyByteIsTheRecordUpToTheLastLineEnd) {
  const std::string text = record_loop(2, [](SystemFace& system, Log* log, bool) {
    system.spawn<Relay>(system.spawn<Writer>(log)) << Number{1} << Number{2};
  });
  const size_t first = text.find('\n');
  for (size_t end = 0; end < text.size(); ++end) {
    const Result<Recording> recording = Recording::parse(text.substr(0, end));
    ASSERT_EQ(recording.ok(), end > first) << end;
    if (!recording.ok()) continue;
    ASSERT_EQ(recording->text(), text.substr(0, text.rfind('\n', end - 1) + 1)) << end;
  }
}

// ---- what is not excused ----

// The Relay of the replay sends twice.
struct Echoing {
  ActorRef<Writer> to;
  explicit Echoing(ActorRef<Writer> writer) : to(writer) {}
  void on(Number number) { to << number << number; }
};

ReplayReport replay_echo(const std::string& lines) {
  const Result<Recording> recording = Recording::parse(
      "jzx-record 1 loop 1024 0\nn 0 jzx::testing::Writer\nb 1 0 1 x\n"
      "n 1 jzx::testing::Echoing\nb 2 1 2 x\nn 2 jzx::testing::Number\n"
      "x 1 2 2 m =01000000\nx 2 2 2 m =01000000\n" +
      lines);
  EXPECT_TRUE(recording.ok());
  ReplayOptions options;
  options.codecs = Codecs().add_for<Echoing, Number>();
  Log log;
  return replay(*recording, options,
                [&](Sim& sim) { (void)sim.spawn<Echoing>(sim.spawn<Writer>(&log)); });
}

TEST(CutRecord, ExcusesOnlyWhatComesAfterIt) {
  EXPECT_EQ(replay_echo("t 2 1\nk 1\ns 3 1 2 m\n").end, ReplayEnd::whole);
  EXPECT_EQ(replay_echo("t 2 1\nk 1\ns 3 1 2 m\ns 4 1 2 m\nk 2\n").end, ReplayEnd::whole);
  // After the message there was another one: so it was sent only once.
  EXPECT_EQ(replay_echo("t 2 1\nk 1\ns 3 1 2 m\nk 2\n").end, ReplayEnd::diverged);
  EXPECT_EQ(replay_echo("t 2 1\nk 1\ns 3 1 2 m\n.\n").end, ReplayEnd::diverged);
}

TEST(CutRecord, OfALoopThatEndedIsHeldToWhatItsProgramDid) {
  Log log;
  const std::string head = "jzx-record 1 loop 1024 0\nn 0 jzx::testing::Writer\nb 1 0 1 x\n";
  for (const bool has_ended : {false, true}) {
    const Result<Recording> recording = Recording::parse(head + (has_ended ? "d\n" : ""));
    ASSERT_TRUE(recording.ok()) << recording.error().message();
    const ReplayReport report = replay(*recording, {}, [&](Sim& sim) {
      sim.spawn<Writer>(&log) << Number{1};
      (void)sim.spawn<Writer>(&log);
    });
    EXPECT_EQ(report.end, has_ended ? ReplayEnd::diverged : ReplayEnd::whole) << report.text();
  }
}

}  // namespace
}  // namespace jzx::testing
