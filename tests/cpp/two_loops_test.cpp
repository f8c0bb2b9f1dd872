// Two loops in one process: references know which loop they belong to.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cpp/census.hpp"
#include "cpp/clocked_loop.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

struct Go {};
struct Number {
  int value = 0;
};

struct Sum {
  int total = 0;
  void on(Number number) { total += number.value; }
  int on(Go) { return total; }
  void on(char, Context& context) { context.stop(); }
};

struct Forwarder {
  explicit Forwarder(ActorRef<Sum> the_target) : target(the_target) {}
  Errc on(Number number) { return target.send(number); }
  ActorRef<Sum> target;
};

TEST(TwoLoops, OnOneThreadKeepTheirActorsApart) {
  ClockedLoop a;
  ClockedLoop b;
  const auto in_a = a.spawn<Sum>();
  const auto in_b = b.spawn<Sum>();
  in_a << Number{1};
  in_b << Number{2};
  a.settle();
  EXPECT_EQ(b.ledger().queued, 1u);
  b.settle();
  EXPECT_EQ(a.run_until(in_a.ask(Go{})).value(), 1);
  EXPECT_EQ(b.run_until(in_b.ask(Go{})).value(), 2);
}

TEST(TwoLoops, AHandlerOfOneSendsToAnActorOfTheOther) {
  ClockedLoop a;
  ClockedLoop b;
  const auto sum = b.spawn<Sum>();
  const auto forwarder = a.spawn<Forwarder>(sum);
  EXPECT_EQ(a.run_until(forwarder.ask(Number{5})).value(), Errc::ok);
  EXPECT_EQ(b.run_until(sum.ask(Go{})).value(), 5);
  EXPECT_EQ(a.run_until(forwarder.ask(Number{6})).value(), Errc::ok);
  EXPECT_EQ(b.run_until(sum.ask(Go{})).value(), 11);
}

// Of a message from another loop there is no sender: its id would mean nobody here, or someone
// else.
TEST(TwoLoops, AMessageFromTheOtherHasNoSender) {
  struct Curious {
    void on(Number, Context& context) {
      has_sender = static_cast<bool>(context.sender());
      reply = context.reply(Number{1});
    }
    bool has_sender = true;
    Errc reply = Errc::ok;
    Errc on(Go) { return has_sender ? Errc::unknown : reply; }
  };
  struct Sender {
    explicit Sender(ActorRef<Curious> the_target) : target(the_target) {}
    void on(Go) { target << Number{1}; }
    ActorRef<Curious> target;
  };
  ClockedLoop a;
  ClockedLoop b;
  const auto curious = b.spawn<Curious>();
  a.spawn<Sender>(curious) << Go{};
  a.settle();
  b.settle();
  EXPECT_EQ(b.run_until(curious.ask(Go{})).value(), Errc::no_such_actor);
}

TEST(TwoLoops, RefuseToDoToTheOthersActorsWhatOnlyItsOwnLoopCan) {
  ClockedLoop a;
  ClockedLoop b;
  const auto own = a.spawn<Sum>();
  const auto foreign = b.spawn<Sum>();
  TimerId timer;
  EXPECT_EQ(a.stop(foreign), Errc::actor_not_local);
  EXPECT_EQ(a.kill(foreign), Errc::actor_not_local);
  EXPECT_EQ(a.register_name(foreign, "name"), Errc::actor_not_local);
  EXPECT_EQ(a.link(own, foreign), Errc::actor_not_local);
  EXPECT_EQ(a.unlink(foreign, own), Errc::actor_not_local);
  EXPECT_EQ(a.monitor(own, foreign), Errc::actor_not_local);
  EXPECT_EQ(a.monitor(foreign, own), Errc::actor_not_local);
  EXPECT_EQ(a.trap_exit(foreign, true), Errc::actor_not_local);
  EXPECT_EQ(a.send_after(1ms, foreign, Number{1}, &timer), Errc::actor_not_local);
  EXPECT_EQ(a.send_after(1ms, foreign.pid(), Number{1}), Errc::actor_not_local);
  EXPECT_EQ(a.watch_fd(0, foreign, 1), Errc::actor_not_local);
  SpawnOptions options;
  options.supervisor = foreign;
  EXPECT_FALSE(a.spawn_with<Sum>(options));
  EXPECT_EQ(a.spawn_error(), Errc::actor_not_local);
  EXPECT_FALSE(a.supervise({}, {}, foreign));
  EXPECT_EQ(a.supervise_error(), Errc::actor_not_local);
  EXPECT_TRUE(b.seen().is_alive(foreign.id()));
}

