// Where the memory of futures comes from, and where it stays.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <jzx/future.hpp>
#include <new>
#include <thread>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace {

// All memory of futures is asked for by these, in this program.
std::atomic<uint64_t> taken_from_system{0};
std::atomic<uint64_t> given_to_system{0};
std::atomic<bool> refuse_all{false};

}  // namespace

void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (refuse_all.load()) return nullptr;
  taken_from_system.fetch_add(1);
  const auto step = static_cast<size_t>(alignment);
  return std::aligned_alloc(step, (size + step - 1) / step * step);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  given_to_system.fetch_add(1);
  std::free(memory);
}

namespace jzx::testing {
namespace {

constexpr size_t kSize = 200;

class Blocks {
 public:
  void take(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      void* block = detail::take_future_block(kSize);
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % detail::kFutureAlignment, 0u);
      blocks_.push_back(block);
    }
  }
  void give_all() {
    for (void* block : blocks_) detail::give_future_block(block, kSize);
    blocks_.clear();
  }

 private:
  std::vector<void*> blocks_;
};

template <class Work>
void on_another_thread(Work work) {
  std::thread(work).join();
}

// Under the address sanitizer every block goes back to the system at once.
#ifdef __SANITIZE_ADDRESS__

TEST(FutureMemoryDeathTest, ThatWasGivenBackIsNotUsed) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto* block = static_cast<volatile char*>(detail::take_future_block(kSize));
  ASSERT_NE(block, nullptr);
  detail::give_future_block(const_cast<char*>(block), kSize);
  EXPECT_DEATH(block[0] = 1, "heap-use-after-free");
  EXPECT_DEATH(block[kSize - 1] = 1, "heap-use-after-free");
}

#else

TEST(FutureMemory, IsTakenAgainOnTheThreadThatGaveIt) {
  Blocks blocks;
  blocks.take(50);
  blocks.give_all();
  const uint64_t before = taken_from_system;
  blocks.take(50);
  EXPECT_EQ(taken_from_system, before);
  blocks.give_all();
}

TEST(FutureMemory, ThatEndsOnAnotherThreadComesBack) {
  Blocks blocks;
  blocks.take(500);
  on_another_thread([&] { blocks.give_all(); });
  const uint64_t before = taken_from_system;
  for (int i = 0; i < 10; ++i) {
    blocks.take(500);
    on_another_thread([&] { blocks.give_all(); });
  }
  EXPECT_EQ(taken_from_system, before);
}

#endif

TEST(FutureMemory, IsKeptOnlyUpToABound) {
  constexpr size_t kMany = 20'000;
  Blocks blocks;
  blocks.take(kMany);
  const uint64_t before = given_to_system;
  blocks.give_all();
  EXPECT_GE(given_to_system - before, kMany - 2'500);
}

// What ends after the thread's cache was closed goes back at once. (Else the leak checker of the
// address sanitizer would see it as well.)
TEST(FutureMemory, MayBeUsedWhileTheThreadEnds) {
  struct Last {
    ~Last() {
      const uint64_t before = given_to_system;
      blocks.give_all();
      blocks.take(1);
      blocks.give_all();
      given = given_to_system - before;
    }
    Blocks blocks;
    uint64_t& given;
  };
  uint64_t given = 0;
  on_another_thread([&] {
    thread_local Last last{{}, given};  // made before the cache is opened, so it ends after it
    last.blocks.take(3);
  });
  EXPECT_EQ(given, 4u);
}

TEST(FutureMemory, OfALargeValueComesFromTheSystem) {
  struct Large {
    char bytes[2000] = {};
  };
  const uint64_t before = taken_from_system;
  {
    auto [future, promise] = jzx::promise<Large>();
    promise.resolve(Large());
    EXPECT_TRUE(future.get().ok());
  }
  EXPECT_EQ(taken_from_system, before + 1);
}

// ---- none ----

// No memory for futures in its scope, not even what the thread has in its cache.
class NoMemory {
 public:
  NoMemory() {
    refuse_all = true;
    for (size_t size = 64; size <= 1024; size += 64) {
      while (void* block = detail::take_future_block(size)) blocks_.push_back({block, size});
    }
  }
  ~NoMemory() {
    refuse_all = false;
    for (auto [block, size] : blocks_) detail::give_future_block(block, size);
  }

 private:
  std::vector<std::pair<void*, size_t>> blocks_;
};

struct Question {};
struct Answerer {
  int on(Question) { return ++asked; }
  int asked = 0;
};

TEST(WithoutMemory, AnAskIsRejectedAndNotSent) {
  ClockedLoop loop;
  const auto answerer = loop.spawn<Answerer>();
  {
    NoMemory none;
    Future<int> future = answerer.ask(Question{});
    ASSERT_TRUE(future.is_ready());
    EXPECT_EQ(future.get().error().code(), Errc::no_memory);
  }
  loop.settle();
  EXPECT_EQ(loop.run_until(answerer.ask(Question{})).value(), 1);
}

TEST(WithoutMemory, APromiseThrows) {
  NoMemory none;
  EXPECT_THROW(Promise<int>(), std::bad_alloc);
  EXPECT_THROW((void)jzx::promise<int>(), std::bad_alloc);
  EXPECT_FALSE(Promise<int>::try_make().future.is_valid());
}

}  // namespace
}  // namespace jzx::testing
