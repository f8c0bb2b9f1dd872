// become and what is no message of anybody: the ends of others, readiness of a file descriptor,
// signals of the process, and beats of a clock.
#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"
#include "support/fds.hpp"

namespace jzx::testing {
namespace {

using Log = std::vector<std::string>;

struct Change {};
struct Back {};
struct Watch {
  Pid target;
};
struct LinkTo {
  Pid other;
};
struct Bear {};
struct Finish {};

struct Mortal {
  void on(Finish, Context& context) { context.fail("over"); }
};

// Notes who hears what: its own handlers, or the functions in front of them.
struct Mourner {
  explicit Mourner(Log* the_log) : log(the_log) {}
  Log* log;

  void on_start(Context& context) { EXPECT_EQ(context.trap_exit(true), Errc::ok); }
  void on(Change, Context& context) {
    EXPECT_EQ(context.become(
                  *this, [this](Down down) { note("new down", down.text); },
                  [this](const Exit& exit, Context& inner) {
                    EXPECT_EQ(inner.self().id(), context_id);
                    note("new exit", exit.text);
                  },
                  [this](ChildExit&& exit) { note("new child", exit.text); }),
              Errc::ok);
    context_id = context.self().id();
  }
  void on(Back, Context& context) { EXPECT_TRUE(context.unbecome()); }
  void on(Watch watch, Context& context) { EXPECT_EQ(context.monitor(watch.target), Errc::ok); }
  void on(LinkTo link, Context& context) { EXPECT_EQ(context.link(link.other), Errc::ok); }
  ActorRef<Mortal> on(Bear, Context& context) { return context.spawn_child<Mortal>(); }
  void on(const Down& down) { note("old down", down.text); }
  void on(const Exit& exit) { note("old exit", exit.text); }
  void on(const ChildExit& exit) { note("old child", exit.text); }
  void note(const char* what, const ExitText& text) {
    log->push_back(std::string(what) + " " + text.c_str());
  }
  ActorId context_id = 0;
};

JZX_SUITE_ON_ALL_DRIVERS(BecomeForEvents);

TEST_P(BecomeForEvents, TheFunctionsInFrontHearHowOthersEnd) {
  ClockedLoop loop;
  Log log;
  const auto mourner = loop.spawn<Mourner>(&log);
  const auto let_one_of_each_end = [&] {
    const auto watched = loop.spawn<Mortal>();
    const auto linked = loop.spawn<Mortal>();
    mourner << Watch{watched} << LinkTo{linked};
    auto child = loop.run_until(mourner.ask(Bear{}));
    loop.settle();
    for (const auto& one : {watched, linked, child.value()}) {
      one << Finish{};
      loop.settle();
    }
  };
  let_one_of_each_end();
  mourner << Change{};
  let_one_of_each_end();
  mourner << Back{};
  let_one_of_each_end();
  EXPECT_EQ(log, (Log{"old down over", "old exit over", "old child over", "new down over",
                      "new exit over", "new child over", "old down over", "old exit over",
                      "old child over"}));
}

TEST_P(BecomeForEvents, WhatTheyDoNotNameTheActorsOwnHandlersHear) {
  struct HalfChanged : Mourner {
    using Mourner::Mourner;
    using Mourner::on;
    void on_start(Context& context) {
      EXPECT_EQ(context.become(*this, [this](const Exit& exit) { note("new exit", exit.text); }),
                Errc::ok);
    }
  };
  ClockedLoop loop;
  Log log;
  const auto mourner = loop.spawn<HalfChanged>(&log);
  const auto watched = loop.spawn<Mortal>();
  mourner << Watch{watched};
  loop.settle();
  watched << Finish{};
  loop.settle();
  EXPECT_EQ(log, (Log{"old down over"}));
}

TEST_P(BecomeForEvents, TheNewestFunctionHearsAndTheOneBelowAgainWhenItIsGone) {
  struct Layered {
    explicit Layered(Log* the_log) : log(the_log) {}
    Log* log;
    void on(const Down&) { log->push_back("own"); }
    void on(Watch watch, Context& context) { EXPECT_EQ(context.monitor(watch.target), Errc::ok); }
    void on_start(Context& context) {
      (void)context.become(*this, [this](const Down&) { log->push_back("lower"); });
      (void)context.become(*this, [this](const Down&, Context& inner) {
        log->push_back("upper");
        EXPECT_TRUE(inner.unbecome());
      });
    }
  };
  ClockedLoop loop;
  Log log;
  const auto layered = loop.spawn<Layered>(&log);
  for (int i = 0; i < 2; ++i) {
    const auto watched = loop.spawn<Mortal>();
    layered << Watch{watched};
    loop.settle();
    watched << Finish{};
    loop.settle();
  }
  EXPECT_EQ(log, (Log{"upper", "lower"}));
}

TEST_P(BecomeForEvents, AFunctionThatIsACoroutineHearsAsWell) {
  struct Patient {
    explicit Patient(Log* the_log) : log(the_log) {}
    Log* log;
    void on(const Down&) { log->push_back("own"); }
    void on(Watch watch, Context& context) { EXPECT_EQ(context.monitor(watch.target), Errc::ok); }
    void on_start(Context& context) {
      (void)context.become(*this, [this](Down down) -> Task<void> {
        auto moment = (co_await this_actor()).sleep(10ms);
        (void)co_await moment;
        log->push_back(std::string("new ") + down.text.c_str());
      });
    }
  };
  ClockedLoop loop;
  Log log;
  const auto patient = loop.spawn<Patient>(&log);
  const auto watched = loop.spawn<Mortal>();
  patient << Watch{watched};
  loop.settle();
  watched << Finish{};
  loop.settle();
  EXPECT_TRUE(log.empty());
  loop.advance(11ms);
  EXPECT_EQ(log, (Log{"new over"}));
}

struct Heart {
  explicit Heart(Log* the_log) : log(the_log) {}
  Log* log;
  void on(Change, Context& context) {
    EXPECT_EQ(context.become(*this, [this](TimerEvent event) { note("new", event); }), Errc::ok);
  }
  void on(Back, Context& context) { EXPECT_TRUE(context.unbecome()); }
  void on(const TimerEvent& event) { note("old", event); }
  void note(const char* what, const TimerEvent& event) {
    EXPECT_EQ(event.period, 10ms);
    log->push_back(std::string(what) + " " + std::to_string(event.beat));
  }
};

TEST_P(BecomeForEvents, AClockGoesOnWhoeverHearsIt) {
  ClockedLoop loop;
  Log log;
  const auto heart = spawn_on<Heart>(loop, EventSource::every(10ms), &log);
  ASSERT_TRUE(heart);
  loop.advance(11ms);
  *heart << Change{};
  for (int i = 0; i < 3; ++i) loop.advance(11ms);
  *heart << Back{};
  for (int i = 0; i < 2; ++i) loop.advance(11ms);
  EXPECT_EQ(log, (Log{"old 1", "new 2", "new 3", "new 4", "old 5", "old 6"}));
  EXPECT_EQ(loop.kill(*heart), Errc::ok);
}

// ---- by the operating system ----

// An event may take the kernel a moment: waits for it, not for a time.
void wait_for_events(ClockedLoop& loop, const Log& log, size_t count) {
  for (int tick = 0; tick < 1000 && log.size() < count; ++tick) {
    ASSERT_TRUE(loop.run_once(10ms));
  }
  ASSERT_EQ(log.size(), count);
}

TEST(BecomeForEventsOfTheSystem, AFunctionInFrontHearsOfReadiness) {
  struct Reader {
    explicit Reader(Log* the_log) : log(the_log) {}
    Log* log;
    void on_start(Context& context) {
      (void)context.become(*this, [this](IoEvent event) {
        char byte = 0;
        EXPECT_EQ(::read(event.fd, &byte, 1), 1);
        log->push_back("new");
      });
    }
    void on(const IoEvent&) { log->push_back("old"); }
  };
  Pipe pipe;
  Log log;
  ClockedLoop loop;
  ASSERT_TRUE(spawn_on<Reader>(loop, EventSource::fd(pipe.reader.get(), kIoRead), &log));
  put(pipe.writer);
  wait_for_events(loop, log, 1);
  EXPECT_EQ(log, (Log{"new"}));
}

TEST(BecomeForEventsOfTheSystem, AFunctionInFrontHearsOfSignals) {
  struct Listener {
    explicit Listener(Log* the_log) : log(the_log) {}
    Log* log;
    void on_start(Context& context) {
      (void)context.become(*this, [this](SignalEvent event, Context&) {
        EXPECT_EQ(event.signal, SIGUSR1);
        log->push_back("new");
      });
    }
    void on(const SignalEvent&) { log->push_back("old"); }
  };
  Log log;
  ClockedLoop loop;
  ASSERT_TRUE(spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &log));
  loop.settle();
  ASSERT_EQ(::raise(SIGUSR1), 0);
  wait_for_events(loop, log, 1);
  EXPECT_EQ(log, (Log{"new"}));
}

}  // namespace
}  // namespace jzx::testing
