// A million fibers that wait, each with a guard below its stack: what one costs, and that every one
// of them is woken and ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "fiber/checked_runtime.hpp"
#include "fiber/stacks.hpp"
#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

struct Go {};

// tsan takes a fiber for a thread: it has only some thousands, and each takes most of a megabyte.
constexpr size_t kFibers = scaled(1'000'000, 1000);
// A page of stack and an actor, and some more.
constexpr size_t kMostBytesPerFiber = 6 * 1024;

[[nodiscard]] size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t all = 0;
  size_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

[[nodiscard]] size_t available_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string word; meminfo >> word;) {
    size_t kib = 0;
    if (word == "MemAvailable:" && meminfo >> kib) return kib * 1024;
  }
  return 0;
}

TEST(FiberPopulation, AMillionWaitAreWokenAndEnd) {
  if (available_bytes() < 3 * kFibers * kMostBytesPerFiber / 2) {
    GTEST_SKIP() << "there is not enough memory for so many";
  }
  CheckedRuntime runtime(2);
  std::vector<Pid> fibers;
  fibers.reserve(kFibers);
  std::atomic<size_t> begun{0};
  std::atomic<size_t> woken{0};
  Gate all_have_begun;
  Gate all_are_woken;
  const size_t mappings_before = mappings_of_process();
  const size_t resident_before = resident_bytes();
  for (size_t i = 0; i < kFibers; ++i) {
    fibers.push_back(runtime.spawn_fn([&] {
      if (begun.fetch_add(1) + 1 == kFibers) all_have_begun.open();
      receive([&](Go) {
        if (woken.fetch_add(1) + 1 == kFibers) all_are_woken.open();
      });
    }));
    ASSERT_TRUE(fibers.back()) << "after " << i;
  }
  ASSERT_TRUE(all_have_begun.wait());
  const size_t per_fiber = (resident_bytes() - resident_before) / kFibers;
  const size_t mappings = mappings_of_process();
  std::printf(
      "%zu fibers wait: %zu resident bytes each, %zu lines in /proc/self/maps, %zu before\n",
      kFibers, per_fiber, mappings, mappings_before);
  EXPECT_EQ(woken.load(), 0u);
  if (!kUnderSanitizer) {
    EXPECT_LT(per_fiber, kMostBytesPerFiber);
  }
  if (!kUnderSanitizer && runtime.stack_memory()->guard() == kinds::Guard::marked) {
    EXPECT_LT(mappings, mappings_before + kFibers / 100) << "a slab is one mapping";
  }
  for (const Pid fiber : fibers) ASSERT_EQ(fiber.send(Go{}), Errc::ok);
  EXPECT_TRUE(all_are_woken.wait());
  EXPECT_EQ(woken.load(), kFibers);
  runtime.close();
  for (const Pid fiber : {fibers.front(), fibers[kFibers / 2], fibers.back()}) {
    EXPECT_NE(fiber.send(Go{}), Errc::ok);
  }
  std::printf("stacks: %llu guarded by %s\n",
              static_cast<unsigned long long>(runtime.stack_memory()->counts().cold),
              name_of(runtime.stack_memory()->guard()).c_str());
}

}  // namespace
}  // namespace jzx::testing
