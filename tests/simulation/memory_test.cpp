// Memory that is refused in the middle of a step: of futures and coroutines, too.
#include <gtest/gtest.h>

#include <jzx/async/self.hpp>
#include <jzx/async/spawn.hpp>
#include <jzx/async/timeout.hpp>
#include <jzx/fiber.hpp>
#include <jzx/supervisor.hpp>
#include <jzx/sync/sync.hpp>

#include <new>
#include <string>
#include <vector>

#include "simulation/cast.hpp"

#ifndef JZX_LIBRARY_NOEXCEPT  // without exceptions they are left alone

namespace jzx {
namespace {

using namespace cast;

// What the code of an actor gets where there is no memory for anything, in a fiber of its own.
template <class Body>
void without_memory(Body&& body) {
  const SimReport report = simulate(quiet("x", 1), [&](Sim& sim) {
    bool& is_done = sim.make<bool>(false);
    // It is there already when the memory goes.
    const Pid pid = sim.spawn_fn([&] {
      (void)receive([&](Number) {
        body(sim);
        is_done = true;
      });
    });
    sim.run();
    sim.set_faults({.allocation = kAlways});
    pid << Number{1};
    sim.run();
    sim.heal();
    sim.check(is_done, "it came to its end");
  });
  EXPECT_TRUE(report) << report.text();
}

Task<int> seven() { co_return 7; }

TEST(MemoryFaults, RefuseASleepAndATask) {
  without_memory([](Sim& sim) {
    EXPECT_EQ(sim.sleep(std::chrono::seconds(1)).get().error().code(), Errc::no_memory);
    EXPECT_EQ(seven().get().error().code(), Errc::no_memory);
  });
}

TEST(MemoryFaults, AreABadAllocWhereThereIsNoOtherAnswer) {
  without_memory([](Sim&) {
    EXPECT_THROW((void)Promise<int>(), std::bad_alloc);
    EXPECT_THROW((void)Future<int>(Result<int>(3)), std::bad_alloc);
    EXPECT_THROW((void)Mutex(), std::bad_alloc);
  });
}

TEST(MemoryFaults, SpareTheScenarioAndWhomItProtects) {
  const SimReport report = simulate(quiet("x", 1), [](Sim& sim) {
    Errc& code = sim.make<Errc>(Errc::unknown);
    const Pid pid =
        sim.spawn_fn([&] { (void)receive([&](Number) { code = seven().get().error().code(); }); });
    sim.run();
    sim.protect(pid);
    sim.set_faults({.allocation = kAlways});
    sim.check(sim.sleep(std::chrono::seconds(1)).is_valid(), "the scenario has memory");
    Promise<int> promise;
    sim.check(promise.future().is_valid(), "for all it needs");
    pid << Number{1};
    sim.run();
    sim.check(ok(code), "and so has who is protected");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(MemoryFaults, AreOverAfterTheRun) {
  SimOptions options = quiet("x", 1);
  options.faults.allocation = kAlways;
  const SimReport report = simulate(options, [](Sim& sim) {
    sim.spawn<Collector>(&sim.make<std::vector<int>>()) << Number{1};
    sim.run();
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(seven().get().value(), 7);
}

// ---- a small program that uses all of it ----

struct Question {
  int value = 0;
};
struct Oracle {
  Task<int> on(Question question) {
    Self self = co_await this_actor();
    Future<void> nap = self.sleep(std::chrono::milliseconds(1));
    Result<void> slept = co_await nap;
    if (!slept.ok()) co_return slept.error();
    co_return question.value * 2;
  }
};

struct Pilgrim {
  ActorRef<Oracle> oracle;
  int* answers;
  Pilgrim(ActorRef<Oracle> the_oracle, int* the_answers)
      : oracle(the_oracle), answers(the_answers) {}
  Task<void> on(Number number) {
    Future<int> asking = oracle.ask(Question{number.value});
    Future<int> limited = with_timeout(std::chrono::seconds(1), std::move(asking));
    Result<int> answer = co_await limited;
    if (answer.ok()) ++*answers;
  }
};

TEST(MemoryFaults, NeverMakeAnythingHangOrLeak) {
  SimOptions options = quiet("x", 400);
  options.faults.allocation = 50'000;
  options.check_determinism = true;
  int refused = 0;
  int answered = 0;
  const SimReport report = simulate(options, [&](Sim& sim) {
    int& answers = sim.make<int>(0);
    const auto oracle = sim.spawn<Oracle>();
    const auto pilgrim = sim.spawn<Pilgrim>(oracle, &answers);
    for (int i = 0; i < 5; ++i) pilgrim << Number{i};
    sim.spawn_fn([&sim] {
      for (int i = 0; i < 3; ++i) (void)sim.sleep(std::chrono::milliseconds(1)).get();
    });
    sim.run();
    answered += answers;
    refused += 5 - answers;
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_GT(refused, 0);
  EXPECT_GT(answered, 0);
}

}  // namespace
}  // namespace jzx

#endif
