// Fibers in unusual places: by hand, on threads that block, over two systems, at the limits.
#include <gtest/gtest.h>

#include <jzx/manual.hpp>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"
#include "fiber/checked_runtime.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

struct Go {};
struct Never {};

JZX_SUITE_ON_ALL_DRIVERS(FiberEdges);

#ifndef JZX_LIBRARY_NOEXCEPT

// What it captured ends last, and may take its time; others fail meanwhile.
TEST_P(FiberEdges, WhyItEndedIsNotForgottenWhileItsCapturesEnd) {
  struct Waits {
    Waits() = default;
    Waits(Waits&& other) noexcept : is_last(std::exchange(other.is_last, false)) {}
    ~Waits() {
      if (is_last) (void)receive([](Go) {});
    }
    bool is_last = true;
  };
  ClockedLoop loop;
  const Pid fiber = loop.spawn_fn([waits = Waits()] { throw std::runtime_error("no such table"); });
  loop.settle();
  const Pid other = loop.spawn_fn([] { exit(ExitReason::fail, "another"); });
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(other.id()).text, "another");
  fiber << Go{};
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).reason, ExitReason::panic);
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).text, "no such table");
}

#endif

// Stacks are used again as they were left, and a wait without a limit must not find one there.
TEST_P(FiberEdges, AWaitWithoutALimitHasNoneWhateverWasOnTheStackBefore) {
  ClockedLoop loop;
  for (int round = 0; round < 20; ++round) {
    (void)loop.spawn_fn([] {
      volatile std::byte dirt[2048];
      for (volatile std::byte& one : dirt) one = std::byte{0xff};
    });
    loop.settle();
    auto [future, promise] = jzx::promise<int>();
    int got = 0;
    (void)loop.spawn_fn([&got, wanted = std::move(future)]() mutable {
      const Result<int> result = wanted.get();
      got = result.ok() ? *result : -1;
    });
    loop.settle();
    promise.resolve(round + 1);
    loop.settle();
    ASSERT_EQ(got, round + 1);
  }
}

TEST_P(FiberEdges, OneThatCannotBeSpawnedLeavesNothingBehind) {
  LoopOptions options;
  options.max_actors = 2;
  ClockedLoop loop(Time::manual, options);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(loop.spawn_fn([] { receive([](Go) {}); }));
  auto resource = std::make_shared<int>(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(loop.spawn_fn([resource] {}));
    EXPECT_EQ(loop.spawn_error(), Errc::max_actors);
  }
  EXPECT_EQ(resource.use_count(), 1);
  SpawnOptions huge;
  huge.stack_size = size_t{1} << 30;
  EXPECT_FALSE(loop.spawn_fn_with(huge, [resource] {}));
  EXPECT_EQ(loop.spawn_error(), Errc::invalid_arg);
  EXPECT_EQ(resource.use_count(), 1);
}

TEST_P(FiberEdges, OneThatIsToBeLinkedToTheDeadIsNotStarted) {
  ClockedLoop loop;
  const Pid dead = loop.spawn_fn([] {});
  loop.settle();
  auto resource = std::make_shared<int>(1);
  SpawnOptions options;
  options.link = dead;
  EXPECT_FALSE(loop.spawn_fn_with(options, [resource] { ADD_FAILURE() << "it has run"; }));
  EXPECT_EQ(loop.spawn_error(), Errc::no_such_actor);
  EXPECT_EQ(resource.use_count(), 1);
}

bool poll(SystemFace& system, Pid actor) {
  size_t handled = 0;
  return detail::poll_by_hand(*detail::port_of(system), actor.id(), 10, handled);
}