// The first of each in either loop: if ids were counted from the same number, they would be equal.
TEST(TwoLoops, DoNotTakeTheOthersTimersAndMonitorsForTheirOwn) {
  struct Mourner {
    int downs = 0;
    int beats = 0;
    void on(const Down&) { ++downs; }
    void on(Number) { ++beats; }
    int on(Go) { return 10 * beats + downs; }
  };
  ClockedLoop a;
  ClockedLoop b;
  MonitorRef ref_of_a;
  MonitorRef ref_of_b;
  TimerId timer_of_a;
  TimerId timer_of_b;
  const auto target_in_a = a.spawn<Sum>();
  const auto target_in_b = b.spawn<Sum>();
  const auto in_a = a.spawn<Mourner>();
  const auto in_b = b.spawn<Mourner>();
  ASSERT_EQ(a.monitor(in_a, target_in_a, &ref_of_a), Errc::ok);
  ASSERT_EQ(b.monitor(in_b, target_in_b, &ref_of_b), Errc::ok);
  ASSERT_EQ(a.send_after(1ms, in_a, Number{1}, &timer_of_a), Errc::ok);
  ASSERT_EQ(b.send_after(1ms, in_b, Number{1}, &timer_of_b), Errc::ok);
  EXPECT_NE(ref_of_a.value, ref_of_b.value);
  EXPECT_NE(timer_of_a.value, timer_of_b.value);

  EXPECT_EQ(b.demonitor(ref_of_a), Errc::invalid_arg);
  EXPECT_EQ(b.cancel(timer_of_a), Errc::timer_invalid);
  target_in_b << 'x';
  b.advance(2ms);
  EXPECT_EQ(b.run_until(in_b.ask(Go{})).value(), 11) << "its own are as they were";

  EXPECT_EQ(a.demonitor(ref_of_a), Errc::ok);
  EXPECT_EQ(a.cancel(timer_of_a), Errc::ok);
}

TEST(TwoLoops, AnEmptyReferenceIsNobodysActor) {
  ClockedLoop loop;
  const auto own = loop.spawn<Sum>();
  EXPECT_EQ(loop.stop(Pid()), Errc::no_such_actor);
  EXPECT_EQ(loop.link(own, Pid()), Errc::no_such_actor);
  EXPECT_EQ(loop.send_after(1ms, ActorRef<Sum>(), Number{1}), Errc::no_such_actor);
}

TEST(TwoLoops, RunUntilWaitsForAnActorOfTheOtherLoopsThread) {
  ClockedLoop a;
  ClockedLoop b;
  (void)a.spawn<Sum>();  // keeps it waiting
  const auto sum = b.spawn<Sum>();
  std::thread other([&] { EXPECT_EQ(b.run(), Errc::ok); });
  for (int i = 1; i <= 100; ++i) {
    sum << Number{1};
    ASSERT_EQ(a.run_until(sum.ask(Go{})).value(), i);
  }
  sum << 'x';
  other.join();
}

// ---- each in a thread of its own ----

// Plays back what it gets until it has had enough.
struct Player {
  Player(int& the_rallies, int the_limit) : rallies(the_rallies), limit(the_limit) {}
  void on(ActorRef<Player> the_other) { other = the_other; }
  void on(Number ball, Context& context) {
    ++rallies;
    (void)other.send(Number{ball.value + 1});
    if (ball.value >= limit) context.stop();
  }
  int& rallies;
  int limit;
  ActorRef<Player> other;
};

TEST(TwoLoops, InTwoThreadsPlayWithEachOther) {
  const auto limit = static_cast<int>(scaled(20'000));
  int rallies[2] = {};
  ClockedLoop a;
  ClockedLoop b;
  const auto in_a = a.spawn<Player>(rallies[0], limit);
  const auto in_b = b.spawn<Player>(rallies[1], limit);
  in_a << in_b;
  in_b << in_a << Number{1};
  std::thread other([&] { EXPECT_EQ(b.run(), Errc::ok); });
  EXPECT_EQ(a.run(), Errc::ok);
  other.join();
  EXPECT_GE(rallies[0] + rallies[1], limit);
}

TEST(TwoLoops, MessagesThatCrossEndOnceWhereverTheyEnd) {
  const auto count = static_cast<int>(scaled(20'000));
  struct Sink {
    explicit Sink(int the_limit) : limit(the_limit) {}
    void on(Big, Context& context) {
      if (++handled == limit) context.stop();
    }
    int limit;
    int handled = 0;
  };
  struct Source {
    Source(ActorRef<Sink> the_sink, Census& the_census, int the_count)
        : sink(the_sink), census(the_census), count(the_count) {}
    void on_start(Context& context) { context.self(*this) << Go{}; }
    void on(Go, Context& context) {
      for (int i = 0; i < 50 && sent < count; ++i, ++sent) sink << Big(census);
      if (sent == count) return context.stop();
      context.self(*this) << Go{};
    }
    ActorRef<Sink> sink;
    Census& census;
    int count;
    int sent = 0;
  };
  Census census;
  {
    ClockedLoop a;
    ClockedLoop b;
    SpawnOptions options;
    options.mailbox_cap = 100;  // some are refused
    const auto sink = b.spawn_with<Sink>(options, count / 10);
    (void)a.spawn<Source>(sink, census, count);
    std::thread other([&] { EXPECT_EQ(b.run(), Errc::ok); });
    EXPECT_EQ(a.run(), Errc::ok);
    // What was refused may leave the sink short of its number.
    for (int i = 0; i < count; ++i) {
      while (sink.send(Big(census)) == Errc::mailbox_full) std::this_thread::yield();
      if (sink.send(Big(census)) == Errc::no_such_actor) break;
    }
    other.join();
  }
  EXPECT_EQ(census.objects(), 0u);
  EXPECT_GE(census.ended(), count);
}

}  // namespace
}  // namespace jzx::testing
