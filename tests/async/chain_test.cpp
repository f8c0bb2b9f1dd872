// then, catch_error, finally, map_error: what passes by, what is replaced, what is flattened.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <jzx/jzx.hpp>

#include "async/inputs.hpp"

namespace jzx::testing {
namespace {

Future<int> good(int value) { return Future<int>(Result<int>(value)); }
Future<int> bad(Errc code) { return Future<int>(Error(code)); }

// ---- the table ----

TEST(Chain, ThenReplacesAValueAndLetsAnErrorPass) {
  const auto twice = [](int value) { return value * 2; };
  EXPECT_EQ(good(2).then(twice).get().value(), 4);
  EXPECT_EQ(bad(Errc::closed).then(twice).get().error().code(), Errc::closed);
}

TEST(Chain, CatchReplacesAnErrorAndLetsAValuePass) {
  const auto instead = [](const Error& error) { return error.code() == Errc::closed ? 1 : 2; };
  EXPECT_EQ(good(7).catch_error(instead).get().value(), 7);
  EXPECT_EQ(bad(Errc::closed).catch_error(instead).get().value(), 1);
}

TEST(Chain, FinallySeesBothAndChangesNeither) {
  int calls = 0;
  const auto note = [&] { ++calls; };
  EXPECT_EQ(good(7).finally(note).get().value(), 7);
  EXPECT_EQ(bad(Errc::closed).finally(note).get().error().code(), Errc::closed);
  EXPECT_EQ(calls, 2);
}

// Who sees the result may end the link, and with it the memory that the function is in.
TEST(Chain, AFunctionEndsBeforeItsResultCanBeSeen) {
  struct Probe {
    explicit Probe(Future<int>& the_next, bool& flag) : next(&the_next), was_ready(&flag) {}
    Probe(Probe&& other) noexcept
        : next(std::exchange(other.next, nullptr)), was_ready(other.was_ready) {}
    ~Probe() {
      if (next != nullptr && next->is_ready()) *was_ready = true;
    }
    Future<int>* next;
    bool* was_ready;
  };
  for (const bool returns_future : {false, true}) {
    auto [future, promise] = jzx::promise<int>();
    auto [inner, source] = jzx::promise<int>();
    Future<int> next;
    bool was_ready = false;
    if (returns_future) {
      source.resolve(7);
      next = future.then(
          [p = Probe(next, was_ready), f = std::move(inner)](int) mutable { return std::move(f); });
    } else {
      next = future.then([p = Probe(next, was_ready)](int value) { return value; });
    }
    promise.resolve(7);
    EXPECT_FALSE(was_ready);
    EXPECT_EQ(*next.get(), 7);
  }
}

TEST(Chain, MapErrorReplacesAnErrorByAnother) {
  const auto other = [](const Error&) { return Error(Errc::lagged); };
  EXPECT_EQ(good(7).map_error(other).get().value(), 7);
  EXPECT_EQ(bad(Errc::closed).map_error(other).get().error().code(), Errc::lagged);
}

TEST(Chain, AFutureThatIsReturnedIsWaitedFor) {
  Inputs in(1);
  auto chain = good(1).then([&](int) { return in.future(0); });
  EXPECT_FALSE(chain.is_ready());
  in.resolve(0, 9);
  EXPECT_EQ(chain.get().value(), 9);
  EXPECT_EQ(bad(Errc::closed).catch_error([](const Error&) { return good(3); }).get().value(), 3);
  EXPECT_EQ(good(1).then([](int) { return bad(Errc::lagged); }).get().error().code(), Errc::lagged);
}

TEST(Chain, AResultThatIsReturnedIsTheNext) {
  const auto refuse = [](int) -> Result<int> { return Error(Errc::too_long); };
  EXPECT_EQ(good(1).then(refuse).get().error().code(), Errc::too_long);
  const auto whole = [](Result<int> result) { return result.ok() ? 1 : -1; };
  EXPECT_EQ(bad(Errc::closed).then(whole).get().value(), -1);
}

TEST(Chain, OfNothingIsOfNothing) {
  int calls = 0;
  Future<void> end = good(1).then([&](int) { ++calls; });
  EXPECT_TRUE(end.get().ok());
  Future<int> more = Future<void>(Result<void>()).then([&] { return ++calls; });
  EXPECT_EQ(more.get().value(), 2);
}

TEST(Chain, MovesWhatCanOnlyBeMoved) {
  auto [future, promise] = jzx::promise<std::unique_ptr<int>>();
  auto chain = std::move(future)
                   .then([own = std::make_unique<int>(1)](std::unique_ptr<int> value) {
                     *value += *own;
                     return value;
                   })
                   .finally([] {});
  promise.resolve(std::make_unique<int>(4));
  EXPECT_EQ(**chain.get(), 5);
}

// ---- exceptions ----

#ifndef JZX_LIBRARY_NOEXCEPT
TEST(Chain, WhatAFunctionThrowsIsAnError) {
  auto chain = good(1).then([](int) -> int { throw std::out_of_range("far"); });
  Result<int> result = chain.get();
  EXPECT_EQ(result.error().code(), Errc::exception);
  EXPECT_THROW((void)std::move(result).or_throw(), std::out_of_range);
  const auto angry = []() { throw std::runtime_error("no"); };
  EXPECT_STREQ(good(1).finally(angry).get().error().message(), "no");
  EXPECT_STREQ(bad(Errc::closed)
                   .catch_error([](const Error&) -> int { throw std::runtime_error("again"); })
                   .get()
                   .error()
                   .message(),
               "again");
}

struct ThrowsWhenMoved {
  explicit ThrowsWhenMoved(int the_moves) : moves(the_moves) {}
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : moves(other.moves - 1) {
    if (moves == 0) throw std::length_error("moved");
  }
  int operator()(int value) { return value; }
  int moves;
};
TEST(Chain, AFunctionThatThrowsWhenItIsMovedLeavesTheFutureAsItWas) {
  for (int moves = 1; moves < 4; ++moves) {
    Future<int> number = good(3);
    try {
      auto chain = number.then(ThrowsWhenMoved(moves));
      EXPECT_EQ(chain.get().value(), 3);
    } catch (const std::length_error&) {
      ASSERT_TRUE(number.is_valid());
      EXPECT_EQ(number.get().value(), 3);
    }
  }
}

TEST(ErrorLuggage, TravelsAcrossThreadsWithEveryCopy) {
  Error error(Errc::ok);
  try {
    throw std::domain_error("carried");
  } catch (...) {
    error = Error::of_exception("test");
  }
  const Error several = Error::of_all({error, Error(Errc::closed)}, "test");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = several] {
      const Error own = copy;
      ASSERT_EQ(own.causes().size(), 2u);
      EXPECT_THROW(std::rethrow_exception(own.causes()[0].exception()), std::domain_error);
      EXPECT_EQ(own.causes()[1].code(), Errc::closed);
    });
  }
  for (std::thread& thread : threads) thread.join();
}
#endif

