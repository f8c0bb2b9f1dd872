// A timer that has fired for good may have given its memory to another one: who takes that one back
// does not wait for the first.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <jzx/jzx.hpp>

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

TEST(TimerReuse, ASleepIsTakenBackWhileTheOneBeforeItStillFires) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  Errc seen = Errc::ok;
  // On the worker's thread, while its timer fires: the first sleep has ended, and the next one
  // takes its block, the newest of the thread. If the cancelling thread waited for the timer that
  // fires, neither would go on.
  auto done = runtime.sleep(1ms).then([&](Result<void>) {
    Future<void> next = jzx::sleep(1h);
    std::thread([&] { next.cancel(); }).join();
    seen = next.get().error().code();
    return 1;
  });
  EXPECT_EQ(done.get().value(), 1);
  EXPECT_EQ(seen, Errc::cancelled);
}

}  // namespace
}  // namespace jzx::testing
