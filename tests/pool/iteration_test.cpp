// Walking over a pool, also while it changes.
#include <gtest/gtest.h>

#include <iterator>
#include <ranges>
#include <utility>
#include <vector>

#include "pool/enemy.hpp"

namespace jzx::testing {
namespace {

static_assert(std::ranges::input_range<HandlePool<Enemy>>);
static_assert(std::ranges::input_range<const HandlePool<Enemy>>);

class Walk : public ::testing::Test {
 protected:
  static constexpr int kCount = 3000;

  void SetUp() override {
    for (int i = 0; i < kCount; ++i) handles.push_back(pool.make(i).value());
  }

  // By numbers, as they were made.
  std::vector<int> walked() {
    std::vector<int> numbers;
    for (auto [handle, enemy] : pool) {
      EXPECT_EQ(pool.get(handle), &enemy);
      numbers.push_back(enemy.hp);
    }
    return numbers;
  }

  HandlePool<Enemy> pool{5000};
  std::vector<Handle<Enemy>> handles;
};

TEST_F(Walk, VisitsEveryValueOnceInTheOrderOfSlots) {
  const std::vector<int> numbers = walked();
  ASSERT_EQ(numbers.size(), size_t{kCount});
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(numbers[static_cast<size_t>(i)], i);
}

TEST_F(Walk, SkipsWhatWasFreed) {
  for (size_t i = 0; i < handles.size(); ++i) {
    // A whole chunk, the edges of words, and the last of all stay.
    const bool stays = i % 64 == 0 || i % 64 == 63 || i + 1 == handles.size();
    if (!stays || (i >= 1024 && i < 2048)) pool.free(handles[i]);
  }
  std::vector<int> expected;
  for (size_t i = 0; i < handles.size(); ++i) {
    if (pool.valid(handles[i])) expected.push_back(static_cast<int>(i));
  }
  EXPECT_EQ(walked(), expected);
  EXPECT_EQ(expected.back(), kCount - 1);
}

TEST_F(Walk, MayFreeTheCurrentValue) {
  int visited = 0;
  for (auto [handle, enemy] : pool) {
    ++visited;
    if (enemy.hp % 2 == 0) {
      EXPECT_TRUE(pool.free(handle));
    }
  }
  EXPECT_EQ(visited, kCount);
  EXPECT_EQ(pool.size(), uint32_t{kCount} / 2);
  for (const int number : walked()) ASSERT_EQ(number % 2, 1);
}

TEST_F(Walk, DoesNotVisitWhatIsFreedBeforeItsTurn) {
  std::vector<int> visited;
  for (auto [handle, enemy] : pool) {
    visited.push_back(enemy.hp);
    const size_t next = static_cast<size_t>(enemy.hp) + 1;
    if (next < handles.size()) {
      EXPECT_TRUE(pool.free(handles[next]));
    }
  }
  ASSERT_EQ(visited.size(), size_t{kCount} / 2);
  for (const int number : visited) ASSERT_EQ(number % 2, 0);
}

TEST_F(Walk, MayClearThePool) {
  int visited = 0;
  for ([[maybe_unused]] auto entry : pool) {
    if (++visited == 100) pool.clear();
  }
  EXPECT_EQ(visited, 100);
}

TEST_F(Walk, EndsAlsoWhenEachStepMakesAValue) {
  int visited = 0;
  int refused = 0;
  for ([[maybe_unused]] auto entry : pool) {
    ++visited;
    refused += !pool.make(-1).ok();
  }
  EXPECT_EQ(visited, kCount) << "slots that were never used when it began are not visited";
  EXPECT_EQ(refused, 2 * kCount - 5000);
  EXPECT_EQ(pool.size(), 5000u);
}

TEST_F(Walk, EndsWhereItMeantToAlsoIfOnlyASlotFurtherOnIsInUse) {
  int visited = 0;
  for ([[maybe_unused]] auto entry : pool) {
    if (++visited == 1) {
      const Handle<Enemy> at_the_end = pool.make(-1).value();
      ASSERT_TRUE(pool.make(-1));
      EXPECT_TRUE(pool.free(at_the_end));
      EXPECT_TRUE(pool.free(handles.back()));
    }
    ASSERT_LT(visited, kCount);
  }
  EXPECT_EQ(visited, kCount - 1);
}

TEST_F(Walk, VisitsAValueMadeMeanwhileIfItsSlotIsAhead) {
  EXPECT_TRUE(pool.free(handles[10]));
  EXPECT_TRUE(pool.free(handles[20]));  // is used again first
  std::vector<int> made;
  for (auto [handle, enemy] : pool) {
    if (enemy.hp == 15) {
      EXPECT_EQ(pool.make(-20).value().slot(), 20u);
      EXPECT_EQ(pool.make(-10).value().slot(), 10u);
    }
    if (enemy.hp < 0) made.push_back(enemy.hp);
  }
  EXPECT_EQ(made, std::vector<int>{-20});
}

TEST_F(Walk, OfAConstPoolGivesConstValues) {
  int sum = 0;
  for (auto [handle, enemy] : std::as_const(pool)) {
    static_assert(std::is_same_v<decltype(enemy), const Enemy&>);
    sum += enemy.hp;
  }
  EXPECT_EQ(sum, kCount * (kCount - 1) / 2);
}

TEST_F(Walk, WithForEachGivesHandleAndValue) {
  pool.for_each([&](Handle<Enemy> handle, Enemy& enemy) {
    if (enemy.hp >= 3) {
      EXPECT_TRUE(pool.free(handle));
    } else {
      enemy.hp += 100;
    }
  });
  std::vector<int> numbers;
  std::as_const(pool).for_each(
      [&](Handle<Enemy>, const Enemy& enemy) { numbers.push_back(enemy.hp); });
  EXPECT_EQ(numbers, (std::vector<int>{100, 101, 102}));
}

TEST(WalkOfSmallChunks, VisitsEveryValueOnce) {
  struct Large {
    int number;
    char bytes[10'000] = {};
  };
  HandlePool<Large> pool(50);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(pool.make(i));
  EXPECT_TRUE(pool.free(Handle<Large>::from_value(uint64_t{1} << 32 | 7)));
  int expected = 0;
  for (auto [handle, large] : pool) {
    if (expected == 7) ++expected;
    ASSERT_EQ(large.number, expected++);
  }
  EXPECT_EQ(expected, 50);
}

}  // namespace
}  // namespace jzx::testing
