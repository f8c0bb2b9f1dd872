// What a pool asks its allocator for.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pool/enemy.hpp"

namespace jzx::testing {
namespace {

constexpr int64_t kLittle = 64 * 1024;

TEST(PoolMemory, IsNotTakenUntilTheFirstValueAndThenOnlyALittle) {
  CountingAllocator counting;
  {
    HandlePool<Enemy> pool(1'000'000, {memory_of(counting)});
    EXPECT_EQ(counting.allocations(), 0u);
    const Handle<Enemy> handle = pool.make().value();
    EXPECT_LE(counting.live_bytes(), kLittle);
    pool.free(handle);
  }
  EXPECT_EQ(counting.live_blocks(), 0);
}

TEST(PoolMemory, OfAPoolOfLargeValuesIsTakenByFewAtATime) {
  struct Large {
    char bytes[10'000];
  };
  CountingAllocator counting;
  HandlePool<Large> pool(1'000'000, {memory_of(counting)});
  ASSERT_TRUE(pool.make());
  EXPECT_LE(counting.live_bytes(), kLittle);
}

TEST(PoolMemory, OfASmallPoolIsSmall) {
  CountingAllocator counting;
  HandlePool<Enemy> pool(4, {memory_of(counting)});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(pool.make());
  EXPECT_LE(counting.live_bytes(), 512);
}

TEST(PoolMemory, GrowsWithTheValuesThatAreInUseAtOnce) {
  CountingAllocator counting;
  HandlePool<Enemy> pool(1'000'000, {memory_of(counting)});
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(pool.make(i));
  constexpr int64_t kNode = sizeof(uint64_t) + sizeof(Enemy);
  EXPECT_LE(counting.live_bytes(), 100'000 * kNode * 11 / 10 + kLittle);
}

TEST(PoolMemory, IsEnoughForTenThousandEnemiesThatComeAndGo) {
  CountingAllocator counting;
  {
    HandlePool<Enemy> pool(10'000, {memory_of(counting)});
    std::vector<Handle<Enemy>> handles;
    for (int i = 0; i < 10'000; ++i) handles.push_back(pool.make(i).value());
    ASSERT_FALSE(pool.make());
    const uint64_t allocations = counting.allocations();
    for (int round = 0; round < 20; ++round) {
      // Every seventh falls, as in a bad minute of a game, and as many follow.
      for (size_t i = static_cast<size_t>(round) % 7; i < handles.size(); i += 7) {
        const Handle<Enemy> fallen = handles[i];
        ASSERT_TRUE(pool.free(fallen));
        handles[i] = pool.make(round).value();
        ASSERT_FALSE(pool.valid(fallen));
      }
    }
    EXPECT_EQ(pool.size(), 10'000u);
    EXPECT_EQ(counting.allocations(), allocations) << "coming and going costs no memory";
    for (const Handle<Enemy> handle : handles) ASSERT_TRUE(pool.valid(handle));
  }
  EXPECT_EQ(counting.live_blocks(), 0);
}

TEST(PoolMemory, ThatIsRefusedIsSaidAndNothingIsLost) {
  // The directory and then the chunk, each once, at the first value and at the last that fits.
  for (uint64_t nth = 1; nth <= 20; ++nth) {
    CountingAllocator counting;
    {
      HandlePool<Enemy> pool(10'000, {memory_of(counting)});
      counting.refuse_nth(nth);
      uint32_t made = 0;
      int refusals = 0;
      while (made < 10'000) {
        const Result<Handle<Enemy>> result = pool.make(static_cast<int>(made));
        if (result) {
          ++made;
          continue;
        }
        ASSERT_EQ(++refusals, 1);
        EXPECT_EQ(result.error().code(), Errc::no_memory);
        EXPECT_EQ(result.error().message(), "no memory for the pool of jzx::testing::Enemy: " +
                                                std::to_string(made) + " of 10000 in use");
        EXPECT_EQ(pool.size(), made);
      }
      EXPECT_EQ(counting.refused(), static_cast<uint64_t>(refusals));
      int expected = 0;
      for (auto [handle, enemy] : pool) ASSERT_EQ(enemy.hp, expected++);
      EXPECT_EQ(expected, 10'000);
    }
    EXPECT_EQ(counting.live_blocks(), 0);
  }
}

}  // namespace
}  // namespace jzx::testing
