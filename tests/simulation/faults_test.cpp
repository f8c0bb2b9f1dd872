// What goes wrong in a simulation on purpose: that it does, and that it spares whom it should.
#include <gtest/gtest.h>

#include <jzx/supervisor.hpp>

#include <string>
#include <vector>

#include "simulation/cast.hpp"

namespace jzx {
namespace {

using namespace cast;

struct Worker {
  void on(Number) {}
};

TEST(SimulatedFaults, KillThrowDelayAndRefuse) {
  SimOptions options = quiet("x", 300);
  options.faults = SimFaults::all();
  options.swarm = true;
  options.check_determinism = true;
  const SimReport report = simulate(options, [](Sim& sim) {
    std::vector<ChildSpec> children;
    for (int i = 0; i < 3; ++i) children.push_back(child<Worker>("worker"));
    SupervisorOptions supervisor;
    supervisor.intensity = 5;
    supervisor.period = std::chrono::seconds(5);
    sim.check(bool(sim.supervise(supervisor, children)), "a family starts");
    std::vector<int> list;
    const auto collector = sim.spawn<Collector>(&list);
    for (int i = 0; i < 20; ++i) sim.spawn<Repeater>(collector) << Number{i};
    sim.run();
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_GT(report.steps, 300u * 20u);
}

TEST(SimulatedFaults, SpareWhomTheTestProtects) {
  SimOptions options = quiet("x", 50);
  options.faults.kill = 1'000'000;
  const SimReport report = simulate(options, [](Sim& sim) {
    std::vector<int> list;
    const auto collector = sim.spawn<Collector>(&list);
    sim.protect(collector);
    const auto doomed = sim.spawn<Repeater>(collector);
    doomed << Number{1};
    collector << Number{2};
    sim.run();
    sim.check(list == std::vector<int>{2}, "one is killed, and one is not");
  });
  EXPECT_TRUE(report) << report.text();
}

// ---- that each fault really happens ----

struct Teller {
  ActorRef<Collector> to;
  Errc* answer;
  Teller(ActorRef<Collector> the_to, Errc* the_answer) : to(the_to), answer(the_answer) {}
  void on(Number number) { *answer = to.send(number); }
};

// What a send between two actors is answered, where this goes wrong.
Errc answer_with(const SimFaults& faults) {
  SimOptions options = quiet("x", 1);
  options.faults = faults;
  Errc answer = Errc::unknown;
  const SimReport report = simulate(options, [&](Sim& sim) {
    std::vector<int>& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    sim.spawn<Teller>(collector, &answer) << Number{1};
    sim.run();
  });
  EXPECT_TRUE(report) << report.text();
  return answer;
}

TEST(SimulatedFaults, RefuseASendForWantOfRoomOrOfMemory) {
  EXPECT_EQ(answer_with({}), Errc::ok);
  EXPECT_EQ(answer_with({.full_mailbox = kAlways}), Errc::mailbox_full);
  EXPECT_EQ(answer_with({.no_memory = kAlways}), Errc::no_memory);
}

TEST(SimulatedFaults, LetAClockJumpAhead) {
  SimOptions options = quiet("x", 1);
  options.faults.clock_jump = kAlways;
  const SimReport report = simulate(options, [](Sim& sim) {
    // Each one's turn lets the clock jump over what the other waits for.
    sim.spawn<Clockwork>() << Tick{};
    sim.spawn<Clockwork>() << Tick{};
    sim.run_for(std::chrono::seconds(60));
    sim.check(sim.steps() > 2 * 61, "they think that more time has passed");
  });
  EXPECT_TRUE(report) << report.text();
}

// ---- clocks that run wrong ----

TEST(SimulatedFaults, LetAClockRunTooFastOrTooSlow) {
  const SimReport report = simulate(quiet("x", 1), [](Sim& sim) {
    SimNode& fast = sim.node("fast");
    SimNode& slow = sim.node("slow");
    fast.skew_clock(100'000);
    slow.skew_clock(-500'000);
    const auto when = [&](SimNode& node) {
      sim.check(sim.run_until(node.sleep(std::chrono::seconds(11))).ok(), "it has slept");
      return sim.now();
    };
    sim.check(when(fast) == std::chrono::seconds(10), "its seconds are short");
    sim.check(when(slow) == std::chrono::seconds(10 + 22), "its seconds are long");
    sim.check(when(sim.node("right")) == std::chrono::seconds(32 + 11), "and this one is right");
  });
  EXPECT_TRUE(report) << report.text();
}

// How long a second takes on a node, in the time of the world.
std::chrono::nanoseconds a_second_of(Sim& sim, SystemFace& node) {
  const auto begin = sim.now();
  sim.check(sim.run_until(node.sleep(std::chrono::seconds(1))).ok(), "it has slept");
  return sim.now() - begin;
}

TEST(SimulatedFaults, ChooseASkewForEachNodeAndEachStartOfIt) {
  constexpr auto kSecond = std::chrono::nanoseconds(std::chrono::seconds(1));
  bool has_seen[3] = {};
  SimOptions options = quiet("x", 30);
  options.faults.clock_skew = 10'000;
  options.check_determinism = true;
  const SimReport report = simulate(options, [&](Sim& sim) {
    SimNode& other = sim.node("other");
    const auto here = a_second_of(sim, sim);
    const auto there = a_second_of(sim, other);
    for (const auto length : {here, there}) {
      has_seen[length < kSecond ? 0 : length > kSecond ? 2 : 1] = true;
      sim.check(std::chrono::abs(length - kSecond) < kSecond / 90, "no more than was allowed");
    }
    sim.check(here != there, "each has its own");
    other.restart();
    sim.check(a_second_of(sim, other) != there, "and another one when it starts again");
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_TRUE(has_seen[0]);
  EXPECT_TRUE(has_seen[2]);
}

TEST(SimulatedFaults, LetAClockRunRightAgainAfterTheyAreHealed) {
  SimOptions options = quiet("x", 10);
  options.faults.clock_skew = 500'000;
  const SimReport report = simulate(options, [](Sim& sim) {
    SimNode& by_hand = sim.node("by hand");
    by_hand.skew_clock(-300'000);
    auto nap = by_hand.sleep(std::chrono::seconds(10));
    sim.run_for(std::chrono::seconds(10));
    sim.check(!nap.is_ready(), "it is late");
    sim.heal();
    sim.run_for(std::chrono::milliseconds(2'999));
    sim.check(!nap.is_ready(), "what the clock has lost it does not get back");
    sim.run_for(std::chrono::milliseconds(2));
    sim.check(nap.is_ready(), "but it goes on at the right rate");
    for (SystemFace* node : {static_cast<SystemFace*>(&sim), static_cast<SystemFace*>(&by_hand)}) {
      const auto length = a_second_of(sim, *node) - std::chrono::seconds(1);
      // A timer fires at a whole millisecond of its clock.
      sim.check(length >= length.zero() && length <= std::chrono::milliseconds(1),
                "a second is one");
    }
    sim.node("late");
    sim.check(a_second_of(sim, sim.node("late")) >= std::chrono::seconds(1), "of new ones, too");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimulatedFaults, ShrinkTheSkewOfAClock) {
  SimOptions options = quiet("x", 50);
  options.faults.clock_skew = 100'000;
  const SimReport report = simulate(options, [](Sim& sim) {
    // A lease that is given back a second before it ends, by a clock that is good enough.
    auto held = sim.node("holder").sleep(std::chrono::seconds(59));
    sim.check(sim.run_until(sim.sleep(std::chrono::seconds(60))).ok(), "the lease ends");
    sim.check(held.is_ready(), "who holds it gives it back in time");
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.shrunk, 1u) << report.text() << "one clock is enough";
  EXPECT_NE(report.trace.find("ppm too"), std::string::npos) << report.trace;
}

}  // namespace
}  // namespace jzx
