// The ready work of one worker, without a worker: in which order it comes.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>

#include "drivers/workers/ready_queues.hpp"

namespace jzx::drivers {
namespace {

struct Work : base::Runnable {
  explicit Work(char the_name) noexcept : Runnable(nullptr), name(the_name) {}
  char name;
};

// All that is ready, by name.
std::string order_of(ReadyQueues& queues) {
  std::string order;
  while (base::Runnable* work = queues.next()) order += static_cast<Work*>(work)->name;
  return order;
}

TEST(ReadyQueues, PinnedWorkAndTheRestTakeTurns) {
  ReadyQueues queues(ReadyQueues::kRing, true);
  Work pinned[] = {Work('A'), Work('B'), Work('C')};
  Work others[] = {Work('a'), Work('b'), Work('c'), Work('d')};
  for (Work& work : others) queues.push_back(work);
  for (Work& work : pinned) queues.push_pinned(work);

  const std::string order = order_of(queues);

  EXPECT_TRUE(order == "AaBbCcd" || order == "aAbBcCd") << order;
  EXPECT_FALSE(queues.has_ready());
}

TEST(ReadyQueues, PinnedWorkAloneIsInOrder) {
  ReadyQueues queues(ReadyQueues::kRing, true);
  Work pinned[] = {Work('A'), Work('B'), Work('C')};
  for (Work& work : pinned) queues.push_pinned(work);

  EXPECT_EQ(order_of(queues), "ABC");
  EXPECT_FALSE(queues.has_ready());
}

TEST(ReadyQueues, WorkThatIsWokenDisplacesTheOneInTheLifoSlotToTheBack) {
  for (const bool has_thieves : {false, true}) {
    ReadyQueues queues(ReadyQueues::kRing, has_thieves);
    Work works[] = {Work('a'), Work('b'), Work('c')};
    queues.push_back(works[0]);

    EXPECT_FALSE(queues.push_next(works[1])) << "the slot was free, and is not for others";
    EXPECT_TRUE(queues.push_next(works[2])) << "others may take the one that was in it";

    EXPECT_EQ(order_of(queues), "cab");
  }
}

TEST(ReadyQueues, AtOnceWorkGoesBehindWhatIsReady) {
  for (const bool has_thieves : {false, true}) {
    ReadyQueues queues(ReadyQueues::kRing, has_thieves);
    Work works[] = {Work('a'), Work('b'), Work('c')};

    queues.push_back(works[0]);
    EXPECT_TRUE(queues.push_back_at_once(works[1]));
    queues.push_back(works[2]);

    EXPECT_EQ(order_of(queues), "abc");
    EXPECT_FALSE(queues.has_ready());
  }
}

TEST(ReadyQueues, AtOnceOnlyWhatIsAsMostIsTaken) {
  for (const bool has_thieves : {false, true}) {
    ReadyQueues queues(ReadyQueues::kRing, has_thieves);
    Work urgent('a');
    urgent.standing = {base::Priority::high, base::kAnyWorker, false};

    EXPECT_FALSE(queues.push_back_at_once(urgent));

    EXPECT_FALSE(queues.has_ready()) << "nothing was done";
  }
}

TEST(ReadyQueues, AtOnceNothingOvertakesWhatFoundTheRingFull) {
  constexpr uint32_t kLimit = 4;
  ReadyQueues queues(kLimit, true);
  Work works[] = {Work('a'), Work('b'), Work('c'), Work('d'), Work('e'), Work('f')};
  for (uint32_t i = 0; i < kLimit; ++i) EXPECT_TRUE(queues.push_back_at_once(works[i]));

  EXPECT_FALSE(queues.push_back_at_once(works[4])) << "the ring is full";
  queues.push_back(works[4]);
  EXPECT_EQ(static_cast<Work*>(queues.next())->name, 'a');
  EXPECT_FALSE(queues.push_back_at_once(works[5])) << "there is room, but another waits for it";
  queues.push_back(works[5]);

  EXPECT_EQ(order_of(queues), "bcdef");
  EXPECT_FALSE(queues.has_ready());
}

TEST(ReadyQueues, WhoIsDisplacedByOneAsUsualIsHandedBack) {
  for (const bool has_thieves : {false, true}) {
    ReadyQueues queues(ReadyQueues::kRing, has_thieves);
    Work low('a');
    low.standing = {base::Priority::low, base::kAnyWorker, false};
    Work usual('b');
    (void)queues.push_next(low);

    EXPECT_EQ(queues.push_next_common(usual), &low);
    queues.push_back(low);

    EXPECT_EQ(order_of(queues), "ba");
  }
}

// What waits at one place gets on while a busy sender wakes others without an end. In picks, of
// which one in kFairEvery goes to one level after another.
class AmongManyPicks : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr uint32_t kBound = 2 * ReadyQueues::kFairEvery * base::kPriorities;

