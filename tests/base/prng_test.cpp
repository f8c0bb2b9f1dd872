#include "base/prng.hpp"

#include <gtest/gtest.h>

#include <array>

namespace jzx::base {
namespace {

TEST(SplitMix64, GivesTheReferenceSequenceForSeedZero) {
  uint64_t state = 0;
  EXPECT_EQ(splitmix64(state), 0xe220a8397b1dcdafu);
  EXPECT_EQ(splitmix64(state), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(splitmix64(state), 0x06c45d188009454fu);
  EXPECT_EQ(splitmix64(state), 0xf88bb8a8724c81ecu);
}

// The reference xoshiro256**, its state filled by splitmix64 from seed 0.
TEST(Prng, GivesTheReferenceSequenceForSeedZero) {
  Prng random(0);
  EXPECT_EQ(random.next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(random.next(), 0xbf6e1f784956452au);
  EXPECT_EQ(random.next(), 0x1a5f849d4933e6e0u);
  EXPECT_EQ(random.next(), 0x6aa594f1262d2d2cu);
}

TEST(Prng, RepeatsItselfForTheSameSeedOnly) {
  Prng a(42), b(42), c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    differs |= value != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Prng, StaysBelowTheBound) {
  Prng random(1);
  for (const uint32_t bound : {1u, 2u, 3u, 64u, 1000u, 0x80000000u, 0xffffffffu}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(random.below(bound), bound) << "bound " << bound;
  }
}

TEST(Prng, SpreadsEvenlyBelowTheBound) {
  constexpr uint32_t kBound = 7;
  constexpr uint32_t kDraws = 70'000;
  Prng random(2);
  std::array<uint32_t, kBound> counts{};
  for (uint32_t i = 0; i < kDraws; ++i) ++counts[random.below(kBound)];
  for (const uint32_t count : counts) {
    EXPECT_NEAR(static_cast<double>(count), kDraws / kBound, 500);  // five standard deviations
  }
}

}  // namespace
}  // namespace jzx::base
