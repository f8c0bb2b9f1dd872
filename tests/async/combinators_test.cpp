// Combined futures, beside what each answers (combinator_table_test.cpp): ranges, drops, threads.
#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <jzx/jzx.hpp>

#include "async/inputs.hpp"

namespace jzx::testing {
namespace {

TEST(Combined, TakesAnyRange) {
  std::list<Future<int>> listed;
  listed.emplace_back(Result<int>(1));
  listed.emplace_back(Result<int>(2));
  EXPECT_EQ(all(std::move(listed)).get().value(), (std::vector<int>{1, 2}));
  std::vector<Future<int>> owned;
  owned.emplace_back(Result<int>(3));
  EXPECT_EQ(all(std::span(owned)).get().value(), (std::vector<int>{3}));
}

TEST(Combined, WithAnEmptyOneFails) {
  EXPECT_EQ(all(Future<int>(), Future<int>(Result<int>(1))).get().error().code(),
            Errc::invalid_arg);
  EXPECT_EQ(all(Future<int>::failed(Errc::no_memory)).get().error().code(), Errc::no_memory);
}

TEST(Combined, ThatIsDroppedLeavesNothingBehind) {
  { auto never = race(std::vector<Future<int>>()); }
  Inputs in(2);
  { auto dropped = all(in.take()); }
  in.resolve(0, 1);
}

TEST(Combined, WhatWonTheRaceAgainstACancelCounts) {
  SlowToCancel a;
  auto future = all(a.future(), Future<int>(Result<int>(2)));
  future.cancel();
  a.end_well(1);
  auto result = future.get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(std::get<0>(*result), 1);
}

TEST(Combined, DroppingCancelsIfThatOfAnInputDoes) {
  Runtime runtime(RuntimeOptions{.workers = 1});
  SlowToCancel slow;
  { auto future = all(runtime.sleep(std::chrono::hours(1)), slow.future()); }
  EXPECT_TRUE(slow.was_cancelled());
  slow.end();
  SlowToCancel other;
  { auto future = all(other.future(), Future<int>(Result<int>(1))); }
  EXPECT_FALSE(other.was_cancelled());
  other.end();
}

TEST(Combined, NestIntoOneAnother) {
  Inputs in(4);
  auto left = all(in.future(0), in.future(1));
  auto right = all(in.future(2), in.future(3));
  auto future = race(std::move(left), std::move(right));
  in.resolve(2, 1);
  in.resolve(0, 1);
  in.resolve(3, 2);
  EXPECT_EQ(future.get().value(), (std::tuple<int, int>(1, 2)));
}

TEST(Combined, MayBeChained) {
  Inputs in(2);
  auto future = all(in.take()).then([](std::vector<int> values) { return values[0] + values[1]; });
  in.resolve(0, 3);
  in.resolve(1, 4);
  EXPECT_EQ(future.get().value(), 7);
}

TEST(Combined, OfManyNeedNoStack) {
  constexpr int kMany = 100'000;
  Inputs in(kMany);
  auto future = race(in.take());
  in.resolve(kMany / 2, 1);
  EXPECT_EQ(future.get().value(), 1);
}

#ifndef JZX_LIBRARY_NOEXCEPT
struct ThrowsWhenMoved {
  explicit ThrowsWhenMoved(int the_limit) : limit(the_limit) {}
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : limit(other.limit - 1) {
    if (limit == 0) throw std::length_error("moved too often");
  }
  int limit;
};
TEST(Combined, AValueThatThrowsWhenItIsMovedIsAnError) {
  int thrown = 0;
  for (int limit = 1; limit < 12; ++limit) {
    Future<ThrowsWhenMoved> a;
    Future<ThrowsWhenMoved> b;
    auto [fa, pa] = promise<ThrowsWhenMoved>();
    auto [fb, pb] = promise<ThrowsWhenMoved>();
    auto future = all(std::move(fa), std::move(fb));
    try {
      pa.resolve(ThrowsWhenMoved(100));
      pb.resolve(ThrowsWhenMoved(limit));
      auto result = future.get();
      if (!result) {
        EXPECT_EQ(result.error().code(), Errc::exception);
        ++thrown;
      }
    } catch (const std::length_error&) {
      // It had not got as far as the future, or was on its way out of it.
    }
  }
  EXPECT_GT(thrown, 0);
}
#endif

// Threads that settle, cancel and combine at the same time; the thread sanitizer looks on.
TEST(Combined, MayBeSettledAndCancelledFromEveryThread) {
  for (int round = 0; round < 200; ++round) {
    Inputs in(4);
    auto future = round % 2 == 0 ? race(in.take()) : any(in.take());
    std::thread first([&] {
      in.resolve(0, 0);
      in.reject(1, Errc::closed);
    });
    std::thread second([&] {
      in.resolve(2, 2);
      in.reject(3, Errc::closed);
    });
    if (round % 3 == 0) future.cancel();
    const auto result = future.get();
    EXPECT_TRUE(result.ok() || result.error().code() == Errc::cancelled ||
                result.error().code() == Errc::closed);
    first.join();
    second.join();
  }
}

}  // namespace
}  // namespace jzx::testing
