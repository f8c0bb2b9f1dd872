// How long a busy worker goes on before it looks at timers, at I/O and at what other threads have
// left: by the time that its messages take, whatever that is. Time is the test's: each message
// moves the clock by what it costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/prng.hpp"
#include "core/rig.hpp"
#include "drivers/loop/pace.hpp"

namespace jzx::drivers {
namespace {

using jzx::testing::Rig;
using jzx::testing::send_value;
using jzx::testing::send_value_foreign;

constexpr uint64_t kMicro = 1'000;
constexpr uint64_t kMilli = 1'000'000;

// Actors that always have work: each message costs some time and is followed by another.
class BusyRig : public Rig {
 public:
  using Cost = std::function<uint64_t()>;

  explicit BusyRig(runtime::LoopOptions options = {}) : Rig(options) {}

  // `queued` messages are in its mailbox at all times.
  ActorId spawn_busy(Cost cost, uint32_t queued) {
    const ActorId id = spawn({.handle = [this, cost](core::Turn& turn, Envelope& envelope) {
      ++handled;
      clock.advance_ns(cost());
      if (on_busy) on_busy();
      if (is_over) return core::Outcome::stopped;
      EXPECT_EQ(send_value(turn.host, turn.actor.id(), 0), Errc::ok);
      (void)envelope;
      return core::Outcome::wants_mail;
    }});
    for (uint32_t i = 0; i < queued; ++i) EXPECT_EQ(send(id, 0), Errc::ok);
    return id;
  }

  void end() {
    is_over = true;
    settle();
  }

