// SimOptions::stuck_wait_fails: who still waits when all has come to rest.
#include <gtest/gtest.h>

#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace jzx {
namespace {

using namespace std::chrono_literals;

// What the report says of this scenario; empty: it passes.
std::string failure_of(const std::function<void(Sim&)>& scenario, uint32_t seeds = 3) {
  SimOptions options;
  options.seeds = seeds;
  options.stuck_wait_fails = true;
  options.shrink = false;
  return simulate(options, scenario).failure;
}

SpawnOptions named(const char* name) {
  SpawnOptions options;
  options.name = name;
  return options;
}

Task<void> take(Mutex& mutex) {
  Future<MutexGuard> asked = mutex.lock();
  Result<MutexGuard> guard = co_await asked;
  (void)guard;
}

TEST(StuckWaits, OfALockThatNobodyGivesBackAreReportedByName) {
  const std::string failure = failure_of([](Sim& sim) {
    auto& mutex = sim.make<Mutex>();
    const MutexGuard held = mutex.try_lock();
    auto future = sim.spawn_async_with(named("clerk"), take(mutex));
    sim.spawn_fn_with(named("porter"), [&mutex] { (void)mutex.lock().get(); });
    sim.finish();
  });
  EXPECT_NE(failure.find("wait for what will never come"), std::string::npos) << failure;
  EXPECT_NE(failure.find("clerk"), std::string::npos) << failure;
  EXPECT_NE(failure.find("porter"), std::string::npos) << failure;
}

TEST(StuckWaits, AreNoneWhenTheLockIsGivenBack) {
  EXPECT_EQ(failure_of([](Sim& sim) {
              auto& mutex = sim.make<Mutex>();
              MutexGuard held = mutex.try_lock();
              auto future = sim.spawn_async(take(mutex));
              sim.run();
              held.unlock();
              sim.finish();
            }),
            "");
}

struct Go {};

template <bool kInterleaves>
struct Waiter {
  static constexpr bool interleaves = kInterleaves;
  explicit Waiter(Notify& the_notify) : notify(the_notify) {}
  Task<void> on(Go) {
    Future<void> told = notify.wait();
    Result<void> result = co_await told;
    (void)result;
  }
  Notify& notify;
};

template <bool kInterleaves>
void expect_handlers_are_seen() {
  const auto scenario = [](Sim& sim, bool is_told) {
    auto& notify = sim.make<Notify>();
    const auto waiter = sim.spawn_with<Waiter<kInterleaves>>(named("handler"), notify);
    waiter << Go{};
    sim.run();
    if (is_told) notify.notify_one();
    sim.finish();
  };
  const std::string failure = failure_of([&](Sim& sim) { scenario(sim, false); });
  EXPECT_NE(failure.find("handler"), std::string::npos) << failure;
  EXPECT_EQ(failure_of([&](Sim& sim) { scenario(sim, true); }), "");
}

TEST(StuckWaits, OfHandlersAreReported) { expect_handlers_are_seen<false>(); }
TEST(StuckWaits, OfHandlersWhoseActorTakesMailMeanwhileAreReportedToo) {
  expect_handlers_are_seen<true>();
}

TEST(StuckWaits, AreNotThoseForMailNorThoseThatTimeEnds) {
  EXPECT_EQ(failure_of([](Sim& sim) {
              sim.spawn_fn([] { receive([](Go) {}); });
              (void)sim.spawn<Waiter<true>>(sim.make<Notify>());
              auto nap = sim.spawn_async([]() -> Task<void> {
                Future<void> moment = sleep(1min);
                Result<void> passed = co_await moment;
                co_await passed;
              }());
              sim.finish();
            }),
            "");
}

TEST(StuckWaits, AreNotLookedForWhileATimerCouldEndThem) {
  EXPECT_EQ(failure_of([](Sim& sim) {
              auto& notify = sim.make<Notify>();
              (void)sim.spawn_with<Waiter<false>>({}, notify).send(Go{});
              sim.spawn_fn([&notify] {
                sleep_for(std::chrono::hours(1));  // longer than finish() waits
                notify.notify_one();
              });
              sim.finish();
            }),
            "");
}

TEST(StuckWaits, AreNoFailureUnlessAskedFor) {
  const SimReport report = simulate({.seeds = 3}, [](Sim& sim) {
    (void)sim.spawn_with<Waiter<false>>({}, sim.make<Notify>()).send(Go{});
    sim.finish();
  });
  EXPECT_TRUE(report) << report.text();
}

// Two who take the same two locks, each the other one first.
TEST(StuckWaits, OfTwoLocksInTwoOrdersAreFoundBySomeSeed) {
  const auto both = [](Mutex& first, Mutex& second) {
    const Result<MutexGuard> one = first.lock().get();
    yield();
    const Result<MutexGuard> other = second.lock().get();
  };
  const auto scenario = [&](Sim& sim, bool same_order) {
    auto& red = sim.make<Mutex>();
    auto& blue = sim.make<Mutex>();
    sim.spawn_fn_with(named("ann"), [&] { both(red, blue); });
    sim.spawn_fn_with(named("bob"),
                      [&, same_order] { same_order ? both(red, blue) : both(blue, red); });
    sim.finish();
  };
  const std::string failure = failure_of([&](Sim& sim) { scenario(sim, false); }, 20);
  EXPECT_NE(failure.find("ann"), std::string::npos) << failure;
  EXPECT_NE(failure.find("bob"), std::string::npos) << failure;
  EXPECT_EQ(failure_of([&](Sim& sim) { scenario(sim, true); }, 20), "");
}

}  // namespace
}  // namespace jzx
