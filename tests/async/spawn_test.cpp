// Tasks that belong to an actor.
#include <gtest/gtest.h>

#include <optional>

#include "async/inputs.hpp"
#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

Task<int> number(int value) { co_return value; }
Task<int> wait_for(Future<int> future) {
  Result<int> result = co_await future;
  co_return co_await result;
}

TEST(SpawnAsyncElsewhere, OutsideOfAnActorIsRefused) {
  EXPECT_EQ(spawn_async(number(1)).get().error().code(), Errc::invalid_arg);
}

JZX_SUITE_ON_ALL_DRIVERS(SpawnAsync);

TEST_P(SpawnAsync, OfATaskRunsBesideIt) {
  ClockedLoop loop;
  const auto both = []() -> Task<int> {
    auto together = all(spawn_async(number(1)), spawn_async(number(2)));
    auto result = co_await together;
    co_return std::get<0>(*result) + std::get<1>(*result);
  };
  auto future = loop.spawn_async(both());
  loop.settle();
  EXPECT_EQ(future.get().value(), 3);
}

TEST_P(SpawnAsync, EndsWithTheTaskThatStartedIt) {
  ClockedLoop loop;
  SlowToCancel slow;
  Inputs in(1);
  const auto starter = [](Future<int> of_child, Future<int> own) -> Task<int> {
    auto child = spawn_async(wait_for(std::move(of_child)));
    Result<int> result = co_await own;
    co_return co_await result;
  };
  Pid actor;
  auto future = loop.spawn_async(starter(slow.future(), in.future(0)), &actor);
  loop.settle();
  EXPECT_FALSE(slow.was_cancelled());
  in.resolve(0, 1);
  loop.settle();
  EXPECT_TRUE(slow.was_cancelled());
  slow.end();
  loop.settle();
  EXPECT_EQ(future.get().value(), 1);
}

TEST_P(SpawnAsync, LeavesNothingInTheMailOfItsActor) {
  ClockedLoop loop;
  int heard = 0;
  int rounds = 0;
  const Pid fiber = loop.spawn_fn([&] {
    for (; rounds < 100; ++rounds) EXPECT_EQ(spawn_async(number(rounds)).get().value(), rounds);
    receive([&](const ChildExit&) { ++heard; }, [](int) {});
  });
  loop.settle();
  EXPECT_EQ(rounds, 100);
  EXPECT_EQ(fiber.send(1), Errc::ok);
  loop.settle();
  EXPECT_EQ(heard, 0);
}

struct Begin {};
struct Owner {
  explicit Owner(Future<int> given, Future<int>& the_out)
      : future(std::move(given)), out(the_out) {}
  void on(Begin, Context& context) { out = context.spawn_async(wait_for(std::move(future))); }
  void on(const ChildExit&, Context&) { ADD_FAILURE() << "it is not told"; }
  Future<int> future;
  Future<int>& out;
};
TEST_P(SpawnAsync, OfAHandlerEndsWithItsActor) {
  ClockedLoop loop;
  Inputs in(2);
  Future<int> out;
  const auto owner = loop.spawn<Owner>(in.future(0), out);
  EXPECT_EQ(owner.send(Begin{}), Errc::ok);
  loop.settle();
  EXPECT_FALSE(out.is_ready());
  EXPECT_EQ(loop.stop(owner.pid()), Errc::ok);
  loop.settle();
  ASSERT_TRUE(out.is_ready());
  EXPECT_EQ(out.get().error().code(), Errc::cancelled);
  // And one that ends by itself does not disturb.
  const auto other = loop.spawn<Owner>(in.future(1), out);
  EXPECT_EQ(other.send(Begin{}), Errc::ok);
  in.resolve(1, 4);
  loop.settle();
  EXPECT_EQ(out.get().value(), 4);
}

TEST(SpawnAsyncElsewhere, EndsWithItsActorOnWorkers) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  for (int round = 0; round < 100; ++round) {
    auto [started, start] = promise<void>();
    const auto parent = [](Promise<void> begun) -> Task<void> {
      auto a = spawn_async(detail::sleep_in_task(1h));
      auto b = spawn_async(detail::sleep_in_task(1h));
      begun.resolve();
      auto nap = sleep(1h);
      Result<void> result = co_await nap;
      co_await result;
    };
    auto future = runtime.spawn_async(parent(std::move(start)));
    ASSERT_TRUE(started.get().ok());
    future.cancel();
    EXPECT_EQ(future.get().error().code(), Errc::cancelled);
  }
}

}  // namespace
}  // namespace jzx::testing
