// The depot behind the pools: what it keeps after a peak, and that no block is ever given twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/blocks/block_pool.hpp"
#include "support/counting_allocator.hpp"
#include "support/scale.hpp"
#include "support/seeds.hpp"

namespace jzx::base {
namespace {

using jzx::testing::CountingAllocator;
using jzx::testing::scaled;

constexpr size_t kPeak = scaled(1'000'000, 2);
// The blocks that are kept, and what their headers, their alignment and half-used spans add.
constexpr int64_t kMark = BlockDepot::kKeptBytes * 5 / 4;

class ADepot : public ::testing::TestWithParam<size_t> {
 protected:
  // By turns a hundred each.
  [[nodiscard]] static std::vector<void*> taken_by(BlockPool& one, BlockPool& other, size_t count) {
    std::vector<void*> blocks(count);
    for (size_t i = 0; i < count; ++i) blocks[i] = (i / 100 % 2 == 0 ? one : other).take();
    return blocks;
  }
  [[nodiscard]] int64_t live() const { return memory_.live_bytes(); }

  CountingAllocator memory_;
  const jzx_allocator allocator_ = memory_.c_allocator();
  BlockDepot depot_{{allocator_.alloc, allocator_.free, allocator_.ctx}, GetParam()};
};
INSTANTIATE_TEST_SUITE_P(OfBytes, ADepot, ::testing::Values(32u, 64u, 128u));

TEST_P(ADepot, GivesMemoryBackAfterAPeak) {
  BlockPool pool(depot_);
  const std::vector<void*> blocks = taken_by(pool, pool, kPeak);
  EXPECT_GE(live(), static_cast<int64_t>(kPeak * GetParam()));
  for (void* block : blocks) pool.give(block);
  EXPECT_LE(live(), kMark);
}

TEST_P(ADepot, GivesMemoryBackIfTheNewestBlocksComeBackFirst) {
  BlockPool pool(depot_);
  std::vector<void*> blocks = taken_by(pool, pool, kPeak);
  for (; !blocks.empty(); blocks.pop_back()) pool.give(blocks.back());
  EXPECT_LE(live(), kMark);
}

TEST_P(ADepot, GivesMemoryBackIfBlocksComeBackInRandomOrderToTwoPools) {
  {
    BlockPool one(depot_);
    BlockPool other(depot_);
    std::vector<void*> blocks = taken_by(one, other, kPeak);
    std::mt19937_64 random(1);
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (void* block : blocks) (random() % 2 == 0 ? one : other).give(block);
  }
  EXPECT_LE(live(), kMark);
}

TEST_P(ADepot, GivesMemoryBackIfThreadsWithoutAPoolGive) {
  BlockPool pool(depot_);
  for (void* block : taken_by(pool, pool, kPeak)) depot_.give_one(block, [] {});
  EXPECT_LE(live(), kMark);
}

TEST_P(ADepot, KeepsWhatIsBelowTheMark) {
  BlockPool pool(depot_);
  const size_t count = BlockDepot::kKeptBytes / GetParam();
  const auto take_and_give_all = [&] {
    for (void* block : taken_by(pool, pool, count)) pool.give(block);
  };
  take_and_give_all();
  const uint64_t allocations = memory_.allocations();
  const int64_t spans = memory_.live_blocks();
  for (int i = 0; i < 10; ++i) take_and_give_all();
  EXPECT_EQ(memory_.allocations(), allocations);
  EXPECT_EQ(memory_.live_blocks(), spans);
}

TEST_P(ADepot, ServesAPeakThatComesAgain) {
  BlockPool one(depot_);
  BlockPool other(depot_);
  int64_t first_peak = 0;
  for (int round = 0; round < 3; ++round) {
    const std::vector<void*> blocks = taken_by(one, other, kPeak);
    if (round == 0) first_peak = live();
    EXPECT_LE(live(), first_peak * 11 / 10);
    for (void* block : blocks) one.give(block);
    EXPECT_LE(live(), kMark);
  }
}

TEST_P(ADepot, TakesOneSpanFromTheAllocatorWhereASmallOneIsEnough) {
  BlockPool pool(depot_);
  pool.give(pool.take());
  EXPECT_EQ(memory_.allocations(), 1u);
  EXPECT_LE(live(), 9000);
}

// ---- no block is given out twice ----

// Writes a number all over a block, and finds it there when the block goes back.
class Stamped {
 public:
  Stamped(void* block, size_t size, uint64_t number)
      : words_(static_cast<uint64_t*>(block)), count_(size / sizeof(uint64_t)), number_(number) {
    std::fill_n(words_, count_, number);
  }
  [[nodiscard]] void* give() const {
    EXPECT_EQ(std::count(words_, words_ + count_, number_), static_cast<int64_t>(count_));
    return words_;
  }

