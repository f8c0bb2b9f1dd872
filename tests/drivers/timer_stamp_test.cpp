// When a timer's time begins: at the first clock read after it was armed, never at an older one, so
// that it is never early.
#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <vector>

#include "base/prng.hpp"
#include "core/message_timer.hpp"
#include "core/rig.hpp"
#include "support/scale.hpp"

namespace jzx::drivers {
namespace {

using jzx::testing::Rig;
using jzx::testing::scaled;

class Alarm : public base::Timer {
 public:
  explicit Alarm(Rig& rig)
      : Timer([](base::Timer& self, base::Executor& executor) {
          auto& alarm = static_cast<Alarm&>(self);
          alarm.fired_ns.push_back(executor.now_ns());
        }),
        rig_(rig) {}
  ~Alarm() {
    if (is_armed()) rig_.worker().disarm(*this);
  }

  std::vector<uint64_t> fired_ns;

 private:
  Rig& rig_;
};

TEST(TimerStamp, ATimerArmedInALongTickIsMeasuredFromTheNextClockRead) {
  Rig rig;
  Alarm alarm(rig);
  const ActorId id = rig.spawn({.handle = [&](core::Turn& turn, Envelope&) {
    turn.host.arm(alarm, 10);
    rig.clock.advance_ms(7);  // the handler goes on for a while
    return core::Outcome::wants_mail;
  }});
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.settle();
  rig.advance(9);
  EXPECT_TRUE(alarm.fired_ns.empty()) << "16 ms after the call, but 9 after the read";
  rig.advance(1);
  EXPECT_EQ(alarm.fired_ns.size(), 1u);
}

TEST(TimerStamp, ThousandsOfTimersThatOneHandlerArmsAreNotMeasuredFromItsEnd) {
  Rig rig;
  constexpr int kTimers = 10'000;
  std::deque<Alarm> alarms;
  std::vector<uint64_t> armed_ns;
  const ActorId id = rig.spawn({.handle = [&](core::Turn& turn, Envelope&) {
    for (int i = 0; i < kTimers; ++i) {
      armed_ns.push_back(rig.clock.now_ns());
      turn.host.arm(alarms.emplace_back(rig), 10);
      rig.clock.advance_ns(1'000);  // so it takes 10 ms
    }
    return core::Outcome::wants_mail;
  }});
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.tick();
  while (alarms.back().fired_ns.empty()) {
    rig.clock.advance_ns(100'000);
    rig.tick();
  }
  for (size_t i = 0; i < kTimers; ++i) {
    ASSERT_EQ(alarms[i].fired_ns.size(), 1u);
    const uint64_t due_ns = armed_ns[i] + 10 * base::kNanosPerMilli;
    ASSERT_GE(alarms[i].fired_ns[0], due_ns);
    ASSERT_LE(alarms[i].fired_ns[0], due_ns + 2 * base::kNanosPerMilli) << "timer " << i;
  }
}

TEST(TimerStamp, TheTimeOfAnEarlierReadIsNotUsedAlthoughItIsAtHand) {
  Rig rig;
  Alarm alarm(rig);
  rig.tick();
  rig.clock.advance_ms(100);  // since the last tick
  rig.worker().arm(alarm, 10);
  rig.tick();
  EXPECT_TRUE(alarm.fired_ns.empty());
  rig.advance(10);
  EXPECT_EQ(alarm.fired_ns.size(), 1u);
}

TEST(TimerStamp, APartOfAMillisecondIsRoundedUp) {
  Rig rig;
  Alarm alarm(rig);
  rig.clock.advance_ns(1);
  rig.worker().arm(alarm, 5);
  rig.tick();
  rig.clock.advance_ns(5 * base::kNanosPerMilli - 1);  // a whole millisecond, but one too early
  rig.tick();
  EXPECT_TRUE(alarm.fired_ns.empty());
  rig.clock.advance_ns(base::kNanosPerMilli);
  rig.tick();
  EXPECT_EQ(alarm.fired_ns.size(), 1u);
}

TEST(TimerStamp, DisarmingWorksBeforeAndAfterTheStamp) {
  Rig rig;
  Alarm before(rig);
  Alarm after(rig);
  rig.worker().arm(before, 1);
  rig.worker().disarm(before);
  rig.worker().arm(after, 1);
  rig.tick();
  rig.worker().disarm(after);
  EXPECT_FALSE(before.is_armed());
  EXPECT_FALSE(after.is_armed());
  rig.advance(5);
  EXPECT_TRUE(before.fired_ns.empty());
  EXPECT_TRUE(after.fired_ns.empty());
}

TEST(TimerStamp, ATimerOfNoDelayIsDueAtTheNextTickAndNotInTheSameOne) {
  Rig rig;
  Alarm again(rig);
  struct Rearming : base::Timer {
    explicit Rearming(Alarm& target)
        : Timer([](base::Timer& self, base::Executor& executor) {
            executor.arm(static_cast<Rearming&>(self).other, 0);
          }),
          other(target) {}
    Alarm& other;
  } first(again);
  rig.worker().arm(first, 0);
  rig.tick();
  EXPECT_TRUE(again.fired_ns.empty()) << "a timer that rearms itself must not hold the tick";
  rig.tick();
  EXPECT_EQ(again.fired_ns.size(), 1u);
}

TEST(TimerStamp, ADelayBeyondAllTimeIsNotEarly) {
  for (const uint64_t delay_ms :
       {uint64_t{1} << 62, uint64_t{1} << 63, std::numeric_limits<uint64_t>::max(),
        std::numeric_limits<uint64_t>::max() / base::kNanosPerMilli + 1}) {
    Rig rig;
    Alarm alarm(rig);
    rig.worker().arm(alarm, delay_ms);
    rig.advance(1000);
    EXPECT_TRUE(alarm.fired_ns.empty()) << delay_ms << " ms have not passed";
  }
}

TEST(TimerStamp, NoTimerIsEarlyAndNoneIsAMillisecondLateOverRandomArmsAndClocks) {
  const uint64_t seed = 99;
  SCOPED_TRACE(seed);
  base::Prng random(seed);
  Rig rig;
  struct Pending {
    explicit Pending(Rig& rig) : alarm(rig) {}
    Alarm alarm;
    uint64_t armed_ns = 0;
    uint64_t stamped_ns = 0;  // the first tick after the call
    uint64_t delay_ns = 0;
  };
  std::deque<Pending> pending;
  size_t checked = 0;
  for (size_t step = 0; step < scaled(20'000); ++step) {
    const uint32_t count = random.below(3);
    for (uint32_t n = 0; n < count; ++n) {
      Pending& one = pending.emplace_back(rig);
      const uint64_t delay_ms = random.below(1u << random.below(12));
      one.armed_ns = rig.clock.now_ns();
      one.delay_ns = delay_ms * base::kNanosPerMilli;
      rig.worker().arm(one.alarm, delay_ms);
      rig.clock.advance_ns(random.below(1'500'000));  // the tick that arms is a long one
    }
    const uint64_t tick_ns = rig.clock.now_ns();
    for (Pending& one : pending) {
      if (one.stamped_ns == 0) one.stamped_ns = tick_ns;
    }
    rig.tick();
    for (Pending& one : pending) {
      const bool fired = !one.alarm.fired_ns.empty();
      const uint64_t due_ns = one.stamped_ns + one.delay_ns;
      ASSERT_FALSE(fired && tick_ns < one.armed_ns + one.delay_ns) << "early, at step " << step;
      ASSERT_TRUE(fired || tick_ns < due_ns + base::kNanosPerMilli) << "late, at step " << step;
    }
    while (!pending.empty() && !pending.front().alarm.fired_ns.empty()) {
      ASSERT_EQ(pending.front().alarm.fired_ns.size(), 1u);
      pending.pop_front();
      ++checked;
    }
    rig.clock.advance_ns(random.below(3'000'000));
  }
  EXPECT_GT(checked, 100u);
}

TEST(TimerStamp, EqualDeadlinesFireInTheOrderTheyWereArmed) {
  Rig rig;
  std::vector<int> order;
  struct Numbered : base::Timer {
    Numbered(int the_number, std::vector<int>& the_order)
        : Timer([](base::Timer& self, base::Executor&) {
            auto& numbered = static_cast<Numbered&>(self);
            numbered.order.push_back(numbered.number);
          }),
          number(the_number),
          order(the_order) {}
    int number;
    std::vector<int>& order;
  };
  std::deque<Numbered> timers;
  for (int n = 0; n < 6; ++n) {
    rig.worker().arm(timers.emplace_back(n, order), 400 - static_cast<uint64_t>(n) * 10);
    rig.advance(10);  // all are due at the same moment
  }
  rig.advance(400);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace jzx::drivers
