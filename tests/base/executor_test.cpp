#include "base/executor.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace jzx::base {
namespace {

class IdleExecutor final : public Executor {
 public:
  void post(Runnable& work) override { work.run(*this); }
  uint64_t now_ns() override { return 0; }
  void arm(Timer&, uint64_t) override {}
  bool disarm(Timer&) override { return false; }
  uint32_t choose(uint32_t, ChoiceSite) override { return 0; }
  bool post_blocking(Runnable&) override { return false; }
  io::Reactor& io() override { std::abort(); }

  using Executor::set_current;
};

TEST(Executor, IsCurrentOnlyOnTheThreadThatSaysSo) {
  IdleExecutor executor;
  EXPECT_EQ(Executor::current(), nullptr);
  IdleExecutor::set_current(&executor);
  EXPECT_EQ(Executor::current(), &executor);
  std::thread([] { EXPECT_EQ(Executor::current(), nullptr); }).join();
  IdleExecutor::set_current(nullptr);
  EXPECT_EQ(Executor::current(), nullptr);
}

struct Counter : Runnable {
  Counter() : Runnable(&count) {}
  static void count(Runnable& self, Executor& executor) {
    ++static_cast<Counter&>(self).runs;
    static_cast<Counter&>(self).ran_by = &executor;
  }
  int runs = 0;
  Executor* ran_by = nullptr;
};

TEST(Runnable, RunsItsFunctionOnItselfWithTheExecutor) {
  IdleExecutor executor;
  Counter counter;
  counter.run(executor);
  executor.post(counter);
  EXPECT_EQ(counter.runs, 2);
  EXPECT_EQ(counter.ran_by, &executor);
}

struct CountingTimer : Timer {
  CountingTimer() : Timer(&count) {}
  static void count(Timer& self, Executor& executor) {
    ++static_cast<CountingTimer&>(self).fires;
    static_cast<CountingTimer&>(self).fired_by = &executor;
  }
  int fires = 0;
  Executor* fired_by = nullptr;
};

TEST(Timer, IsArmedWhileAListHoldsItAndFiresOnItself) {
  IdleExecutor executor;
  List<Timer, InTimerList> armed;
  CountingTimer timer;
  EXPECT_FALSE(timer.is_armed());
  armed.push_back(timer);
  EXPECT_TRUE(timer.is_armed());
  timer.unlink();
  EXPECT_FALSE(timer.is_armed());
  timer.fire(executor);
  EXPECT_EQ(timer.fires, 1);
  EXPECT_EQ(timer.fired_by, &executor);
}

}  // namespace
}  // namespace jzx::base
