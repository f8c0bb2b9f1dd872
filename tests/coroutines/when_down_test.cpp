// The end of an actor, as a future.
#include <gtest/gtest.h>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Fail {};
struct Worker {
  void on(Fail, Context& context) { context.fail("tired"); }
};

JZX_SUITE_ON_ALL_DRIVERS(WhenDown);

TEST_P(WhenDown, TellsHowTheActorEnded) {
  ClockedLoop loop;
  const auto worker = loop.spawn<Worker>();
  Future<Down> down = loop.when_down(worker);
  loop.settle();
  EXPECT_FALSE(down.is_ready());
  worker << Fail{};
  EXPECT_EQ(loop.run(), Errc::ok) << "who watched has ended too";
  const Result<Down> result = down.get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->actor, worker.id());
  EXPECT_EQ(result->reason, ExitReason::fail);
  EXPECT_STREQ(result->text.c_str(), "tired");
}

TEST_P(WhenDown, OfOneThatIsGoneTellsSoAtOnce) {
  ClockedLoop loop;
  const auto worker = loop.spawn<Worker>();
  EXPECT_EQ(loop.kill(worker), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(loop.run_until(loop.when_down(worker))->reason, ExitReason::noproc);
}

TEST_P(WhenDown, ThatIsDroppedWatchesNoMore) {
  ClockedLoop loop;
  const auto worker = loop.spawn<Worker>();
  { Future<Down> dropped = loop.when_down(worker); }
  loop.settle();
  EXPECT_EQ(loop.seen().alive_count(), 1u) << "only the worker";
}

TEST_P(WhenDown, WithoutMemoryOrWithTheSystemItIsRejected) {
  Future<Down> down;
  {
    ClockedLoop loop;
    const auto worker = loop.spawn<Worker>();
    down = loop.when_down(worker);
    for (uint64_t nth = 1; nth < 5; ++nth) {
      loop.allocator().refuse_nth(nth);
      Future<Down> refused = loop.when_down(worker);
      loop.allocator().refuse_nth(0);
      if (refused.is_ready()) {
        EXPECT_EQ(refused.get().error().code(), Errc::no_memory);
      }
    }
  }
  ASSERT_TRUE(down.is_ready());
  EXPECT_FALSE(down.get().ok());
}

TEST_P(WhenDown, IsAwaitedByATask) {
  ClockedLoop loop;
  const auto worker = loop.spawn<Worker>();
  const auto watch = [](SystemFace& system, Pid whom) -> Task<int> {
    auto down = system.when_down(whom);
    Result<Down> result = co_await down;
    co_return static_cast<int>((co_await result).reason);
  };
  Future<int> watched = loop.spawn_async(watch(loop, worker));
  loop.settle();
  EXPECT_EQ(loop.kill(worker), Errc::ok);
  EXPECT_EQ(loop.run_until(std::move(watched)).value(), static_cast<int>(ExitReason::killed));
}

}  // namespace
}  // namespace jzx::testing
