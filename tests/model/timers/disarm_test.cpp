// drivers/loop/worker.hpp: what threads other than the worker's leave for it: timers that they arm
// and disarm, and actors that they have scheduled.
//
// The source under test is included, so that mutations.txt can weaken it.
#include "drivers/loop/worker.cpp"  // NOLINT

#include <gtest/gtest.h>

#include "model/timers/hosts.hpp"

namespace jzx::base::model {
namespace {

// A worker that is made once for a test, as the timer tests' Stage is.
struct OneWorker {
  RunPlace place;
  core::System system{{.allocator = {}, .max_actors = 1, .is_shared = true, .workers = 1}};
  StandingClock clock;
  SleepingReactor reactor;
  Worker worker{system, place, clock, reactor, 0};
  core::Actor* actor = system.actors.take(&worker.free_slots);  // of nobody

  OneWorker() { actor->own_id = core::make_id(actor->slot.load(std::memory_order_relaxed), 1); }

  // As it was before the first run.
  void clear() {
    current_executors.fill(nullptr);
    reactor.sleep = Sleep();
    worker.may_wait = false;
    clock.quick_step = 0;
    (void)worker.next_deadline_ns();
    worker.fire();
  }
};

// What it uses when it fires is its owner's, who takes it away once the timer is disarmed.
struct Alarm : base::Timer {
  Alarm() : Timer(&ring) {}

  static void ring(base::Timer& timer, base::Executor& executor) {
    auto& alarm = static_cast<Alarm&>(timer);
    MODEL_ASSERT(!executor.disarm(timer));  // it does not wait for itself
    if (alarm.arms_again-- > 0) executor.arm(timer, 0);
    alarm.steps.fetch_add(1, std::memory_order_relaxed);  // here others may come in between
    MODEL_ASSERT(alarm.in_use == 1);
    ++alarm.rung;
  }
  void take_away() { in_use = 0; }

  int arms_again = 0;
  base::Shared<int> in_use{1};
  base::Atomic<int> steps{0};
  int rung = 0;
};

template <class Act>
void expect_always_with_worker(const Options& options, Act&& act) {
  auto* one = new OneWorker;
  expect_always(options, [&](Scene& scene) {
    one->clear();
    act(scene, *one);
  });
  if (!testing::Test::HasFailure()) delete one;  // else it is as the failure left it
}

TEST(Disarm, WaitsForATimerThatIsBeingFired) {
  int won = 0, lost = 0;
  const auto act = [&](Scene& scene, OneWorker& one) {
    auto& alarm = scene.make<Alarm>();
    one.worker.arm(alarm, 0);
    scene.thread([&] {
      one.worker.enter_thread();
      one.worker.fire();
    });
    scene.thread([&] {
      const bool is_disarmed = one.worker.disarm(alarm);
      MODEL_ASSERT(alarm.rung == (is_disarmed ? 0 : 1));
      alarm.take_away();
      ++(is_disarmed ? won : lost);
    });
    scene.join();
    MODEL_ASSERT(!alarm.is_armed());
  };
  expect_always_with_worker({.name = "disarm, fire and disarm", .preemptions = 5}, act);
  EXPECT_GT(won, 0);
  EXPECT_GT(lost, 0);
}

TEST(Disarm, DoesNotWaitForAnotherTimer) {
  int fired = 0;
  const auto act = [&](Scene& scene, OneWorker& one) {
    auto& alarm = scene.make<Alarm>();
    auto& other = scene.make<Alarm>();
    one.worker.arm(alarm, 0);
    scene.thread([&] {
      one.worker.enter_thread();
      one.worker.fire();
    });
    scene.thread([&] {
      const bool is_disarmed = one.worker.disarm(alarm);
      MODEL_ASSERT(alarm.rung == (is_disarmed ? 0 : 1));
      alarm.take_away();
    });
    scene.thread([&] {
      one.worker.arm(other, 0);
      fired += one.worker.disarm(other) ? 0 : 1;
      other.take_away();
    });
    scene.join();
    MODEL_ASSERT(!alarm.is_armed() && !other.is_armed());
  };
  expect_always_with_worker({.name = "disarm, fire, disarm and another timer", .preemptions = 2},
                            act);
  EXPECT_GT(fired, 0);
}

// The timers took the whole tick: the one that was fired last is not being fired any more.
TEST(Disarm, DoesNotWaitForATimerThatWasTheLastOfItsTick) {
  const auto act = [&](Scene& scene, OneWorker& one) {
    auto& alarm = scene.make<Alarm>();
    one.clock.quick_step = 1'000'000;
    one.worker.arm(alarm, 0);
    scene.thread([&] {
      one.worker.enter_thread();
      one.worker.fire();
    });
    scene.thread([&] {
      (void)one.worker.disarm(alarm);
      alarm.take_away();
    });
    scene.join();
    MODEL_ASSERT(!alarm.is_armed());
  };
  expect_always_with_worker({.name = "disarm, the last timer of a tick", .preemptions = 3}, act);
}

TEST(Disarm, WaitsForATimerThatHasArmedItselfAgain) {
  const auto act = [&](Scene& scene, OneWorker& one) {
    auto& alarm = scene.make<Alarm>();
    alarm.arms_again = 1;
    one.worker.arm(alarm, 0);
    scene.thread([&] {
      one.worker.enter_thread();
      one.worker.fire();
    });
    scene.thread([&] {
      if (!one.worker.disarm(alarm)) return;
      alarm.take_away();
    });
    scene.join();
    (void)one.worker.disarm(alarm);
  };
  expect_always_with_worker({.name = "disarm, a timer that arms itself again", .preemptions = 3},
                            act);
}

TEST(Arm, ByAnotherThreadIsNotSleptOver) {
  const auto act = [&](Scene& scene, OneWorker& one) {
    auto& alarm = scene.make<Alarm>();
    one.worker.may_wait = true;
    scene.thread([&] {
      one.worker.enter_thread();
      while (alarm.rung == 0) MODEL_ASSERT(one.worker.tick(base::kNever) == 0);
    });
    scene.thread([&] { one.worker.arm(alarm, 0); });
    scene.join();
  };
  expect_always_with_worker(
      {.name = "arm, from outside and a worker that goes to sleep", .preemptions = 4}, act);
}

TEST(Call, ByAnotherThreadIsNotSleptOver) {
  const auto act = [&](Scene& scene, OneWorker& one) {
    while (one.worker.ready.pop() != nullptr) {
    }
    one.worker.may_wait = true;
    scene.thread([&] {
      one.worker.enter_thread();
      while (one.worker.ready.empty()) MODEL_ASSERT(one.worker.tick(base::kNever) == 0);
      MODEL_ASSERT(one.worker.ready.pop() == one.actor);
    });
    scene.thread([&] { one.worker.call(*one.actor); });
    scene.join();
  };
  expect_always_with_worker(
      {.name = "call, from outside and a worker that goes to sleep", .preemptions = 4}, act);
}

}  // namespace
}  // namespace jzx::base::model
