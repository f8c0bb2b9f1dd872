// Where the table of actors lies: in chunks of the user's allocator, or in address space of its
// own.
#include "core/table/actor_table.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <set>

#include <jzx/jzx.hpp>
#include <jzx/runtime.hpp>

#include "base/allocation.hpp"
#include "runtime/loop_system.hpp"
#include "runtime/runtime_system.hpp"
#include "support/counting_allocator.hpp"

namespace jzx::core {
namespace {

class ActorTableIn : public ::testing::TestWithParam<TablePlace> {};
INSTANTIATE_TEST_SUITE_P(Place, ActorTableIn,
                         ::testing::Values(TablePlace::allocator, TablePlace::reserved),
                         [](const auto& place) {
                           return place.param == TablePlace::reserved ? "reserved" : "allocator";
                         });

TEST_P(ActorTableIn, GivesEverySlotOnceUntilItIsFullAndAgainWhenItCameBack) {
  constexpr uint32_t kSlots = 1000;
  ActorTable table(base::Allocator{}, kSlots, false, GetParam());
  FreeSlots slots;
  std::set<Actor*> taken;
  while (Actor* actor = table.take(&slots)) EXPECT_TRUE(taken.insert(actor).second);
  EXPECT_EQ(taken.size(), kSlots);
  EXPECT_TRUE(table.is_full());
  for (Actor* actor : taken) {
    EXPECT_EQ(table.find(make_id(actor->slot.load(), 1)), actor);
    EXPECT_TRUE(table.holds(actor));
  }
  Actor* one = *taken.begin();
  table.give(&slots, *one);
  EXPECT_EQ(table.take(&slots), one);
  EXPECT_EQ(table.take(&slots), nullptr);
}

TEST_P(ActorTableIn, FindsNothingWhereNobodyEverWas) {
  ActorTable table(base::Allocator{}, 100'000, false, GetParam());
  EXPECT_EQ(table.find(make_id(0, 1)), nullptr);
  FreeSlots slots;
  ASSERT_NE(table.take(&slots), nullptr);
  EXPECT_EQ(table.find(make_id(50'000, 1)), nullptr);
  EXPECT_EQ(table.find(make_id(UINT32_MAX, 1)), nullptr);
}

TEST_P(ActorTableIn, AViewFindsWhatWasThereAndANewOneTheRest) {
  ActorTable table(base::Allocator{}, 1000, false, GetParam());
  EXPECT_EQ(table.view().find(0), nullptr);
  FreeSlots slots;
  Actor* first = table.take(&slots);
  const ActorTable::View early = table.view();
  EXPECT_EQ(early.find(first->slot.load()), first);
  while (table.take(&slots) != nullptr) {
  }
  EXPECT_EQ(table.view().find(999), table.find(make_id(999, 1)));
  EXPECT_NE(table.view().find(999), nullptr);
  EXPECT_EQ(table.view().find(1'000'000), nullptr);
}

TEST(ActorTable, InAddressSpaceOfItsOwnAsksTheAllocatorForNothing) {
  testing::CountingAllocator counting;
  ActorTable table(base::allocator_of(counting), 1000, false, TablePlace::reserved);
  FreeSlots slots;
  ASSERT_NE(table.take(&slots), nullptr);
  EXPECT_EQ(counting.live_blocks(), 0);
}

// Every allocation goes through the user's allocator, so its table is made of chunks from there.
TEST(ActorTable, OfAUserWithAnAllocatorComesFromThere) {
  testing::CountingAllocator counting;
  runtime::LoopOptions options;
  options.allocator = base::allocator_of(counting);
  runtime::LoopSystem* loop = runtime::LoopSystem::create(options);
  ASSERT_NE(loop, nullptr);
  const auto before = counting.live_blocks();
  Actor* actor = loop->system.actors.take(&loop->worker.free_slots);
  ASSERT_NE(actor, nullptr);
  EXPECT_GT(counting.live_blocks(), before);
  loop->system.actors.give(&loop->worker.free_slots, *actor);
  EXPECT_TRUE(loop->destroy());
  EXPECT_EQ(counting.live_blocks(), 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// A process that may not have so much address space goes on with chunks.
TEST(ActorTableDeathTest, WithoutAddressSpaceARuntimeHasChunks) {
  const auto run = [] {
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = rlim_t{1} << 30;
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(3);
    RuntimeOptions options;
    options.workers = 1;
    options.max_actors = 1u << 24;  // 2 GiB
    Runtime runtime(options);
    if (!runtime) std::_Exit(4);
    struct Adder {
      int on(int number) { return number + 1; }
    };
    const auto adder = runtime.spawn<Adder>();
    const Result<int> answer = adder.ask(41).get();
    std::_Exit(answer.ok() && answer.value() == 42 ? 0 : 5);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace jzx::core
