// What happens where address space, mappings or memory come to an end.
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "fiber/stacks.hpp"
#include "kinds/fiber/stack_memory.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

using namespace jzx::kinds;

// Everything that can be had of the class, if there is an end to it.
std::vector<Stack> take_all(StackMemory& memory, StackClass stack_class) {
  std::vector<Stack> stacks;
  while (stacks.size() < 10'000) {
    const Stack stack = take_one(memory, stack_class);
    if (!stack) break;
    stacks.push_back(stack);
  }
  return stacks;
}

TEST(StackLimits, AtItsLimitThereIsNoStackUntilOneIsGivenBack) {
  StackMemory memory({.address_space = 2 * kSlabSize});
  std::vector<Stack> stacks = take_all(memory, class_of_kib(8192));
  EXPECT_EQ(stacks.size(), 14u) << "two slabs, less their headers' slots";
  EXPECT_FALSE(take_one(memory, class_of_kib(64))) << "the limit is for all classes together";
  give_one(memory, stacks.back());
  EXPECT_EQ(take_one(memory, class_of_kib(8192)).top, stacks.back().top);
  for (const Stack& stack : stacks) give_one(memory, stack);
}

TEST(StackLimitsDeathTest, WhereAddressSpaceEndsThereIsNoStackAndNothingElseHappens) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer's own address space is beyond any limit";
  EXPECT_EXIT(
      {
        StackMemory memory;
        rlimit limit;
        limit.rlim_cur = limit.rlim_max = size_t{1} << 30;
        setrlimit(RLIMIT_AS, &limit);
        std::vector<Stack> stacks = take_all(memory, class_of_kib(1024));
        const bool is_some = stacks.size() > 100 && stacks.size() < 1024;
        for (const Stack& stack : stacks) give_one(memory, stack);
        const bool is_again = take_all(memory, class_of_kib(1024)).size() == stacks.size();
        std::_Exit(is_some && is_again ? 7 : 1);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(StackLimits, BeyondItsShareOfMappingsASlabIsGuardedByCanaries) {
  // A slab of 1 MiB stacks takes 128 mappings: there is room for two such slabs.
  StackMemory memory({.guard = Guard::protected_page, .mappings = 300});
  const size_t before = mappings_of_process();
  std::map<Guard, int> guards;
  std::vector<Stack> stacks;
  for (int i = 0; i < 4 * 63; ++i) {
    stacks.push_back(take_one(memory, class_of_kib(1024)));
    ++guards[slab_of(stacks.back().top).guard];
    EXPECT_TRUE(canary_intact(stacks.back()));
  }
  EXPECT_EQ(guards[Guard::protected_page], 2 * 63);
  EXPECT_EQ(guards[Guard::canary], 2 * 63);
  EXPECT_EQ(memory.guard(), Guard::canary);
  // The two slabs with canaries, and two that the vector may have needed meanwhile.
  if (!kUnderSanitizer) {
    EXPECT_LE(mappings_of_process(), before + 300 + 2 + 2);
  }
  for (const Stack& stack : stacks) give_one(memory, stack);
}

// How many of `count` stacks have which guard, checked on the stack itself where it can be.
std::map<Guard, int> guards_of(StackMemory& memory, size_t count) {
  std::map<Guard, int> guards;
  for (size_t i = 0; i < count / kStackBatch; ++i) {
    const StackBatch batch = memory.take_batch(class_of_kib(16));
    if (batch.count == 0) break;
    for (uint32_t k = 0; k < batch.count; ++k) {
      const Stack stack = stack_at(batch.tops[k], class_of_kib(16));
      const Guard guard = slab_of(stack.top).guard;
      const bool is_guarded =
          guard == Guard::canary ? canary_intact(stack) : !is_readable(stack.low - 1);
      if (is_guarded) ++guards[guard];
    }
  }
  return guards;
}

TEST(StackLimitsDeathTest, WhereTheSystemRefusesMoreMappingsCanariesFollow) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer needs mappings itself";
  size_t limit = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  if (limit == 0 || limit > 70'000) GTEST_SKIP() << "there are too many mappings to use them up";
  EXPECT_EXIT(
      {
        StackMemory memory({.guard = Guard::protected_page, .mappings = UINT64_MAX});
        auto guards = guards_of(memory, 40'000);
        const bool are_both = guards[Guard::protected_page] > 30'000 && guards[Guard::canary] > 0;
        const int all = guards[Guard::protected_page] + guards[Guard::canary];
        std::_Exit(are_both && all > 39'000 ? 7 : 1);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(StackLimitsDeathTest, WhereTheProcessLocksItsMemoryLaterTheNextKindOfGuardFollows) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer does not let memory be locked";
  if (StackMemory().guard() != Guard::marked) GTEST_SKIP() << "needs MADV_GUARD_INSTALL";
  EXPECT_EXIT(
      {
        StackMemory memory;
        auto guards = guards_of(memory, 16);
        // Where that is not allowed there is nothing to see.
        if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) std::_Exit(7);
        auto later = guards_of(memory, 16);
        const bool is_right = guards[Guard::marked] == 16 && later[Guard::protected_page] == 16;
        std::_Exit(is_right && memory.guard() == Guard::protected_page ? 7 : 1);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(StackLimits, MappingsAreFreeForOthersWhenAMemoryEnds) {
  for (int i = 0; i < 3; ++i) {
    StackMemory memory({.guard = Guard::protected_page, .mappings = 128});
    const Stack stack = take_one(memory, class_of_kib(1024));
    EXPECT_EQ(slab_of(stack.top).guard, Guard::protected_page);
    give_one(memory, stack);
  }
}

TEST(StackLimits, SaysWhetherAMillionStacksFitIntoTheMappings) {
  StackMemory protecting({.guard = Guard::protected_page, .mappings = 32'765});
  const MappingForecast forecast = protecting.forecast(class_of_kib(64), 1'000'000);
  EXPECT_GE(forecast.needed, 2'000'000u);
  EXPECT_FALSE(forecast.fits());
  EXPECT_TRUE(protecting.forecast(class_of_kib(64), 10'000).fits());
}

TEST(StackLimits, AMillionGuardedStacksStayWithinTheLimitOfMappings) {
  StackMemory memory;
  if (memory.guard() != Guard::marked) GTEST_SKIP() << "needs MADV_GUARD_INSTALL (Linux 6.13)";
  const size_t count = scaled(1'000'000, 10);
  const MappingForecast forecast = memory.forecast(class_of_kib(64), count);
  EXPECT_TRUE(forecast.fits()) << forecast.needed << " of " << forecast.allowed;

  const size_t before = mappings_of_process();
  std::vector<StackBatch> batches;
  batches.reserve(count / kStackBatch);
  for (size_t taken = 0; taken < count;) {
    batches.push_back(memory.take_batch(class_of_kib(64)));
    ASSERT_GT(batches.back().count, 0u);
    taken += batches.back().count;
  }
  const size_t after = mappings_of_process();
  std::printf("%zu stacks: %zu lines in /proc/self/maps, %zu before\n", count, after, before);
  // Two that the vector may have needed meanwhile. A sanitizer maps its shadow of each slab.
  if (!kUnderSanitizer) {
    EXPECT_LE(after, before + forecast.needed + 2);
  }
  EXPECT_LE(after, forecast.allowed);

  // A page of each thousandth, from all over the range.
  for (size_t i = 0; i < batches.size(); i += 61) {
    const Stack stack = stack_at(batches[i].tops[0], class_of_kib(64));
    stack.top[-1] = std::byte{1};
    ASSERT_EQ(touched_bytes(stack), stack.size() % kStackPage);
    ASSERT_FALSE(is_readable(stack.low - 1));
  }
  for (const StackBatch& batch : batches) memory.give_batch(class_of_kib(64), batch);
}

}  // namespace
}  // namespace jzx::testing
