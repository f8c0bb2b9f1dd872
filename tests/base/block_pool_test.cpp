// Pools and their depot: who only gives keeps no more than two batches from who only takes.
#include "base/block_pool.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "support/counting_allocator.hpp"

namespace jzx::base {
namespace {

Allocator counted(jzx::testing::CountingAllocator& memory) {
  const jzx_allocator allocator = memory.c_allocator();
  return {allocator.alloc, allocator.free, allocator.ctx};
}

// A chunk may be more than a batch.
class BlocksOfAChunkOf : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, BlocksOfAChunkOf, ::testing::Values(63u, 126u));

TEST_P(BlocksOfAChunkOf, AnySizeGoRoundBetweenOneWhoTakesAndOneWhoGives) {
  jzx::testing::CountingAllocator allocator;
  BlockDepot depot(counted(allocator), 64, 64, GetParam());
  BlockPool taker(depot);
  BlockPool giver(depot);
  void* first = giver.take();
  for (int round = 0; round < 100; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 50; ++i) blocks.push_back(taker.take());
    for (void* block : blocks) giver.give(block);
  }
  giver.give(first);
  EXPECT_LE(allocator.live_blocks(), 6);
}

TEST_P(BlocksOfAChunkOf, AnySizeAreGivenOutOnce) {
  jzx::testing::CountingAllocator allocator;
  BlockDepot depot(counted(allocator), 64, 64, GetParam());
  BlockPool pool(depot);
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 1000; ++i) {
    blocks.push_back(static_cast<std::byte*>(pool.take()));
    *blocks.back() = static_cast<std::byte>(i);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(*blocks[i], static_cast<std::byte>(i));
    pool.give(blocks[i]);
  }
}

// The last block given is kept apart, but never alone: who has one is known by one look.
TEST(APool, KnowsThatItHasOneAlsoIfThatIsTheLastOne) {
  jzx::testing::CountingAllocator allocator;
  BlockDepot depot(counted(allocator), 64, 64, 63);
  BlockPool pool(depot);
  std::vector<void*> blocks;
  for (int i = 0; i < 63; ++i) blocks.push_back(pool.take());
  EXPECT_FALSE(pool.has_own());
  for (int i = 0; i < 3; ++i) {
    pool.give(blocks[0]);
    EXPECT_TRUE(pool.has_own());
    EXPECT_EQ(pool.take_own(), blocks[0]);
    EXPECT_FALSE(pool.has_own());
  }
  pool.give(blocks[0]);
  pool.give(blocks[1]);
  EXPECT_EQ(pool.take_own(), blocks[1]);
  EXPECT_TRUE(pool.has_own());
  EXPECT_EQ(pool.take_own(), blocks[0]);
  EXPECT_FALSE(pool.has_own());
  EXPECT_EQ(allocator.allocations(), 1u);
  for (void* block : blocks) pool.give(block);
}

TEST(APool, GivesTheLastBlockAgainWhereThereIsNoMemory) {
  jzx::testing::CountingAllocator allocator;
  BlockDepot depot(counted(allocator), 64, 64, 63);
  BlockPool pool(depot);
  std::vector<void*> blocks;
  for (int i = 0; i < 63; ++i) blocks.push_back(pool.take());
  allocator.refuse_all(true);
  EXPECT_EQ(pool.take(), nullptr);
  const uint64_t refused = allocator.refused();
  pool.give(blocks.back());
  EXPECT_EQ(pool.take(), blocks.back());
  EXPECT_EQ(allocator.refused(), refused);  // nobody was asked
  EXPECT_EQ(pool.take(), nullptr);
  for (void* block : blocks) pool.give(block);
}

}  // namespace
}  // namespace jzx::base
