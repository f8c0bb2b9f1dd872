// with_timeout and get_for.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "async/inputs.hpp"
#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

// What with_timeout(10ms, future) answers in a task; time passes by hand.
class TimeLimit : public OnAnyDriver {
 protected:
  void start(Future<int> future) {
    answer_ =
        loop_.spawn_async([](Future<int> given, std::optional<Result<int>>& out) -> Task<void> {
          auto timed = with_timeout(10ms, std::move(given));
          out.emplace(co_await timed);
        }(std::move(future), seen_));
    loop_.settle();
  }
  ClockedLoop loop_;
  std::optional<Result<int>> seen_;
  Future<void> answer_;
};
JZX_ON_ALL_DRIVERS(TimeLimit);

TEST_P(TimeLimit, LetsAResultThatIsInTimePass) {
  auto [future, promise] = jzx::promise<int>();
  start(std::move(future));
  loop_.advance(9ms);
  EXPECT_FALSE(seen_.has_value());
  promise.resolve(3);
  loop_.settle();
  ASSERT_TRUE(seen_.has_value());
  EXPECT_EQ(seen_->value(), 3);
}

TEST_P(TimeLimit, LetsAnErrorThatIsInTimePass) {
  auto [future, promise] = jzx::promise<int>();
  start(std::move(future));
  promise.reject(Error(Errc::closed));
  loop_.settle();
  ASSERT_TRUE(seen_.has_value());
  EXPECT_EQ(seen_->error().code(), Errc::closed);
}

TEST_P(TimeLimit, EndsAWaitForAPromise) {
  auto [future, promise] = jzx::promise<int>();
  start(std::move(future));
  loop_.advance(10ms);
  ASSERT_TRUE(seen_.has_value());
  EXPECT_EQ(seen_->error().code(), Errc::timed_out);
  promise.resolve(1);  // to nobody
}

TEST_P(TimeLimit, WaitsForTheEndOfWhatItHasCancelled) {
  SlowToCancel slow;
  start(slow.future());
  loop_.advance(10ms);
  EXPECT_TRUE(slow.was_cancelled());
  EXPECT_FALSE(seen_.has_value());
  slow.end();
  loop_.settle();
  ASSERT_TRUE(seen_.has_value());
  EXPECT_EQ(seen_->error().code(), Errc::timed_out);
}

TEST_P(TimeLimit, GivesTheValueIfThatWon) {
  SlowToCancel slow;
  start(slow.future());
  loop_.advance(10ms);
  slow.end_well(4);
  loop_.settle();
  ASSERT_TRUE(seen_.has_value());
  EXPECT_EQ(seen_->value(), 4);
}

TEST_P(TimeLimit, ThatIsCancelledIsCancelled) {
  auto [future, promise] = jzx::promise<int>();
  start(std::move(future));
  answer_.cancel();
  loop_.settle();
  ASSERT_TRUE(seen_.has_value());
  EXPECT_EQ(seen_->error().code(), Errc::cancelled);
}

TEST(WithTimeout, OutsideOfASystemNeedsATimer) {
  auto [future, promise] = jzx::promise<int>();
  EXPECT_EQ(with_timeout(1ms, std::move(future)).get().error().code(), Errc::invalid_arg);
  auto [other, source] = jzx::promise<int>();
  Runtime runtime(RuntimeOptions{.workers = 1});
  EXPECT_EQ(with_timeout(runtime.sleep(1ms), std::move(other)).get().error().code(),
            Errc::timed_out);
}

TEST(WithTimeout, OfWhatIsThereNeedsNoTime) {
  EXPECT_EQ(with_timeout(1ms, Future<int>(Result<int>(2))).get().value(), 2);
}

// ---- get_for ----

TEST(GetFor, OnAThreadGivesUp) {
  auto [future, promise] = jzx::promise<int>();
  EXPECT_EQ(future.get_for(1ms).error().code(), Errc::timed_out);
  EXPECT_FALSE(future.is_valid());
  promise.resolve(1);  // to nobody
}

TEST(GetFor, OnAThreadGivesWhatComesInTime) {
  auto [future, promise] = jzx::promise<int>();
  std::thread other([p = std::move(promise)]() mutable { p.resolve(5); });
  EXPECT_EQ(future.get_for(1h).value(), 5);
  other.join();
  EXPECT_EQ(Future<int>(Result<int>(6)).get_for(0ms).value(), 6);
}

