// all, race, any, all_settled: what each answers, in the order of JavaScript's own tables.
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

// ---- all ----

TEST(All, OfNothingIsAnEmptyListAtOnce) {
  auto future = all(std::vector<Future<int>>());
  ASSERT_TRUE(future.is_ready());
  EXPECT_TRUE(future.get().value().empty());
}

TEST(All, GivesTheValuesInTheOrderOfTheInputs) {
  Inputs in(3);
  auto future = all(in.take());
  in.resolve(2, 30);
  in.resolve(0, 10);
  EXPECT_FALSE(future.is_ready());
  in.resolve(1, 20);
  EXPECT_EQ(future.get().value(), (std::vector<int>{10, 20, 30}));
}

TEST(All, TakesWhatIsSettledAlready) {
  Inputs in(3);
  for (int i = 0; i < 3; ++i) in.resolve(i, i);
  auto future = all(in.take());
  ASSERT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().value(), (std::vector<int>{0, 1, 2}));
}

TEST(All, FailsWithTheFirstErrorAndCancelsTheRest) {
  Inputs in(3);
  auto future = all(in.take());
  in.resolve(0, 1);
  in.reject(2, Errc::closed);
  ASSERT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().error().code(), Errc::closed);
  in.resolve(1, 5);  // to nobody
}

TEST(All, FailsAtOnceIfOneHasFailedAlready) {
  Inputs in(3);
  in.reject(1, Errc::timed_out);
  auto future = all(in.take());
  ASSERT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().error().code(), Errc::timed_out);
}

TEST(All, FailsWithTheFirstOfSeveralErrorsInTime) {
  Inputs in(2);
  auto future = all(in.take());
  in.reject(1, Errc::closed);
  in.reject(0, Errc::lagged);
  EXPECT_EQ(future.get().error().code(), Errc::closed);
}

TEST(All, OfDifferentTypesIsATuple) {
  auto [number, n] = promise<int>();
  auto [text, t] = promise<std::string>();
  auto [nothing, v] = promise<void>();
  auto future = all(std::move(number), std::move(text), std::move(nothing));
  v.resolve();
  t.resolve("two");
  n.resolve(1);
  auto result = future.get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(std::get<0>(*result), 1);
  EXPECT_EQ(std::get<1>(*result), "two");
}

TEST(All, OfFuturesOfNothingIsAFutureOfNothing) {
  std::vector<Future<void>> futures;
  auto [nothing, v] = promise<void>();
  futures.push_back(std::move(nothing));
  Future<void> future = all(std::move(futures));
  EXPECT_FALSE(future.is_ready());
  v.resolve();
  EXPECT_TRUE(future.get().ok());
}

TEST(All, TakesAnyRange) {
  std::list<Future<int>> listed;
  listed.emplace_back(Result<int>(1));
  listed.emplace_back(Result<int>(2));
  EXPECT_EQ(all(std::move(listed)).get().value(), (std::vector<int>{1, 2}));
  std::vector<Future<int>> owned;
  owned.emplace_back(Result<int>(3));
  EXPECT_EQ(all(std::span(owned)).get().value(), (std::vector<int>{3}));
}

TEST(All, MovesWhatCanOnlyBeMoved) {
  std::vector<Future<std::unique_ptr<int>>> futures;
  futures.emplace_back(Result<std::unique_ptr<int>>(std::make_unique<int>(4)));
  EXPECT_EQ(*all(std::move(futures)).get().value().front(), 4);
  Future<std::unique_ptr<int>> one{Result<std::unique_ptr<int>>(std::make_unique<int>(5))};
  auto result = all(std::move(one)).get();
  EXPECT_EQ(*std::get<0>(*result), 5);
}

TEST(All, OfAnEmptyFutureFails) {
  EXPECT_EQ(all(Future<int>(), Future<int>(Result<int>(1))).get().error().code(),
            Errc::invalid_arg);
  EXPECT_EQ(all(Future<int>::failed(Errc::no_memory)).get().error().code(), Errc::no_memory);
}

// ---- race ----

TEST(Race, OfNothingNeverSettlesButCanBeCancelled) {
  auto future = race(std::vector<Future<int>>());
  EXPECT_FALSE(future.is_ready());
  future.cancel();
  ASSERT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
  auto dropped = race(std::vector<Future<int>>());  // leaves nothing behind
}

TEST(Race, IsWonByTheFirstValue) {
  Inputs in(3);
  auto future = race(in.take());
  in.resolve(1, 20);
  in.resolve(0, 10);  // too late
  EXPECT_EQ(future.get().value(), 20);
}

TEST(Race, IsWonByTheFirstError) {
  Inputs in(2);
  auto future = race(in.take());
  in.reject(1, Errc::closed);
  in.resolve(0, 10);
  EXPECT_EQ(future.get().error().code(), Errc::closed);
}

TEST(Race, OfSettledOnesIsWonByTheFirstInOrder) {
  Inputs in(3);
  in.resolve(2, 2);
  in.resolve(1, 1);
  EXPECT_EQ(race(in.take()).get().value(), 1);
}

