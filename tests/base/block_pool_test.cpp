// Pools and their depot: who only gives keeps no more than two batches and a block from who only
// takes.
#include "base/blocks/block_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/counting_allocator.hpp"

namespace jzx::base {
namespace {

Allocator counted(jzx::testing::CountingAllocator& memory) {
  const jzx_allocator allocator = memory.c_allocator();
  return {allocator.alloc, allocator.free, allocator.ctx};
}

class BlocksOf : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Bytes, BlocksOf, ::testing::Values(32u, 64u, 128u));

TEST_P(BlocksOf, AnySizeGoRoundBetweenOneWhoTakesAndOneWhoGives) {
  jzx::testing::CountingAllocator allocator;
  BlockDepot depot(counted(allocator), GetParam());
  BlockPool taker(depot);
  BlockPool giver(depot);
  void* first = giver.take();
  for (int round = 0; round < 100; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 50; ++i) blocks.push_back(taker.take());
    for (void* block : blocks) giver.give(block);
  }
  giver.give(first);
  EXPECT_LE(allocator.live_bytes(), 16 * 4096);
}

TEST_P(BlocksOf, AnySizeGoRoundIfThoseWhoGiveHaveNoPool) {
  jzx::testing::CountingAllocator allocator;
  BlockDepot depot(counted(allocator), GetParam());
  BlockPool taker(depot);
  for (int i = 0; i < 10'000; ++i) depot.give_one(taker.take(), [] {});
  EXPECT_LE(allocator.live_bytes(), 16 * 4096);
}

TEST_P(BlocksOf, AnySizeAreAligned) {
  jzx::testing::CountingAllocator allocator;
  BlockDepot depot(counted(allocator), GetParam());
  BlockPool pool(depot);
  std::vector<void*> blocks;
  for (int i = 0; i < 10'000; ++i) {
    blocks.push_back(pool.take());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % std::min<size_t>(GetParam(), 64), 0u);
  }
  for (void* block : blocks) pool.give(block);
}

// The last block given is kept apart, but never alone: who has one is known by one look.
class APoolThatIsUsedUp : public ::testing::Test {
 protected:
  APoolThatIsUsedUp() {
    for (int i = 0; i < kPerChunk; ++i) blocks_.push_back(pool_.take());
  }
  ~APoolThatIsUsedUp() override {
    for (void* block : blocks_) pool_.give(block);
  }

  static constexpr int kPerChunk = 63;
  jzx::testing::CountingAllocator allocator_;
  BlockDepot depot_{counted(allocator_), 64};
  BlockPool pool_{depot_};
  std::vector<void*> blocks_;
};

TEST_F(APoolThatIsUsedUp, KnowsThatItHasOneAlsoIfThatIsTheLastOne) {
  EXPECT_FALSE(pool_.has_own());
  for (int i = 0; i < 3; ++i) {
    pool_.give(blocks_[0]);
    EXPECT_TRUE(pool_.has_own());
    EXPECT_EQ(pool_.take_own(), blocks_[0]);
    EXPECT_FALSE(pool_.has_own());
  }
  pool_.give(blocks_[0]);
  pool_.give(blocks_[1]);
  EXPECT_EQ(pool_.take_own(), blocks_[1]);
  EXPECT_TRUE(pool_.has_own());
  EXPECT_EQ(pool_.take_own(), blocks_[0]);
  EXPECT_FALSE(pool_.has_own());
  EXPECT_EQ(allocator_.allocations(), 1u);
}

TEST_F(APoolThatIsUsedUp, GivesTheLastBlockAgainWhereThereIsNoMemory) {
  allocator_.refuse_all(true);
  EXPECT_EQ(pool_.take(), nullptr);
  const uint64_t refused = allocator_.refused();
  pool_.give(blocks_.back());
  EXPECT_EQ(pool_.take(), blocks_.back());
  EXPECT_EQ(allocator_.refused(), refused);  // nobody was asked
  EXPECT_EQ(pool_.take(), nullptr);
}

}  // namespace
}  // namespace jzx::base
