// Code that is made to throw, by its rate or at its n-th message: handlers, and bodies that wait.
#include <gtest/gtest.h>

#include <jzx/async/self.hpp>
#include <jzx/async/spawn.hpp>
#include <jzx/fiber.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include "simulation/cast.hpp"

namespace jzx {
namespace {

using namespace cast;

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

// ---- the n-th message ----

TEST(SimulatedFaults, ThrowAtTheMessageWithThatNumber) {
  for (const uint32_t number : {1u, 2u, 3u, 4u}) {
    Ends ends;
    SimOptions options = quiet("x", 1);
    options.policy = SimPolicy::fifo;
    options.faults.throw_at = number;
    options.observer = &ends;
    const SimReport report = simulate(options, [&](Sim& sim) {
      std::vector<int>& list = sim.make<std::vector<int>>();
      const auto collector = sim.spawn<Collector>(&list);
      for (int i = 1; i <= 3; ++i) collector << Number{i};
      sim.run();
      sim.check(list.size() == number - 1, "those before it were handled, and none after it");
    });
    EXPECT_TRUE(report) << report.text();
    EXPECT_EQ(ends.texts, std::vector<std::string>(number <= 3, "thrown by the simulator"));
  }
}

TEST(SimulatedFaults, CountTheMessagesOfAllActorsUntilOneThrows) {
  Ends ends;
  SimOptions options = quiet("x", 1);
  options.policy = SimPolicy::fifo;
  options.faults.throw_at = 4;
  options.observer = &ends;
  const SimReport report = simulate(options, [&](Sim& sim) {
    std::vector<int>& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    const auto exempt = sim.spawn<Collector>(&list);
    sim.protect(exempt);
    const auto repeater = sim.spawn<Repeater>(collector);
    exempt << Number{0};
    for (int i = 1; i <= 4; ++i) repeater << Number{i};
    sim.run();
    sim.check(list == std::vector<int>{0, 1, 2, 3}, "the fourth repeat, and no other, throws");
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(ends.reasons, std::vector<ExitReason>{ExitReason::panic});
}

TEST(SimulatedFaults, CountFromWhenTheyAreSetAndStopWhenHealed) {
  const SimReport report = simulate(quiet("x", 1), [&](Sim& sim) {
    std::vector<int>& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    const auto tell = [&](int value) {
      collector << Number{value};
      sim.run();
    };
    tell(1);
    sim.set_faults({.throw_at = 2});
    tell(2);
    sim.heal();
    tell(3);
    sim.set_faults({.throw_at = 2});
    tell(4);
    tell(5);
    sim.check(list == std::vector<int>{1, 2, 3, 4}, "the second since it was set");
    sim.check(collector.send(Number{6}) == Errc::no_such_actor, "it has ended");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimulatedFaults, ChooseWhichMessageThrowsAndShrinkToOne) {
  SimOptions options = quiet("x", 200);
  options.faults.throw_within = 20;
  const SimReport report = simulate(options, [&](Sim& sim) {
    std::vector<int>& list = sim.make<std::vector<int>>();
    const auto collector = sim.spawn<Collector>(&list);
    for (int i = 1; i <= 10; ++i) collector << Number{i};
    sim.run();
    sim.check(list.size() != 7, "seven is enough for nobody");
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.shrunk, 1u) << report.text();
  EXPECT_NE(report.repeat_shrunk.find("JZX_CHOICES=f0:8 "), std::string::npos) << report.text();
}

// ---- bodies that wait ----

// What a body that waits has come to see.
struct Seen {
  std::vector<std::string> lines;
  void operator()(std::string line) { lines.push_back(std::move(line)); }
};

using Reasons = std::vector<ExitReason>;

// One run in which the n-th message or wait throws: how actors have ended.
template <class Body>
Reasons with_throw_at(uint32_t number, Body&& body) {
  Ends ends;
  SimOptions options = quiet("x", 1);
  options.policy = SimPolicy::fifo;
  options.faults.throw_at = number;
  options.observer = &ends;
  options.check_determinism = true;
  const SimReport report = simulate(options, [&](Sim& sim) {
    ends = {};
    body(sim);
  });
  EXPECT_TRUE(report) << report.text();
  return ends.reasons;
}

TEST(SimulatedFaults, MakeTheReceiveOfAFiberThrow) {
  const Reasons reasons = with_throw_at(2, [&](Sim& sim) {
    int& received = sim.make<int>(0);
    const Pid fiber = sim.spawn_fn([&received] {
      for (;;) {
        if (receive([&](Number number) { received += number.value; }) != Wait::done) return;
      }
    });
    fiber << Number{1};
    fiber << Number{10};
    sim.run();
    sim.check(received == 1, "the second receive gives nothing");
  });
  EXPECT_EQ(reasons, Reasons{ExitReason::panic});
}

TEST(SimulatedFaults, MakeTheSleepOfAFiberThrow) {
  const Reasons reasons = with_throw_at(1, [&](Sim& sim) {
    bool& has_slept = sim.make<bool>(false);
    (void)sim.spawn_fn([&has_slept] {
      if (sleep_for(std::chrono::seconds(1)) == Wait::done) has_slept = true;
    });
    sim.run();
    sim.check(!has_slept, "it throws");
  });
  EXPECT_EQ(reasons, Reasons{ExitReason::panic});
}

// Without exceptions the actor is asked to end instead: what its wait has brought it still sees.
#ifdef JZX_LIBRARY_NOEXCEPT
constexpr int kSeen = 1;
#else
constexpr int kSeen = 0;
#endif

struct Dozer {
  explicit Dozer(int* the_done) : done(the_done) {}
  Task<void> on(Number number) {
    Self self = co_await this_actor();
    Future<void> nap = self.sleep(std::chrono::seconds(1));
    Result<void> slept = co_await nap;
    if (slept.ok()) *done += number.value;
  }
  int* done;
};

TEST(SimulatedFaults, MakeTheAwaitOfAHandlerThrow) {
  const Reasons reasons = with_throw_at(4, [&](Sim& sim) {
    int& done = sim.make<int>(0);
    const auto sleeper = sim.spawn<Dozer>(&done);
    sleeper << Number{1} << Number{10} << Number{100};
    sim.run();
    sim.check(done == 1 + kSeen * 10, "of the second the message came, and its wait threw");
  });
  EXPECT_EQ(reasons, Reasons{ExitReason::panic});
}

Task<int> three_naps(SystemFace& system, int* done) {
  for (int i = 0; i < 3; ++i) {
    Future<void> nap = system.sleep(std::chrono::seconds(1));
    Result<void> slept = co_await nap;
    if (!slept.ok()) co_return slept.error();
    ++*done;
  }
  co_return *done;
}

TEST(SimulatedFaults, MakeTheAwaitOfATaskThrow) {
  const Reasons reasons = with_throw_at(2, [&](Sim& sim) {
    int& done = sim.make<int>(0);
    const Result<int> result = sim.run_until(three_naps(sim, &done));
    sim.check(!result.ok() && done == 1 + kSeen, "its second wait threw");
#ifndef JZX_LIBRARY_NOEXCEPT
    sim.check(result.error().code() == Errc::exception, "and that is what its future says");
    sim.check(std::string(result.error().message()) == "thrown by the simulator", "in these words");
#endif
  });
  EXPECT_EQ(reasons, Reasons{ExitReason::panic});
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST(SimulatedFaults, ThrowWhatABodyMayCatch) {
  const Reasons fiber = with_throw_at(1, [&](Sim& sim) {
    Seen& seen = sim.make<Seen>();
    const Pid pid = sim.spawn_fn([&seen] {
      for (int i = 0; i < 2; ++i) {
        try {
          (void)receive([&](Number number) { seen("received " + std::to_string(number.value)); });
        } catch (const std::runtime_error& error) {
          seen(error.what());
        }
      }
    });
    pid << Number{7};
    sim.run();
    sim.check(seen.lines == std::vector<std::string>{"thrown by the simulator", "received 7"},
              "the message has stayed where it was");
  });
  EXPECT_EQ(fiber, Reasons{ExitReason::normal});
  const Reasons task = with_throw_at(1, [&](Sim& sim) {
    const auto brave = [](SystemFace& system) -> Task<int> {
      bool was_thrown = false;
      try {
        Future<void> nap = system.sleep(std::chrono::seconds(1));
        (void)co_await nap;
      } catch (const std::runtime_error&) {
        was_thrown = true;
      }
      Future<void> nap = system.sleep(std::chrono::seconds(1));
      Result<void> slept = co_await nap;
      co_return was_thrown&& slept.ok() ? 1 : 0;
    };
    sim.check(sim.run_until(brave(sim)).value() == 1, "it goes on");
  });
  EXPECT_EQ(task, Reasons{ExitReason::normal});
}
#endif

}  // namespace
}  // namespace jzx