TEST_P(FiberEdges, OneByHandRunsWhenItIsPolled) {
  ClockedLoop loop;
  SpawnOptions options;
  options.placement = Placement::by_hand();
  auto [future, promise] = jzx::promise<int>();
  std::vector<std::string> steps;
  const Pid fiber = loop.spawn_fn_with(options, [&, future = std::move(future)]() mutable {
    steps.push_back("begun");
    receive([&](Go) { steps.push_back("mail"); });
    steps.push_back(std::to_string(future.get().value()));
    sleep_for(5ms);
    steps.push_back("time");
  });
  loop.settle();
  EXPECT_TRUE(steps.empty());
  EXPECT_TRUE(poll(loop, fiber));
  EXPECT_FALSE(poll(loop, fiber));
  fiber << Go{};
  loop.settle();
  EXPECT_EQ(steps, (std::vector<std::string>{"begun"}));
  EXPECT_TRUE(poll(loop, fiber));
  promise.resolve(3);
  EXPECT_TRUE(poll(loop, fiber));
  loop.advance(5ms);
  EXPECT_TRUE(poll(loop, fiber));
  EXPECT_EQ(steps, (std::vector<std::string>{"begun", "mail", "3", "time"}));
  EXPECT_FALSE(loop.seen().is_alive(fiber.id()));
}

TEST_P(FiberEdges, AFiberPollsAnotherByHand) {
  ClockedLoop loop;
  SpawnOptions options;
  options.placement = Placement::by_hand();
  std::vector<std::string> steps;
  const Pid inner = loop.spawn_fn_with(options, [&] {
    for (int i = 0; i < 2; ++i) {
      receive([&](Go) { steps.push_back("inner " + std::to_string(self().id() != 0)); });
    }
  });
  loop.spawn_fn([&] {
    FiberSystem system;
    for (int i = 0; i < 3; ++i) {
      const Pid before = self();
      (void)inner.send(Go{});
      (void)poll(system, inner);
      EXPECT_EQ(self(), before) << "it is the outer one again";
      yield();
    }
    steps.push_back("outer");
  });
  loop.settle();
  EXPECT_EQ(steps, (std::vector<std::string>{"inner 1", "inner 1", "outer"}));
}

TEST(FiberEdgesOnWorkers, OneOnAThreadThatBlocksWaitsAsOthersDo) {
  CheckedRuntime runtime(2);
  SpawnOptions options;
  options.placement = Placement::blocking();
  auto [future, promise] = jzx::promise<int>();
  Tally done;
  const Pid fiber = runtime.spawn_fn_with(options, [&, future = std::move(future)]() mutable {
    receive([](Go) {});
    EXPECT_EQ(receive_for(std::chrono::milliseconds(1), [](Never) {}), Wait::timed_out);
    sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(future.get().value(), 4);
    yield();
    done.add();
    receive([](Never) {});
  });
  fiber << Go{};
  promise.resolve(4);
  EXPECT_TRUE(done.reaches(1));
}

struct Answerer {
  int on(int number) { return number + 1; }
};

TEST(FiberEdgesOnWorkers, AFiberAsksAnActorOfAnotherSystem) {
  CheckedRuntime one(2);
  CheckedRuntime other(1);
  const auto answerer = other.spawn<Answerer>();
  const Pid fiber_there = other.spawn_fn([] {
    for (Wait wait = Wait::done; wait != Wait::killed;) {
      wait = receive([](int number) { return number + 2; });
    }
  });
  Tally done;
  for (int i = 0; i < 50; ++i) {
    one.spawn_fn([&, i] {
      EXPECT_EQ(answerer.ask(i).get().value(), i + 1);
      EXPECT_EQ(ask<int>(fiber_there, i).get().value(), i + 2);
      done.add();
    });
  }
  EXPECT_TRUE(done.reaches(50));
}

TEST(FiberEdgesOnWorkers, TheEndOfAnotherSystemBreaksWhatItOwes) {
  CheckedRuntime one(2);
  Tally asked;
  Tally done;
  {
    CheckedRuntime other(1);
    const Pid silent = other.spawn_fn([] { receive([](Never) {}); });
    one.spawn_fn([&, silent] {
      Future<int> answer = ask<int>(silent, 1);
      asked.add();
      EXPECT_FALSE(answer.get().ok());
      done.add();
    });
    EXPECT_TRUE(asked.reaches(1));
  }
  EXPECT_TRUE(done.reaches(1));
}

}  // namespace
}  // namespace jzx::testing
