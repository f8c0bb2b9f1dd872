// select(): who wins, and that the others lose nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

using namespace std::chrono_literals;

TEST(Select, TellsWhichIsReady) {
  auto [numbers_in, numbers] = unbounded_channel<int>();
  auto [words_in, words] = unbounded_channel<std::string>();
  Future<Selection> first = select(numbers.ready(), words.ready());
  EXPECT_FALSE(first.is_ready());
  EXPECT_EQ(words_in.send("hello"), Errc::ok);
  ASSERT_TRUE(first.is_ready());
  const Result<Selection> selection = first.get();
  EXPECT_EQ(selection->index, 1u);
  EXPECT_TRUE(selection->has_come(1));
  EXPECT_FALSE(selection->has_come(0));
  EXPECT_EQ(*words.try_recv(), "hello");
  EXPECT_EQ(numbers_in.send(1), Errc::ok);  // what lost has lost nothing
  EXPECT_EQ(*numbers.try_recv(), 1);
}

TEST(Select, OfSeveralThatAreReadyTakesTheFirst) {
  Latch latch(0);
  Notify notify;
  notify.notify_one();
  Result<Selection> selection = select(latch.wait(), notify.wait()).get();
  EXPECT_EQ(selection->index, 0u);
  EXPECT_TRUE(selection->has_come(1));  // the notification was taken, and says so
  EXPECT_FALSE(notify.wait().is_ready());
}

TEST(Select, TakesNoNotificationForOneThatLoses) {
  Latch latch(1);
  Notify notify;
  Future<Selection> first = select(notify.wait(), latch.wait());
  latch.count_down();
  EXPECT_EQ(first.get()->index, 1u);
  notify.notify_one();
  EXPECT_TRUE(notify.wait().is_ready());
}

TEST(Select, CountsAClosedOneAsReady) {
  auto [sender, receiver] = channel<int>(1);
  Notify notify;
  Future<Selection> first = select(notify.wait(), receiver.ready());
  sender = {};
  EXPECT_EQ(first.get()->index, 1u);
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::closed);
}

TEST(Select, FailsWithTheFirstThatFails) {
  Notify notify;
  Future<Selection> first = select(notify.wait(), Future<void>::failed(Errc::no_memory));
  EXPECT_EQ(first.get().error().code(), Errc::no_memory);
}

TEST(Select, ThatIsCancelledCancelsThemAll) {
  Notify one;
  Notify other;
  Future<Selection> first = select(one.wait(), other.wait());
  first.cancel();
  EXPECT_EQ(first.get().error().code(), Errc::cancelled);
  one.notify_one();
  other.notify_one();
  EXPECT_TRUE(one.wait().is_ready());
  EXPECT_TRUE(other.wait().is_ready());
}

TEST(Select, ThatIsDroppedCancelsThemAll) {
  Notify one;
  { Future<Selection> first = select(one.wait(), one.wait()); }
  one.notify_one();
  EXPECT_TRUE(one.wait().is_ready());
}

TEST(Select, RefusesNoneAndTooMany) {
  EXPECT_EQ(select(std::span<Future<void>>()).get().error().code(), Errc::invalid_arg);
  std::vector<Future<void>> many(65);
  EXPECT_EQ(select(std::span(many)).get().error().code(), Errc::invalid_arg);
}

TEST(Select, WorksOverAPlainPromiseToo) {
  auto [future, promise] = jzx::promise<void>();
  Notify notify;
  Future<Selection> first = select(std::move(future), notify.wait());
  notify.notify_one();
  ASSERT_TRUE(first.is_ready());
  EXPECT_EQ(first.get()->index, 1u);
  promise.resolve();  // to nobody
}

TEST(Select, LimitsATimeInATask) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto [sender, receiver] = channel<int>(1);
  auto index = runtime.spawn_async([](Receiver<int> in) -> Task<size_t> {
    auto first = select(in.ready(), sleep(1ms));
    Result<Selection> selection = co_await first;
    co_return selection->index;
  }(std::move(receiver)));
  EXPECT_EQ(*index.get(), 1u);
}

}  // namespace
}  // namespace jzx
