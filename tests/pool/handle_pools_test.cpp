// The registry of a system's pools.
#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <jzx/handle_pools.hpp>

#include "pool/enemy.hpp"
#include "pool/namesakes.hpp"

namespace jzx::testing {
namespace {

struct Bullet {
  float speed = 0;
};

template <int kNumber>
struct Numbered {
  int number = kNumber;
};

TEST(HandlePools, FindAPoolByItsType) {
  HandlePools pools;
  EXPECT_EQ(pools.find<Enemy>(), nullptr);
  HandlePool<Enemy>* enemies = pools.create<Enemy>(10'000).value();
  HandlePool<Bullet>* bullets = pools.create<Bullet>(5).value();
  EXPECT_EQ(pools.find<Enemy>(), enemies);
  EXPECT_EQ(pools.find<Bullet>(), bullets);
  EXPECT_EQ(&pools.of<Enemy>(), enemies);
  EXPECT_EQ(enemies->capacity(), 10'000u);
  EXPECT_EQ(bullets->capacity(), 5u);
  const Handle<Enemy> handle = pools.of<Enemy>().make(100).value();
  EXPECT_EQ(pools.of<Enemy>().get(handle)->hp, 100);
}

TEST(HandlePools, HaveOnePoolPerType) {
  CountingAllocator counting;
  {
    HandlePools pools(memory_of(counting));
    HandlePool<Enemy>* first = pools.create<Enemy>(10).value();
    const Result<HandlePool<Enemy>*> second = pools.create<Enemy>(20);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), Errc::invalid_arg);
    EXPECT_STREQ(second.error().message(), "there is a pool already, of jzx::testing::Enemy");
    EXPECT_EQ(pools.find<Enemy>(), first);
    EXPECT_EQ(first->capacity(), 10u);
  }
  EXPECT_EQ(counting.live_blocks(), 0);
}

TEST(HandlePools, OfTwoSystemsDoNotKnowEachOther) {
  HandlePools here;
  HandlePools there;
  ASSERT_TRUE(here.create<Enemy>(1));
  EXPECT_EQ(there.find<Enemy>(), nullptr);
  ASSERT_TRUE(there.create<Enemy>(2));
  EXPECT_NE(here.find<Enemy>(), there.find<Enemy>());
}

TEST(HandlePools, TellNamesakesOfTwoFilesApart) {
  HandlePools pools;
  ASSERT_TRUE(create_first_namesake(pools));
  EXPECT_NE(find_first_namesake(pools), nullptr);
  EXPECT_EQ(find_second_namesake(pools), nullptr);
  ASSERT_TRUE(create_second_namesake(pools));
  EXPECT_NE(find_second_namesake(pools), nullptr);
  EXPECT_NE(find_first_namesake(pools), find_second_namesake(pools));
}

TEST(HandlePools, GiveTheirMemoryToTheirPoolsAndTakeAllBack) {
  CountingAllocator counting;
  Census census;
  {
    HandlePools pools(memory_of(counting));
    EXPECT_EQ(counting.allocations(), 0u);
    ASSERT_TRUE(pools.create<Tracked>(10));
    const uint64_t allocations = counting.allocations();
    EXPECT_EQ(allocations, 1u);
    ASSERT_TRUE(pools.of<Tracked>().make(census));
    EXPECT_GT(counting.allocations(), allocations);
    counting.refuse_all(true);
    EXPECT_EQ(pools.create<Enemy>(10).error().code(), Errc::no_memory);
    EXPECT_EQ(pools.find<Enemy>(), nullptr);
  }
  EXPECT_EQ(census.ended(), 1);
  EXPECT_EQ(counting.live_blocks(), 0);
}

// Looks for three pools when it ends.
struct Seeker {
  struct Found {
    bool older = false;
    bool own = true;
    bool newer = true;
  };
  ~Seeker() {
    found = {pools.find<Enemy>() != nullptr, pools.find<Seeker>() != nullptr,
             pools.find<Bullet>() != nullptr};
  }
  HandlePools& pools;
  Found& found;
};

TEST(HandlePools, EndTheirPoolsTheNewestFirst) {
  Seeker::Found found;
  {
    HandlePools pools;
    ASSERT_TRUE(pools.create<Enemy>(1));
    ASSERT_TRUE(pools.create<Seeker>(1));
    ASSERT_TRUE(pools.create<Bullet>(1));
    ASSERT_TRUE(pools.of<Seeker>().make(pools, found));
  }
  EXPECT_TRUE(found.older);
  EXPECT_FALSE(found.own) << "a pool that is ending cannot be found";
  EXPECT_FALSE(found.newer);
}

TEST(HandlePoolsDeathTest, EndTheProgramWhenAPoolIsTakenForGranted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  HandlePools pools;
  EXPECT_DEATH((void)pools.of<Enemy>(), "jzx: there is no pool of jzx::testing::Enemy");
}

template <int... kNumbers>
int create_all(HandlePools& pools, std::integer_sequence<int, kNumbers...>) {
  return (static_cast<int>(pools.create<Numbered<kNumbers>>(kNumbers + 1).ok()) + ...);
}

template <int... kNumbers>
bool find_all(HandlePools& pools, std::integer_sequence<int, kNumbers...>) {
  return ((pools.find<Numbered<kNumbers>>() != nullptr &&
           pools.of<Numbered<kNumbers>>().capacity() == kNumbers + 1) &&
          ...);
}

TEST(HandlePools, MayBeCreatedAndFoundFromManyThreadsAtOnce) {
  using All = std::make_integer_sequence<int, 20>;
  HandlePools pools;
  std::array<int, 4> created{};
  std::array<bool, 4> found{};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < created.size(); ++i) {
    threads.emplace_back([&, i] {
      created[i] = create_all(pools, All{});
      found[i] = find_all(pools, All{});
    });
  }
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  for (const int count : created) sum += count;
  EXPECT_EQ(sum, 20) << "each pool was created by one of them";
  for (const bool all : found) EXPECT_TRUE(all);
}

}  // namespace
}  // namespace jzx::testing