 private:
  uint64_t* words_;
  size_t count_;
  uint64_t number_;
};

void live_at_random(BlockDepot& depot, size_t size, uint64_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const size_t high = 3 * BlockDepot::kKeptBytes / size;
  std::unique_ptr<BlockPool> pools[2];
  for (auto& pool : pools) pool = std::make_unique<BlockPool>(depot);
  std::vector<Stamped> held;
  uint64_t number = 0;
  for (int phase = 0; phase < 12; ++phase) {
    const size_t goal = phase == 11 ? 0 : random() % (phase % 2 == 0 ? high : high / 50);
    while (held.size() != goal) {
      // A few steps the other way, too.
      const bool takes = (held.size() < goal) != (random() % 8 == 0) || held.empty();
      const uint64_t who = random() % 3;
      if (takes) {
        void* block = who == 2 ? depot.take_one([] {}) : pools[who]->take();
        ASSERT_NE(block, nullptr);
        held.emplace_back(block, size, ++number);
        continue;
      }
      std::swap(held[random() % held.size()], held.back());
      void* block = held.back().give();
      held.pop_back();
      if (who == 2) depot.give_one(block, [] {});
      if (who != 2) pools[who]->give(block);
    }
    pools[phase % 2].reset();
    pools[phase % 2] = std::make_unique<BlockPool>(depot);
  }
}

TEST_P(ADepot, GivesNoBlockOutTwiceHoweverTheyComeAndGo) {
  for (const uint64_t seed : jzx::testing::seeds({1})) {
    live_at_random(depot_, GetParam(), seed);
  }
}

TEST_P(ADepot, IsSoundWhicheverAllocationFails) {
  const size_t count = BlockDepot::kKeptBytes * 5 / 4 / GetParam();
  std::vector<Stamped> held;
  for (uint64_t nth = 1; nth < 100; ++nth) {
    CountingAllocator memory;
    const jzx_allocator allocator = memory.c_allocator();
    BlockDepot depot({allocator.alloc, allocator.free, allocator.ctx}, GetParam());
    BlockPool pool(depot);
    (nth % 2 == 0) ? memory.refuse_nth(nth) : memory.refuse_from_nth(nth);
    size_t failures = 0;
    for (int round = 0; round < 2; ++round) {
      for (size_t i = 0; i < count && failures < 4; ++i) {
        void* block = i % 500 == 0 ? depot.take_one([] {}) : pool.take();
        block == nullptr ? void(++failures) : void(held.emplace_back(block, GetParam(), i));
      }
      for (; !held.empty(); held.pop_back()) pool.give(held.back().give());
    }
    EXPECT_EQ(failures != 0, memory.refused() != 0);
    memory.refuse_nth(0);
    void* block = pool.take();
    EXPECT_NE(block, nullptr);
    pool.give(block);
    if (failures == 0) return;
  }
  ADD_FAILURE() << "more allocations than expected";
}

TEST_P(ADepot, ServesThreadsAtOnceWithAPoolAndWithout) {
  const size_t each = BlockDepot::kKeptBytes / GetParam();
  const auto live = [&](uint64_t who) {
    std::mt19937_64 random(who);
    BlockPool pool(depot_);
    std::vector<Stamped> held;
    for (size_t round = 0; round < scaled(8, 4); ++round) {
      while (held.size() < each) {
        void* block = who == 2 ? depot_.take_one([] {}) : pool.take();
        if (block == nullptr) return ADD_FAILURE();
        held.emplace_back(block, GetParam(), (who << 32) + held.size());
      }
      std::shuffle(held.begin(), held.end(), random);
      for (; !held.empty(); held.pop_back()) {
        void* block = held.back().give();
        if (who == 2) depot_.give_one(block, [] {});
        if (who != 2) pool.give(block);
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t who = 0; who < 3; ++who) threads.emplace_back(live, who);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace jzx::base
