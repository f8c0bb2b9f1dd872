// jzx::Loop itself: running, stopping, being embedded, being destroyed.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cpp/clocked_loop.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

struct Go {};

struct Idle {
  int count = 0;
  void on(Go) { ++count; }
  int on(int) { return count; }
};
struct OneShot {
  void on(Go, Context& context) { context.stop(); }
};

TEST(Loop, RunsUntilNobodyIsLeft) {
  ClockedLoop loop;
  EXPECT_EQ(loop.run(), Errc::ok) << "nobody was ever there";
  loop.spawn<OneShot>() << Go{};
  loop.spawn<OneShot>() << Go{};
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(loop.seen().alive_count(), 0u);
}

TEST(Loop, ThatCouldNotBeMadeRefusesEverythingAndDoesNotCrash) {
  LoopOptions impossible;
  impossible.max_actors = 0;
  Loop loop(impossible);
  ASSERT_FALSE(loop);
  EXPECT_FALSE(loop.spawn<Idle>());
  EXPECT_EQ(loop.spawn_error(), Errc::loop_closed);
  EXPECT_FALSE(loop.supervise({}, {jzx::child<Idle>("idle")}));
  EXPECT_EQ(loop.run(), Errc::loop_closed);
  EXPECT_FALSE(loop.run_once(0ms));
  EXPECT_LT(loop.fd(), 0);
  loop.request_stop();
  EXPECT_NE(loop.stop(Pid()), Errc::ok);
  EXPECT_NE(loop.monitor(Pid(), Pid()), Errc::ok);
  EXPECT_NE(loop.send_after(1ms, ActorRef<Idle>(), Go{}), Errc::ok);
  EXPECT_NE(loop.cancel(TimerId{1}), Errc::ok);
  EXPECT_NE(loop.demonitor(MonitorRef{1}), Errc::ok);
  EXPECT_NE(loop.unwatch_fd(0), Errc::ok);
  EXPECT_FALSE(loop.whereis("anyone"));
}

TEST(Loop, CannotBeMadeForMoreThan2To28Actors) {
  EXPECT_FALSE(Loop(LoopOptions{.max_actors = (1u << 28) + 1}));
  EXPECT_TRUE(Loop(LoopOptions{.max_actors = 1u << 28}));
}

TEST(Loop, StopsWhenAskedFromAnotherThreadAndRunsAgain) {
  ClockedLoop loop;
  const auto idle = loop.spawn<Idle>();
  std::thread stopper([&] { loop.request_stop(); });
  EXPECT_EQ(loop.run(), Errc::ok);
  stopper.join();
  EXPECT_TRUE(loop.seen().is_alive(idle.id()));
  EXPECT_EQ(loop.run_until(idle.ask(0)).value(), 0) << "a stopped loop is open";
}

TEST(Loop, StopsWhenAskedFromAHandler) {
  struct Stopper {
    explicit Stopper(ClockedLoop& the_loop) : loop(the_loop) {}
    void on(Go) { loop.request_stop(); }
    ClockedLoop& loop;
  };
  ClockedLoop loop;
  const auto stopper = loop.spawn<Stopper>(loop);
  stopper << Go{};
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_TRUE(loop.seen().is_alive(stopper.id()));
}

TEST(Loop, CannotBeRunFromInsideItsOwnRun) {
  struct Nested {
    Nested(ClockedLoop& the_loop, Errc& the_answer) : loop(the_loop), answer(the_answer) {}
    void on(Go) {
      answer = loop.run();
      EXPECT_FALSE(loop.run_once(0ms));
    }
    ClockedLoop& loop;
    Errc& answer;
  };
  ClockedLoop loop;
  Errc answer = Errc::ok;
  loop.spawn<Nested>(loop, answer) << Go{};
  loop.settle();
  EXPECT_EQ(answer, Errc::invalid_arg);
}

// Both of a future and of a task, of its own loop and of another.
TEST(Loop, SaysThatRunUntilMustNotWaitInAHandler) {
  struct Impatient {
    Impatient(Loop& the_loop, Future<int> the_future, std::vector<Result<int>>& the_answers)
        : loop(the_loop), future(std::move(the_future)), answers(the_answers) {}
    void on(Go) {
      answers.push_back(loop.run_until(std::move(future)));
      answers.push_back(loop.run_until(note_run(has_run)));
      EXPECT_FALSE(has_run) << "a task is not begun that nobody would wait for";
      auto [ready, promise] = jzx::promise<int>();
      promise.resolve(7);
      answers.push_back(loop.run_until(std::move(ready)));
    }
    static Task<int> note_run(bool& has_begun) {
      has_begun = true;
      co_return 1;
    }
    Loop& loop;
    Future<int> future;
    std::vector<Result<int>>& answers;
    bool has_run = false;
  };
  ClockedLoop own;
  ClockedLoop other;
  (void)other.spawn<Idle>();
  for (ClockedLoop* one : {&own, &other}) {
    std::vector<Result<int>> answers;
    auto [future, promise] = jzx::promise<int>();
    const auto impatient = own.spawn<Impatient>(one->loop(), std::move(future), answers);
    impatient << Go{};
    own.settle();
    other.settle();
    ASSERT_EQ(answers.size(), 3u);
    for (int i = 0; i < 2; ++i) {
      const Result<int>& refused = answers[static_cast<size_t>(i)];
      EXPECT_EQ(refused.error().code(), Errc::invalid_arg);
      EXPECT_STREQ(refused.error().message(),
                   "run_until() would wait inside an actor, which must not: use then(), or a task");
      EXPECT_STREQ(refused.error().source(), "run_until");
    }
    EXPECT_EQ(answers[2].error().code(), Errc::ok) << "there is nothing to wait for";
    EXPECT_EQ(own.ledger().queued, 0u);
  }
}

