#include "base/slab.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/allocation.hpp"
#include "base/prng.hpp"
#include "support/scale.hpp"

namespace jzx::base {
namespace {

TEST(Slab, AsksTheUserOnceForAWholeChunk) {
  testing::CountingAllocator counting;
  {
    Slab slab(allocator_of(counting), 24, 8, 10);
    EXPECT_EQ(counting.allocations(), 0u);
    std::vector<void*> taken;
    for (int i = 0; i < 10; ++i) taken.push_back(slab.take());
    EXPECT_EQ(counting.allocations(), 1u);
    taken.push_back(slab.take());
    EXPECT_EQ(counting.allocations(), 2u);
    for (void* object : taken) slab.give(object);
    EXPECT_EQ(counting.live_blocks(), 2);
  }
  EXPECT_EQ(counting.live_blocks(), 0);
}

TEST(Slab, TakesTheObjectThatWasGivenLast) {
  Slab slab(Allocator{}, 32, 8, 8);
  void* a = slab.take();
  void* b = slab.take();
  slab.give(a);
  slab.give(b);
  EXPECT_EQ(slab.take(), b);
  EXPECT_EQ(slab.take(), a);
  slab.give(a);
  slab.give(b);
}

TEST(Slab, TakesAFreshChunkInTheOrderOfItsAddresses) {
  Slab slab(Allocator{}, 40, 8, 16);
  std::vector<char*> taken;
  for (int i = 0; i < 16; ++i) taken.push_back(static_cast<char*>(slab.take()));
  for (size_t i = 1; i < taken.size(); ++i) EXPECT_EQ(taken[i] - taken[i - 1], 40);
  for (char* object : taken) slab.give(object);
}

TEST(Slab, ReturnsNullWhenTheUserRefusesAndRecovers) {
  testing::CountingAllocator counting;
  {
    Slab slab(allocator_of(counting), 16, 8, 2);
    counting.refuse_nth(1);
    EXPECT_EQ(slab.take(), nullptr);
    void* a = slab.take();
    void* b = slab.take();
    ASSERT_NE(a, nullptr);
    ASSERT_NE(b, nullptr);
    counting.refuse_all(true);
    EXPECT_EQ(slab.take(), nullptr);
    slab.give(a);
    EXPECT_EQ(slab.take(), a) << "what was given back needs no memory";
    slab.give(a);
    slab.give(b);
  }
  EXPECT_EQ(counting.live_blocks(), 0);
}

struct Shape {
  size_t size;
  size_t alignment;
  size_t per_chunk;
};

// Fills each object it takes with a byte of its own, and looks for it when giving it back: an
// overlap of two objects, or a pool that writes into one in use, shows.
void take_and_give_at_random(const Shape& shape, uint64_t seed, testing::CountingAllocator& user) {
  Prng random(seed);
  struct Taken {
    unsigned char* memory;
    unsigned char fill;
  };
  std::vector<Taken> model;
  const auto give_one = [&](Slab& slab, size_t index) {
    const Taken given = model[index];
    for (size_t i = 0; i < shape.size; ++i) ASSERT_EQ(given.memory[i], given.fill);
    slab.give(given.memory);
    model[index] = model.back();
    model.pop_back();
  };

  Slab slab(allocator_of(user), shape.size, shape.alignment, shape.per_chunk);
  for (int step = 0; step < 400; ++step) {
    user.refuse_all(random.below(4) == 0);
    if (random.below(5) < 3) {
      auto* memory = static_cast<unsigned char*>(slab.take());
      if (memory != nullptr) {
        ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % shape.alignment, 0u);
        model.push_back({memory, static_cast<unsigned char>(step)});
        std::memset(memory, step & 0xff, shape.size);
      }
    } else if (!model.empty()) {
      give_one(slab, random.below(static_cast<uint32_t>(model.size())));
    }
  }
  while (!model.empty()) give_one(slab, model.size() - 1);
}

TEST(Slab, HandsOutAlignedObjectsThatDoNotOverlap) {
  const Shape shapes[] = {{8, 8, 1}, {24, 8, 7}, {40, 16, 32}, {100, 64, 5}, {4096, 4096, 3}};
  for (const Shape& shape : shapes) {
    for (uint64_t seed = 1; seed <= testing::scaled(10, 5); ++seed) {
      SCOPED_TRACE(::testing::Message() << "size " << shape.size << " seed " << seed);
      testing::CountingAllocator counting;
      ASSERT_NO_FATAL_FAILURE(take_and_give_at_random(shape, seed, counting));
      EXPECT_EQ(counting.live_blocks(), 0);
    }
  }
}

}  // namespace
}  // namespace jzx::base
