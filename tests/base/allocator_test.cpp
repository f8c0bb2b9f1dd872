#include "base/allocator.hpp"

#include <gtest/gtest.h>

#include "base/allocation.hpp"

namespace jzx::base {
namespace {

struct Tracked {
  explicit Tracked(int& alive_count, int start_value) : alive(alive_count), value(start_value) {
    ++alive;
  }
  ~Tracked() { --alive; }
  int& alive;
  int value;
};

TEST(Allocator, CreatesAndDestroysAnObjectInTheUsersMemory) {
  testing::CountingAllocator counting;
  const Allocator allocator = allocator_of(counting);
  int alive = 0;
  Tracked* object = allocator.create<Tracked>(alive, 42);
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->value, 42);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(counting.live_blocks(), 1);
  allocator.destroy(object);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(counting.live_blocks(), 0);
}

TEST(Allocator, ConstructsNothingWhenTheUserRefuses) {
  testing::CountingAllocator counting;
  counting.refuse_all(true);
  int alive = 0;
  EXPECT_EQ(allocator_of(counting).create<Tracked>(alive, 1), nullptr);
  EXPECT_EQ(alive, 0);
}

TEST(Allocator, NeverPassesNullToTheUsersFree) {
  int calls = 0;
  const Allocator counted{[](void*, size_t) -> void* { return nullptr; },
                          [](void* ctx, void*) { ++*static_cast<int*>(ctx); }, &calls};
  counted.release(nullptr);
  counted.destroy(static_cast<int*>(nullptr));
  EXPECT_EQ(calls, 0);
}

TEST(Allocator, DefaultsToTheCLibrary) {
  const Allocator allocator;
  void* memory = allocator.allocate(16);
  EXPECT_NE(memory, nullptr);
  allocator.release(memory);
}

TEST(Allocator, AlignsUpToTheNextMultiple) {
  const auto aligned = [](uintptr_t address, size_t alignment) {
    return reinterpret_cast<uintptr_t>(align_up(reinterpret_cast<void*>(address), alignment));
  };
  EXPECT_EQ(aligned(4096, 64), 4096u);
  EXPECT_EQ(aligned(4097, 64), 4160u);
  EXPECT_EQ(aligned(4159, 64), 4160u);
  EXPECT_EQ(aligned(4161, 1), 4161u);
}

}  // namespace
}  // namespace jzx::base