TEST(Loop, RunOnceSaysWhetherToGoOn) {
  ClockedLoop loop;
  EXPECT_FALSE(loop.run_once(0ms)) << "nobody alive";
  const auto one = loop.spawn<OneShot>();
  EXPECT_TRUE(loop.run_once(0ms));
  one << Go{};
  EXPECT_FALSE(loop.run_once(0ms));
}

TEST(Loop, RunOnceWaitsForTheLongestTimeThatCanBeWritten) {
  for (const std::chrono::milliseconds wait :
       {std::chrono::milliseconds::max(), std::chrono::milliseconds(int64_t{1} << 58)}) {
    ClockedLoop loop(Time::jumping);
    const auto idle = loop.spawn<Idle>();
    EXPECT_EQ(loop.send_after(100ms, idle, Go{}), Errc::ok);
    const uint64_t before = loop.now_ms();
    EXPECT_TRUE(loop.run_once(wait));
    EXPECT_GT(loop.now_ms(), before) << "it waited, so the clock jumped ahead";
  }
}

TEST(Loop, HasAnFdThatIsReadableWhenThereIsWork) {
  ClockedLoop loop;
  const auto idle = loop.spawn<Idle>();
  loop.settle();
  const int fd = loop.loop().fd();
  ASSERT_GE(fd, 0);
  EXPECT_FALSE(is_readable(fd));
  idle << Go{};
  EXPECT_TRUE(is_readable(fd));
  EXPECT_TRUE(loop.run_once(0ms));
  EXPECT_FALSE(is_readable(fd));
  std::thread([&] { idle << Go{}; }).join();
  EXPECT_TRUE(is_readable(fd));
}

TEST(Loop, ThatCannotBeMadeIsFalse) {
  LoopOptions options;
  options.max_actors = 0;
  EXPECT_FALSE(Loop(options));
  EXPECT_TRUE(Loop());
}

TEST(Loop, RunsOnEitherReactor) {
  for (const Reactor reactor : {Reactor::io_uring, Reactor::epoll}) {
    LoopOptions options;
    options.reactor = reactor;
    Loop loop(options);
    if (!loop) {
      EXPECT_EQ(reactor, Reactor::io_uring) << "epoll is always there";
      continue;
    }
    loop.spawn<OneShot>() << Go{};
    EXPECT_EQ(loop.run(), Errc::ok);
  }
}

TEST(Loop, RespectsHowManyMessagesAnActorHandlesInATurn) {
  struct Logger {
    Logger(std::string& the_log, char the_name) : log(the_log), name(the_name) {}
    void on(Go) { log += name; }
    std::string& log;
    char name;
  };
  LoopOptions options;
  options.max_msgs_per_actor = 2;
  ClockedLoop loop(Time::manual, options);
  std::string log;
  const auto a = loop.spawn<Logger>(log, 'a');
  const auto b = loop.spawn<Logger>(log, 'b');
  for (int i = 0; i < 4; ++i) {
    a << Go{};
    b << Go{};
  }
  loop.settle();
  EXPECT_EQ(log, "aabbaabb");
}

// ---- destroying ----

TEST(Loop, DestroyedWithActorsAndMailRunsNothingButDestructors) {
  struct Tidy {
    explicit Tidy(std::string& the_log) : log(the_log) {}
    ~Tidy() { log += "destroyed;"; }
    void on(Go) { log += "handled;"; }
    void on_stop() { log += "stopped;"; }
    std::string& log;
  };
  std::string log;
  std::optional<ClockedLoop> loop(std::in_place);
  const auto tidy = loop->spawn<Tidy>(log);
  tidy << Go{} << Go{};
  size_t dead = 0;
  loop->seen().on_dead_letter = [&](const Recorder::DeadLetter&, Envelope&) { ++dead; };
  loop.reset();
  EXPECT_EQ(log, "destroyed;");
  EXPECT_EQ(dead, 2u);
}

TEST(Loop, RefusesWhatDestructorsSendWhileItIsDestroyed) {
  struct Chatty {
    Chatty(ActorRef<Idle> the_other, Errc& the_answer) : other(the_other), answer(the_answer) {}
    ~Chatty() { answer = other.send(Go{}); }
    ActorRef<Idle> other;
    Errc& answer;
  };
  Errc answer = Errc::ok;
  std::optional<ClockedLoop> loop(std::in_place);
  (void)loop->spawn<Chatty>(loop->spawn<Idle>(), answer);
  loop.reset();
  EXPECT_EQ(answer, Errc::loop_closed);
}

}  // namespace
}  // namespace jzx::testing
