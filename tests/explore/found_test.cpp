// What the explorations have found, each as a small scenario of its own.
#include <gtest/gtest.h>

#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>

namespace jzx::explore {
namespace {

struct Go {};

struct Infant {};

// Asks to be linked to whom it spawns, and to monitor it.
struct Spawner {
  struct Report {
    int refused = 0;
    int heard = 0;
  };
  explicit Spawner(Report* the_report) : report(the_report) {}
  void on(Go, Context& self) {
    (void)self.trap_exit(true);
    MonitorRef ref;
    SpawnOptions options;
    options.link = options.monitor = self.self();
    options.monitor_ref = &ref;
    if (!self.spawn_with<Infant>(options)) ++report->refused;
  }
  void on(const Exit&) { ++report->heard; }
  void on(const Down&) { ++report->heard; }
  Report* report;
};

// The link was there when there was no memory for the monitor: whoever spawned was told of the end
// of an actor that it never had, or was killed by it.
TEST(Found, ASpawnThatIsRefusedTellsNobody) {
  int refused = 0;
  SimOptions options;
  options.name = "Found.ASpawnThatIsRefusedTellsNobody";
  options.seeds = 500;
  options.faults.allocation = 200'000;
  Spawner::Report report;
  const SimReport result = simulate(options, [&](Sim& sim) {
    report = {};
    sim.spawn<Spawner>(&report) << Go{};
    sim.run();
    sim.check(report.heard == 0, "nobody has ended");
    refused += report.refused;
  });
  EXPECT_TRUE(result) << result.text();
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace jzx::explore
