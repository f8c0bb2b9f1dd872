// Stacks as they come from and go back to the memory that all workers share.
#include "kinds/fiber/stack_memory.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "fiber/stacks.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

using namespace jzx::kinds;

TEST(StackClasses, ASizeGetsTheSmallestClassThatHoldsItGuardIncluded) {
  EXPECT_EQ(slot_size(*stack_class_for(0)), size_t{16} << 10);
  EXPECT_EQ(slot_size(*stack_class_for(size_t{8} << 10)), size_t{16} << 10);
  EXPECT_EQ(slot_size(*stack_class_for(size_t{16} << 10)), size_t{16} << 10);
  EXPECT_EQ(slot_size(*stack_class_for((size_t{16} << 10) + 1)), size_t{32} << 10);
  EXPECT_EQ(slot_size(*stack_class_for(kDefaultStackSize)), kDefaultStackSize);
  EXPECT_EQ(slot_size(*stack_class_for(size_t{8} << 20)), size_t{8} << 20);
  EXPECT_EQ(stack_class_for((size_t{8} << 20) + 1), std::nullopt);
}

class EveryGuard : public ::testing::TestWithParam<Guard> {
 protected:
  void SetUp() override {
    if (memory_.guard() != GetParam())
      GTEST_SKIP() << "this system has no guard of the kind " << name_of(GetParam());
  }
  StackMemory memory_{{.guard = GetParam(), .warm_stacks = 0}};  // cold as soon as given
};
INSTANTIATE_TEST_SUITE_P(Stacks, EveryGuard, ::testing::ValuesIn(kGuards),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(EveryGuard, StacksOfAllClassesAreAlignedUsableAndApart) {
  std::map<std::byte*, std::byte*> ranges;  // by their ends
  std::vector<Stack> stacks;
  for (uint8_t i = 0; i < kStackClasses; ++i) {
    const StackBatch batch = memory_.take_batch(StackClass{i});
    ASSERT_GT(batch.count, 0u);
    for (uint32_t k = 0; k < batch.count; ++k) {
      const Stack stack = stack_at(batch.tops[k], StackClass{i});
      stacks.push_back(stack);
      ranges[stack.top] = stack.low;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(stack.top) % 64, 0u);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(stack.low) % kStackPage, 0u);
      EXPECT_GE(stack.size() + kStackPage + 1024, slot_size(StackClass{i}));
      EXPECT_GE(stack.size(), size_t{8} << 10);
      EXPECT_EQ(stack_class_of(stack), StackClass{i});
      stack.low[0] = stack.top[-1] = std::byte{1};
    }
  }
  const std::byte* end = nullptr;
  for (const auto& [top, low] : ranges) {
    EXPECT_LE(end + kStackPage, low) << "no room for a guard below a stack";
    end = top;
  }
  for (const Stack& stack : stacks) {
    EXPECT_TRUE(canary_intact(stack));
    give_one(memory_, stack);
  }
}

TEST_P(EveryGuard, TheGuardIsThereWhenAStackIsUsedAgainAfterItsPagesWent) {
  for (int round = 0; round < 2; ++round) {
    const Stack stack = take_one(memory_, class_of_kib(64));
    ASSERT_TRUE(stack);
    stack.top[-1] = std::byte{1};
    if (GetParam() == Guard::canary) {
      EXPECT_TRUE(canary_intact(stack));
      EXPECT_EQ(touched_bytes(stack), static_cast<uint32_t>(stack.size()) % kStackPage)
          << "the canary is in no page of the stack itself";
    } else {
      EXPECT_FALSE(is_readable(stack.low - 1));
      EXPECT_FALSE(is_readable(stack.low - kStackPage));
    }
    EXPECT_TRUE(is_readable(stack.low));
    give_one(memory_, stack);
    EXPECT_EQ(memory_.counts().cold, 1u);
  }
}

TEST_P(EveryGuard, AStackThatIsGivenBackHoldsNoPage) {
  const Stack stack = take_one(memory_, class_of_kib(64));
  std::fill(stack.low, stack.top, std::byte{1});
  EXPECT_EQ(touched_bytes(stack), stack.size());
  give_one(memory_, stack);
  EXPECT_EQ(touched_bytes(stack), 0u);
}

TEST_P(EveryGuard, HowDeepAStackWasIsKnownToThePageAndCanBeForgotten) {
  for (const size_t kib : {16, 64, 2048}) {
    const Stack stack = take_one(memory_, class_of_kib(kib));
    EXPECT_EQ(touched_bytes(stack), 0u);
    const auto first_page = static_cast<uint32_t>(stack.size() % kStackPage);
    stack.top[-1] = std::byte{1};
    EXPECT_EQ(touched_bytes(stack), first_page);
    stack.top[-static_cast<ptrdiff_t>(first_page) - 1] = std::byte{1};
    EXPECT_EQ(touched_bytes(stack), first_page + kStackPage);
    stack.low[0] = std::byte{1};  // with a gap of pages that were not touched
    EXPECT_EQ(touched_bytes(stack), stack.size());
    make_fresh(stack);
    EXPECT_EQ(touched_bytes(stack), first_page);
    EXPECT_EQ(stack.top[-1], std::byte{1}) << "the top page keeps what is in it";
    EXPECT_TRUE(canary_intact(stack));
    give_one(memory_, stack);
  }
}

