// Future and Promise on their own.
#include <gtest/gtest.h>

#include <atomic>
#include <jzx/future.hpp>
#include <memory>
#include <new>
#include <stdexcept>
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
  EXPECT_EQ(future.get().error().code(), Errc::broken_promise);
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

TEST(Future, ThatFailedIsReadyWithItsError) {
  Future<int> future = Future<int>::failed(Errc::mailbox_full);
  EXPECT_TRUE(future.is_valid());
  ASSERT_TRUE(future.is_ready());
  Future<int> moved = std::move(future);
  EXPECT_FALSE(future.is_valid()) << "moved from";  // NOLINT
  EXPECT_EQ(moved.get().error().code(), Errc::mailbox_full);
  EXPECT_FALSE(moved.is_valid()) << "the result was taken";

  Errc code = Errc::ok;
  moved = Future<int>::failed(Errc::loop_closed);
  moved.then([&](Result<int> result) { code = result.error().code(); });
  EXPECT_EQ(code, Errc::loop_closed);
  EXPECT_FALSE(moved.is_valid());
}

TEST(Future, ThatIsDroppedEndsTheValueThatCameOrWillCome) {
  auto value = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = value;
  {
    auto [future, promise] = jzx::promise<std::shared_ptr<int>>();
    promise.resolve(value);
    EXPECT_EQ(watched.use_count(), 2);
  }
  EXPECT_EQ(watched.use_count(), 1);
  Promise<std::shared_ptr<int>> promise;
  { auto future = promise.future(); }
  promise.resolve(std::move(value));
  EXPECT_TRUE(watched.expired());
}

TEST(Promise, WithoutAFutureIsResolvedForNobody) {
  auto value = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = value;
  Promise<std::shared_ptr<int>> promise;
  promise.resolve(std::move(value));
  EXPECT_TRUE(watched.expired());
  EXPECT_FALSE(promise.future().is_valid()) << "the promise is empty";
}

TEST(Promise, GivesItsFutureOnce) {
  Promise<int> promise;
  Future<int> first = promise.future();
  Future<int> second = promise.future();
  EXPECT_FALSE(second.is_valid());
  promise.resolve(1);
  EXPECT_EQ(first.get().value(), 1);
}

struct Fragile {
  explicit Fragile(int the_number) : number(the_number) {}
  Fragile(Fragile&& other) : number(other.number) {  // NOLINT: it may throw, that is the point
    if (number < 0) throw std::runtime_error("it broke");
  }
  Fragile& operator=(Fragile&&) = delete;
  int number;
};

TEST(Promise, WhoseValueCannotBeMovedIsAsItWas) {
  auto [future, promise] = jzx::promise<Fragile>();
  EXPECT_THROW(promise.resolve(Fragile(-1)), std::runtime_error);
  EXPECT_FALSE(future.is_ready());
  promise.resolve(Fragile(3));
  EXPECT_EQ(future.get()->number, 3);
  Result<Fragile> broken(std::in_place, -1);
  EXPECT_THROW((void)Future<Fragile>(std::move(broken)), std::runtime_error);
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
  EXPECT_EQ(code, Errc::broken_promise);
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

TEST(Then, TakesACallbackThatCannotBeCopied) {
  int got = 0;
  const auto add = [&](std::unique_ptr<int> by) {
    return [&got, by = std::move(by)](const Result<int>& result) { got += *result + *by; };
  };
  auto [later, promise] = jzx::promise<int>();
  later.then(add(std::make_unique<int>(1)));
  promise.resolve(10);
  EXPECT_EQ(got, 11);
  Future<int>(Result<int>(20)).then(add(std::make_unique<int>(2)));
  EXPECT_EQ(got, 33);
  Future<int>().then([unused = std::make_unique<int>(3)](Result<int>) {});
}

TEST(Then, CopiesACallbackThatItsCallerKeeps) {
  int calls = 0;
  const auto count = [&calls, own = 0](Result<int> result) mutable { calls += *result + own++; };
  auto [later, promise] = jzx::promise<int>();
  later.then(count);
  promise.resolve(1);
  Future<int>(Result<int>(10)).then(count);
  EXPECT_EQ(calls, 11);
}

TEST(Then, TakesACallbackThatIsTooLargeForTheState) {
  struct Large {
    char bytes[1000] = {};
    std::unique_ptr<int> content;
  };
  static_assert(!detail::fits_slot<Large>);
  Large large;
  large.bytes[999] = 7;
  large.content = std::make_unique<int>(8);
  int got = 0;
  auto [future, promise] = jzx::promise<int>();
  future.then([&got, large = std::move(large)](Result<int> result) {
    got = large.bytes[999] * *large.content + *result;
  });
  promise.resolve(4);
  EXPECT_EQ(got, 60);
}

TEST(Then, MayMakeAndResolveOtherPromises) {
  auto [future, promise] = jzx::promise<int>();
  int got = 0;
  future.then([&](Result<int> outer) {
    auto [second, answer] = jzx::promise<int>();
    second.then([&](Result<int> inner) { got = *inner; });
    answer.resolve(*outer + 1);
  });
  promise.resolve(1);
  EXPECT_EQ(got, 2);
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

TEST(Future, EndsItsValueOnceWhenItIsDroppedAsTheAnswerComes) {
  const size_t rounds = scaled(1'000);
  const auto value = std::make_shared<int>(0);
  for (size_t round = 0; round < rounds; ++round) {
    auto [future, promise] = jzx::promise<std::shared_ptr<int>>();
    std::atomic<bool> go{false};
    std::thread resolver([&, mine = std::move(promise)]() mutable {
      while (!go.load()) {
      }
      mine.resolve(value);
    });
    go.store(true);
    future = {};
    resolver.join();
    ASSERT_EQ(value.use_count(), 1);
  }
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

// A callback that can be made only once.
struct CopiesInVain {
  CopiesInVain() = default;
  CopiesInVain(const CopiesInVain&) { throw std::bad_alloc(); }
  void operator()(Result<int>) const {}
};

TEST(Future, IsAsItWasIfItsCallbackCannotBeCopied) {
  const CopiesInVain callback;
  for (const bool is_settled : {false, true}) {
    auto [future, promise] = jzx::promise<int>();
    if (is_settled) promise.resolve(7);
    EXPECT_THROW(future.then(callback), std::bad_alloc);
    ASSERT_TRUE(future.is_valid()) << "settled: " << is_settled;
    if (!is_settled) promise.resolve(7);
    EXPECT_EQ(future.get().value(), 7);
  }
  Future<int> failed = Future<int>::failed(Errc::no_memory);
  EXPECT_THROW(failed.then(callback), std::bad_alloc);
  EXPECT_EQ(failed.get().error().code(), Errc::no_memory);
}

}  // namespace
}  // namespace jzx::testing
