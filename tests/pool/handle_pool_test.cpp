#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "pool/enemy.hpp"
#include "support/scale.hpp"

namespace jzx::testing {

namespace a_namespace_with_a_long_name::and_another_one_inside_of_it::and_one_more {
struct LastOfItsName {};
}  // namespace a_namespace_with_a_long_name::and_another_one_inside_of_it::and_one_more

namespace {

using base::Prng;

// ---- life and death ----

TEST(HandlePool, FindsAValueByItsHandleUntilItIsFreed) {
  Census census;
  HandlePool<Tracked> pool(10);
  const Handle<Tracked> handle = pool.make(census, 5).value();
  EXPECT_TRUE(pool.valid(handle));
  ASSERT_NE(pool.get(handle), nullptr);
  EXPECT_EQ(pool.get(handle)->value, 5);
  pool.get_mut(handle)->value = 6;
  EXPECT_EQ(pool.get(handle)->value, 6);
  EXPECT_EQ(pool.size(), 1u);

  EXPECT_TRUE(pool.free(handle));
  EXPECT_EQ(census.ended(), 1);
  EXPECT_FALSE(pool.valid(handle));
  EXPECT_EQ(pool.get(handle), nullptr);
  EXPECT_EQ(pool.get_mut(handle), nullptr);
  EXPECT_TRUE(pool.empty());
}

TEST(HandlePool, AStaleHandleFindsNothingAlsoWhenItsSlotIsInUseAgain) {
  Census census;
  HandlePool<Tracked> pool(10);
  const Handle<Tracked> old = pool.make(census, 1).value();
  EXPECT_TRUE(pool.free(old));
  const Handle<Tracked> fresh = pool.make(census, 2).value();
  ASSERT_EQ(fresh.slot(), old.slot()) << "the test needs the slot to be reused";
  EXPECT_NE(fresh, old);
  EXPECT_EQ(pool.get(old), nullptr);
  EXPECT_FALSE(pool.valid(old));
  EXPECT_FALSE(pool.free(old)) << "it frees nothing twice";
  EXPECT_EQ(pool.get(fresh)->value, 2);
  EXPECT_EQ(pool.size(), 1u);
}

TEST(HandlePool, DestroysWhatIsLeftWhenItEnds) {
  Census census;
  {
    HandlePool<Tracked> pool(3000);
    for (int i = 0; i < 3000; ++i) ASSERT_TRUE(pool.make(census));
    EXPECT_EQ(census.objects(), 3000u);
  }
  EXPECT_EQ(census.ended(), 3000);
}

TEST(HandlePool, ClearFreesAllAndMakesTheirHandlesStale) {
  Census census;
  HandlePool<Tracked> pool(200);
  std::vector<Handle<Tracked>> handles;
  for (int i = 0; i < 200; ++i) handles.push_back(pool.make(census).value());
  pool.clear();
  EXPECT_EQ(census.ended(), 200);
  EXPECT_EQ(pool.size(), 0u);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(pool.make(census)) << "all slots came back";
  for (const Handle<Tracked> handle : handles) ASSERT_FALSE(pool.valid(handle));
}

TEST(HandlePool, KnowsTheHandleOfAValue) {
  Census census;
  HandlePool<Tracked> pool(2000);
  for (int i = 0; i < 2000; ++i) {
    const Handle<Tracked> handle = pool.make(census).value();
    ASSERT_EQ(pool.handle_of(*pool.get(handle)), handle);
  }
}

TEST(HandlePool, NeverMovesItsValues) {
  HandlePool<Enemy> pool(20'000);
  const Handle<Enemy> first = pool.make(1).value();
  const Enemy* place = pool.get(first);
  for (int i = 1; i < 20'000; ++i) ASSERT_TRUE(pool.make(i));
  EXPECT_EQ(pool.get(first), place);
}

// ---- being full ----

TEST(HandlePool, ThatIsFullSaysSoAndHowFull) {
  HandlePool<Enemy> pool(10'000);
  Handle<Enemy> last;
  for (int i = 0; i < 10'000; ++i) last = pool.make(i).value();
  const Result<Handle<Enemy>> refused = pool.make(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::no_memory);
  EXPECT_STREQ(refused.error().message(),
               "the pool of jzx::testing::Enemy is full: 10000 of 10000 handles are in use");
  EXPECT_EQ(pool.size(), 10'000u);
  EXPECT_TRUE(pool.free(last));
  EXPECT_TRUE(pool.make(0)) << "what was freed can be made again";
  EXPECT_FALSE(pool.make(0));
}

TEST(HandlePool, WithATypeOfALongNameStillSaysHowFull) {
  using a_namespace_with_a_long_name::and_another_one_inside_of_it::and_one_more::LastOfItsName;
  HandlePool<LastOfItsName> pool(1);
  ASSERT_TRUE(pool.make());
  const std::string text = pool.make().error().message();
  EXPECT_EQ(text.size(), 95u);
  EXPECT_TRUE(text.starts_with("the pool of ...")) << text;
  EXPECT_TRUE(text.ends_with("::LastOfItsName is full: 1 of 1 handles are in use")) << text;
}

TEST(HandlePool, OfCapacityNoneIsAlwaysFull) {
  HandlePool<Enemy> pool(0);
  EXPECT_STREQ(pool.make().error().message(),
               "the pool of jzx::testing::Enemy is full: 0 of 0 handles are in use");
  EXPECT_EQ(pool.begin(), pool.end());
}

// ---- constructors and destructors that do more than usual ----

TEST(HandlePool, LosesNothingWhenAConstructorThrows) {
  Census census;
  HandlePool<Tracked> pool(3);
  const Handle<Tracked> first = pool.make(census, 1).value();
  for (int i = 0; i < 100; ++i) {
    EXPECT_THROW((void)pool.make(census, 2, true), std::runtime_error);
    ASSERT_EQ(pool.size(), 1u);
  }
  const Handle<Tracked> second = pool.make(census, 2).value();
  const Handle<Tracked> third = pool.make(census, 3).value();
  EXPECT_FALSE(pool.make(census, 4)) << "all three slots are in use, and no more";
  EXPECT_EQ(pool.get(first)->value, 1);
  EXPECT_EQ(pool.get(second)->value, 2);
  EXPECT_EQ(pool.get(third)->value, 3);
}

// Makes another one as it begins, and asks for its own handle.
struct Parent {
  Parent(HandlePool<Parent>& pool, int generations) : home(pool) {
    own_while_made = pool.handle_of(*this);
    if (generations > 0) child = pool.make(pool, generations - 1).value();
  }
  // Ends the child as it ends, and tries to end itself twice.
  ~Parent() {
    EXPECT_FALSE(home.handle_of(*this)) << "it has no handle any more";
    EXPECT_FALSE(home.free(self));
    home.free(child);
  }
  HandlePool<Parent>& home;
  Handle<Parent> child;
  Handle<Parent> self;
  Handle<Parent> own_while_made = Handle<Parent>::from_value(1);
};

TEST(HandlePool, MayBeUsedFromTheConstructorsAndDestructorsOfItsValues) {
  HandlePool<Parent> pool(5);
  const Handle<Parent> first = pool.make(pool, 4).value();
  EXPECT_EQ(pool.size(), 5u);
  std::set<uint64_t> handles;
  for (auto [handle, parent] : pool) {
    handles.insert(handle.value());
    parent.self = handle;
    EXPECT_FALSE(parent.own_while_made) << "it is not there until it is complete";
    EXPECT_EQ(pool.handle_of(parent), handle);
  }
  EXPECT_EQ(handles.size(), 5u);
  EXPECT_TRUE(pool.free(first));
  EXPECT_EQ(pool.size(), 0u) << "each freed the next";
}

TEST(HandlePool, DestroysAllAlsoWhenDestructorsMakeNewValues) {
  struct Hydra {
    Hydra(HandlePool<Hydra>& pool, Census& the_census) : home(pool), counted(the_census) {}
    ~Hydra() { (void)home.make(home, counted.census()); }
    HandlePool<Hydra>& home;
    Tracked counted;
  };
  Census census;
  {
    HandlePool<Hydra> pool(100);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(pool.make(pool, census));
    pool.clear();
    EXPECT_GT(pool.size(), 0u) << "the test means to leave some to the end of the pool";
  }
  EXPECT_EQ(census.objects(), 0u);
}

// ---- types ----

TEST(HandlePool, HoldsTypesThatOnlyMove) {
  HandlePool<std::unique_ptr<int>> pool(2);
  auto value = std::make_unique<int>(3);
  const auto handle = pool.make(std::move(value)).value();
  EXPECT_EQ(**pool.get(handle), 3);
  EXPECT_EQ(*std::move(*pool.get_mut(handle)), 3);
}

TEST(HandlePool, HoldsOverAlignedTypesAligned) {
  struct alignas(256) Wide {
    char bytes[300];
  };
  HandlePool<Wide> pool(500);
  for (int i = 0; i < 500; ++i) {
    const Wide* wide = pool.get(pool.make().value());
    ASSERT_EQ(reinterpret_cast<uintptr_t>(wide) % 256, 0u);
  }
}

// Each value filled to its last byte: if two of them, or a value and what the pool keeps beside
// it, overlapped, one would be overwritten.
template <size_t kSize>
struct Block {
  explicit Block(int number) { std::memset(bytes, number % 251, kSize); }
  char bytes[kSize];
};

template <size_t kSize>
void fill_and_read_back(uint32_t count) {
  SCOPED_TRACE(kSize);
  HandlePool<Block<kSize>> pool(count);
  std::vector<Handle<Block<kSize>>> handles;
  for (uint32_t i = 0; i < count; ++i) handles.push_back(pool.make(static_cast<int>(i)).value());
  for (uint32_t i = 0; i < count; ++i) {
    const Block<kSize>* block = pool.get(handles[i]);
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(std::all_of(std::begin(block->bytes), std::end(block->bytes),
                            [&](char byte) { return byte == static_cast<char>(i % 251); }));
  }
}

TEST(HandlePool, KeepsValuesOfAnySizeApart) {
  fill_and_read_back<1>(5000);
  fill_and_read_back<7>(3000);
  fill_and_read_back<300>(1000);
  fill_and_read_back<9000>(100);
  fill_and_read_back<50'000>(10);
}

// ---- handles that nobody gave ----

TEST(HandlePool, FindsNothingByHandlesItNeverGave) {
  HandlePool<Enemy> pool(100);
  const auto forged = [](uint64_t generation, uint64_t slot) {
    return Handle<Enemy>::from_value(generation << 32 | slot);
  };
  EXPECT_FALSE(pool.valid(forged(1, 0))) << "nothing was made yet";
  const Handle<Enemy> handle = pool.make().value();
  ASSERT_EQ(handle, forged(1, 0));
  EXPECT_FALSE(pool.valid(forged(0, 0))) << "of generation 0";
  EXPECT_FALSE(pool.valid(forged(2, 0))) << "of the generation to come";
  EXPECT_FALSE(pool.valid(forged(1, 1))) << "of a slot whose memory is there, but nothing else";
  EXPECT_FALSE(pool.valid(forged(1, 5000))) << "of a slot beyond the last";
  EXPECT_FALSE(pool.valid(forged(1, UINT32_MAX)));
  EXPECT_FALSE(pool.valid(forged(UINT32_MAX, UINT32_MAX)));
  EXPECT_TRUE(pool.free(handle));
  EXPECT_FALSE(pool.valid(forged(2, 0))) << "free, and the generation to come";
  EXPECT_FALSE(pool.free(forged(2, 0)));
}

TEST(HandlePool, FindsOnlyTheLiveAmongRandomNumbers) {
  constexpr uint64_t kSeed = 20240607;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Prng random(kSeed);
  HandlePool<Enemy> pool(3000);
  std::set<uint64_t> live;
  for (int i = 0; i < 3000; ++i) live.insert(pool.make(i).value().value());
  for (uint64_t slot = 0; slot < 3000; slot += 3) {
    const auto handle = Handle<Enemy>::from_value(uint64_t{1} << 32 | slot);
    ASSERT_TRUE(pool.free(handle));
    live.erase(handle.value());
  }
  size_t found = 0;
  for (size_t i = 0; i < scaled(300'000); ++i) {
    // Of all numbers, and of those near the ones that were given.
    uint64_t number = random.next();
    if (i % 2 == 0) number = uint64_t{random.below(4)} << 32 | random.below(5000);
    const auto handle = Handle<Enemy>::from_value(number);
    ASSERT_EQ(pool.get(handle) != nullptr, live.contains(number)) << number;
    if (pool.free(handle)) {
      ASSERT_EQ(live.erase(number), 1u);
      ++found;
    }
  }
  EXPECT_GT(found, 0u) << "the test means to guess some";
  EXPECT_EQ(pool.size(), live.size());
}

// ---- generations end ----

TEST(HandlePool, LeavesASlotBehindWhenItsGenerationsAreSpent) {
  Census census;
  PoolOptions options;
  options.first_generation = UINT32_MAX - 1;
  HandlePool<Tracked> pool(1, options);
  std::set<uint64_t> given;
  std::vector<Handle<Tracked>> stale;
  for (int i = 0; i < 100; ++i) {
    const Result<Handle<Tracked>> made = pool.make(census, i);
    ASSERT_TRUE(made) << "the capacity stays what it was";
    EXPECT_FALSE(pool.make(census)) << "and grows by nothing";
    const Handle<Tracked> handle = *made;
    ASSERT_TRUE(given.insert(handle.value()).second) << "no handle is given twice";
    EXPECT_EQ(handle.slot(), static_cast<uint32_t>(i) / 2) << "each slot has two generations left";
    EXPECT_NE(handle.generation(), 0u);
    EXPECT_EQ(pool.get(handle)->value, i);
    for (const Handle<Tracked> old : stale) ASSERT_FALSE(pool.valid(old));
    EXPECT_TRUE(pool.free(handle));
    stale.push_back(handle);
    for (uint32_t generation : {0u, 1u, UINT32_MAX}) {
      const uint64_t forged = uint64_t{generation} << 32 | handle.slot();
      EXPECT_FALSE(pool.valid(Handle<Tracked>::from_value(forged)));
    }
  }
}

TEST(HandlePool, SpendsNoGenerationOnAConstructorThatThrows) {
  Census census;
  PoolOptions options;
  options.first_generation = UINT32_MAX;
  HandlePool<Tracked> pool(1, options);
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW((void)pool.make(census, 0, true), std::runtime_error);
  }
  EXPECT_EQ(pool.make(census).value().slot(), 0u);
}

TEST(HandlePool, NeverBeginsWithGenerationZero) {
  PoolOptions options;
  options.first_generation = 0;
  HandlePool<Enemy> pool(1, options);
  EXPECT_EQ(pool.make().value().generation(), 1u);
}

}  // namespace
}  // namespace jzx::testing
