#include "base/reserved_array.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "base/counted_element.hpp"
#include "support/scale.hpp"

namespace jzx::base {
namespace {

TEST(ReservedArray, GrowsInPlaceAndKeepsEveryElementWhereItWasMade) {
  ReservedArray<uint64_t, 16> array;
  ASSERT_TRUE(array.reserve(1000));
  std::vector<uint64_t*> addresses;
  while (array.grow()) {
    for (auto index = static_cast<uint32_t>(addresses.size()); index < array.size(); ++index) {
      array[index] = index;
      addresses.push_back(&array[index]);
    }
  }
  ASSERT_EQ(addresses.size(), 1000u);
  for (uint32_t index = 0; index < 1000; ++index) {
    EXPECT_EQ(addresses[index], addresses[0] + index);
    EXPECT_EQ(&array.view()[index], addresses[index]);
    EXPECT_EQ(array[index], index);
    EXPECT_TRUE(array.holds(addresses[index]));
  }
  EXPECT_FALSE(array.holds(&array));
}

TEST(ReservedArray, EndsExactlyAtItsMaximumEvenInsideAStep) {
  ReservedArray<int, 8> array;
  ASSERT_TRUE(array.reserve(11));
  EXPECT_EQ(array.size(), 0u);
  EXPECT_TRUE(array.grow());
  EXPECT_EQ(array.size(), 8u);
  EXPECT_TRUE(array.grow());
  EXPECT_EQ(array.size(), 11u);
  EXPECT_FALSE(array.grow());
  EXPECT_TRUE(array.view().has(10));
  EXPECT_FALSE(array.view().has(16));
  EXPECT_FALSE(array.view().has(UINT32_MAX));
}

TEST(ReservedArray, AViewHasWhatWasThereWhenItWasAskedFor) {
  ReservedArray<int, 8> array;
  EXPECT_FALSE(array.view().has(0)) << "nothing is reserved yet";
  EXPECT_FALSE(array.grow()) << "and nothing can be made";
  ASSERT_TRUE(array.reserve(64));
  const auto before = array.view();
  ASSERT_TRUE(array.grow());
  EXPECT_FALSE(before.has(0));
  EXPECT_TRUE(array.view().has(7));
  EXPECT_FALSE(array.view().has(8));
}

TEST(ReservedArray, MakesAndDestroysEachElementOnce) {
  CountedElement::constructed = CountedElement::destroyed = 0;
  {
    ReservedArray<CountedElement, 8> array;
    ASSERT_TRUE(array.reserve(24));
    while (array.grow()) {
    }
    EXPECT_EQ(CountedElement::constructed, 24);
    EXPECT_EQ(CountedElement::destroyed, 0);
  }
  EXPECT_EQ(CountedElement::destroyed, 24);
}

TEST(ReservedArray, TakesNoMemoryForWhatWasNotMade) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  constexpr uint32_t kStep = 4096;
  ReservedArray<uint64_t, kStep> array;
  ASSERT_TRUE(array.reserve(uint32_t{1} << 27)) << "a GiB";
  ASSERT_TRUE(array.grow());
  std::vector<unsigned char> resident((size_t{16} << 20) / page);
  ASSERT_EQ(::mincore(&array[0], resident.size() * page, resident.data()), 0);
  size_t taken = 0;
  for (const unsigned char one : resident) taken += one & 1u;
  EXPECT_EQ(taken, kStep * sizeof(uint64_t) / page);
}

TEST(ReservedArray, WithoutAddressSpaceItSaysSoAndStaysEmpty) {
  struct Huge {
    char bytes[1 << 20];
  };
  ReservedArray<Huge, 1> array;
  EXPECT_FALSE(array.reserve(UINT32_MAX));
  EXPECT_FALSE(array.view().has(0));
  EXPECT_FALSE(array.grow());
}

TEST(ReservedArrayDeathTest, LeavesThreeQuartersOfALimitedAddressSpaceToOthers) {
  const auto run = [] {
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = rlim_t{1} << 47;  // well above what a sanitizer has
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(3);
    struct Element {
      char bytes[1 << 20];
    };
    ReservedArray<Element, 1> large;
    if (large.reserve((1u << 25) + 1)) std::_Exit(4);  // a quarter, and one more
    ReservedArray<Element, 1> small;
    std::_Exit(small.reserve(1u << 10) ? 0 : 5);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

// What was not made is no memory of the process yet, whoever counts or locks it.
TEST(ReservedArray, MayNotBeTouchedFarBehindItsEnd) {
  constexpr uint32_t kStep = 4096;
  ReservedArray<uint64_t, kStep> array;
  ASSERT_TRUE(array.reserve(uint32_t{1} << 27));
  ASSERT_TRUE(array.grow());
  volatile uint64_t* const far_behind = &array[0] + (uint32_t{1} << 26);
  EXPECT_DEATH(*far_behind = 1, "");
}

TEST(ReservedArray, GrowsThroughAllThatWasReserved) {
  constexpr uint32_t kSize = 3'000'000;  // several openings, and no whole number of them
  ReservedArray<uint64_t, 1000> array;
  ASSERT_TRUE(array.reserve(kSize));
  while (array.grow()) {
  }
  ASSERT_EQ(array.size(), kSize);
  for (uint32_t index = 0; index < kSize; index += 100) array[index] = index;
  EXPECT_EQ(array[kSize - 100], kSize - 100);
}

TEST(ReservedArray, ShowsOtherThreadsOnlyFinishedElementsWhileItGrows) {
  const auto size = static_cast<uint32_t>(testing::scaled(20'000));
  ReservedArray<CountedElement, 4> array;
  ASSERT_TRUE(array.reserve(size));
  EXPECT_EQ(unfinished_while_growing(
                size, [&] { return array.grow(); },
                [&](uint32_t index) {
                  const auto view = array.view();
                  return view.has(index) ? &view[index] : nullptr;
                }),
            0u);
}

}  // namespace
}  // namespace jzx::base
