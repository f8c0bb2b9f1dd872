// Runtime::shutdown: everybody ends, children before their parents, within a deadline; who does
// not is named, with the reason. The deadlines here are either far or already over.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

struct Wait {};
struct Say {};

struct Stubborn {
  Gate& entered;
  Gate& release;
  void on(Wait) {
    entered.open();
    EXPECT_TRUE(release.wait());
  }
};

struct Meek {
  int on(Say) { return 1; }
};

const StillAlive* find(const std::vector<StillAlive>& all, Pid pid) {
  for (const StillAlive& one : all) {
    if (one.pid == pid) return &one;
  }
  return nullptr;
}

SpawnOptions named(const char* name) {
  SpawnOptions options;
  options.name = name;
  return options;
}

class Shutdown : public ::testing::TestWithParam<uint32_t> {
 protected:
  Gate entered;
  Gate release;
  Runtime runtime{RuntimeOptions{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Workers, Shutdown, ::testing::Values(1u, 2u));

TEST_P(Shutdown, NamesTheOneWhoseHandlerIsStillRunning) {
  const auto stubborn = runtime.spawn_with<Stubborn>(named("stubborn"), entered, release);
  ASSERT_EQ(stubborn.send(Wait{}), Errc::ok);
  ASSERT_TRUE(entered.wait());
  const std::vector<StillAlive> alive = runtime.shutdown(10ms);
  ASSERT_EQ(alive.size(), 1u);
  EXPECT_EQ(alive[0].pid, stubborn.pid());
  EXPECT_EQ(alive[0].name, "stubborn");
  EXPECT_NE(alive[0].why.find("handler is still running"), std::string::npos) << alive[0].why;
  release.open();
  EXPECT_TRUE(runtime.shutdown(1min).empty());
}

// Calls what waits, and says what it was told.
struct Impatient {
  struct ShutDown {};
  struct Run {};

  Runtime& runtime;
  std::vector<StillAlive> on(ShutDown) { return runtime.shutdown(1min); }
  int on(Run) { return static_cast<int>(runtime.run()); }
};

TEST_P(Shutdown, IsRefusedInAHandlerAndNobodyEnds) {
  const auto meek = runtime.spawn<Meek>();
  const auto impatient = runtime.spawn_with<Impatient>(named("impatient"), runtime);

  const Result<std::vector<StillAlive>> told = impatient.ask(Impatient::ShutDown{}).get();

  ASSERT_TRUE(told.ok());
  ASSERT_EQ(told.value().size(), 1u) << "an empty list would say that everybody has ended";
  EXPECT_EQ(told.value()[0].pid, impatient.pid());
  EXPECT_EQ(told.value()[0].name, "impatient");
  EXPECT_NE(told.value()[0].why.find("must not wait"), std::string::npos) << told.value()[0].why;
  EXPECT_EQ(meek.ask(Say{}).get().value_or(0), 1);
  EXPECT_TRUE(runtime.shutdown(1min).empty());
}

TEST_P(Shutdown, IsRefusedOnABlockingThreadOfTheSameRuntime) {
  const auto told = runtime.spawn_blocking([&] { return runtime.shutdown(1min); }).get();

  ASSERT_TRUE(told.ok());
  ASSERT_EQ(told.value().size(), 1u);
  EXPECT_NE(told.value()[0].why.find("must not wait"), std::string::npos) << told.value()[0].why;
}

TEST_P(Shutdown, OfAnotherRuntimeIsRefusedInAHandlerAsWell) {
  Runtime other{RuntimeOptions{.workers = 1}};
  const auto meek = other.spawn<Meek>();
  const auto impatient = runtime.spawn<Impatient>(other);

  const Result<std::vector<StillAlive>> told = impatient.ask(Impatient::ShutDown{}).get();
  const Result<int> ran = impatient.ask(Impatient::Run{}).get();

  ASSERT_TRUE(told.ok());
  ASSERT_EQ(told.value().size(), 1u);
  EXPECT_FALSE(told.value()[0].pid) << "nobody of that runtime is in the way";
  EXPECT_NE(told.value()[0].why.find("must not wait"), std::string::npos) << told.value()[0].why;
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(ran.value(), static_cast<int>(Errc::invalid_arg));
  EXPECT_EQ(meek.ask(Say{}).get().value_or(0), 1);
}

TEST_P(Shutdown, OfAnotherRuntimeMayBeWaitedForOnABlockingThread) {
  Runtime other{RuntimeOptions{.workers = 1}};
  const auto meek = other.spawn<Meek>();
  ASSERT_TRUE(meek);

  const auto told = runtime.spawn_blocking([&] { return other.shutdown(1min); }).get();

  ASSERT_TRUE(told.ok());
  EXPECT_TRUE(told.value().empty());
  EXPECT_EQ(meek.send(Say{}), Errc::no_such_actor);
}

struct SlowToEnd {
  Gate& entered;
  Gate& release;
  void on(Wait, Context& context) { context.stop(); }
  void on_stop(Context&, jzx::ExitReason) {
    entered.open();
    (void)release.wait();
  }
};

TEST_P(Shutdown, NamesTheOneWhoseEndIsStillRunning) {
  const auto slow = runtime.spawn_with<SlowToEnd>(named("slow"), entered, release);
  ASSERT_EQ(slow.send(Wait{}), Errc::ok);
  ASSERT_TRUE(entered.wait());
  const std::vector<StillAlive> alive = runtime.shutdown(10ms);
  ASSERT_EQ(alive.size(), 1u);
  EXPECT_EQ(alive[0].pid, slow.pid());
  EXPECT_EQ(alive[0].name, "slow");
  EXPECT_NE(alive[0].why.find("on_stop"), std::string::npos) << alive[0].why;
  release.open();
  EXPECT_TRUE(runtime.shutdown(1min).empty());
}

// The same of a destructor.
struct SlowToDie {
  SlowToDie(Gate& the_entered, Gate& the_release) : entered(the_entered), release(the_release) {}
  ~SlowToDie() {
    entered.open();
    (void)release.wait();
  }
  void on(Wait) {}
  Gate& entered;
  Gate& release;
};

TEST_P(Shutdown, NamesAChildWhoseEndIsStillRunningAndItsParent) {
  const auto parent = runtime.spawn_with<Meek>(named("parent"));
  SpawnOptions options = named("kid");
  options.supervisor = parent;
  const auto kid = runtime.spawn_with<SlowToDie>(options, entered, release);
  ASSERT_EQ(runtime.stop(kid), Errc::ok);
  ASSERT_TRUE(entered.wait());
  const std::vector<StillAlive> alive = runtime.shutdown(0ms);
  EXPECT_EQ(alive.size(), 2u);
  const StillAlive* found = find(alive, kid);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "kid");
  EXPECT_NE(found->why.find("destructor"), std::string::npos) << found->why;
  found = find(alive, parent);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "parent");
  EXPECT_NE(found->why.find("its child kid"), std::string::npos) << found->why;
  release.open();
  EXPECT_TRUE(runtime.shutdown(1min).empty());
}