  std::function<void()> on_busy;  // after each message of a busy one
  uint64_t handled = 0;           // messages of the busy ones
  bool is_over = false;
};

class Alarm : public base::Timer {
 public:
  Alarm()
      : Timer([](base::Timer& self, base::Executor& executor) {
          static_cast<Alarm&>(self).fired_ns = executor.now_ns();
        }) {}
  uint64_t fired_ns = 0;
};

// A timer whose code takes its time.
struct SlowTimer : base::Timer {
  SlowTimer(Rig& the_rig, uint64_t the_cost, int& the_count)
      : Timer([](base::Timer& self, base::Executor&) {
          auto& slow = static_cast<SlowTimer&>(self);
          slow.rig.clock.advance_ns(slow.cost_ns);
          ++slow.count;
        }),
        rig(the_rig),
        cost_ns(the_cost),
        count(the_count) {}
  Rig& rig;
  const uint64_t cost_ns;
  int& count;
};

// How late a timer of 5 ms is, counted from the tick that stamps it.
uint64_t lateness_beside(BusyRig& rig) {
  Alarm alarm;
  rig.worker().arm(alarm, 5);
  const uint64_t stamped_ns = rig.clock.now_ns();
  for (int ticks = 0; alarm.fired_ns == 0 && ticks < 100'000; ++ticks) rig.tick();
  EXPECT_NE(alarm.fired_ns, 0u) << "it never fired";
  return alarm.fired_ns - stamped_ns - 5 * kMilli;
}

// One for the part of a millisecond by which a deadline is rounded up.
constexpr uint64_t kMostLate = kMilli + Pace::kTick + Pace::kSlice;

TEST(TickLength, ATimerIsAMillisecondLateAtMostWhateverTheMessagesOfTheOthersCost) {
  for (const uint64_t cost :
       {10ul, 100ul, kMicro, 10 * kMicro, 100 * kMicro, kMilli, 20 * kMilli}) {
    for (const uint32_t queued : {1u, 3u, 200u}) {
      BusyRig rig;
      for (int i = 0; i < 4; ++i) rig.spawn_busy([=] { return cost; }, queued);
      rig.tick();
      // In a turn of several messages, up to two of them.
      EXPECT_LE(lateness_beside(rig), kMostLate + 2 * cost)
          << cost << " ns a message, " << queued << " queued";
      rig.end();
    }
  }
}

TEST(TickLength, SoItIsWhenSomeMessagesAreQuickAndOthersSlow) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    base::Prng random(seed);
    BusyRig rig;
    const auto any_cost = [&]() -> uint64_t { return uint64_t{10} << random.below(14); };
    for (int i = 0; i < 4; ++i) rig.spawn_busy(any_cost, 1 + 10 * random.below(10));
    rig.tick();
    for (int again = 0; again < 20; ++again) {
      // Up to 164 us a message: so many may pass before the next look.
      EXPECT_LE(lateness_beside(rig), kMostLate + kMilli) << "seed " << seed;
    }
    rig.end();
  }
}

// A burst after a quiet time, as servers have it.
TEST(TickLength, ATickThatBeginsWithSlowMessagesEndsAfterTheFirstAlthoughTheLastOneHadQuickOnes) {
  BusyRig rig;
  rig.spawn_busy([] { return 10; }, 200);
  for (int i = 0; i < 10; ++i) rig.tick();
  rig.end();
  int slow = 0;
  for (int i = 0; i < 64; ++i) {
    const ActorId id = rig.spawn({.handle = [&](core::Turn&, Envelope&) {
      ++slow;
      rig.clock.advance_ms(10);
      return core::Outcome::wants_mail;
    }});
    ASSERT_EQ(rig.send(id, 0), Errc::ok);
  }
  rig.tick();
  EXPECT_EQ(slow, 1);
}

TEST(TickLength, AfterQuickMessagesInTheSameTickThirtyTwoSlowOnesPassAtMostAndThenTwo) {
  BusyRig rig;
  uint64_t slow = 0;
  rig.spawn_busy([&]() -> uint64_t { return rig.handled < 1'000 ? 10 : (++slow, kMilli); }, 200);
  rig.tick();
  EXPECT_GE(slow, 1u) << "they belong to one tick";
  EXPECT_LE(slow, Pace::kMost);
  slow = 0;
  rig.tick();
  EXPECT_LE(slow, 2u);
  rig.end();
}

TEST(TickLength, AnActorWithSlowMessagesGivesWayToTheOthersBeforeItsBudgetIsSpent) {
  BusyRig rig;
  rig.spawn_busy([] { return 50 * kMicro; }, 200);
  rig.tick();
  uint64_t waited_ns = 0;
  const ActorId other = rig.spawn({.handle = [&](core::Turn&, Envelope& envelope) {
    waited_ns = rig.clock.now_ns() - envelope.as<RawMessage>().tag * kMicro;
    return core::Outcome::wants_mail;
  }});
  bool is_sent = false;
  rig.on_busy = [&] {
    if (std::exchange(is_sent, true)) return;
    EXPECT_EQ(send_value(rig.host(), other, static_cast<uint32_t>(rig.clock.now_ns() / kMicro)),
              Errc::ok);
  };
  while (waited_ns == 0) rig.tick();
  EXPECT_LE(waited_ns, Pace::kSlice + 50 * kMicro);
  rig.end();
}

TEST(TickLength, QuickMessagesAreCountedAndNotTimed) {
  runtime::LoopOptions options;
  options.max_msgs_per_actor = 64;
  options.max_actors_per_tick = 8;
  BusyRig rig(options);
  rig.spawn_busy([] { return 0; }, 200);
  rig.handled = 0;
  rig.tick();
  EXPECT_EQ(rig.handled, 64u * 8u);
  rig.end();
}

TEST(TickLength, ManyTimersThatAreDueAtOnceLetTheActorsHaveTheirTurns) {
  BusyRig rig;
  constexpr int kTimers = 1'000;
  int fired = 0;
  std::deque<SlowTimer> timers;
  std::vector<int> fired_before{0};  // each message of the busy one
  rig.on_busy = [&] { fired_before.push_back(fired); };
  for (int i = 0; i < kTimers; ++i)
    rig.worker().arm(timers.emplace_back(rig, 10 * kMicro, fired), 5);
  rig.tick();
  rig.spawn_busy([] { return kMicro; }, 1);
  rig.clock.advance_ms(5);
  while (fired < kTimers) rig.tick();
  fired_before.push_back(fired);
  int most = 0;
  for (size_t i = 1; i < fired_before.size(); ++i) {
    most = std::max(most, fired_before[i] - fired_before[i - 1]);
  }
  EXPECT_LE(most, 128) << "timers between two messages of another";
  rig.end();
}

TEST(TickLength, TimersLeftForTheNextTickAreFiredAlthoughNothingElseIsThere) {
  Rig rig;
  int fired = 0;
  std::deque<SlowTimer> timers;
  for (int i = 0; i < 500; ++i) rig.worker().arm(timers.emplace_back(rig, kMilli, fired), 5);
  rig.tick();
  rig.clock.advance_ms(5);
  while (fired < 500) {
    EXPECT_LE(rig.worker().next_deadline_ns(), rig.clock.now_ns()) << "it would sleep";
    const int before = fired;
    rig.tick();
    ASSERT_GT(fired, before);
    ASSERT_LE(fired, before + static_cast<int>(Pace::kMost));
  }
}

// ---- what other threads leave ----

// Another thread sends to the neighbour in the middle of a message of the busy one. How many
// messages of that one pass before the neighbour has its turn.
uint64_t messages_until_answer(uint32_t budget, uint32_t queued) {
  runtime::LoopOptions options;
  options.max_msgs_per_actor = budget;
  BusyRig rig(options);
  rig.spawn_busy([] { return 10; }, queued);
  uint64_t answered_at = 0;
  const ActorId neighbour = rig.spawn({.handle = [&](core::Turn&, Envelope&) {
    answered_at = rig.handled;
    return core::Outcome::wants_mail;
  }});
  rig.tick();
  uint64_t sent_at = 0;
  rig.on_busy = [&] {
    if (sent_at != 0) return;
    sent_at = rig.handled;
    std::thread([&] { EXPECT_EQ(send_value_foreign(rig.host(), neighbour, 1), Errc::ok); }).join();
  };
  while (answered_at == 0) rig.tick();
  rig.end();
  return answered_at - sent_at;
}

TEST(TickLength, ANeighbourToWhomAnotherThreadHasSentWaitsForTwoVisitsOfABusyActorAtMost) {
  EXPECT_LE(messages_until_answer(64, 200), 2u * 64u);
  EXPECT_LE(messages_until_answer(8, 200), 2u * 8u);
  EXPECT_LE(messages_until_answer(8, 1), 2u * 8u);
  EXPECT_LE(messages_until_answer(1, 200), 2u);
}

// It is scheduled by the other thread's call: what the loop's own thread sends has to wait for
// nothing more.
TEST(TickLength, SoDoMessagesOfTheLoopsOwnThread) {
  BusyRig rig;
  rig.spawn_busy([] { return 10; }, 200);
  std::vector<uint64_t> answered_at;
  const ActorId neighbour = rig.spawn({.handle = [&](core::Turn&, Envelope&) {
    answered_at.push_back(rig.handled);
    return core::Outcome::wants_mail;
  }});
  rig.tick();
  uint64_t sent_at = 0;
  rig.on_busy = [&] {
    if (sent_at != 0) return;
    sent_at = rig.handled;
    std::thread([&] { EXPECT_EQ(send_value_foreign(rig.host(), neighbour, 1), Errc::ok); }).join();
    EXPECT_EQ(send_value(rig.host(), neighbour, 2), Errc::ok);
  };
  while (answered_at.size() < 2) rig.tick();
  EXPECT_LE(answered_at.back() - sent_at, 2u * 64u);
  rig.end();
}

TEST(TickLength, AStopFromAnotherThreadEndsTheTickAfterTheTurn) {
  BusyRig rig;
  rig.spawn_busy([] { return 10; }, 200);
  rig.tick();
  uint64_t stopped_at = 0;
  rig.on_busy = [&] {
    if (stopped_at != 0) return;
    stopped_at = rig.handled;
    std::thread([&] { rig.worker().request_stop(); }).join();
  };
  rig.tick();
  EXPECT_LE(rig.handled - stopped_at, 64u);
  EXPECT_TRUE(rig.worker().take_stop_request());
  rig.end();
}

}  // namespace
}  // namespace jzx::drivers
