#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

#include "pool/enemy.hpp"

namespace jzx::testing {
namespace {

struct Bullet {};
struct OnlyDeclared;

static_assert(sizeof(Handle<Enemy>) == sizeof(uint64_t));
static_assert(std::is_trivially_copyable_v<Handle<Enemy>>);
static_assert(!Handle<OnlyDeclared>(), "a handle can be held where its type is not known");

template <class Pool, class H>
concept Takes = requires(Pool& pool, H handle) {
  pool.get(handle);
}
|| requires(Pool& pool, H handle) { pool.get_mut(handle); }
|| requires(Pool& pool, H handle) { pool.free(handle); }
|| requires(Pool& pool, H handle) { pool.valid(handle); };

static_assert(Takes<HandlePool<Enemy>, Handle<Enemy>>);
static_assert(!Takes<HandlePool<Bullet>, Handle<Enemy>>, "a handle is of one type");
static_assert(!Takes<HandlePool<Enemy>, uint64_t>, "a number becomes a handle only when told to");
static_assert(!std::is_convertible_v<Handle<Enemy>, Handle<Bullet>>);
static_assert(!std::is_constructible_v<Handle<Enemy>, Handle<Bullet>>);

TEST(Handle, IsNullByDefaultAndThenNamesNothing) {
  HandlePool<Enemy> pool(2);
  ASSERT_TRUE(pool.make());
  const Handle<Enemy> null;
  EXPECT_FALSE(null);
  EXPECT_EQ(null.value(), 0u);
  EXPECT_EQ(pool.get(null), nullptr);
  EXPECT_EQ(pool.get_mut(null), nullptr);
  EXPECT_FALSE(pool.valid(null));
  EXPECT_FALSE(pool.free(null));
}

TEST(Handle, HasASlotInTheLowHalfAndANonZeroGenerationInTheHighHalf) {
  HandlePool<Enemy> pool(2);
  const Handle<Enemy> first = pool.make().value();
  const Handle<Enemy> second = pool.make().value();
  EXPECT_EQ(first.value(), uint64_t{1} << 32 | 0);
  EXPECT_EQ(second.value(), uint64_t{1} << 32 | 1);
  EXPECT_EQ(second.slot(), 1u);
  EXPECT_EQ(second.generation(), 1u);
  EXPECT_TRUE(first);
}

TEST(Handle, SurvivesBeingStoredAsANumber) {
  HandlePool<Enemy> pool(2);
  const Handle<Enemy> handle = pool.make(7).value();
  const uint64_t stored = handle.value();
  const auto again = Handle<Enemy>::from_value(stored);
  EXPECT_EQ(again, handle);
  ASSERT_NE(pool.get(again), nullptr);
  EXPECT_EQ(pool.get(again)->hp, 7);
}

TEST(Handle, CanBeComparedOrderedAndHashed) {
  const auto small = Handle<Enemy>::from_value(uint64_t{1} << 32 | 9);
  const auto large = Handle<Enemy>::from_value(uint64_t{2} << 32 | 3);
  EXPECT_NE(small, large);
  EXPECT_LT(small, large);
  std::unordered_set<Handle<Enemy>> set{small, large, small};
  EXPECT_EQ(set.size(), 2u);
  EXPECT_TRUE(set.contains(large));
}

}  // namespace
}  // namespace jzx::testing
