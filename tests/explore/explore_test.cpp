// Supervision and lifecycle, explored: random families of actors that do random things to one
// another, with all faults, for many seeds. What must hold is said by the simulator's own oracles
// and by the books.
//
//   JZX_SEED_COUNT=n    so many seeds for each test; `make soak` has a million in all
#include <gtest/gtest.h>

#include <cstdio>

#include "explore/crowd.hpp"
#include "support/scale.hpp"

namespace jzx::explore {
namespace {

constexpr uint32_t kSeeds = 5000;  // for each of the four explorations

SimOptions options_for(const char* name, SimPolicy policy, Scribe& scribe) {
  SimOptions options;
  options.name = name;
  options.seeds = static_cast<uint32_t>(testing::scaled(kSeeds, 5));
  options.policy = policy;
  options.faults = SimFaults::all();
  options.swarm = true;
  options.deadlock_fails = false;
  options.max_steps = 100'000;
  options.observer = &scribe;
  return options;
}

BooksPtr open_books(Sim& sim, Scribe& scribe) {
  auto books = std::make_shared<Books>(sim);
  scribe.books = books.get();
  Books::open(books);
  return books;
}

// Orders from outside, at any moment; and new ones, where many have ended.
void stir(Sim& sim, const BooksPtr& books) {
  constexpr uint32_t kEnergy = 4;
  constexpr size_t kFew = 5;
  for (uint32_t left = 20 * (1 + sim.choose(6)); left > 0 && !sim.has_failed(); --left) {
    if (books->population() < kFew) {
      (void)spawn_somebody(books, sim, SpawnOptions{});
    } else if (sim.choose(6) == 5) {
      (void)act(*books, sim, {}, kEnergy);
    } else {
      (void)books->somebody().send(Do{kEnergy, books->new_order()});
    }
    for (uint32_t steps = sim.choose(6); steps > 0; --steps) sim.step();
  }
  sim.run();
  sim.finish();
}

void live(Sim& sim, Scribe& scribe) {
  const BooksPtr books = open_books(sim, scribe);
  for (uint32_t left = 3 + sim.choose(6); left > 0; --left) {
    (void)spawn_somebody(books, sim, SpawnOptions{});
  }
  stir(sim, books);
}

void supervise(Sim& sim, Scribe& scribe) {
  const BooksPtr books = open_books(sim, scribe);
  for (uint32_t left = 1 + sim.choose(2); left > 0; --left) {
    const SupervisorOptions options = some_options(*books);
    const SupervisorRef supervisor = sim.supervise(options, some_children(books, options, 2));
    if (sim.check(bool(supervisor), "a family starts")) books->supervises(supervisor);
  }
  stir(sim, books);
}

void tell(const char* name, const SimReport& report) {
  const double hours = std::chrono::duration<double, std::ratio<3600>>(report.simulated).count();
  std::printf("explored %s: %llu seeds, %llu events, %.0f simulated hours\n", name,
              static_cast<unsigned long long>(report.runs),
              static_cast<unsigned long long>(report.steps), hours);
}

void explore(const char* name, SimPolicy policy, void (*scenario)(Sim&, Scribe&)) {
  Scribe scribe;
  const SimReport report =
      simulate(options_for(name, policy, scribe), [&](Sim& sim) { scenario(sim, scribe); });
  EXPECT_TRUE(report) << report.text();
  tell(name, report);
}

TEST(Explore, LifecycleInRandomOrder) {
  explore("Explore.LifecycleInRandomOrder", SimPolicy::random, live);
}
TEST(Explore, LifecycleByPriorities) {
  explore("Explore.LifecycleByPriorities", SimPolicy::pct, live);
}
TEST(Explore, SupervisionInRandomOrder) {
  explore("Explore.SupervisionInRandomOrder", SimPolicy::random, supervise);
}
TEST(Explore, SupervisionByPriorities) {
  explore("Explore.SupervisionByPriorities", SimPolicy::pct, supervise);
}

// Whatever happens in a run happens again in another with the same seed.
TEST(Explore, TheSameSeedIsTheSameRun) {
  for (const auto scenario : {live, supervise}) {
    Scribe scribe;
    SimOptions options = options_for("Explore.TheSameSeedIsTheSameRun", SimPolicy::random, scribe);
    options.seeds = static_cast<uint32_t>(testing::scaled(500, 5));
    options.check_determinism = true;
    const SimReport report = simulate(options, [&](Sim& sim) { scenario(sim, scribe); });
    EXPECT_TRUE(report) << report.text();
  }
}

}  // namespace
}  // namespace jzx::explore
