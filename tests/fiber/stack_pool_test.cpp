// The free stacks of one worker.
#include "kinds/fiber/stack_pool.hpp"

#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "fiber/stacks.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

using namespace jzx::kinds;

std::vector<Stack> take_many(StackPool& pool, size_t count, size_t kib = 64) {
  std::vector<Stack> stacks;
  for (size_t i = 0; i < count; ++i) stacks.push_back(pool.take(class_of_kib(kib)));
  return stacks;
}
void give_many(StackPool& pool, const std::vector<Stack>& stacks) {
  for (const Stack& stack : stacks) pool.give(stack);
}

TEST(StackPool, TheLastGivenIsTakenFirst) {
  StackMemory memory;
  StackPool pool(memory);
  const std::vector<Stack> stacks = take_many(pool, 200);
  give_many(pool, stacks);
  for (size_t i = stacks.size(); i-- > 0;) {
    const Stack stack = pool.take(class_of_kib(64));
    EXPECT_EQ(stack.top, stacks[i].top);
    EXPECT_EQ(stack.low, stacks[i].low);
  }
  give_many(pool, stacks);
}

TEST(StackPool, EachClassHasItsOwnStacks) {
  StackMemory memory;
  StackPool pool(memory);
  const std::vector<Stack> small = take_many(pool, 3, 16);
  const std::vector<Stack> large = take_many(pool, 3, 256);
  for (const Stack& stack : small) EXPECT_EQ(stack_class_of(stack), class_of_kib(16));
  for (const Stack& stack : large) EXPECT_EQ(stack_class_of(stack), class_of_kib(256));
  give_many(pool, large);
  give_many(pool, small);
  EXPECT_EQ(pool.take(class_of_kib(16)).top, small.back().top);
  EXPECT_EQ(pool.take(class_of_kib(256)).top, large.back().top);
  pool.give(small.back());
  pool.give(large.back());
}

TEST(StackPool, KeepsNoMoreIdleStacksThanItsBoundAndTheWarmestOfThem) {
  StackMemory memory({.warm_stacks = 0});
  StackPool pool(memory, 64);
  const std::vector<Stack> stacks = take_many(pool, 320);
  for (const Stack& stack : stacks) stack.top[-1] = std::byte{1};
  give_many(pool, stacks);
  EXPECT_LE(pool.idle(class_of_kib(64)), 64u);
  EXPECT_GT(pool.idle(class_of_kib(64)), 64u - kStackBatch);
  EXPECT_EQ(memory.counts().cold + pool.idle(class_of_kib(64)), 320u);
  for (size_t i = 0; i < stacks.size(); ++i)
    EXPECT_EQ(touched_bytes(stacks[i]) > 0, i >= 320 - pool.idle(class_of_kib(64))) << i;
}

TEST(StackPool, KeepsFewerOfLargeStacks) {
  StackMemory memory;
  StackPool pool(memory, 256);
  give_many(pool, take_many(pool, 200, 256));
  EXPECT_LE(pool.idle(class_of_kib(256)), 64u);
}

TEST(StackPool, WithoutMemoryThereIsNoStackAndLaterThereIs) {
  StackMemory memory({.address_space = kSlabSize});
  StackPool pool(memory);
  std::vector<Stack> stacks;
  while (Stack stack = pool.take(class_of_kib(8192))) stacks.push_back(stack);
  EXPECT_EQ(stacks.size(), 7u);
  EXPECT_FALSE(pool.take(class_of_kib(8192)));
  EXPECT_FALSE(pool.take(class_of_kib(64)));
  pool.give(stacks[3]);
  EXPECT_EQ(pool.take(class_of_kib(8192)).top, stacks[3].top);
  give_many(pool, stacks);
}

TEST(StackPool, GivesEverythingBackWhenItEnds) {
  StackMemory memory;
  {
    StackPool pool(memory);
    give_many(pool, take_many(pool, 100));
    give_many(pool, take_many(pool, 5, 1024));
    EXPECT_GT(memory.counts().in_use, 0u);
  }
  EXPECT_EQ(memory.counts().in_use, 0u);
}

TEST(StackPool, MayEndWhileStacksItHadStoredAreInUse) {
  for (const size_t in_use : {16, 40, 200}) {
    StackMemory memory;
    StackPool other(memory);
    std::vector<Stack> stacks;
    {
      StackPool pool(memory);
      give_many(pool, take_many(pool, 200));
      stacks = take_many(pool, in_use);
    }
    EXPECT_EQ(memory.counts().in_use, in_use);
    give_many(other, stacks);
  }
}

TEST(StackPool, AStackNobodyRanOnHoldsNoPage) {
  StackMemory memory;
  StackPool pool(memory);
  const std::vector<Stack> stacks = take_many(pool, kStackBatch);
  for (const Stack& stack : stacks) EXPECT_EQ(touched_bytes(stack), 0u);
  give_many(pool, stacks);
}

TEST(StackPool, StacksTakenByOneWorkerAndGivenByAnotherComeBack) {
  StackMemory memory;
  for (size_t round = 0; round < 20; ++round) {
    std::vector<Stack> stacks;
    std::thread([&] {
      StackPool taking(memory);
      stacks = take_many(taking, 500);
      for (const Stack& stack : stacks) stack.top[-1] = std::byte{1};
    }).join();
    std::thread([&] {
      StackPool giving(memory);
      give_many(giving, stacks);
    }).join();
  }
  const StackCounts counts = memory.counts();
  EXPECT_EQ(counts.in_use, 0u);
  EXPECT_LE(counts.warm + counts.cold, 500u + kStackBatch) << "the same ones went round";
}

TEST(StackPool, RandomTakesAndGivesNeverHandOutAStackTwice) {
  StackMemory memory({.warm_stacks = 48});
  StackPool pool(memory, 96);
  std::vector<Stack> taken;
  std::set<std::byte*> tops;
  uint32_t random = 12345;
  for (size_t step = 0; step < scaled(50'000); ++step) {
    random = random * 1664525 + 1013904223;
    // Phases of growing and of shrinking, so that all bounds are crossed.
    const bool grows = step / 1000 % 2 == 0;
    if (taken.empty() || (random >> 16) % 4 < (grows ? 3u : 1u)) {
      taken.push_back(pool.take(class_of_kib(32)));
      ASSERT_TRUE(tops.insert(taken.back().top).second);
      taken.back().top[-1] = std::byte{1};
    } else {
      std::swap(taken[(random >> 8) % taken.size()], taken.back());
      tops.erase(taken.back().top);
      pool.give(taken.back());
      taken.pop_back();
    }
  }
  give_many(pool, taken);
}

}  // namespace
}  // namespace jzx::testing
