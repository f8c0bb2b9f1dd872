// Futures of time.
#include <gtest/gtest.h>

#include <chrono>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Sleep, IsNeverEarly) {
  Loop loop;
  const auto before = Clock::now();
  auto future = loop.spawn_async([]() -> Task<void> {
    auto nap = sleep(20ms);
    Result<void> result = co_await nap;
    co_await result;
  }());
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_TRUE(future.get().ok());
  EXPECT_GE(Clock::now() - before, 20ms);
}

TEST(Sleep, OutsideOfASystemIsRefused) {
  EXPECT_EQ(sleep(1ms).get().error().code(), Errc::invalid_arg);
}

TEST(Sleep, OfARuntimeIsForEveryThread) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  const auto before = Clock::now();
  EXPECT_TRUE(runtime.sleep(5ms).get().ok());
  EXPECT_GE(Clock::now() - before, 5ms);
}

TEST(Sleep, ThatIsCancelledSaysSo) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto future = runtime.sleep(1h);
  future.cancel();
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
}

TEST(Sleep, OfATaskThatIsCancelledEndsAtOnce) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto future = runtime.spawn_async([]() -> Task<void> {
    auto nap = sleep(1h);
    Result<void> result = co_await nap;
    co_await result;
  }());
  future.cancel();
  EXPECT_EQ(future.get().error().code(), Errc::cancelled);
}

TEST(Sleep, EndsWithTheSystem) {
  Future<void> future;
  {
    Runtime runtime(RuntimeOptions{.workers = 1});
    future = runtime.sleep(1h);
  }
  EXPECT_EQ(future.get().error().code(), Errc::loop_closed);
}

TEST(Sleep, ThatIsDroppedLeavesNothingBehind) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  for (int i = 0; i < 100; ++i) (void)runtime.sleep(1h);
}

TEST(Sleep, OfAFiberThatIsKilledEndsAtOnce) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto [started, start] = promise<void>();
  auto [ended, end] = promise<void>();
  struct AtExit {
    ~AtExit() { end.resolve(); }
    Promise<void> end;
  };
  const Pid fiber = runtime.spawn_fn([s = std::move(start), e = std::move(end)]() mutable {
    const AtExit at_exit{std::move(e)};
    s.resolve();
    (void)jzx::sleep(1h).get();
  });
  ASSERT_TRUE(started.get().ok());
  EXPECT_EQ(runtime.kill(fiber), Errc::ok);
  EXPECT_TRUE(ended.get().ok());
}

}  // namespace
}  // namespace jzx
