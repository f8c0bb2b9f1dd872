// Everybody gets on: whatever keeps the workers busy for ever, the others have their turns. Counted
// in messages of those that never stop, not in time. Who never stops gives up at a limit that is
// far beyond the promise, so that a starved test ends and says so.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/fds.hpp"
#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kMessagesPerTurn = 64;
// At most: it is over sooner if its messages are slow.
constexpr uint64_t kMessagesPerTick = 1024 * kMessagesPerTurn;
// With one worker everything is counted in its turns, and a few ticks are a bound. With two, the
// other's thread may lose its core while it holds the work, and only "for ever" can be told.
constexpr uint64_t kFewTicks = 4 * kMessagesPerTick;
constexpr uint64_t kForEver = 50'000'000;
constexpr uint64_t limit_for(uint32_t workers) { return workers == 1 ? kFewTicks : kForEver; }

// What the actors of one test share. Counted from the moment the work was left for the others.
struct Course {
  explicit Course(uint64_t the_limit) : limit(the_limit) {}
  const uint64_t limit;
  std::atomic<bool> is_left{false};  // the others have something to do
  std::atomic<uint64_t> spent{0};    // messages of the busy ones since then
  std::atomic<uint64_t> waiting{0};  // of the others
  std::atomic<uint64_t> starved{0};  // of those, at the end
  std::atomic<uint64_t> before{0};
  Gate is_running;  // the busy ones are
  Gate ended;

  // A busy one has handled one more. False: it ends.
  bool goes_on() {
    if (!is_left.load()) {
      if (before.fetch_add(1) == kMessagesPerTurn) is_running.open();
      return true;
    }
    const uint64_t still_waiting = waiting.load();
    if (still_waiting > 0 && spent.fetch_add(1) < limit) return true;
    if (!ended.is_open()) starved.store(still_waiting);  // who is served later is served too late
    ended.open();
    return false;
  }
  void served() { waiting.fetch_sub(1); }
};

struct Again {};
struct Work {};

// Never out of work.
struct Busy {
  using Messages = jzx::Messages<Again>;
  Course& course;
  void on(Again, Context& context) {
    if (course.goes_on()) (void)context.self(*this).send(Again{});
  }
};

struct Other {
  using Messages = jzx::Messages<Work>;
  Course& course;
  void on(Work) { course.served(); }
};

// Leaves one piece of work for each, and is never out of work itself.
struct Generous {
  using Messages = jzx::Messages<Again>;
  Course& course;
  std::vector<Pid> others;
  void on(Again, Context& context) {
    if (!course.is_left.load()) {
      for (const Pid other : others) EXPECT_EQ(other.send(Work{}), Errc::ok);
      course.is_left.store(true);
    }
    if (course.goes_on()) (void)context.self(*this).send(Again{});
  }
};

class Fairness : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, Fairness, ::testing::Values(1u, 2u));

