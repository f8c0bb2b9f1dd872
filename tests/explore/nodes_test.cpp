// Nodes that crash and start again at any moment, with families on them, while others ask and send.
#include <gtest/gtest.h>

#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>

#include <cstdio>
#include <memory>

#include "support/scale.hpp"

namespace jzx::explore {
namespace {

using std::chrono::milliseconds;

struct Read {};
struct Write {
  int value = 0;
};
struct Fail {};

struct Keeper {
  int on(Read) { return value; }
  void on(Write write) { value = write.value; }
  void on(Fail, Context& self) { self.fail("by chance"); }
  int value = 0;
};

struct Count {
  int asked = 0;
  int answered = 0;  // or rejected
  int starts = 0;
};

// What a node does when it is switched on.
struct Service {
  SupervisorRef family;

  void start(SimNode& node, Count& count) {
    ++count.starts;
    SupervisorOptions options;
    options.strategy = Strategy::one_for_all;
    options.intensity = 100;
    family = node.supervise(options, {child<Keeper>("left"), child<Keeper>("right")});
  }
  [[nodiscard]] ActorRef<Keeper> keeper(uint32_t which) const {
    return family.child_as<Keeper>(which);
  }
};

void crash_and_ask(Sim& sim) {
  auto count = std::make_shared<Count>();
  std::shared_ptr<Service> services[2];
  SimNode* nodes[2] = {&sim.node("east"), &sim.node("west")};
  for (size_t i = 0; i < 2; ++i) {
    services[i] = std::make_shared<Service>();
    nodes[i]->on_start([=](SimNode& node) { services[i]->start(node, *count); });
  }
  for (int round = 0; round < 30 && !sim.has_failed(); ++round) {
    const size_t which = sim.choose(2);
    SimNode& node = *nodes[which];
    const auto keeper = node.is_up() ? services[which]->keeper(sim.choose(2)) : ActorRef<Keeper>();
    switch (sim.choose(8)) {
      case 1:
        node.crash();
        break;
      case 2:
        node.restart();
        break;
      case 3:
        keeper << Fail{};
        break;
      case 4:
        keeper << Write{round};
        break;
      case 5: {
        ++count->asked;
        auto chain = keeper.ask_for(milliseconds(10), Read{}).finally([=] { ++count->answered; });
        break;
      }
      case 6:
        node.jump_clock(milliseconds(100));
        break;
      default: {
        ++count->asked;
        auto chain = keeper.ask(Read{}).finally([=] { ++count->answered; });
        break;
      }
    }
    for (uint32_t steps = sim.choose(4); steps > 0; --steps) sim.step();
  }
  for (size_t i = 0; i < 2; ++i) {
    if (!nodes[i]->is_up()) nodes[i]->restart();
  }
  sim.heal();
  sim.run();
  sim.check(count->answered == count->asked, "an ask is answered, or said to be in vain");
  for (const auto& service : services) {
    if (service->family && !service->family.which_children().empty()) {
      sim.check(service->family.count().active == 2, "whose family lives has all of it");
    }
  }
}

TEST(Explore, CrashesOfNodes) {
  SimOptions options;
  options.name = "Explore.CrashesOfNodes";
  options.seeds = static_cast<uint32_t>(testing::scaled(3000, 5));
  options.faults = SimFaults::all();
  options.swarm = true;
  const SimReport report = simulate(options, crash_and_ask);
  EXPECT_TRUE(report) << report.text();
  std::printf("explored CrashesOfNodes: %llu seeds, %llu events\n",
              static_cast<unsigned long long>(report.runs),
              static_cast<unsigned long long>(report.steps));
}

}  // namespace
}  // namespace jzx::explore
