#include "base/chunked_array.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/allocation.hpp"
#include "base/counted_element.hpp"
#include "support/scale.hpp"

namespace jzx::base {
namespace {

TEST(ChunkedArray, KeepsEveryElementWhereItWasMade) {
  ChunkedArray<uint64_t, 16> array(Allocator{}, 1000);
  std::vector<uint64_t*> addresses;
  while (array.grow()) {
    for (auto index = static_cast<uint32_t>(addresses.size()); index < array.size(); ++index) {
      array[index] = index;
      addresses.push_back(&array[index]);
    }
  }
  ASSERT_EQ(addresses.size(), 1000u);
  for (uint32_t index = 0; index < 1000; ++index) {
    EXPECT_EQ(array.find(index), addresses[index]);
    EXPECT_EQ(&array[index], addresses[index]);
    EXPECT_EQ(array[index], index);
  }
}

TEST(ChunkedArray, EndsExactlyAtItsMaximumEvenInsideAChunk) {
  ChunkedArray<int, 8> array(Allocator{}, 11);
  EXPECT_EQ(array.max_size(), 11u);
  EXPECT_EQ(array.size(), 0u);
  EXPECT_TRUE(array.grow());
  EXPECT_EQ(array.size(), 8u);
  EXPECT_TRUE(array.grow());
  EXPECT_EQ(array.size(), 11u);
  EXPECT_FALSE(array.grow());
  EXPECT_NE(array.find(10), nullptr);
  EXPECT_EQ(array.find(16), nullptr);
  EXPECT_EQ(array.find(UINT32_MAX), nullptr);
}

TEST(ChunkedArray, FindsNothingInAChunkThatWasNotMade) {
  ChunkedArray<int, 8> array(Allocator{}, 64);
  EXPECT_EQ(array.find(0), nullptr);
  ASSERT_TRUE(array.grow());
  EXPECT_NE(array.find(7), nullptr);
  EXPECT_EQ(array.find(8), nullptr);
}

TEST(ChunkedArray, ValueInitialisesItsElementsInDirtyMemory) {
  testing::CountingAllocator counting;  // hands out memory full of garbage
  ChunkedArray<uint64_t, 32> array(allocator_of(counting), 32);
  ASSERT_TRUE(array.grow());
  for (uint32_t index = 0; index < 32; ++index) EXPECT_EQ(array[index], 0u);
}

TEST(ChunkedArray, MakesAndDestroysEachElementOnce) {
  testing::CountingAllocator counting;
  CountedElement::constructed = CountedElement::destroyed = 0;
  {
    ChunkedArray<CountedElement, 8> array(allocator_of(counting), 24);
    while (array.grow()) {
    }
    EXPECT_EQ(CountedElement::constructed, 24);
    EXPECT_EQ(CountedElement::destroyed, 0);
  }
  EXPECT_EQ(CountedElement::destroyed, 24);
  EXPECT_EQ(counting.live_blocks(), 0);
}

template <class T>
void expect_first_elements_aligned(size_t alignment) {
  ChunkedArray<T, 4> array(Allocator{}, 12);
  while (array.grow()) {
  }
  for (uint32_t first = 0; first < 12; first += 4) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.find(first)) % alignment, 0u);
  }
}

TEST(ChunkedArray, StartsChunksOnACacheLineAndHonoursWiderTypes) {
  struct alignas(256) Wide {
    char byte;
  };
  expect_first_elements_aligned<char>(64);
  expect_first_elements_aligned<Wide>(256);
}

TEST(ChunkedArray, ReportsARefusedDirectory) {
  testing::CountingAllocator counting;
  counting.refuse_nth(1);
  ChunkedArray<int, 8> array(allocator_of(counting), 64);
  EXPECT_FALSE(array.grow());
  EXPECT_EQ(array.find(0), nullptr);
  EXPECT_TRUE(array.grow());
}

TEST(ChunkedArray, IsUnchangedByARefusedChunkAndCanGrowLater) {
  testing::CountingAllocator counting;
  {
    ChunkedArray<int, 8> array(allocator_of(counting), 64);
    ASSERT_TRUE(array.grow());
    counting.refuse_nth(1);
    EXPECT_FALSE(array.grow());
    EXPECT_EQ(array.size(), 8u);
    EXPECT_EQ(array.find(8), nullptr);
    EXPECT_TRUE(array.grow());
    EXPECT_EQ(array.size(), 16u);
    EXPECT_NE(array.find(15), nullptr);
  }
  EXPECT_EQ(counting.live_blocks(), 0);
}

TEST(ChunkedArray, ShowsOtherThreadsOnlyFinishedElementsWhileItGrows) {
  const auto size = static_cast<uint32_t>(testing::scaled(20'000));
  ChunkedArray<CountedElement, 4> array(Allocator{}, size);
  EXPECT_EQ(
      unfinished_while_growing(
          size, [&] { return array.grow(); }, [&](uint32_t index) { return array.find(index); }),
      0u);
}

}  // namespace
}  // namespace jzx::base
