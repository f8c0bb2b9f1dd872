// Links and monitors of typed actors, and the signals they bring.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Finish {};
struct Fail {
  std::string why;
};
struct LinkTo {
  Pid other;
};
struct MonitorIt {
  Pid target;
};
struct Forget {};
struct Trap {
  bool on = true;
};

struct Bonded {
  explicit Bonded(std::vector<std::string>& the_log) : log(the_log) {}
  void on(Finish, Context& context) { context.stop(); }
  void on(Fail fail, Context& context) { context.fail(fail.why); }
  Errc on(LinkTo link, Context& context) { return context.link(link.other); }
  Errc on(MonitorIt monitor, Context& context) { return context.monitor(monitor.target, &ref); }
  Errc on(Forget, Context& context) { return context.demonitor(ref); }
  Errc on(Trap trap, Context& context) { return context.trap_exit(trap.on); }
  void on(const Exit& exit) { note("exit", exit.reason, exit.text); }
  void on(const Down& down) {
    EXPECT_EQ(down.ref, ref.value);
    note("down", down.reason, down.text);
  }
  void note(const char* what, ExitReason reason, const ExitText& text) {
    log.push_back(std::string(what) + " " + to_string(reason) + " " + text.c_str());
  }
  std::vector<std::string>& log;
  MonitorRef ref;
};

class Bonds : public OnAnyDriver {
 protected:
  std::vector<std::string> log;
  ClockedLoop loop;
  ActorRef<Bonded> a = loop.spawn<Bonded>(log);
  ActorRef<Bonded> b = loop.spawn<Bonded>(log);

  template <class M>
  Errc tell(const ActorRef<Bonded>& actor, M message) {
    return loop.run_until(actor.ask(std::move(message))).value();
  }
};

class Link : public Bonds {};
class Monitor : public Bonds {};
JZX_ON_ALL_DRIVERS(Link);
JZX_ON_ALL_DRIVERS(Monitor);

TEST_P(Link, EndsTheOtherWhenOneFails) {
  EXPECT_EQ(tell(a, LinkTo{b}), Errc::ok);
  a << Fail{"broken"};
  loop.settle();
  EXPECT_FALSE(loop.seen().is_alive(b.id()));
  EXPECT_EQ(loop.seen().stop_of(b.id()).reason, ExitReason::fail);
}

TEST_P(Link, LetsTheOtherLiveWhenOneEndsNormally) {
  EXPECT_EQ(tell(a, LinkTo{b}), Errc::ok);
  a << Finish{};
  loop.settle();
  EXPECT_TRUE(loop.seen().is_alive(b.id()));
  EXPECT_TRUE(log.empty());
}

TEST_P(Link, BecomesAMessageForOneThatTrapsExits) {
  EXPECT_EQ(tell(a, LinkTo{b}), Errc::ok);
  EXPECT_EQ(tell(b, Trap{}), Errc::ok);
  a << Fail{"broken"};
  loop.settle();
  EXPECT_TRUE(loop.seen().is_alive(b.id()));
  EXPECT_EQ(log, std::vector<std::string>{"exit fail broken"});
}

TEST_P(Link, CanBeUndone) {
  EXPECT_EQ(loop.link(a, b), Errc::ok);
  EXPECT_EQ(loop.unlink(a, b), Errc::ok);
  EXPECT_EQ(loop.kill(a), Errc::ok);
  loop.settle();
  EXPECT_TRUE(loop.seen().is_alive(b.id()));
}

TEST_P(Link, ToOneThatIsGoneIsRefused) {
  b << Finish{};
  loop.settle();
  EXPECT_EQ(tell(a, LinkTo{b}), Errc::no_such_actor);
  EXPECT_EQ(tell(a, LinkTo{a}), Errc::invalid_arg);
}

TEST_P(Monitor, TellsOnceHowTheTargetEnded) {
  EXPECT_EQ(tell(a, MonitorIt{b}), Errc::ok);
  b << Fail{"worn out"};
  loop.settle();
  EXPECT_EQ(log, std::vector<std::string>{"down fail worn out"});
  EXPECT_TRUE(loop.seen().is_alive(a.id()));
}

TEST_P(Monitor, OfOneThatIsGoneTellsAtOnce) {
  b << Finish{};
  loop.settle();
  EXPECT_EQ(tell(a, MonitorIt{b}), Errc::ok);
  loop.settle();
  EXPECT_EQ(log, std::vector<std::string>{"down noproc "});
}

TEST_P(Monitor, CanBeForgotten) {
  EXPECT_EQ(tell(a, MonitorIt{b}), Errc::ok);
  EXPECT_EQ(tell(a, Forget{}), Errc::ok);
  EXPECT_EQ(tell(a, Forget{}), Errc::invalid_arg);
  EXPECT_EQ(loop.kill(b), Errc::ok);
  loop.settle();
  EXPECT_TRUE(log.empty());
}

// ---- which handlers are found for what the system tells ----

JZX_SUITE_ON_ALL_DRIVERS(Signals);

TEST_P(Signals, ReachHandlersHoweverTheyTakeThem) {
  struct ByValue {
    explicit ByValue(int& the_count) : count(the_count) {}
    void on(Down) { ++count; }
    int& count;
  };
  struct ByReference {
    explicit ByReference(int& the_count) : count(the_count) {}
    void on(const Down&, Context&) { ++count; }
    int& count;
  };
  struct ByMove {
    explicit ByMove(int& the_count) : count(the_count) {}
    void on(Down&&) { ++count; }
    int& count;
  };
  struct ByMoveWithContext {
    explicit ByMoveWithContext(int& the_count) : count(the_count) {}
    void on(Down&&, Context&) { ++count; }
    int& count;
  };
  ClockedLoop loop;
  struct Target {};
  const auto target = loop.spawn<Target>();
  int counts[4] = {};
  const Pid watchers[4] = {loop.spawn<ByValue>(counts[0]), loop.spawn<ByReference>(counts[1]),
                           loop.spawn<ByMove>(counts[2]), loop.spawn<ByMoveWithContext>(counts[3])};
  for (const Pid& watcher : watchers) EXPECT_EQ(loop.monitor(watcher, target), Errc::ok);
  EXPECT_EQ(loop.kill(target), Errc::ok);
  loop.settle();
  for (const int count : counts) EXPECT_EQ(count, 1);
}

TEST_P(Signals, WithoutAHandlerAreNotToldAndNoDeadLetters) {
  struct Deaf {};
  ClockedLoop loop;
  const auto deaf = loop.spawn<Deaf>();
  const auto target = loop.spawn<Deaf>();
  EXPECT_EQ(loop.trap_exit(deaf, true), Errc::ok);
  EXPECT_EQ(loop.monitor(deaf, target), Errc::ok);
  EXPECT_EQ(loop.link(deaf, target), Errc::ok);
  EXPECT_EQ(loop.kill(target), Errc::ok);
  loop.settle();
  EXPECT_TRUE(loop.seen().is_alive(deaf.id()));
  EXPECT_TRUE(loop.seen().dead.empty());
}

}  // namespace
}  // namespace jzx::testing
