// drivers/workers/victims.hpp: when it pays to take work from a sibling.
#include "drivers/workers/victims.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace jzx::drivers {
namespace {

constexpr uint64_t kStart = 1'000'000'000;

// A sibling that is looked at every so often, as long as it goes on in the same way.
class Watched {
 public:
  // When it is found worth robbing, in nanoseconds after the first look; 0: not within a second.
  template <class GoOn>
  uint64_t robbed_after(WorkerLoad load, GoOn&& go_on) {
    for (uint64_t elapsed = 0; elapsed < 1'000'000'000; elapsed += Victim::kBetweenLooksNs) {
      EXPECT_TRUE(victim_.may_be_looked_at(kStart + elapsed));
      if (victim_.is_worth_it(load, 0, kStart + elapsed)) return elapsed;
      go_on(load);
    }
    return 0;
  }

 private:
  Victim victim_;
};

TEST(Victim, IsNotLookedAtAllTheTime) {
  Victim victim;
  EXPECT_TRUE(victim.may_be_looked_at(kStart));
  EXPECT_FALSE(victim.is_worth_it({}, 0, kStart));
  EXPECT_FALSE(victim.may_be_looked_at(kStart + Victim::kBetweenLooksNs - 1));
  EXPECT_TRUE(victim.may_be_looked_at(kStart + Victim::kBetweenLooksNs));
}

TEST(Victim, WithNothingToTakeIsLeftAlone) {
  EXPECT_EQ(Watched().robbed_after({.steps = 7}, [](WorkerLoad&) {}), 0u);
}

TEST(Victim, InALongTurnIsRobbedOfASinglePieceOfWork) {
  EXPECT_EQ(Watched().robbed_after({.steps = 7, .waiting = 1}, [](WorkerLoad&) {}),
            Victim::kLongTurnNs);
}

TEST(Victim, SaysWhetherALongTurnIsWhyItIsRobbed) {
  Victim victim;
  EXPECT_FALSE(victim.is_worth_it({.steps = 7, .waiting = 1}, 0, kStart));
  EXPECT_FALSE(victim.is_in_long_turn());
  const uint64_t later = kStart + Victim::kLongTurnNs;
  EXPECT_TRUE(victim.is_worth_it({.steps = 7, .waiting = 1}, 0, later));
  EXPECT_TRUE(victim.is_in_long_turn());
  // The next time it is because of its long queue.
  EXPECT_TRUE(victim.is_worth_it({.steps = 8, .taken = 1, .waiting = 1000}, 0,
                                 later + Victim::kLongTurnNs));
  EXPECT_FALSE(victim.is_in_long_turn());
}

TEST(Victim, InALongTurnIsRobbedOfASingleFreshActor) {
  EXPECT_EQ(Watched().robbed_after({.steps = 7, .fresh = 1}, [](WorkerLoad&) {}),
            Victim::kLongTurnNs);
}

TEST(Victim, ThatReachesItsWorkSoonIsLeftAlone) {
  // 100 pieces wait, and it takes 10 in a microsecond.
  const auto quick = [](WorkerLoad& load) {
    load.steps += 100;
    load.taken += 100;
  };
  EXPECT_EQ(Watched().robbed_after({.waiting = 100}, quick), 0u);
}

TEST(Victim, WithALongQueueIsRobbedHoweverQuickItIs) {
  const auto quick = [](WorkerLoad& load) {
    load.steps += 100;
    load.taken += 100;
  };
  EXPECT_EQ(Watched().robbed_after({.waiting = 10'000}, quick), Victim::kLongTurnNs);
}

TEST(Victim, ThatIsSlowIsRobbedOfAFewPieces) {
  // One in 50 µs: seven of them take longer than the last should wait.
  int looks = 0;
  const auto slow = [&looks](WorkerLoad& load) {
    if (++looks % 5 != 0) return;
    ++load.steps;
    ++load.taken;
  };
  EXPECT_EQ(Watched().robbed_after({.waiting = 7}, slow), Victim::kLongTurnNs);
  looks = 0;
  EXPECT_EQ(Watched().robbed_after({.waiting = 2}, slow), 0u);
}

TEST(Victim, WhoseOldestFreshActorStaysIsRobbedOfItsBranch) {
  // Depth first: it is busy with the newest ones.
  const auto deep = [](WorkerLoad& load) { load.steps += 100; };
  EXPECT_EQ(Watched().robbed_after({.first_fresh = 3, .fresh = 9}, deep), Victim::kLongWaitNs);
}

TEST(Victim, WhoseFreshActorsAllGetTheirTurnIsLeftAlone) {
  const auto in_turn = [](WorkerLoad& load) {
    load.steps += 100;
    ++load.first_fresh;
  };
  EXPECT_EQ(Watched().robbed_after({.first_fresh = 3, .fresh = 9}, in_turn), 0u);
}

TEST(Victim, ThatWasNotLookedAtForLongIsNotJudgedByOldTimes) {
  Victim victim;
  EXPECT_FALSE(victim.is_worth_it({.steps = 7, .waiting = 1}, 0, kStart));
  EXPECT_FALSE(victim.is_worth_it({.steps = 7, .waiting = 1}, 0, kStart + 60'000'000'000));
}

// ---- has it paid? ----

// A sibling that takes one in ten microseconds, handling 100 messages, with a queue of this many.
// Robbed again and again; the thief is busy for a while each time, and meanwhile the two of them
// handle some percent of what the sibling does alone.
class Robbed {
 public:
  explicit Robbed(uint64_t waiting) { set_waiting(waiting); }
  void set_waiting(uint64_t waiting) { load_.waiting = waiting; }

  // After how long it is worth robbing; 0: not within a second.
  uint64_t look_until_worth() {
    for (const uint64_t began_ns = now_ns_; now_ns_ - began_ns < 1'000'000'000;) {
      if (victim_.is_worth_it(load_, own_steps_, now_ns_)) return now_ns_ - began_ns;
      pass(Victim::kBetweenLooksNs);
    }
    return 0;
  }
  void expect_worth_soon() {
    const uint64_t after_ns = look_until_worth();
    EXPECT_NE(after_ns, 0u);
    EXPECT_LE(after_ns, Victim::kLongTurnNs + Victim::kBetweenLooksNs);
  }
  void rob_for(uint64_t busy_ns, uint64_t percent) {
    victim_.note_theft(load_, own_steps_, now_ns_);
    pass_together(busy_ns, percent);
    EXPECT_TRUE(victim_.may_be_looked_at(now_ns_)) << "the thief is back";
  }
  void rob_of_long_ones(uint64_t busy_ns) {
    victim_.note_theft(load_, own_steps_, now_ns_);
    pass(busy_ns);
    ++own_steps_;
  }
  void wait_for(uint64_t ns) {
    for (uint64_t passed = 0; passed < ns; passed += Victim::kBetweenLooksNs) {
      pass(Victim::kBetweenLooksNs);
      const WorkerLoad idle{.steps = load_.steps, .taken = load_.taken};
      (void)victim_.is_worth_it(idle, own_steps_, now_ns_);
    }
  }

 private:
  // A hundred messages in ten microseconds are the sibling's pace alone. With the thief at work
  // each has a half of what they do together.
  void pass(uint64_t ns) {
    now_ns_ += ns;
    load_.taken += ns / 10'000;
    load_.steps += ns / 100;
  }
  void pass_together(uint64_t ns, uint64_t percent) {
    now_ns_ += ns;
    load_.taken += ns / 10'000;
    const uint64_t steps = ns / 100 * percent / 100;
    load_.steps += steps / 2;
    own_steps_ += steps - steps / 2;
  }

  Victim victim_;
  WorkerLoad load_;
  uint64_t own_steps_ = 0;
  uint64_t now_ns_ = kStart;
};

TEST(VictimRobbedInVain, HasToHaveALongerQueueNextTime) {
  Robbed robbed(40);  // the last one waits for 400 µs
  EXPECT_NE(robbed.look_until_worth(), 0u);
  robbed.rob_for(100'000, 90);
  EXPECT_GE(robbed.look_until_worth(), Victim::kForgetNs) << "until that is forgotten";
}

TEST(VictimRobbedInVain, IsStillRobbedOfAQueueThatIsSixteenTimesAsLong) {
  Robbed robbed(500);  // the last one waits for 5 ms
  for (int i = 0; i < 10; ++i) {
    robbed.expect_worth_soon();
    robbed.rob_for(100'000, 90);
  }
}

TEST(VictimRobbedInVain, IsStillRobbedAtOnceInALongTurn) {
  Victim victim;
  WorkerLoad load{.steps = 0, .taken = 0, .waiting = 1000};
  uint64_t now_ns = kStart;
  const auto looks = [&](uint64_t steps) {
    now_ns += Victim::kLongTurnNs;
    load.steps += steps;
    load.taken += steps / 10;
    return victim.is_worth_it(load, 0, now_ns);
  };
  EXPECT_FALSE(victim.is_worth_it(load, 0, now_ns));
  for (int i = 0; i < 5; ++i) {
    while (!looks(100)) ASSERT_LT(now_ns, kStart + 1'000'000'000);
    victim.note_theft(load, 0, now_ns);
    (void)looks(50);  // together they do less
  }
  EXPECT_TRUE(looks(0));
}

TEST(VictimRobbedInVain, IsForgivenAfterAWhileAlsoIfThatWasOften) {
  Robbed robbed(500);
  for (int i = 0; i < 10; ++i) {
    EXPECT_NE(robbed.look_until_worth(), 0u);
    robbed.rob_for(100'000, 90);
  }
  robbed.wait_for((Victim::kMostDoublings + 1) * Victim::kForgetNs);
  robbed.set_waiting(40);
  robbed.expect_worth_soon();
}

TEST(VictimRobbed, WithAProfitIsRobbedAgainAsSoonAsItsPaceIsKnown) {
  Robbed robbed(40);
  for (int i = 0; i < 10; ++i) {
    robbed.expect_worth_soon();
    robbed.rob_for(100'000, 150);
  }
}

TEST(VictimRobbed, WithAProfitIsForgivenAtOnce) {
  Robbed robbed(500);
  for (int i = 0; i < 10; ++i) {
    robbed.expect_worth_soon();
    robbed.rob_for(100'000, 90);
  }
  robbed.expect_worth_soon();
  robbed.rob_for(100'000, 120);
  robbed.set_waiting(40);
  robbed.expect_worth_soon();
}

TEST(VictimRobbed, WithNextToNoProfitHasToHaveALongerQueueNextTime) {
  Robbed robbed(40);
  robbed.expect_worth_soon();
  robbed.rob_for(100'000, 110);
  EXPECT_GE(robbed.look_until_worth(), Victim::kForgetNs);
}

TEST(VictimRobbed, OfWhatIsDoneAtOnceTellsNothing) {
  Robbed robbed(40);
  for (int i = 0; i < 10; ++i) {
    robbed.expect_worth_soon();
    robbed.rob_for(Victim::kBetweenLooksNs / 2, 50);
  }
}

TEST(VictimRobbed, OfLongMessagesWithoutBeingSlowedDownIsRobbedAgain) {
  // What the thief took is few messages, each of which takes long.
  Robbed robbed(40);
  for (int i = 0; i < 10; ++i) {
    robbed.expect_worth_soon();
    robbed.rob_of_long_ones(10'000'000);
  }
}

TEST(VictimRobbed, OfMoreThanIsRememberedTellsNothing) {
  Robbed robbed(40);
  EXPECT_NE(robbed.look_until_worth(), 0u);
  robbed.rob_for(3'600'000'000'000, 50);
  robbed.expect_worth_soon();
}

// Depth first, 100 messages in ten microseconds, with a branch that it will reach last.
TEST(VictimRobbedInVain, IsLeftItsOldestFreshActorForLongerNextTime) {
  Victim victim;
  WorkerLoad load{.first_fresh = 3, .fresh = 9};
  uint64_t now_ns = kStart;
  const auto worth_after = [&] {
    for (const uint64_t began_ns = now_ns;;) {
      if (victim.is_worth_it(load, 0, now_ns)) return now_ns - began_ns;
      now_ns += Victim::kBetweenLooksNs;
      load.steps += 100;
    }
  };
  EXPECT_EQ(worth_after(), Victim::kLongWaitNs);
  victim.note_theft(load, 0, now_ns);
  ++load.first_fresh;
  now_ns += 100'000;
  load.steps += 500;  // half as many as alone
  EXPECT_EQ(worth_after(), 2 * Victim::kLongWaitNs);
}

// One message in ten microseconds: so few tell nothing.
TEST(VictimRobbedInVain, OfFewMessagesIsNotJudged) {
  Victim victim;
  WorkerLoad load{.waiting = 40};
  uint64_t now_ns = kStart;
  for (int i = 0; i < 5; ++i) {
    const uint64_t began_ns = now_ns;
    while (!victim.is_worth_it(load, 0, now_ns)) {
      ASSERT_LT(now_ns - began_ns, 1'000'000u);
      now_ns += Victim::kBetweenLooksNs;
      ++load.steps;
      ++load.taken;
    }
    EXPECT_LE(now_ns - began_ns, Victim::kLongTurnNs + Victim::kBetweenLooksNs);
    victim.note_theft(load, 0, now_ns);
    now_ns += 100'000;
    load.steps += 5;
    load.taken += 5;
  }
}

// ---- naps ----

// Of naps in vain, one after the other.
uint64_t longest_of(Naps& naps, int count, bool others_get_on) {
  uint64_t longest_ns = 0;
  for (int i = 0; i < count; ++i) longest_ns = std::max(longest_ns, naps.next_ns(others_get_on));
  return longest_ns;
}

constexpr uint64_t kFewNs = Naps::kShortestNs << Naps::kFewDoublings;
constexpr uint64_t kMostNs = Naps::kShortestNs << Naps::kMostDoublings;
static_assert(kFewNs < 1'000'000 && kMostNs < 10'000'000);

TEST(Naps, AreShortAtFirstAndLongerInVain) {
  Naps naps;
  for (uint32_t i = 0; i < Naps::kShortOnes; ++i) EXPECT_EQ(naps.next_ns(true), Naps::kShortestNs);
  uint64_t before_ns = Naps::kShortestNs;
  for (uint32_t i = 0; i < Naps::kMostDoublings; ++i) {
    const uint64_t nap_ns = naps.next_ns(true);
    EXPECT_EQ(nap_ns, 2 * before_ns);
    before_ns = nap_ns;
  }
  EXPECT_EQ(before_ns, kMostNs);
  EXPECT_EQ(longest_of(naps, 1000, true), kMostNs);
  naps.begin_again();
  EXPECT_EQ(naps.next_ns(true), Naps::kShortestNs);
}

TEST(Naps, AreNotLongWhileSomebodyDoesNotGetOn) {
  Naps naps;
  EXPECT_EQ(longest_of(naps, 1000, false), kFewNs);
}

TEST(Naps, AreShorterAtOnceWhenSomebodyDoesNotGetOnAnyMore) {
  Naps naps;
  ASSERT_EQ(longest_of(naps, 100, true), kMostNs);
  EXPECT_EQ(naps.next_ns(false), kFewNs);
  EXPECT_EQ(naps.next_ns(true), kMostNs);
}

TEST(Naps, AreNotLongForSomeTimeAfterALongTurn) {
  Naps naps;
  ASSERT_EQ(longest_of(naps, 100, true), kMostNs);
  naps.note_long_turn();
  EXPECT_EQ(longest_of(naps, Naps::kWaryOnes, true), kFewNs);
  EXPECT_EQ(naps.next_ns(true), kMostNs);
}

}  // namespace
}  // namespace jzx::drivers