// One that others hear of is still found by them, and its end is no handler all the same.
TEST_P(Shutdown, SaysOfTheEndOfAMonitoredActorThatItIsItsEnd) {
  const auto slow = runtime.spawn_with<SlowToEnd>(named("slow"), entered, release);
  const auto meek = runtime.spawn<Meek>();
  ASSERT_EQ(runtime.monitor(meek, slow), Errc::ok);
  ASSERT_EQ(slow.send(Wait{}), Errc::ok);
  ASSERT_TRUE(entered.wait());
  const std::vector<StillAlive> alive = runtime.shutdown(0ms);
  const StillAlive* found = find(alive, slow);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "slow");
  EXPECT_NE(found->why.find("on_stop"), std::string::npos) << found->why;
  release.open();
  EXPECT_TRUE(runtime.shutdown(1min).empty());
}

TEST_P(Shutdown, NamesTheOneThatRunsOnABlockingThread) {
  SpawnOptions options = named("far away");
  options.placement = Placement::blocking();
  const auto stubborn = runtime.spawn_with<Stubborn>(options, entered, release);
  const auto meek = runtime.spawn_with<Meek>(named("meek"));
  ASSERT_EQ(stubborn.send(Wait{}), Errc::ok);
  ASSERT_TRUE(entered.wait());
  const std::vector<StillAlive> alive = runtime.shutdown(100ms);
  ASSERT_EQ(find(alive, meek), nullptr) << "the workers are free, so this one has ended";
  EXPECT_EQ(alive.size(), 1u) << "an actor there is no function of spawn_blocking";
  const StillAlive* found = find(alive, stubborn);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "far away");
  EXPECT_NE(found->why.find("handler is still running"), std::string::npos) << found->why;
  release.open();
  EXPECT_TRUE(runtime.shutdown(1min).empty());
}

TEST_P(Shutdown, SaysWhoRunsByHandAndIsNotPolled) {
  const auto game = spawn_manual<Meek>(runtime);
  const std::vector<StillAlive> alive = runtime.shutdown(0ms);
  const StillAlive* found = find(alive, game.pid());
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->why.find("runs by hand"), std::string::npos) << found->why;
  while (game.poll_one()) {
  }
  EXPECT_TRUE(runtime.shutdown(1min).empty());
}

