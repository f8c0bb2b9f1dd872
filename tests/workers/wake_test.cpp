// Whom a worker tells of work that others may take. Two workers on scripted reactors and one
// thread: what the one leaves, it leaves at the moment when the other has looked everywhere and
// goes to sleep. Nobody watches over them, so nobody else would wake it.
#include <gtest/gtest.h>

#include "base/time/clock.hpp"
#include "drivers/scripted_reactor.hpp"
#include "drivers/workers/shared_worker.hpp"

namespace jzx::drivers {
namespace {

using jzx::testing::make_scripted_reactor;
using jzx::testing::ScriptedReactor;

struct Work : base::Runnable {
  Work() noexcept : Runnable([](base::Runnable&, base::Executor&) {}) {}
  explicit Work(base::Priority priority) noexcept : Work() {
    standing = {priority, base::kAnyWorker, false};
  }
};

class ASleepingSibling : public ::testing::Test {
 protected:
  using Made = std::pair<io::ReactorPtr, ScriptedReactor*>;
  ASleepingSibling() : ASleepingSibling(make_scripted_reactor(), make_scripted_reactor()) {}
  ASleepingSibling(Made first, Made second)
      : busy(group, clock, std::move(first.first), WorkerOptions{}),
        sleeper(group, clock, std::move(second.first), WorkerOptions{.index = 1}),
        reactor(*second.second),
        reactor_of_busy(*first.second) {}

  // How often the sleeper is woken by what happens when it goes to sleep.
  template <class Action>
  int wakes_by(Action action) {
    reactor.before_sleep = action;
    EXPECT_EQ(sleeper.tick(base::kNever), 0);
    EXPECT_EQ(reactor.sleeps, 1);
    return reactor.wakes;
  }

  static core::SystemOptions shared() noexcept {
    core::SystemOptions options;
    options.is_shared = true;
    return options;
  }

  core::System system{shared()};
  base::ManualClock clock{false};
  WorkerGroup group{system, GroupOptions{.workers = 2}};
  SharedWorker busy;
  SharedWorker sleeper;
  ScriptedReactor& reactor;  // the sleeper's
  ScriptedReactor& reactor_of_busy;
};

TEST_F(ASleepingSibling, IsNotWokenForWhatRunsNext) {
  Work work;
  EXPECT_EQ(wakes_by([&] { busy.submit(work); }), 0);
  EXPECT_TRUE(reactor.overslept);
}

TEST_F(ASleepingSibling, IsWokenForWhatWasDisplacedByTheNextOne) {
  Work works[2];
  EXPECT_EQ(wakes_by([&] {
              for (Work& work : works) busy.submit(work);
            }),
            1);
}

TEST_F(ASleepingSibling, IsWokenOnceForMuchWork) {
  Work works[20];
  EXPECT_EQ(wakes_by([&] {
              for (Work& work : works) busy.submit(work);
            }),
            1);
}

TEST_F(ASleepingSibling, IsWokenForUnusualWorkThatWasDisplaced) {
  Work urgent(base::Priority::high);
  Work usual;
  EXPECT_EQ(wakes_by([&] {
              busy.submit(urgent);
              EXPECT_EQ(reactor.wakes, 0);
              busy.submit(usual);
            }),
            1);
}

TEST_F(ASleepingSibling, IsNotWokenForTheOnlyOneThatHasHadItsTurn) {
  Work work;
  EXPECT_EQ(wakes_by([&] { busy.submit_last(work, false); }), 0);
  EXPECT_TRUE(reactor.overslept);
}

TEST_F(ASleepingSibling, IsWokenForOneThatHasHadItsTurnWhileAnotherWaits) {
  Work next;
  Work work;
  EXPECT_EQ(wakes_by([&] {
              busy.submit(next);
              EXPECT_EQ(reactor.wakes, 0);
              busy.submit_last(work, false);
            }),
            1);
}

TEST_F(ASleepingSibling, IsWokenForWorkFromOutside) {
  Work work;
  EXPECT_EQ(wakes_by([&] { busy.post(work); }), 1);
}

// Both sleep, and the one that fell asleep last is woken for work from outside. While it counts as
// searching nobody else is woken; so it must not, once it has begun with something else.
TEST_F(ASleepingSibling, IsWokenWhenWhoWasWokenForWorkRunsATimerBeforeIt) {
  struct Alarm : base::Timer {
    explicit Alarm(ScriptedReactor& the_sibling)
        : Timer([](base::Timer& self, base::Executor&) {
            auto& alarm = static_cast<Alarm&>(self);
            alarm.wakes = alarm.sibling.wakes;
          }),
          sibling(the_sibling) {}
    ScriptedReactor& sibling;
    int wakes = -1;
  } alarm(reactor);
  Work work;
  reactor_of_busy.before_sleep = [&] {
    clock.advance_ms(10);
    busy.post(work);
  };
  EXPECT_EQ(wakes_by([&] {
              busy.arm(alarm, 10);
              EXPECT_EQ(busy.tick(base::kNever), 0);
            }),
            1);
  EXPECT_EQ(alarm.wakes, 1) << "of the sibling, before the timer's code ran";
  EXPECT_EQ(reactor_of_busy.wakes, 1);
}

TEST_F(ASleepingSibling, SleepsWithoutAnEndWhileThereIsNothingToDo) {
  EXPECT_EQ(wakes_by([] {}), 0);
  EXPECT_EQ(reactor.last_timeout_ns, base::kNever) << "no polling";
}

}  // namespace
}  // namespace jzx::drivers