// ---- long ones need no stack ----

Future<int> chain_of(Future<int> first, int links) {
  for (int i = 0; i < links; ++i) first = first.then([](int value) { return value + 1; });
  return first;
}

TEST(Chain, OfAMillionLinksIsSettled) {
  auto [future, promise] = jzx::promise<int>();
  auto chain = chain_of(std::move(future), 1'000'000);
  promise.resolve(0);
  EXPECT_EQ(chain.get().value(), 1'000'000);
}

TEST(Chain, OfAHundredThousandLinksIsCancelled) {
  auto [future, promise] = jzx::promise<int>();
  auto chain = chain_of(std::move(future), 100'000);
  chain.cancel();
  ASSERT_TRUE(chain.is_ready());
  EXPECT_EQ(chain.get().error().code(), Errc::cancelled);
  promise.resolve(1);  // to nobody
}

TEST(Chain, OfAHundredThousandLinksCancelsWhatItBeginsWith) {
  SlowToCancel slow;
  auto chain = chain_of(slow.future(), 100'000);
  chain.cancel();
  EXPECT_TRUE(slow.was_cancelled());
  EXPECT_FALSE(chain.is_ready());
  slow.end_well(0);
  EXPECT_EQ(chain.get().value(), 100'000);
}

TEST(Chain, ThatIsCancelledRunsItsCatchAndItsFinally) {
  auto [future, promise] = jzx::promise<int>();
  int ends = 0;
  auto chain = future.finally([&] { ++ends; }).catch_error([](const Error& error) {
    return error.code() == Errc::cancelled ? 5 : 6;
  });
  chain.cancel();
  EXPECT_EQ(chain.get().value(), 5);
  EXPECT_EQ(ends, 1);
}

TEST(Chain, ThatIsCancelledFromAThreadWhileItIsSettledGoesOnOnce) {
  for (int round = 0; round < 300; ++round) {
    auto [future, promise] = jzx::promise<int>();
    int ends = 0;
    auto chain = chain_of(std::move(future), 5).finally([&] { ++ends; });
    std::thread other([p = std::move(promise)]() mutable { p.resolve(1); });
    chain.cancel();
    const Result<int> result = chain.get();
    EXPECT_TRUE(result.ok() ? result.value() == 6 : result.error().code() == Errc::cancelled);
    other.join();
    EXPECT_EQ(ends, 1);
  }
}

}  // namespace
}  // namespace jzx::testing