TEST_P(Shutdown, SaysWhoseTurnHasNotComeAndHowMuchIsQueued) {
  SpawnOptions here = named("stubborn");
  here.placement = Placement::pin_to(0);
  const auto stubborn = runtime.spawn_with<Stubborn>(here, entered, release);
  ASSERT_EQ(stubborn.send(Wait{}), Errc::ok);
  ASSERT_TRUE(entered.wait());
  here.name = "behind it";
  const auto meek = runtime.spawn_with<Meek>(here);
  ASSERT_EQ(meek.send(Say{}), Errc::ok);
  const std::vector<StillAlive> alive = runtime.shutdown(0ms);
  const StillAlive* found = find(alive, meek);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "behind it");
  EXPECT_NE(found->why.find("turn has not come; 1 messages"), std::string::npos) << found->why;
  release.open();
  EXPECT_TRUE(runtime.shutdown(1min).empty());
}

struct Parent {
  Gate& entered;
  Gate& release;
  Gate& is_up;
  void on_start(Context& context) {
    SpawnOptions options = named("the child");
    options.supervisor = context.self();
    options.placement = Placement::blocking();
    const auto child = context.spawn_with<Stubborn>(options, entered, release);
    EXPECT_EQ(child.send(Wait{}), Errc::ok);
    is_up.open();
  }
};

TEST_P(Shutdown, SaysThatAParentWaitsForItsChild) {
  Gate is_up;
  const auto parent = runtime.spawn_with<Parent>(named("parent"), entered, release, is_up);
  ASSERT_TRUE(is_up.wait());
  ASSERT_TRUE(entered.wait());
  const std::vector<StillAlive> alive = runtime.shutdown(100ms);
  EXPECT_EQ(alive.size(), 2u);
  const StillAlive* found = find(alive, parent);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "parent");
  EXPECT_NE(found->why.find("the child"), std::string::npos) << found->why;
  release.open();
  EXPECT_TRUE(runtime.shutdown(1min).empty());
}

TEST_P(Shutdown, TakesNoNewActors) {
  EXPECT_TRUE(runtime.shutdown(1min).empty());
  EXPECT_FALSE(runtime.spawn<Meek>());
  EXPECT_FALSE(runtime.supervise({}, {child<Meek>("meek")}));
}

// Waits until a shutdown on another thread has asked this actor to end.
template <class A>
void wait_until_asked(const ActorRef<A>& actor) {
  while (actor.send(Wait{}) != Errc::no_such_actor) std::this_thread::yield();
}

TEST_P(Shutdown, LetsOtherThreadsGoOnWhileItWaits) {
  const auto stubborn = runtime.spawn_with<Stubborn>(named("stubborn"), entered, release);
  ASSERT_EQ(stubborn.send(Wait{}), Errc::ok);
  ASSERT_TRUE(entered.wait());
  std::vector<StillAlive> alive;
  std::thread closer([&] { alive = runtime.shutdown(20s); });
  wait_until_asked(stubborn);
  // The handler waits for a thread that has a question to ask first.
  EXPECT_FALSE(runtime.whereis("nobody"));
  EXPECT_EQ(runtime.stop(stubborn), Errc::no_such_actor);
  release.open();
  closer.join();
  EXPECT_TRUE(alive.empty()) << "the call of the other thread waited for the shutdown, and the "
                                "handler for the call";
}

TEST_P(Shutdown, AndARunOnAnotherThreadBothHearThatNobodyIsLeft) {
  const auto stubborn = runtime.spawn_with<Stubborn>(named("stubborn"), entered, release);
  ASSERT_EQ(stubborn.send(Wait{}), Errc::ok);
  ASSERT_TRUE(entered.wait());
  Tally returned;
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      EXPECT_EQ(runtime.run(), Errc::ok);
      returned.add();
    });
  }
  std::thread closer([&] { EXPECT_TRUE(runtime.shutdown(1min).empty()); });
  wait_until_asked(stubborn);
  release.open();
  closer.join();
  const bool all_returned = returned.reaches(waiting.size());
  EXPECT_TRUE(all_returned) << returned.value() << " of " << waiting.size() << " runs returned";
  // A ring for each that missed its own, so that the test ends.
  for (size_t i = 0; !all_returned && i < waiting.size(); ++i) runtime.request_stop();
  for (std::thread& thread : waiting) thread.join();
}

// ---- functions of spawn_blocking ----