  // How many picks it takes until `waiting` is next, while `busy` come back behind the others.
  template <class Back>
  uint32_t picks_until(const Work& waiting, Back back) {
    for (uint32_t picks = 1; picks <= 10 * kBound; ++picks) {
      base::Runnable* work = queues.next();
      if (work == nullptr || work == &waiting) return work == nullptr ? 0 : picks;
      back(*work);
    }
    return 10 * kBound;
  }

  ReadyQueues queues{ReadyQueues::kRing, GetParam()};
  Work busy[3] = {Work('a'), Work('b'), Work('c')};
};
INSTANTIATE_TEST_SUITE_P(Thieves, AmongManyPicks, ::testing::Bool());

TEST_P(AmongManyPicks, LowPriorityGetsItsTurn) {
  Work low('l');
  low.standing = {base::Priority::low, base::kAnyWorker, false};
  queues.push_back(low);
  for (Work& work : busy) queues.push_back(work);

  const uint32_t picks = picks_until(low, [&](base::Runnable& work) { queues.push_back(work); });

  EXPECT_GT(picks, 3u);
  EXPECT_LE(picks, kBound);
}

TEST_P(AmongManyPicks, WhoWaitsBehindTheLifoSlotGetsItsTurn) {
  Work patient('p');
  queues.push_back(patient);
  (void)queues.push_next(busy[0]);

  const uint32_t picks =
      picks_until(patient, [&](base::Runnable& work) { (void)queues.push_next(work); });

  EXPECT_EQ(picks, ReadyQueues::kInARow + 1);
}

TEST_P(AmongManyPicks, PinnedWorkGetsItsTurn) {
  Work pinned('p');
  for (Work& work : busy) queues.push_back(work);
  queues.push_pinned(pinned);

  const uint32_t picks = picks_until(pinned, [&](base::Runnable& work) { queues.push_back(work); });

  EXPECT_GE(picks, 1u);
  EXPECT_LE(picks, 4u);
}

TEST(ReadyQueues, OverflowOfALowerLevelGetsItsTurn) {
  ReadyQueues queues(1, true);
  Work low[] = {Work('l'), Work('m')};  // one in the ring, one behind it
  for (Work& work : low) {
    work.standing = {base::Priority::low, base::kAnyWorker, false};
    queues.push_back(work);
  }
  Work busy('a');
  queues.push_back(busy);

  uint32_t picks = 0;
  for (base::Runnable* work = nullptr; work != &low[1]; ++picks) {
    ASSERT_LT(picks, 4 * ReadyQueues::kFairEvery * base::kPriorities);
    work = queues.next();
    ASSERT_NE(work, nullptr);
    if (work == &busy) queues.push_back(*work);
  }
  EXPECT_GT(picks, ReadyQueues::kFairEvery);
}

TEST(ReadyQueues, AThiefTakesHalfAndAtMostABatch) {
  for (const auto& [waiting, at_most, taken] :
       {std::array{1u, 32u, 1u}, {5u, 32u, 3u}, {8u, 32u, 4u}, {8u, 3u, 3u}, {200u, 32u, 32u}}) {
    ReadyQueues owner(ReadyQueues::kRing, true);
    ReadyQueues thief(ReadyQueues::kRing, true);
    std::deque<Work> works;
    for (uint32_t i = 0; i < waiting; ++i) owner.push_back(works.emplace_back('a'));

    EXPECT_TRUE(owner.steal_into(thief, at_most, false));

    EXPECT_EQ(thief.load().waiting, taken) << "of " << waiting;
    EXPECT_EQ(owner.load().waiting, waiting - taken);
    EXPECT_EQ(thief.next(), &works[0]) << "the oldest first";
  }
}

TEST(ReadyQueues, AThiefTakesTheLifoSlotOnlyOfOneThatIsStuck) {
  ReadyQueues owner(ReadyQueues::kRing, true);
  ReadyQueues thief(ReadyQueues::kRing, true);
  Work work('a');
  (void)owner.push_next(work);

  EXPECT_FALSE(owner.steal_into(thief, 32, false));
  EXPECT_TRUE(owner.steal_into(thief, 32, true));

  EXPECT_EQ(order_of(owner), "");
  EXPECT_EQ(order_of(thief), "a");
}

}  // namespace
}  // namespace jzx::drivers