TEST(StackMemory, ACanaryTellsOfAWriteBelowTheStack) {
  StackMemory memory({.guard = Guard::canary});
  for (const ptrdiff_t below : {1, 8, 64}) {
    const Stack stack = take_one(memory, class_of_kib(16));
    ASSERT_TRUE(canary_intact(stack));
    const std::byte before = stack.low[-below];
    stack.low[-below] = std::byte{0};
    EXPECT_FALSE(canary_intact(stack)) << below << " bytes below";
    stack.low[-below] = before;
    give_one(memory, stack);
  }
}

TEST(StackMemory, TakingStacksTouchesNoneOfThem) {
  StackMemory memory;
  const StackBatch batch = memory.take_batch(class_of_kib(64));
  ASSERT_EQ(batch.count, kStackBatch);
  for (std::byte* top : batch.tops) EXPECT_EQ(touched_bytes(stack_at(top, class_of_kib(64))), 0u);
  memory.give_batch(class_of_kib(64), batch);
}

TEST(StackMemory, TopsOfNeighboursLieInDifferentCacheLines) {
  StackMemory memory;
  const StackBatch batch = memory.take_batch(class_of_kib(64));
  ASSERT_EQ(batch.count, kStackBatch);
  std::map<uintptr_t, int> lines;
  for (std::byte* top : batch.tops) ++lines[reinterpret_cast<uintptr_t>(top) % kStackPage / 64];
  EXPECT_EQ(lines.size(), 8u);
  for (const auto& [line, count] : lines) {
    EXPECT_EQ(count, 2);
    EXPECT_GE(line * 64, kStackPage - 1024) << "an idle fiber would not fit into its first page";
  }
  memory.give_batch(class_of_kib(64), batch);
}

TEST(StackMemory, KeepsSomeStacksWarmAndGivesThePagesOfTheOthersBack) {
  StackMemory memory({.warm_stacks = 20});
  std::vector<StackBatch> batches;
  for (int i = 0; i < 3; ++i) {
    batches.push_back(memory.take_batch(class_of_kib(64)));
    for (std::byte* top : batches.back().tops) top[-1] = std::byte{1};
  }
  EXPECT_EQ(memory.counts().in_use, 48u);
  for (const StackBatch& batch : batches) memory.give_batch(class_of_kib(64), batch);
  const StackCounts counts = memory.counts();
  EXPECT_EQ(counts.in_use, 0u);
  EXPECT_EQ(counts.warm, 16u);
  EXPECT_EQ(counts.cold, 32u);

  // The warm ones are taken first, in parts if so few are wanted; then the cold ones.
  std::vector<Stack> stacks;
  for (int i = 0; i < 48; ++i) {
    stacks.push_back(take_one(memory, class_of_kib(64)));
    EXPECT_EQ(touched_bytes(stacks.back()) > 0, i < 16) << i;
  }
  EXPECT_EQ(memory.counts().slabs, 1u);
  std::sort(stacks.begin(), stacks.end(),
            [](const Stack& a, const Stack& b) { return a.top < b.top; });
  for (size_t i = 1; i < stacks.size(); ++i) EXPECT_LT(stacks[i - 1].top, stacks[i].low);
  for (const Stack& stack : stacks) give_one(memory, stack);
}

// ---- threads ----

TEST(StackMemory, ThreadsNeverHaveTheSameStack) {
  StackMemory memory({.warm_stacks = 32});
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      const StackClass stack_class = class_of_kib(id % 2 == 0 ? 16 : 64);
      for (size_t round = 0; round < scaled(400, 4); ++round) {
        StackBatch batches[3];
        for (StackBatch& batch : batches) {
          batch = memory.take_batch(stack_class);
          for (uint32_t i = 0; i < batch.count; ++i)
            batch.tops[i][-1] = static_cast<std::byte>(id + 1);
        }
        for (const StackBatch& batch : batches) {
          for (uint32_t i = 0; i < batch.count; ++i)
            ASSERT_EQ(batch.tops[i][-1], static_cast<std::byte>(id + 1));
          memory.give_batch(stack_class, batch);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.counts().in_use, 0u);
  EXPECT_LE(memory.counts().cold + memory.counts().warm, 4u * 3 * kStackBatch);
}

}  // namespace
}  // namespace jzx::testing
