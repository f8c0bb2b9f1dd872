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

constexpr uint32_t kAlways = 1'000'000;

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

struct Ends final : Observer {
  void actor_stopped(ActorId, ExitReason reason, const ExitText& text) override {
    reasons.push_back(reason);
    texts.emplace_back(text.view());
  }
  std::vector<ExitReason> reasons;
  std::vector<std::string> texts;
};

TEST(SimulatedFaults, MakeAHandlerThrow) {
  Ends ends;
  SimOptions options = quiet("x", 1);
  options.faults.throws = kAlways;
  options.observer = &ends;
  const SimReport report = simulate(options, [](Sim& sim) {
    std::vector<int>& list = sim.make<std::vector<int>>();
    sim.spawn<Collector>(&list) << Number{1};
    sim.run();
    sim.check(list.empty(), "it has not come that far");
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(ends.reasons, std::vector<ExitReason>{ExitReason::panic});
  EXPECT_EQ(ends.texts, std::vector<std::string>{"thrown by the simulator"});
}

TEST(SimulatedFaults, DelayATurn) {
  SimOptions options = quiet("x", 20);
  options.faults.delay = kAlways / 2;
  bool was_late = false;
  const SimReport report = simulate(options, [&](Sim& sim) {
    std::vector<int>& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    collector << Number{1} << Number{2};
    sim.run();
    sim.check(list == std::vector<int>{1, 2}, "late, but in order");
    was_late |= sim.now() > std::chrono::nanoseconds(0);
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_TRUE(was_late);
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

}  // namespace
}  // namespace jzx