TEST(Race, OfDifferentTypesTellsWhoWon) {
  auto [number, n] = promise<int>();
  auto [text, t] = promise<std::string>();
  auto future = race(std::move(number), std::move(text));
  t.resolve("won");
  auto result = future.get();
  ASSERT_EQ(result->index(), 1u);
  EXPECT_EQ(std::get<1>(*result), "won");
}

TEST(Race, OfOneTypeIsOfThatType) {
  auto [a, pa] = promise<int>();
  auto [b, pb] = promise<int>();
  Future<int> future = race(std::move(a), std::move(b));
  pb.resolve(7);
  EXPECT_EQ(future.get().value(), 7);
}

TEST(Race, SettlesOnlyWhenTheLosersHaveEnded) {
  SlowToCancel slow;
  auto [quick, promise_of_quick] = promise<int>();
  auto future = race(slow.future(), std::move(quick));
  promise_of_quick.resolve(1);
  EXPECT_TRUE(slow.was_cancelled());
  EXPECT_FALSE(future.is_ready());
  slow.end();
  EXPECT_EQ(future.get().value(), 1);
}

TEST(Race, OfWhichOneIsDecidedFromTheStartCancelsTheRest) {
  SlowToCancel slow;
  auto future = race(Future<int>(Result<int>(1)), slow.future());
  EXPECT_TRUE(slow.was_cancelled());
  EXPECT_FALSE(future.is_ready());
  slow.end();
  EXPECT_EQ(future.get().value(), 1);
}

// ---- any ----

TEST(Any, OfNothingHasFailedWithoutCauses) {
  auto future = any(std::vector<Future<int>>());
  ASSERT_TRUE(future.is_ready());
  const auto result = future.get();
  EXPECT_EQ(result.error().code(), Errc::all_failed);
  EXPECT_TRUE(result.error().causes().empty());
}

TEST(Any, GivesTheFirstValueAndNotTheErrorsBefore) {
  Inputs in(3);
  auto future = any(in.take());
  in.reject(0, Errc::closed);
  EXPECT_FALSE(future.is_ready());
  in.resolve(2, 30);
  in.resolve(1, 20);
  EXPECT_EQ(future.get().value(), 30);
}

TEST(Any, ThatFailsHasAllErrorsInTheOrderOfTheInputs) {
  Inputs in(3);
  auto future = any(in.take());
  in.reject(2, Errc::closed);
  in.reject(0, Errc::lagged);
  EXPECT_FALSE(future.is_ready());
  in.reject(1, Errc::timed_out);
  const auto result = future.get();
  EXPECT_EQ(result.error().code(), Errc::all_failed);
  ASSERT_EQ(result.error().causes().size(), 3u);
  EXPECT_EQ(result.error().causes()[0].code(), Errc::lagged);
  EXPECT_EQ(result.error().causes()[1].code(), Errc::timed_out);
  EXPECT_EQ(result.error().causes()[2].code(), Errc::closed);
}

TEST(Any, OfDifferentTypesTellsWhoseValueItIs) {
  auto future =
      any(Future<int>(Error(Errc::closed)), Future<std::string>(Result<std::string>("x")));
  auto result = future.get();
  ASSERT_EQ(result->index(), 1u);
}

TEST(Any, ThatIsCancelledSaysSo) {
  Inputs in(2);
  auto future = any(in.take());
  future.cancel();
  ASSERT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
}

// ---- all_settled ----

TEST(AllSettled, OfNothingIsAnEmptyListAtOnce) {
  auto future = all_settled(std::vector<Future<int>>());
  ASSERT_TRUE(future.is_ready());
  EXPECT_TRUE(future.get().value().empty());
}

TEST(AllSettled, GivesEveryResultInOrder) {
  Inputs in(3);
  auto future = all_settled(in.take());
  in.reject(2, Errc::closed);
  in.resolve(0, 10);
  EXPECT_FALSE(future.is_ready());
  in.drop(1);
  auto results = future.get();
  ASSERT_EQ(results->size(), 3u);
  EXPECT_EQ((*results)[0].value(), 10);
  EXPECT_EQ((*results)[1].error().code(), Errc::broken_promise);
  EXPECT_EQ((*results)[2].error().code(), Errc::closed);
}

TEST(AllSettled, OfDifferentTypesIsATupleOfResults) {
  auto future = all_settled(Future<int>(Error(Errc::closed)), Future<void>(Result<void>()));
  auto results = future.get();
  EXPECT_EQ(std::get<0>(*results).error().code(), Errc::closed);
  EXPECT_TRUE(std::get<1>(*results).ok());
}

// ---- cancelling ----

TEST(Combined, CancellingCancelsEveryInput) {
  SlowToCancel a;
  SlowToCancel b;
  auto future = all(a.future(), b.future());
  future.cancel();
  EXPECT_TRUE(a.was_cancelled());
  EXPECT_TRUE(b.was_cancelled());
  a.end();
  EXPECT_FALSE(future.is_ready());
  b.end();
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
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