TEST_P(Fairness, ABusyActorAmongThousandsKeepsNobodyWaiting) {
  Course course(limit_for(GetParam()));
  const size_t count = scaled(5'000, 5);
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  std::vector<Pid> others;
  for (size_t i = 0; i < count; ++i) others.push_back(runtime.spawn<Other>(course));
  course.waiting.store(count);
  ASSERT_EQ(runtime.spawn<Generous>(course, others).send(Again{}), Errc::ok);
  ASSERT_TRUE(course.ended.wait());
  EXPECT_EQ(course.starved.load(), 0u) << "of " << count << " never had a turn";
}

TEST_P(Fairness, WorkFromOutsideGetsOnBesideBusyActors) {
  Course course(limit_for(GetParam()));
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  // Each worker has one that never ends.
  for (uint32_t i = 0; i < GetParam(); ++i) {
    SpawnOptions options;
    options.placement = Placement::pin_to(static_cast<uint8_t>(i));
    ASSERT_EQ(runtime.spawn_with<Busy>(options, course).send(Again{}), Errc::ok);
  }
  ASSERT_TRUE(course.is_running.wait());
  // Far more than a worker takes at a time.
  const uint64_t count = scaled(5'000, 5);
  std::vector<Pid> others;
  for (uint64_t i = 0; i < count; ++i) others.push_back(runtime.spawn<Other>(course));
  course.waiting.store(count);
  for (const Pid other : others) ASSERT_EQ(other.send(Work{}), Errc::ok);
  course.is_left.store(true);
  ASSERT_TRUE(course.ended.wait());
  EXPECT_EQ(course.starved.load(), 0u) << "never had a turn";
}

// All of it is for one worker, whatever the others do, and so it is counted in that one's turns.
TEST_P(Fairness, ABusyActorKeepsNobodyWaitingWhoIsPinnedBesideIt) {
  Course course(kFewTicks);
  const uint64_t count = scaled(5'000, 5);
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  SpawnOptions here;
  here.placement = Placement::pin_to(0);
  std::vector<Pid> others;
  for (uint64_t i = 0; i < count; ++i) others.push_back(runtime.spawn_with<Other>(here, course));
  course.waiting.store(count);
  ASSERT_EQ(runtime.spawn_with<Generous>(here, course, others).send(Again{}), Errc::ok);
  ASSERT_TRUE(course.ended.wait());
  EXPECT_EQ(course.starved.load(), 0u) << "of " << count << " never had a turn";
}

// ---- who is called from outside ----

// A busy actor, in the middle of one of its messages, has another thread send to a neighbour, and
// waits for that thread. The neighbour counts how many messages have passed since.
struct Visited {
  std::atomic<uint64_t> messages{0};
  std::atomic<uint64_t> sent_at{0};
  std::atomic<uint64_t> waited{0};
  Gate is_answered;
};

struct Neighbour {
  using Messages = jzx::Messages<Work>;
  Visited& visited;
  void on(Work) {
    visited.waited.store(visited.messages.load() - visited.sent_at.load());
    visited.is_answered.open();
  }
};

struct BusyHost {
  using Messages = jzx::Messages<Again>;
  static constexpr uint64_t kBegin = 1'000;  // the worker has settled by then
  Visited& visited;
  Pid neighbour;
  void on(Again, Context& context) {
    if (++visited.messages == kBegin) {
      visited.sent_at.store(kBegin);
      std::thread([this] { EXPECT_EQ(neighbour.send(Work{}), Errc::ok); }).join();
    }
    if (!visited.is_answered.is_open()) (void)context.self(*this).send(Again{});
  }
};

// Whoever may run it: all workers are busy, and one of them looks after its turn.
TEST_P(Fairness, ANeighbourThatMayRunAnywhereDoesNotWaitForTheEndOfATick) {
  Visited visited;
  Course course(kForEver);
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  const auto neighbour = runtime.spawn<Neighbour>(visited);
  // The other workers have work as well, in turns of full budget.
  course.waiting.store(1);
  for (uint32_t i = 1; i < GetParam(); ++i) {
    SpawnOptions there;
    there.placement = Placement::pin_to(static_cast<uint8_t>(i));
    const auto other = runtime.spawn_with<Busy>(there, course);
    for (int n = 0; n < 200; ++n) ASSERT_EQ(other.send(Again{}), Errc::ok);
  }
  SpawnOptions here;
  here.placement = Placement::pin_to(0);
  const auto busy = runtime.spawn_with<BusyHost>(here, visited, neighbour);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(busy.send(Again{}), Errc::ok);
  ASSERT_TRUE(visited.is_answered.wait());
  // With one worker all is counted in its turns; of two, either may take it, when it has its core.
  if (GetParam() == 1) {
    EXPECT_LE(visited.waited.load(), 2 * kMessagesPerTurn);
  }
  course.served();
}

TEST_P(Fairness, ANeighbourWhomAnotherThreadSendsToWaitsForTwoVisitsOfABusyActorAtMost) {
  for (const uint32_t budget : {64u, 8u}) {
    Visited visited;
    RuntimeOptions options{.workers = GetParam()};
    options.max_msgs_per_actor = budget;
    Runtime runtime(options);
    SpawnOptions here;
    here.placement = Placement::pin_to(0);
    const auto neighbour = runtime.spawn_with<Neighbour>(here, visited);
    const auto busy = runtime.spawn_with<BusyHost>(here, visited, neighbour);
    // Never out of work, and always with more than its budget in its mailbox.
    for (int i = 0; i < 200; ++i) ASSERT_EQ(busy.send(Again{}), Errc::ok);
    ASSERT_TRUE(visited.is_answered.wait());
    EXPECT_LE(visited.waited.load(), 2 * budget);
  }
}

// ---- the lifo slot and the fresh ----

// Two that wake one another for ever, so that one of them is always the actor woken last.
struct PingPong {
  using Messages = jzx::Messages<Again>;
  Course& course;
  Pid waiting;  // gets its work from here
  uint64_t count = 0;
  void on(Again, Context& context) {
    if (++count == 100 && waiting) {
      EXPECT_EQ(waiting.send(Work{}), Errc::ok);
      course.is_left.store(true);
    }
    if (course.goes_on()) (void)context.sender().send(Again{});
  }
};

// The first ball comes from here, so that it has a sender.
struct Serve {
  Pid to;
};
struct Server {
  Course& course;
  Pid waiting;
  PingPong play{course, waiting};
  void on(Serve serve) { (void)serve.to.send(Again{}); }
  void on(Again again, Context& context) { play.on(again, context); }
  using Messages = jzx::Messages<Serve, Again>;
};

TEST(LifoSlot, APingPongWithoutEndLetsAThirdOneRun) {
  Course course(1'000);  // their messages while it waits
  Runtime runtime(RuntimeOptions{.workers = 1});
  course.waiting.store(1);
  const auto third = runtime.spawn<Other>(course);
  const auto first = runtime.spawn<Server>(course, third);
  const auto second = runtime.spawn<PingPong>(course, Pid());
  ASSERT_EQ(first.send(Serve{second}), Errc::ok);
  ASSERT_TRUE(course.ended.wait());
  EXPECT_EQ(course.starved.load(), 0u) << "the third had no turn";
}

// Each is the newest there is, makes a newer one, and ends.
struct Link {
  Course& course;
  Pid waiting;
  uint64_t count = 0;
  void on_start(Context& context) {
    if (count == 100) {
      EXPECT_EQ(waiting.send(Work{}), Errc::ok);
      course.is_left.store(true);
    }
    if (course.goes_on()) (void)context.spawn<Link>(course, waiting, count + 1);
    context.stop();
  }
};

// Trees of spawns go depth first, so an older one may have to wait for a branch: at most for some
// 61 * 1024 turns, which are milliseconds; see ready_queues.hpp.
TEST(LifoSlot, AChainOfSpawnsWithoutEndLetsAnotherRun) {
  Course course(100'000);
  Runtime runtime(RuntimeOptions{.workers = 1});
  course.waiting.store(1);
  const auto other = runtime.spawn<Other>(course);
  ASSERT_TRUE(runtime.spawn<Link>(course, other));
  ASSERT_TRUE(course.ended.wait());
  EXPECT_EQ(course.starved.load(), 0u) << "the other had no turn";
}

// ---- priorities ----

// Turns of the high ones between two turns of the low one.
struct Gaps {
  std::atomic<uint64_t> high_turns{0};
  std::atomic<uint64_t> since{0};
  std::atomic<uint64_t> largest{0};
  std::atomic<uint64_t> low_turns{0};
  std::atomic<uint64_t> low_turns_at_end{0};
  std::atomic<bool> low_waits{false};
  Gate ended;
  static constexpr uint64_t kEnough = 50;          // turns of the low one
  static constexpr uint64_t kStarved = 1'000'000;  // turns of the high ones

  bool high_goes_on() {
    const uint64_t turns = low_turns.load();
    if (high_turns.fetch_add(1) < kStarved && turns < kEnough) return true;
    if (!ended.is_open()) low_turns_at_end.store(turns);
    ended.open();
    return false;
  }
  void low_had_a_turn() {
    const uint64_t now = high_turns.load();
    largest.store(std::max(largest.load(), now - since.exchange(now)));
    low_turns.fetch_add(1);
    low_waits.store(false);
  }
};

struct High {
  using Messages = jzx::Messages<Again>;
  Gaps& gaps;
  Pid low;  // if there is one: it is sent work, one at a time
  void on(Again, Context& context) {
    if (low && !gaps.low_waits.exchange(true)) {
      gaps.since.store(gaps.high_turns.load());
      EXPECT_EQ(low.send(Work{}), Errc::ok);
    }
    if (gaps.high_goes_on()) (void)context.self(*this).send(Again{});
  }
};

struct Low {
  using Messages = jzx::Messages<Again, Work>;
  Gaps& gaps;
  void on(Work) { gaps.low_had_a_turn(); }
  void on(Again, Context& context) {
    gaps.low_had_a_turn();
    (void)context.self(*this).send(Again{});
  }
};

// One pick in 61 is for the levels in turn, of which there are 4.
constexpr uint64_t kLargestGap = 61 * 4 * 2;

struct Rivals {
  Priority higher;
  Priority lower;
  uint32_t workers = 1;  // and all of them on the first
};

class Priorities : public ::testing::TestWithParam<Rivals> {
 protected:
  static SpawnOptions options_for(Priority priority) {
    SpawnOptions options;
    options.priority = priority;
    if (GetParam().workers > 1) options.placement = Placement::pin_to(0);
    return options;
  }
  Pid spawn_low() { return runtime.spawn_with<Low>(options_for(GetParam().lower), gaps); }
  void start_high(Pid low) {
    const SpawnOptions options = options_for(GetParam().higher);
    for (int i = 0; i < 4; ++i) {
      const auto high = runtime.spawn_with<High>(options, gaps, i == 0 ? low : Pid());
      ASSERT_EQ(high.send(Again{}), Errc::ok);
    }
  }

  Gaps gaps;
  // A message is a turn.
  Runtime runtime{RuntimeOptions{.workers = GetParam().workers, .max_msgs_per_actor = 1}};
};
INSTANTIATE_TEST_SUITE_P(Levels, Priorities,
                         ::testing::Values(Rivals{Priority::critical, Priority::low},
                                           Rivals{Priority::high, Priority::normal},
                                           Rivals{Priority::high, Priority::low},
                                           Rivals{Priority::normal, Priority::low},
                                           Rivals{Priority::critical, Priority::low, 2},
                                           Rivals{Priority::high, Priority::normal, 2},
                                           Rivals{Priority::normal, Priority::low, 2}));

TEST_P(Priorities, ALowerOneThatIsAlwaysReadyHasItsShareOfTheTurns) {
  ASSERT_EQ(spawn_low().send(Again{}), Errc::ok);
  start_high(Pid());
  ASSERT_TRUE(gaps.ended.wait());
  EXPECT_GE(gaps.low_turns_at_end.load(), Gaps::kEnough) << "it starved";
}

TEST_P(Priorities, ALowerOneThatIsWokenByAHigherOneRunsWithinAFewTurns) {
  const Pid low = spawn_low();
  start_high(low);
  ASSERT_TRUE(gaps.ended.wait());
  EXPECT_GE(gaps.low_turns_at_end.load(), Gaps::kEnough) << "it starved";
  EXPECT_LE(gaps.largest.load(), kLargestGap) << "turns of the higher ones while it waited";
}

// Keeps the ring of its level busy.
struct Peer {
  using Messages = jzx::Messages<Again>;
  Gaps& gaps;
  void on(Again, Context& context) {
    if (!gaps.ended.is_open()) (void)context.self(*this).send(Again{});
  }
};

TEST_P(Priorities, ALowerOneThatIsWokenAmongBusyOnesOfItsLevelRunsWithinAFewTurns) {
  const Pid low = spawn_low();
  const SpawnOptions options = options_for(GetParam().lower);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(runtime.spawn_with<Peer>(options, gaps).send(Again{}), Errc::ok);
  }
  start_high(low);
  ASSERT_TRUE(gaps.ended.wait());
  EXPECT_GE(gaps.low_turns_at_end.load(), Gaps::kEnough) << "it starved";
  EXPECT_LE(gaps.largest.load(), 3 * kLargestGap) << "turns of the higher ones while it waited";
}

// ---- timers and fds ----

struct Alarm {};
struct Sleeper {
  using Messages = jzx::Messages<Alarm>;
  Course& course;
  void on(Alarm) { course.served(); }
};

TEST_P(Fairness, ATimerIsServedUnderEndlessLoad) {
  Course course(kForEver);  // when a timer is due is a matter of time
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  course.waiting.store(1);
  const auto sleeper = runtime.spawn<Sleeper>(course);
  for (uint32_t i = 0; i < GetParam(); ++i) {
    SpawnOptions options;
    options.placement = Placement::pin_to(static_cast<uint8_t>(i));
    ASSERT_EQ(runtime.spawn_with<Busy>(options, course).send(Again{}), Errc::ok);
  }
  ASSERT_TRUE(course.is_running.wait());
  ASSERT_EQ(runtime.send_after(1ms, sleeper, Alarm{}), Errc::ok);
  course.is_left.store(true);
  ASSERT_TRUE(course.ended.wait());
  EXPECT_EQ(course.starved.load(), 0u) << "the timer was not delivered";
}

struct Reader {
  Course& course;
  void on(const IoEvent&) { course.served(); }
};

TEST_P(Fairness, AWatchedPipeIsServedUnderEndlessLoad) {
  Course course(limit_for(GetParam()));
  Pipe pipe;
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  course.waiting.store(1);
  const auto reader = runtime.spawn<Reader>(course);
  ASSERT_EQ(runtime.watch_fd(pipe.reader.get(), reader, kIoRead), Errc::ok);
  for (uint32_t i = 0; i < GetParam(); ++i) {
    SpawnOptions options;
    options.placement = Placement::pin_to(static_cast<uint8_t>(i));
    ASSERT_EQ(runtime.spawn_with<Busy>(options, course).send(Again{}), Errc::ok);
  }
  ASSERT_TRUE(course.is_running.wait());
  put(pipe.writer);
  course.is_left.store(true);
  ASSERT_TRUE(course.ended.wait());
  EXPECT_EQ(course.starved.load(), 0u) << "the pipe's event was not delivered";
}

}  // namespace
}  // namespace jzx::testing
