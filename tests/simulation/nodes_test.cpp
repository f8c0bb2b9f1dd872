// Simulated machines: they crash, and start again.
#include <gtest/gtest.h>

#include <vector>

#include "simulation/cast.hpp"

namespace jzx {
namespace {

using namespace cast;

struct LateChooser {
  explicit LateChooser(Sim* the_sim) : sim(the_sim) {}
  Task<void> on(Tick) {
    Future<void> nap = sim->sleep(std::chrono::hours(24 * 1000));  // later than a run lasts
    (void)co_await nap;
    (void)sim->choose(2);
    (void)sim->node("other").whereis("anybody");
  }
  Sim* sim;
};

TEST(SimulatedNodes, AreThereUntilAllCoroutinesHaveEnded) {
  const SimReport report = simulate(quiet("x", 2), [](Sim& sim) {
    sim.node("other").spawn<LateChooser>(&sim) << Tick{};
    sim.spawn<LateChooser>(&sim) << Tick{};
    sim.run_for(std::chrono::milliseconds(1));
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimulatedNodes, CrashWithoutALastWordAndStartAgain) {
  const SimReport report = simulate(quiet("x", 10), [](Sim& sim) {
    std::vector<int> list;
    int starts = 0;
    ActorRef<Collector> collector;
    SimNode& server = sim.node("server");
    server.on_start([&](SimNode& node) {
      ++starts;
      collector = node.spawn<Collector>(&list);
    });
    collector << Number{1};
    sim.run();
    collector << Number{2};
    const auto old = collector;
    server.crash();
    sim.check(old.send(Number{3}) == Errc::loop_closed, "what was there is gone");
    server.restart();
    collector << Number{4};
    sim.run();
    sim.check(list == std::vector<int>{1, 4}, "what was queued is lost");
    sim.check(starts == 2, "it started twice");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimulatedNodes, MayBeRestartedByWhoHearsOfACrash) {
  const SimReport report = simulate(quiet("x", 5), [](Sim& sim) {
    SimNode& server = sim.node("server");
    int starts = 0;
    server.on_start([&](SimNode&) { ++starts; });
    // An actor whose ask is broken by the crash.
    auto pending = server.sleep(std::chrono::hours(1));
    pending.then([&](Result<void>) { server.restart(); });
    server.crash();
    sim.check(server.is_up() && starts == 2, "it is up again");
    bool is_restarted = false;
    sim.sleep(std::chrono::seconds(1)).then([&](Result<void>) {
      server.restart();
      is_restarted = true;
    });
    sim.run_for(std::chrono::seconds(2));
    sim.check(is_restarted && starts == 3, "and again by a timer");
  });
  EXPECT_TRUE(report) << report.text();
}

}  // namespace
}  // namespace jzx
