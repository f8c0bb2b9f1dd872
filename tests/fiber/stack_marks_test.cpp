// What a system knows about how much stack its fibers need.
#include <gtest/gtest.h>

#include <csignal>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Go {};

// So many bytes of stack, all of them touched.
template <size_t bytes>
[[gnu::noinline]] void use_stack() {
  [[maybe_unused]] volatile char block[bytes];
  for (size_t i = 0; i < bytes; i += 512) block[i] = 1;
}

const FiberStackInfo* info_with(const std::vector<FiberStackInfo>& all, size_t at_least) {
  for (const FiberStackInfo& one : all) {
    if (one.deepest >= at_least) return &one;
  }
  return nullptr;
}

TEST(FiberStacks, SayHowDeepEachTypeHasBeen) {
  ClockedLoop loop;
  loop.spawn_fn([] { use_stack<100>(); });
  loop.spawn_fn([] { use_stack<30'000>(); });
  loop.settle();
  const auto all = loop.fiber_stacks();
  ASSERT_EQ(all.size(), 2u);
  const FiberStackInfo* deep = info_with(all, 30'000);
  ASSERT_NE(deep, nullptr);
  EXPECT_LT(deep->deepest, 30'000u + 4 * 4096);
  EXPECT_EQ(deep->measured, 1u);
  EXPECT_GT(deep->stack_size, 50'000u);
  const FiberStackInfo& shallow = deep == &all[0] ? all[1] : all[0];
  EXPECT_LE(shallow.deepest, 3 * 4096u);
}

TEST(FiberStacks, TellOfTheLivingToo) {
  ClockedLoop loop;
  const Pid fiber = loop.spawn_fn([] {
    receive([](Go) {});
    use_stack<20'000>();
    receive([](Go) {});
  });
  loop.settle();
  EXPECT_EQ(info_with(loop.fiber_stacks(), 20'000), nullptr);
  fiber << Go{};
  loop.settle();
  const auto all = loop.fiber_stacks();
  const FiberStackInfo* deep = info_with(all, 20'000);
  ASSERT_NE(deep, nullptr);
  EXPECT_EQ(deep->measured, 0u) << "it has not ended";
}

TEST(FiberStacks, WhoEndsOnAUsedStackIsNotTakenForTheOneBefore) {
  ClockedLoop loop;
  loop.spawn_fn([] { use_stack<30'000>(); });
  loop.settle();
  loop.spawn_fn([] { use_stack<64>(); });  // on the same stack
  loop.settle();
  size_t deep = 0;
  for (const FiberStackInfo& one : loop.fiber_stacks()) deep += one.deepest >= 30'000;
  EXPECT_EQ(deep, 1u);
}

TEST(FiberStacks, TheSizeIsChosenAtTheSpawn) {
  ClockedLoop loop;
  SpawnOptions large;
  large.stack_size = 1 << 20;
  EXPECT_TRUE(loop.spawn_fn_with(large, [] { use_stack<900'000>(); }));
  loop.settle();
  EXPECT_NE(info_with(loop.fiber_stacks(), 900'000), nullptr);
  SpawnOptions too_large;
  too_large.stack_size = 1 << 30;
  EXPECT_FALSE(loop.spawn_fn_with(too_large, [] {}));
  EXPECT_EQ(loop.spawn_error(), Errc::invalid_arg);
}

// Deeper and deeper, and not a loop in disguise.
[[gnu::noinline]] int descend(int depth) {
  volatile char frame[256] = {};
  frame[0] = static_cast<char>(depth);
  return depth == 1'000'000 ? 0 : descend(depth + 1) + frame[0];
}

TEST(FiberStacksDeathTest, AnOverflowIsReportedWithTheActorsName) {
  const auto overflow = [] {
    Loop loop;
    SpawnOptions options;
    options.name = "dreamer";
    options.stack_size = 16 << 10;
    loop.spawn_fn_with(options, [] { (void)descend(0); });
    (void)loop.run();
  };
  EXPECT_EXIT(
      overflow(), ::testing::KilledBySignal(SIGSEGV),
      "jzx: stack overflow in actor dreamer \\([0-9a-f]+\\), stack 1[12] KiB, used 1[1-3] KiB");
}

}  // namespace
}  // namespace jzx::testing
