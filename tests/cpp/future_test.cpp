// Future and Promise on their own.
#include <gtest/gtest.h>

#include <jzx/future.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/scale.hpp"

namespace jzx::testing {
namespace {

TEST(Future, GetsWhatThePromiseIsResolvedWith) {
  auto [future, promise] = jzx::promise<int>();
  EXPECT_TRUE(future.is_valid());
  EXPECT_FALSE(future.is_ready());
  promise.resolve(4);
  EXPECT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().value(), 4);
  EXPECT_FALSE(future.is_valid()) << "the result was taken";
}

TEST(Future, GetsWhyThePromiseWasRejected) {
  auto [future, promise] = jzx::promise<int>();
  promise.reject(Error(Errc::mailbox_full, "try later"));
  const Result<int> result = future.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Errc::mailbox_full);
  EXPECT_STREQ(result.error().message(), "try later");
}

TEST(Future, OfADroppedPromiseIsAnError) {
  Future<int> future;
  {
    Promise<int> promise;
    future = promise.future();
  }
  ASSERT_TRUE(future.is_ready());
  EXPECT_EQ(future.get().error().code(), Errc::no_such_actor);
}

TEST(Future, OfAnOverwrittenPromiseIsAnError) {
  auto [future, promise] = jzx::promise<int>();
  promise = Promise<int>();
  ASSERT_TRUE(future.is_ready());
  EXPECT_FALSE(future.get().ok());
}

TEST(Future, TakesTheFirstOfTwoAnswers) {
  auto [future, promise] = jzx::promise<int>();
  promise.resolve(1);
  promise.resolve(2);
  promise.reject(Error(Errc::unknown));
  EXPECT_EQ(future.get().value(), 1);
}

TEST(Future, OfNothingIsResolvedWithNothing) {
  auto [future, promise] = jzx::promise<void>();
  promise.resolve();
  EXPECT_TRUE(future.get().ok());
}

TEST(Future, ThatIsEmptyGivesAnErrorAndDoesNotWait) {
  Future<int> future;
  EXPECT_FALSE(future.is_valid());
  EXPECT_EQ(future.get().error().code(), Errc::invalid_arg);
  Errc code = Errc::ok;
  future.then([&](Result<int> result) { code = result.error().code(); });
  EXPECT_EQ(code, Errc::invalid_arg);
}

TEST(Then, IsCalledAtOnceWhenTheResultIsThere) {
  auto [future, promise] = jzx::promise<std::string>();
  promise.resolve("early");
  std::string got;
  future.then([&](Result<std::string> result) { got = *result; });
  EXPECT_EQ(got, "early");
  EXPECT_FALSE(future.is_valid());
}

TEST(Then, IsCalledWhenTheResultComes) {
  auto [future, promise] = jzx::promise<std::unique_ptr<int>>();
  std::vector<int> got;
  future.then([&](Result<std::unique_ptr<int>> result) { got.push_back(**result); });
  EXPECT_TRUE(got.empty());
  promise.resolve(std::make_unique<int>(8));
  promise.resolve(std::make_unique<int>(9));
  EXPECT_EQ(got, std::vector<int>{8});
}

TEST(Then, IsCalledWhenThePromiseIsDropped) {
  Errc code = Errc::ok;
  {
    auto [future, promise] = jzx::promise<int>();
    future.then([&](Result<int> result) { code = result.error().code(); });
  }
  EXPECT_EQ(code, Errc::no_such_actor);
}

TEST(Then, LetsGoOfTheCallbackAfterTheCall) {
  auto [future, promise] = jzx::promise<int>();
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = held;
  future.then([held = std::move(held)](Result<int>) {});
  EXPECT_FALSE(watched.expired());
  promise.resolve(1);
  EXPECT_TRUE(watched.expired());
}

// Both sides come at the same time, many times: exactly one call, with the right value.
TEST(Then, IsCalledExactlyOnceWhenItRacesWithTheAnswer) {
  const size_t rounds = scaled(3'000);
  size_t calls = 0;
  for (size_t round = 0; round < rounds; ++round) {
    auto [future, promise] = jzx::promise<size_t>();
    std::atomic<bool> go{false};
    std::atomic<size_t> got{0};
    std::thread resolver([&, mine = std::move(promise)]() mutable {
      while (!go.load()) {
      }
      mine.resolve(round + 1);
    });
    go.store(true);
    future.then([&](Result<size_t> result) { got.fetch_add(*result); });
    resolver.join();
    ASSERT_EQ(got.load(), round + 1);
    ++calls;
  }
  EXPECT_EQ(calls, rounds);
}

TEST(Get, BlocksUntilAnotherThreadAnswers) {
  const size_t rounds = scaled(1'000);
  for (size_t round = 0; round < rounds; ++round) {
    auto [future, promise] = jzx::promise<size_t>();
    std::thread resolver([mine = std::move(promise), round]() mutable { mine.resolve(round); });
    ASSERT_EQ(future.get().value(), round);
    resolver.join();
  }
}

}  // namespace
}  // namespace jzx::testing