TEST_P(Shutdown, TellsOfAFunctionOfSpawnBlockingThatIsStillRunning) {
  auto future = runtime.spawn_blocking([&] {
    entered.open();
    return release.wait() ? 7 : 0;
  });
  ASSERT_TRUE(entered.wait());
  const std::vector<StillAlive> alive = runtime.shutdown(10ms);
  release.open();
  ASSERT_EQ(alive.size(), 1u);
  EXPECT_FALSE(alive[0].pid) << "it is no actor";
  EXPECT_EQ(alive[0].name, "spawn_blocking");
  EXPECT_EQ(alive[0].why, "a function is still running");
  EXPECT_TRUE(runtime.shutdown(1min).empty());
  EXPECT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().value_or(0), 7);
}

TEST(ShutdownOfOneBlockingThread, TellsHowManyFunctionsWaitForIt) {
  Gate entered;
  Gate release;
  Runtime runtime(RuntimeOptions{.workers = 1, .max_blocking_threads = 1});
  std::vector<Future<bool>> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(runtime.spawn_blocking([&] {
      entered.open();
      return release.wait();
    }));
  }
  ASSERT_TRUE(entered.wait());
  const std::vector<StillAlive> alive = runtime.shutdown(0ms);
  release.open();
  ASSERT_EQ(alive.size(), 2u);
  EXPECT_EQ(alive[0].why, "a function is still running");
  EXPECT_EQ(alive[1].name, "spawn_blocking");
  EXPECT_EQ(alive[1].why, "2 functions wait for a thread");
  EXPECT_TRUE(runtime.shutdown(1min).empty());
  for (Future<bool>& one : all) {
    EXPECT_TRUE(one.is_ready());
    EXPECT_TRUE(one.get().value_or(false));
  }
}

TEST_P(Shutdown, WaitsForAFunctionThatEndsAfterTheLastActor) {
  const auto meek = runtime.spawn<Meek>();
  auto future = runtime.spawn_blocking([&] {
    entered.open();
    return release.wait();
  });
  ASSERT_TRUE(entered.wait());
  bool was_ready = false;
  std::thread closer([&] {
    EXPECT_TRUE(runtime.shutdown(1min).empty());
    was_ready = future.is_ready();
  });
  while (meek.send(Say{}) != Errc::no_such_actor) std::this_thread::yield();
  release.open();
  closer.join();
  EXPECT_TRUE(was_ready);
}

TEST_P(Shutdown, RefusesAFunctionOnceItHasBegun) {
  Gate asked;
  auto outer = runtime.spawn_blocking([&] {
    entered.open();
    EXPECT_TRUE(asked.wait());
    return runtime.spawn_blocking([] { return 1; }).get().error().code();
  });
  ASSERT_TRUE(entered.wait());
  EXPECT_EQ(runtime.shutdown(0ms).size(), 1u);
  asked.open();
  EXPECT_TRUE(runtime.shutdown(1min).empty());
  const Result<Errc> told = outer.get();
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told.value(), Errc::loop_closed) << "also one that is asked for by another";

  bool has_run = false;
  auto late = runtime.spawn_blocking([&] { has_run = true; });
  ASSERT_TRUE(late.is_ready());
  const Result<void> refused = late.get();
  EXPECT_EQ(refused.error().code(), Errc::loop_closed);
  EXPECT_NE(std::string(refused.error().message()).find("shut down"), std::string::npos);
  EXPECT_FALSE(has_run);
}

// Actors that make new ones, for as long as they can.
struct Breeder {
  std::atomic<uint64_t>& alive;
  explicit Breeder(std::atomic<uint64_t>& count) : alive(count) { alive.fetch_add(1); }
  ~Breeder() { alive.fetch_sub(1); }
  Breeder(const Breeder&) = delete;
  void on_start(Context& context) {
    for (int i = 0; i < 2; ++i) {
      if (!context.spawn<Breeder>(alive)) break;
    }
    if (alive.load() > 1000) context.stop();
  }
};

TEST_P(Shutdown, EndsThoseThatAreBornMeanwhile) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<uint64_t> alive{0};
    Runtime crowded(RuntimeOptions{.workers = 2, .max_actors = 2000});
    for (int i = 0; i < 10; ++i) (void)crowded.spawn<Breeder>(alive);
    std::thread outsider([&] {
      while (crowded.spawn<Breeder>(alive) || crowded.spawn_error() == Errc::max_actors) {
      }
    });
    const std::vector<StillAlive> left = crowded.shutdown(1min);
    outsider.join();
    ASSERT_TRUE(left.empty()) << left.size() << " left; the first: " << left[0].why;
    ASSERT_EQ(alive.load(), 0u);
  }
}

}  // namespace
}  // namespace jzx::testing
