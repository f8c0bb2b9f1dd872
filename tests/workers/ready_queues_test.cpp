// The ready work of one worker, without a worker: in which order it comes.
#include <gtest/gtest.h>

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
