// A replay that cannot follow its record says where and why.
#include <gtest/gtest.h>

#include <jzx/manual.hpp>

#include <thread>

#include "record/cast.hpp"

using namespace std::chrono_literals;

namespace jzx::testing {
namespace {

Recording record(const std::function<void(Loop&, Log*)>& run) {
  Recorded made;
  {
    Loop loop(made.options());
    run(loop, &made.log);
  }
  return made.recording();
}

// A relay that passes 2 on to a writer.
Recording of_relay() {
  return record([](Loop& loop, Log* log) {
    const auto relay = loop.spawn<Relay>(loop.spawn<Writer>(log));
    relay << Number{2} << Finish{};
    (void)loop.run();
  });
}

void expect_end(const ReplayReport& report, ReplayEnd end, const char* why) {
  EXPECT_EQ(report.end, end) << report.text();
  EXPECT_EQ(report.failure, why);
}

TEST(Divergence, AnActorThatTheSetupDoesNotSpawnIsMissed) {
  Log log;
  expect_end(replay_with(of_relay(), [&](Sim& sim) { (void)sim.spawn<Writer>(&log); }),
             ReplayEnd::diverged,
             "the record has a turn of jzx::testing::Relay#2, which was spawned from outside, and "
             "which the setup has not spawned");
}

TEST(Divergence, AnActorOfAnotherTypeIsNoticed) {
  Log log;
  expect_end(replay_with(of_relay(),
                         [&](Sim& sim) {
                           (void)sim.spawn<Writer>(&log);
                           (void)sim.spawn<Writer>(&log);
                         }),
             ReplayEnd::diverged,
             "in the setup jzx::testing::Writer is spawned, where the record has "
             "jzx::testing::Relay#2");
}

TEST(Divergence, OneActorTooManyIsNoticed) {
  Log log;
  expect_end(replay_with(of_relay(),
                         [&](Sim& sim) {
                           const auto writer = sim.spawn<Writer>(&log);
                           (void)sim.spawn<Relay>(writer);
                           (void)sim.spawn<Relay>(writer);
                         }),
             ReplayEnd::diverged,
             "in the setup jzx::testing::Relay is spawned, which the record does not have");
}

TEST(Divergence, AMessageThatWasNotSentIsNoticed) {
  Log log;
  expect_end(replay_with(of_relay(),
                         [&](Sim& sim) {
                           const auto writer = sim.spawn<Writer>(&log);
                           (void)sim.spawn<Relay>(writer);
                           writer << Word{"new"};
                         }),
             ReplayEnd::diverged,
             "in the setup jzx::testing::Word to jzx::testing::Writer#1 is sent, which the record "
             "does not have");
}

TEST(Divergence, AMessageThatIsNoLongerSentIsMissed) {
  Log log;
  // Here the relay has nobody to pass it on to.
  const ReplayReport report = replay_with(of_relay(), [&](Sim& sim) {
    (void)sim.spawn<Writer>(&log);
    (void)sim.spawn<Relay>(ActorRef<Writer>());
  });
  expect_end(report, ReplayEnd::diverged,
             "in turn 1 of 2, of jzx::testing::Relay#2 the record has it that "
             "jzx::testing::Number to jzx::testing::Writer#1 is sent, and here it is not so");
  EXPECT_EQ(report.turns, 1u);
  EXPECT_NE(report.text().find("replay diverged from the record, 1 of 2 turns: in turn 1"),
            std::string::npos)
      << report.text();
}

TEST(Divergence, ATimerInPlaceOfAMessageIsNoticed) {
  std::string text = of_relay().text();
  // The record of a program that got a 3 where this one gets a 2, and armed a timer for it.
  const size_t at = text.find("=02000000");
  ASSERT_NE(at, std::string::npos) << text;
  text[at + 2] = '3';
  Log log;
  expect_end(replay_with(*Recording::parse(text),
                         [&](Sim& sim) { (void)sim.spawn<Relay>(sim.spawn<Writer>(&log)); }),
             ReplayEnd::diverged,
             "in turn 1 of 2, of jzx::testing::Relay#2 a timer is armed, which the record does not "
             "have");
}

TEST(Divergence, ASetupThatRunsIsRefused) {
  Log log;
  expect_end(replay_with(of_relay(),
                         [&](Sim& sim) {
                           const auto relay = sim.spawn<Relay>(sim.spawn<Writer>(&log));
                           relay << Number{2};
                           sim.run();
                         }),
             ReplayEnd::diverged, "the setup must not run the simulation: the record does that");
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST(Divergence, ASetupThatThrowsIsAFailure) {
  expect_end(replay_with(of_relay(), [](Sim&) { throw std::runtime_error("no"); }),
             ReplayEnd::failed, "the setup threw: no");
}
#endif

TEST(Divergence, WithoutACodecInTheReplayAMessageCannotBeSentAgain) {
  Log log;
  expect_end(
      replay(of_relay(), {}, [&](Sim& sim) { (void)sim.spawn<Relay>(sim.spawn<Writer>(&log)); }),
      ReplayEnd::not_recorded,
      "jzx::testing::Number to jzx::testing::Relay#2 came from outside, and cannot be sent "
      "again: the replay has no codec for it");
}

struct Waiter {
  Log* log;
  Future<int> future;
  Waiter(Log* the_log, Future<int> the_future) : log(the_log), future(std::move(the_future)) {}
  Task<void> on(Number) {
    Result<int> got = co_await future;
    log->push_back(got.ok() ? std::to_string(*got) : "error");
  }
};

TEST(Divergence, WhatAnotherThreadResolvedIsNotRecorded) {
  Codecs codecs;
  codecs.add_for<Waiter, Number>();
  Recorder recorder({.codecs = codecs});
  {
    LoopOptions options;
    options.recorder = &recorder;
    Loop loop(options);
    Log log;
    auto [future, promise] = jzx::promise<int>();
    loop.spawn<Waiter>(&log, std::move(future)) << Number{1};
    loop.run_once(0ms);
    std::thread([&the_promise = promise] { the_promise.resolve(5); }).join();
    while (log.empty()) loop.run_once(1s);
  }
  ReplayOptions options;
  options.codecs = codecs;
  Log log;
  auto [future, promise] = jzx::promise<int>();
  const ReplayReport report = replay(*recorder.recording(), options, [&](Sim& sim) {
    (void)sim.spawn<Waiter>(&log, std::move(future));
  });
  expect_end(report, ReplayEnd::not_recorded,
             "in turn 2 of 2, of jzx::testing::Waiter#1 nothing has woken it: what did "
             "is not recorded, a future that another thread resolved perhaps");
  EXPECT_NE(log, Log{"5"});
}

TEST(Divergence, AnActorThatWasRunByHandIsNotReplayed) {
  const Recording recording = record([](Loop& loop, Log* log) {
    auto manual = spawn_manual<Writer>(loop, log);
    manual.ref() << Number{1};
    (void)manual.poll_one();
  });
  Log log;
  expect_end(replay_with(recording, [&](Sim& sim) { (void)sim.spawn<Writer>(&log); }),
             ReplayEnd::not_recorded,
             "this cannot be replayed: an actor was run by hand, or on another thread");
}

TEST(Divergence, AReplayOfNothingIsAnError) {
  expect_end(replay(Recording(), {}, [](Sim&) {}), ReplayEnd::not_recorded, "there is no record");
}

// ---- what a replay is for ----

TEST(ReplayChecks, AnInvariantIsLookedAtAfterEveryTurn) {
  Log log;
  const ReplayReport report = replay_with(of_relay(), [&](Sim& sim) {
    (void)sim.spawn<Relay>(sim.spawn<Writer>(&log));
    sim.always("nothing is written", [&] { return log.empty(); });
  });
  expect_end(report, ReplayEnd::failed, "it must always be so: nothing is written");
  EXPECT_EQ(log, Log{"2"});
  EXPECT_NE(report.trace.find("takes jzx::testing::Number from"), std::string::npos)
      << report.trace;
}

TEST(ReplayChecks, TheSimulationGoesOnWhereTheRecordEnds) {
  const Recording recording = record([](Loop& loop, Log* log) {
    const auto relay = loop.spawn<Relay>(loop.spawn<Writer>(log));
    relay << Number{1};
    loop.run_once(0ms);  // and not until the timer is due
    relay << Number{4};
  });
  for (const bool goes_on : {false, true}) {
    Log log;
    ReplayOptions options;
    options.codecs = all_codecs();
    options.goes_on = goes_on;
    const ReplayReport report = replay(recording, options, [&](Sim& sim) {
      (void)sim.spawn<Relay>(sim.spawn<Writer>(&log));
      if (goes_on) sim.eventually("all is written", [&] { return log.size() == 2; });
    });
    EXPECT_TRUE(report) << report.text();
    EXPECT_EQ(log, goes_on ? (Log{"4", "1"}) : Log{});
  }
}

TEST(ReplayChecks, APromiseThatNobodyLooksAtIsAFailure) {
  const Recording recording = of_relay();
  Log log;
  const auto setup = [&](Sim& sim) { (void)sim.spawn<Relay>(sim.spawn<Writer>(&log)); };
  const auto promise = [](Sim& sim) { sim.eventually("pigs fly", [] { return true; }); };
  ReplayOptions options;
  options.codecs = all_codecs();
  constexpr const char* kNobodyLooks =
      "it is said what must be so eventually, but nobody looks: the replay does not go on after "
      "the record (ReplayOptions::goes_on)";
  expect_end(replay(recording, options,
                    [&](Sim& sim) {
                      setup(sim);
                      promise(sim);
                    }),
             ReplayEnd::failed, kNobodyLooks);
  expect_end(replay(recording, options, setup, promise), ReplayEnd::failed, kNobodyLooks);
  const ReplayReport finished = replay(recording, options, setup, [&](Sim& sim) {
    promise(sim);
    sim.finish();
  });
  EXPECT_TRUE(finished) << finished.text();
  options.goes_on = true;
  expect_end(replay(recording, options, setup, promise), ReplayEnd::failed,
             "what must be so eventually was said only at the end, when it had been looked at");
}

}  // namespace
}  // namespace jzx::testing
