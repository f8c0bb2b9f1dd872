// drivers/workers/victims.hpp: when it pays to take work from a sibling.
#include "drivers/workers/victims.hpp"

#include <gtest/gtest.h>

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
      if (victim_.is_worth_it(load, kStart + elapsed)) return elapsed;
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
  EXPECT_FALSE(victim.is_worth_it({}, kStart));
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
  EXPECT_FALSE(victim.is_worth_it({.steps = 7, .waiting = 1}, kStart));
  EXPECT_FALSE(victim.is_worth_it({.steps = 7, .waiting = 1}, kStart + 60'000'000'000));
}

}  // namespace
}  // namespace jzx::drivers
