// A loop is recorded, and what it did is done again in the simulator.
#include <gtest/gtest.h>

#include <jzx/loop.hpp>
#include <jzx/sim/recorder.hpp>

#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "record/cast.hpp"

using namespace std::chrono_literals;

namespace jzx::testing {
namespace {

TEST(Replay, SendsAgainWhatCameFromOutside) {
  Recorded made;
  {
    Loop loop(made.options());
    ASSERT_TRUE(loop);
    const auto writer = loop.spawn<Writer>(&made.log);
    const auto relay = loop.spawn<Relay>(writer);
    relay << Number{2} << Word{"four"};
    writer << Word{"direct"};
    relay << Finish{};
    EXPECT_EQ(loop.run(), Errc::ok);
  }
  ASSERT_EQ(made.log.size(), 3u);
  Log log;
  const ReplayReport report = replay_with(made.recording(), [&](Sim& sim) {
    const auto writer = sim.spawn<Writer>(&log);
    (void)sim.spawn<Relay>(writer);
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(report.turns, report.of);
  EXPECT_EQ(log, made.log) << made.recording().dump();
}

TEST(Replay, TakesTheSetupAtItsWordWhereItSendsTheSame) {
  Recorded made;
  const auto build = [](SystemFace& system, Log* log) {
    const auto writer = system.spawn<Writer>(log);
    const auto relay = system.spawn<Relay>(writer);
    relay << Number{4};
    writer << Sealed{5};  // which could not be sent again
    relay << Finish{};
  };
  {
    Loop loop(made.options());
    build(loop, &made.log);
    EXPECT_EQ(loop.run(), Errc::ok);
  }
  Log log;
  const ReplayReport report = replay_with(made.recording(), [&](Sim& sim) { build(sim, &log); });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(log, made.log);
}

TEST(Replay, StopsAtAMessageWhosePayloadWasNotRecorded) {
  Recorded made;
  {
    Loop loop(made.options());
    const auto writer = loop.spawn<Writer>(&made.log);
    writer << Number{1} << Sealed{2} << Number{3} << Finish{};
    EXPECT_EQ(loop.run(), Errc::ok);
  }
  Log log;
  const ReplayReport report =
      replay_with(made.recording(), [&](Sim& sim) { (void)sim.spawn<Writer>(&log); });
  EXPECT_EQ(report.end, ReplayEnd::opaque);
  EXPECT_NE(report.failure.find("Sealed to"), std::string::npos) << report.failure;
  EXPECT_NE(report.failure.find("without its payload"), std::string::npos) << report.failure;
  EXPECT_EQ(log, Log{"1"});
}

TEST(Replay, FiresTimersWhereTheyFired) {
  Recorded made;
  {
    Loop loop(made.options());
    const auto writer = loop.spawn<Writer>(&made.log);
    const auto relay = loop.spawn<Relay>(writer);
    relay << Number{1} << Number{2} << Number{3};
    // A timer of the outside, which the setup does not arm.
    (void)loop.send_after(5ms, writer, Number{50});
    while (made.log.size() < 4) loop.run_once(1s);
    relay << Finish{};
    EXPECT_EQ(loop.run(), Errc::ok);
  }
  ASSERT_EQ(made.log.size(), 4u);
  Log log;
  const ReplayReport report = replay_with(made.recording(), [&](Sim& sim) {
    const auto writer = sim.spawn<Writer>(&log);
    (void)sim.spawn<Relay>(writer);
  });
  EXPECT_TRUE(report) << report.text() << made.recording().dump();
  EXPECT_EQ(log, made.log);
}

struct Hasty {
  ActorRef<Writer> to;
  explicit Hasty(ActorRef<Writer> writer) : to(writer) {}
  void on(Finish, Context& context) {
    (void)context.send_after(0ms, to, Number{2});
    to << Number{1};
  }
};

// As if no time had passed at all.
std::string without_times(const std::string& record) {
  std::istringstream in(record);
  std::string text;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == 't' || line[0] == 'f') line = line.substr(0, line.rfind(' ')) + " 0";
    text += line + '\n';
  }
  return text;
}

TEST(Replay, ATimerThatIsDueAtOnceWaitsForItsPlace) {
  Recorded made;
  const auto build = [](SystemFace& system, Log* log) {
    system.spawn<Hasty>(system.spawn<Writer>(log)) << Finish{};
  };
  {
    Loop loop(made.options());
    build(loop, &made.log);
    while (made.log.size() < 2) loop.run_once(1s);
  }
  ASSERT_EQ(made.log, (Log{"1", "2"}));
  Log log;
  const Result<Recording> recording = Recording::parse(without_times(made.recording().text()));
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  const ReplayReport report = replay_with(*recording, [&](Sim& sim) { build(sim, &log); });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(log, made.log);
}

TEST(Replay, KeepsTheOrderInWhichThreadsCame) {
  Recorded made;
  {
    Loop loop(made.options());
    const auto writer = loop.spawn<Writer>(&made.log);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([writer, t] {
        for (int i = 0; i < 100; ++i) writer << Number{t * 1000 + i};
      });
    }
    while (made.log.size() < 300) loop.run_once(1s);
    for (std::thread& thread : threads) thread.join();
    writer << Finish{};
    EXPECT_EQ(loop.run(), Errc::ok);
  }
  Log log;
  const ReplayReport report =
      replay_with(made.recording(), [&](Sim& sim) { (void)sim.spawn<Writer>(&log); });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(log, made.log);
}

TEST(Replay, AsksAgain) {
  Recorded made;
  {
    Loop loop(made.options());
    const auto writer = loop.spawn<Writer>(&made.log);
    const auto relay = loop.spawn<Relay>(writer);
    const Result<int> answer = loop.run_until(relay.ask(Word{"seven.."}));
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(*answer, 7);
    relay << Finish{};
    EXPECT_EQ(loop.run(), Errc::ok);
  }
  Log log;
  const ReplayReport report = replay_with(made.recording(), [&](Sim& sim) {
    const auto writer = sim.spawn<Writer>(&log);
    (void)sim.spawn<Relay>(writer);
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(log, Log{"7"});
}

struct Listing : Writer {
  using Writer::Writer;
  using Messages = jzx::Messages<Number>;
};

TEST(Replay, FindsTheActorThatAReferenceInAMessageMeant) {
  Recorded made;
  {
    Loop loop(made.options());
    const auto writer = loop.spawn<Writer>(&made.log);
    const auto listing = loop.spawn<Listing>(&made.log);
    const auto relay = loop.spawn<Relay>(writer);
    relay << Meet{listing};
    for (int i = 0; i < 4; ++i) loop.run_once(0ms);
  }
  ASSERT_EQ(made.log, Log{"77"});
  Log log;
  const ReplayReport report = replay_with(made.recording(), [&](Sim& sim) {
    const auto writer = sim.spawn<Writer>(&log);
    (void)sim.spawn<Listing>(&log);
    (void)sim.spawn<Relay>(writer);
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(log, made.log);
}

TEST(Replay, AsksToEndWhoWasAskedFromOutside) {
  Recorded made;
  {
    Loop loop(made.options());
    const auto writer = loop.spawn<Writer>(&made.log);
    writer << Number{1};
    loop.run_once(0ms);
    EXPECT_EQ(loop.kill(writer), Errc::ok);
    EXPECT_EQ(loop.run(), Errc::ok);
  }
  Log log;
  const Recording recording = made.recording();
  EXPECT_NE(recording.dump().find("is asked to end"), std::string::npos) << recording.dump();
  Pid writer;
  bool is_gone = false;
  ReplayOptions options;
  options.codecs = all_codecs();
  const ReplayReport report = replay(
      recording, options, [&](Sim& sim) { writer = sim.spawn<Writer>(&log); },
      [&](Sim&) { is_gone = writer.send(Number{9}) == Errc::no_such_actor; });
  EXPECT_TRUE(report) << report.text();
  EXPECT_TRUE(is_gone);
}

}  // namespace
}  // namespace jzx::testing
