#include "base/slot_map.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "base/allocation.hpp"
#include "base/prng.hpp"
#include "support/scale.hpp"

namespace jzx::base {
namespace {

constexpr uint8_t kOwner = 5;
constexpr uint32_t kChunk = 1024;

struct Record : Slotted {
  int value = 0;
};

using Map = SlotMap<Record, kChunk>;

TEST(SlotMap, FindsARecordByItsIdUntilItIsGivenBack) {
  Map map(Allocator{}, kOwner);
  Record* record = map.take();
  ASSERT_NE(record, nullptr);
  const uint64_t id = map.id_of(*record);
  EXPECT_NE(id >> 32, 0u);
  EXPECT_EQ(Map::owner_of(id), kOwner);
  EXPECT_EQ(map.find(id), record);
  map.give(*record);
  EXPECT_EQ(map.find(id), nullptr);
}

TEST(SlotMap, FindsNothingByTheOldIdOfAReusedRecord) {
  Map map(Allocator{}, kOwner);
  Record* first = map.take();
  const uint64_t old_id = map.id_of(*first);
  map.give(*first);
  Record* second = map.take();
  ASSERT_EQ(second, first) << "the test needs the slot to be reused";
  EXPECT_EQ(map.find(old_id), nullptr);
  EXPECT_EQ(map.find(map.id_of(*second)), second);
  map.give(*second);
}

TEST(SlotMap, FindsNothingByAnInvalidatedIdAlthoughTheRecordIsInUse) {
  Map map(Allocator{}, kOwner);
  Record* record = map.take();
  const uint64_t id = map.id_of(*record);
  Map::invalidate(*record);
  EXPECT_EQ(map.find(id), nullptr);
  EXPECT_EQ(map.in_use(), 1u);
  map.give(*record);
  EXPECT_EQ(map.in_use(), 0u);
}

TEST(SlotMap, FindsNothingByIdsItNeverHandedOut) {
  Map map(Allocator{}, kOwner);
  const uint64_t first_id = (uint64_t{1} << 32) | (uint32_t{kOwner} << 24);
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_EQ(map.find(first_id), nullptr) << "nothing was made yet";
  Record* record = map.take();
  const uint64_t id = map.id_of(*record);
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_EQ(map.find(id ^ (uint64_t{1} << 24)), nullptr) << "of another owner";
  EXPECT_EQ(map.find(id & 0xffffffff), nullptr) << "of generation 0";
  EXPECT_EQ(map.find(id + 1), nullptr) << "of a slot that was made but never taken";
  EXPECT_EQ(map.find(id | 0xffffff), nullptr) << "of a slot beyond the last";
  map.give(*record);
  EXPECT_EQ(map.find(id + (uint64_t{1} << 32)), nullptr) << "of the generation to come";
}

TEST(SlotMap, BeginsWithTheGenerationItWasGivenUnlessThatIsZero) {
  Map one(Allocator{}, kOwner, 7);
  Map other(Allocator{}, kOwner, 8);
  Map none(Allocator{}, kOwner, 0);
  Record* of_one = one.take();
  Record* of_other = other.take();
  Record* of_none = none.take();
  EXPECT_EQ(one.id_of(*of_one) >> 32, 7u);
  EXPECT_EQ(other.id_of(*of_other) >> 32, 8u);
  EXPECT_EQ(none.id_of(*of_none) >> 32, 1u);
  EXPECT_EQ(other.find(one.id_of(*of_one)), nullptr);
  EXPECT_EQ(one.find(one.id_of(*of_one)), of_one);
  one.give(*of_one);
  other.give(*of_other);
  none.give(*of_none);
}

TEST(SlotMap, SkipsGenerationZeroWhenGenerationsWrapAround) {
  Map map(Allocator{}, kOwner);
  Record* record = map.take();
  record->generation = UINT32_MAX;
  map.give(*record);
  record = map.take();
  EXPECT_EQ(record->generation, 1u);
  map.give(*record);
}

TEST(SlotMap, ReturnsNullWhenTheUserRefusesAndRecovers) {
  testing::CountingAllocator counting;
  {
    SlotMap<Record, 2> map(allocator_of(counting), kOwner);
    counting.refuse_nth(1);
    EXPECT_EQ(map.take(), nullptr);
    EXPECT_EQ(map.in_use(), 0u);
    Record* a = map.take();
    Record* b = map.take();
    ASSERT_NE(a, nullptr);
    ASSERT_NE(b, nullptr);
    counting.refuse_all(true);
    EXPECT_EQ(map.take(), nullptr);
    EXPECT_EQ(map.find(map.id_of(*a)), a);
    map.give(*a);
    EXPECT_EQ(map.take(), a) << "what was given back needs no memory";
    map.give(*a);
    map.give(*b);
  }
  EXPECT_EQ(counting.live_blocks(), 0);
}

// A map beside the ids that should be found in it and those that should not.
class MapAndModel {
 public:
  explicit MapAndModel(uint64_t seed) : random_(seed), map_(allocator_of(counting_), kOwner) {}

  void step(int number) {
    ASSERT_EQ(map_.in_use(), live_.size());
    if (random_.below(5) < 3) {
      Record* record = map_.take();
      ASSERT_NE(record, nullptr);
      const uint64_t id = map_.id_of(*record);
      ASSERT_TRUE(ever_.insert(id).second) << "an id names one record once";
      record->value = number;
      live_.push_back({id, number});
    } else if (!live_.empty()) {
      const size_t index = random_.below(static_cast<uint32_t>(live_.size()));
      Record* record = map_.find(live_[index].first);
      ASSERT_NE(record, nullptr);
      ASSERT_EQ(record->value, live_[index].second);
      map_.give(*record);
      stale_.push_back(live_[index].first);
      live_[index] = live_.back();
      live_.pop_back();
    }
    if (!stale_.empty()) {
      const size_t index = random_.below(static_cast<uint32_t>(stale_.size()));
      ASSERT_EQ(map_.find(stale_[index]), nullptr);
    }
  }

  void run() {
    for (int number = 0; number < 6000; ++number) ASSERT_NO_FATAL_FAILURE(step(number));
    ASSERT_GT(live_.size(), size_t{kChunk}) << "the test means to use several chunks";
    for (const auto& [id, value] : live_) {
      Record* record = map_.find(id);
      ASSERT_NE(record, nullptr);
      ASSERT_EQ(record->value, value);
    }
    for (const uint64_t id : stale_) ASSERT_EQ(map_.find(id), nullptr);
  }

 private:
  Prng random_;
  testing::CountingAllocator counting_;
  Map map_;
  std::vector<std::pair<uint64_t, int>> live_;
  std::vector<uint64_t> stale_;
  std::set<uint64_t> ever_;
};

TEST(SlotMap, FindsExactlyTheLiveIdsUnderRandomOperations) {
  for (uint64_t seed = 1; seed <= testing::scaled(20, 10); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    MapAndModel both(seed);
    ASSERT_NO_FATAL_FAILURE(both.run());
  }
}

}  // namespace
}  // namespace jzx::base