TEST(GetFor, OnAThreadCancelsAndWaitsForTheEnd) {
  Runtime runtime(RuntimeOptions{.workers = 1});
  EXPECT_EQ(runtime.sleep(1h).get_for(1ms).error().code(), Errc::timed_out);
}

TEST(GetFor, WithoutAnEndIsNoSurprise) {
  auto [future, promise] = jzx::promise<int>();
  std::thread other([p = std::move(promise)]() mutable { p.resolve(5); });
  EXPECT_EQ(future.get_for(std::chrono::milliseconds::max()).value(), 5);
  other.join();
}

class GetForInAFiber : public OnAnyDriver {
 protected:
  void start(Future<int> future) {
    fiber_ = loop_.spawn_fn([this, given = std::move(future)]() mutable {
      struct AtEnd {
        ~AtEnd() { is_over = true; }
        bool& is_over;
      } const at_end{is_over_};
      seen_.emplace(given.get_for(10ms));
    });
    loop_.settle();
  }
  std::optional<Result<int>> seen_;
  bool is_over_ = false;
  ClockedLoop loop_;
  Pid fiber_;
};
JZX_ON_ALL_DRIVERS(GetForInAFiber);

TEST_P(GetForInAFiber, GivesUp) {
  auto [future, promise] = jzx::promise<int>();
  start(std::move(future));
  loop_.advance(9ms);
  EXPECT_FALSE(is_over_);
  loop_.advance(1ms);
  ASSERT_TRUE(is_over_);
  EXPECT_EQ(seen_->error().code(), Errc::timed_out);
  promise.resolve(1);  // to nobody
}

TEST_P(GetForInAFiber, GivesWhatComesInTime) {
  auto [future, promise] = jzx::promise<int>();
  start(std::move(future));
  loop_.advance(9ms);
  promise.resolve(8);
  loop_.settle();
  ASSERT_TRUE(is_over_);
  EXPECT_EQ(seen_->value(), 8);
  loop_.advance(1h);  // the timer is gone
}

TEST_P(GetForInAFiber, WaitsForTheEndOfWhatItHasCancelled) {
  SlowToCancel slow;
  start(slow.future());
  loop_.advance(10ms);
  EXPECT_TRUE(slow.was_cancelled());
  EXPECT_FALSE(is_over_);
  slow.end();
  loop_.settle();
  ASSERT_TRUE(is_over_);
  EXPECT_EQ(seen_->error().code(), Errc::timed_out);
}

TEST_P(GetForInAFiber, GivesTheValueIfThatWon) {
  SlowToCancel slow;
  start(slow.future());
  loop_.advance(10ms);
  slow.end_well(9);
  loop_.settle();
  ASSERT_TRUE(is_over_);
  EXPECT_EQ(seen_->value(), 9);
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(GetForInAFiber, ThatIsKilledUnwinds) {
  auto [future, promise] = jzx::promise<int>();
  start(std::move(future));
  EXPECT_EQ(loop_.kill(fiber_), Errc::ok);
  loop_.settle();
  EXPECT_TRUE(is_over_);
  EXPECT_FALSE(seen_.has_value());
}

TEST_P(GetForInAFiber, ThatIsKilledWaitsForWhatUsesItsMemory) {
  SlowToCancel slow(true);
  start(slow.future());
  EXPECT_EQ(loop_.kill(fiber_), Errc::ok);
  loop_.settle();
  EXPECT_TRUE(slow.was_cancelled());
  EXPECT_FALSE(is_over_);
  slow.end();
  loop_.settle();
  EXPECT_TRUE(is_over_);
}
#endif

// A chain and a combined future over an operation are no other than the operation.
#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(GetForInAFiber, ThatIsKilledWaitsForWhatAChainUses) {
  SlowToCancel slow(true);
  start(slow.future().then([](int value) { return value; }));
  EXPECT_EQ(loop_.kill(fiber_), Errc::ok);
  loop_.settle();
  EXPECT_TRUE(slow.was_cancelled());
  EXPECT_FALSE(is_over_);
  slow.end();
  loop_.settle();
  EXPECT_TRUE(is_over_);
}
#endif

}  // namespace
}  // namespace jzx::testing
