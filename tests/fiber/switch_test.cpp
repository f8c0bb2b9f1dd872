// What a switch between stacks must leave alone: everything that the code on a stack has in hand.
#include <gtest/gtest.h>

#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

// Enough values of each sort to fill the registers, changed a little between any two waits.
template <class T>
std::vector<T> compute(T seed, int rounds, bool waits) {
  T a = seed, b = seed + 1, c = seed + 2, d = seed + 3, e = seed + 4, f = seed + 5, g = seed + 6,
    h = seed + 7;
  for (int i = 0; i < rounds; ++i) {
    if (waits) yield();
    a = a + b * 3;
    b = b + c * 3;
    c = c + d * 3;
    d = d + e * 3;
    e = e + f * 3;
    f = f + g * 3;
    g = g + h * 3;
    h = h + a / 7;
  }
  return {a, b, c, d, e, f, g, h};
}

template <class T>
void expect_values_outlive_waits() {
  constexpr int kFibers = 4;
  ClockedLoop loop;
  std::vector<std::vector<T>> got(kFibers);
  for (int i = 0; i < kFibers; ++i) {
    loop.spawn_fn([&got, i] { got[static_cast<size_t>(i)] = compute<T>(T(i + 1), 12, true); });
  }
  loop.settle();
  for (int i = 0; i < kFibers; ++i) {
    EXPECT_EQ(got[static_cast<size_t>(i)], compute<T>(T(i + 1), 12, false));
  }
}

JZX_SUITE_ON_ALL_DRIVERS(Switch);

TEST_P(Switch, LeavesWholeNumbersAlone) { expect_values_outlive_waits<uint64_t>(); }
TEST_P(Switch, LeavesDoublesAlone) { expect_values_outlive_waits<double>(); }
TEST_P(Switch, LeavesLongDoublesAlone) { expect_values_outlive_waits<long double>(); }

// A leaf function keeps data below its stack pointer.
TEST_P(Switch, LeavesTheRedZoneAlone) {
  ClockedLoop loop;
  int sum = 0;
  for (int fiber = 0; fiber < 3; ++fiber) {
    loop.spawn_fn([&sum, fiber] {
      int local[8] = {};
      for (int i = 0; i < 8; ++i) {
        local[i] = fiber * 8 + i;
        yield();
      }
      for (const int one : local) sum += one;
    });
  }
  loop.settle();
  EXPECT_EQ(sum, 24 * 23 / 2);
}

TEST_P(Switch, KeepsTheStackAligned) {
  ClockedLoop loop;
  uintptr_t misplaced = 1;
  loop.spawn_fn([&] {
    alignas(16) volatile char block[16] = {};
    yield();
    misplaced = reinterpret_cast<uintptr_t>(&block[0]) % 16;
    block[0] = 1;
  });
  loop.settle();
  EXPECT_EQ(misplaced, 0u);
}

}  // namespace
}  // namespace jzx::testing
