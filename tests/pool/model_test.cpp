// A pool beside a map that knows what should be in it, through long random lives. JZX_SEED chooses
// one life, JZX_SEED_COUNT many.
#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/prng.hpp"
#include "pool/enemy.hpp"
#include "support/scale.hpp"
#include "support/seeds.hpp"

namespace jzx::testing {
namespace {

class PoolAndModel {
 public:
  explicit PoolAndModel(uint64_t seed) : random_(seed) {}

  void run(size_t steps) {
    for (size_t step = 0; step < steps; ++step) {
      ASSERT_NO_FATAL_FAILURE(one_step(static_cast<int>(step)));
      if (step % 1000 == 0) {
        ASSERT_NO_FATAL_FAILURE(compare_all());
      }
    }
    ASSERT_NO_FATAL_FAILURE(compare_all());
    EXPECT_GT(refusals_, 0) << "a life should meet a full pool";
    EXPECT_GT(stale_.size(), steps / 10);
  }

 private:
  // Waves: mostly making, then mostly freeing, so that the pool is full and nearly empty in turn.
  void one_step(int step) {
    const bool rising = (step / 3000) % 2 == 0;
    const uint32_t dice = random_.below(100);
    if (dice < (rising ? 60u : 25u)) {
      make(step);
    } else if (dice < 85) {
      free_one();
    } else if (dice < 90) {
      make_one_that_throws(step);
    } else if (dice < 95) {
      look_up_stale();
    } else {
      look_up_any();
    }
    ASSERT_EQ(pool_.size(), model_.size());
    ASSERT_EQ(census_.objects(), model_.size());
  }

  void make(int value) {
    const Result<Handle<Tracked>> made = pool_.make(census_, value);
    ASSERT_EQ(made.ok(), model_.size() < kCapacity);
    if (!made) {
      ++refusals_;
      return;
    }
    ASSERT_TRUE(ever_.insert(*made).second) << "a handle was given twice";
    model_[*made] = value;
    live_.push_back(*made);
  }

  void make_one_that_throws(int value) {
    if (model_.size() == kCapacity) return;  // it would not come to the constructor
    EXPECT_THROW((void)pool_.make(census_, value, true), std::runtime_error);
  }

  void free_one() {
    if (live_.empty()) return;
    const size_t index = random_.below(static_cast<uint32_t>(live_.size()));
    const Handle<Tracked> handle = live_[index];
    live_[index] = live_.back();
    live_.pop_back();
    ASSERT_EQ(pool_.get(handle)->value, model_[handle]);
    ASSERT_TRUE(pool_.free(handle));
    model_.erase(handle);
    stale_.push_back(handle);
  }

  void look_up_stale() {
    if (stale_.empty()) return;
    const Handle<Tracked> handle = stale_[random_.below(static_cast<uint32_t>(stale_.size()))];
    ASSERT_FALSE(pool_.valid(handle));
    ASSERT_FALSE(pool_.free(handle));
  }

  void look_up_any() {
    const uint64_t slot = random_.below(2 * kCapacity);
    const uint64_t generation = kFirstGeneration + random_.below(kGenerations + 2);
    const auto handle = Handle<Tracked>::from_value(generation << 32 | slot);
    const auto known = model_.find(handle);
    const Tracked* found = pool_.get_mut(handle);
    ASSERT_EQ(found != nullptr, known != model_.end());
    if (found != nullptr) {
      ASSERT_EQ(found->value, known->second);
    }
  }

  void compare_all() {
    size_t count = 0;
    int64_t last_slot = -1;
    for (auto [handle, tracked] : pool_) {
      ++count;
      ASSERT_GT(int64_t{handle.slot()}, last_slot);
      last_slot = handle.slot();
      const auto known = model_.find(handle);
      ASSERT_NE(known, model_.end());
      ASSERT_EQ(tracked.value, known->second);
    }
    ASSERT_EQ(count, model_.size());
    for (const Handle<Tracked> handle : stale_) ASSERT_FALSE(pool_.valid(handle));
  }

  static constexpr uint32_t kCapacity = 700;
  // Few enough that slots are left behind all the time.
  static constexpr uint32_t kGenerations = 5;
  static constexpr uint32_t kFirstGeneration = UINT32_MAX - kGenerations + 1;

  base::Prng random_;
  Census census_;
  HandlePool<Tracked> pool_{kCapacity, PoolOptions{PoolMemory{}, kFirstGeneration}};
  std::unordered_map<Handle<Tracked>, int> model_;
  std::vector<Handle<Tracked>> live_;
  std::vector<Handle<Tracked>> stale_;
  std::unordered_set<Handle<Tracked>> ever_;
  int refusals_ = 0;
};

class HandlePoolModel : public ::testing::TestWithParam<uint64_t> {};

TEST_P(HandlePoolModel, AgreesWithThePoolAtEveryStep) {
  SCOPED_TRACE("JZX_SEED=" + std::to_string(GetParam()));
  RecordProperty("seed", std::to_string(GetParam()));
  PoolAndModel(GetParam()).run(scaled(30'000, 3));
}

INSTANTIATE_TEST_SUITE_P(Seed, HandlePoolModel, ::testing::ValuesIn(seeds({1, 2, 3, 4})));

}  // namespace
}  // namespace jzx::testing
