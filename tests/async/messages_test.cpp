// What people read when they have made a mistake: the error says what it is and where.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <jzx/jzx.hpp>

namespace jzx::testing {
namespace {

void expect(const Error& error, Errc code, std::string_view text, std::string_view source) {
  EXPECT_EQ(error.code(), code);
  EXPECT_NE(std::string_view(error.message()).find(text), std::string_view::npos)
      << error.message();
  EXPECT_EQ(std::string_view(error.source()), source);
}

TEST(Messages, OfAnEmptyTaskSayThatItIs) {
  Task<int> empty;
  expect(empty.get().error(), Errc::invalid_arg, "the task is empty", "task");
  const auto number = []() -> Task<int> { co_return 1; };
  Task<int> task = number();
  EXPECT_TRUE(task.get().ok());
  expect(task.get().error(), Errc::invalid_arg, "the task is empty", "task");
  const auto awaits_nothing = []() -> Task<int> {
    Task<int> nothing;
    Result<int> result = co_await nothing;
    co_return result;
  };
  expect(awaits_nothing().get().error(), Errc::invalid_arg, "the task is empty", "task");
  Loop loop;
  expect(loop.run_until(Task<int>()).error(), Errc::invalid_arg, "the task is empty", "task");
}

TEST(Messages, OfAnEmptyFutureSayThatItIs) {
  expect(Future<int>().get().error(), Errc::invalid_arg, "the future is empty", "future");
  expect(all(Future<int>(), Future<int>()).get().error(), Errc::invalid_arg, "the future is empty",
         "future");
  expect(select(Future<void>()).get().error(), Errc::invalid_arg, "a future that is empty",
         "select");
}

TEST(Messages, OfASelectionOfNothingSayThatItIs) {
  expect(select(std::span<Future<void>>()).get().error(), Errc::invalid_arg, "at least one",
         "select");
}

TEST(Messages, OfAnEmptyEndOfAChannelSayThatItIs) {
  Receiver<int> receiver;
  expect(receiver.recv().get().error(), Errc::invalid_arg, "the receiver is empty", "recv");
  expect(receiver.try_recv().error(), Errc::invalid_arg, "the receiver is empty", "recv");
  expect(receiver.ready().get().error(), Errc::invalid_arg, "the receiver is empty", "recv");
  Sender<int> sender;
  expect(sender.send(1).get().error(), Errc::invalid_arg, "the sender is empty", "send");
  expect(sender.reserve().get().error(), Errc::invalid_arg, "the sender is empty", "send");
  expect(sender.closed().get().error(), Errc::invalid_arg, "the sender is empty", "channel");
  BroadcastReceiver<int> hearer;
  expect(hearer.recv().get().error(), Errc::invalid_arg, "the receiver is empty", "recv");
  expect(hearer.ready().get().error(), Errc::invalid_arg, "the receiver is empty", "recv");
  WatchReceiver<int> watcher;
  expect(watcher.get().error(), Errc::invalid_arg, "the receiver is empty", "watch");
  expect(watcher.changed().get().error(), Errc::invalid_arg, "the receiver is empty", "watch");
}

TEST(Messages, OfAWaitWithoutItsMutexSayWhichIsWanted) {
  Mutex mutex;
  Condition condition(mutex);
  expect(condition.wait(MutexGuard()).get().error(), Errc::invalid_arg, "its own mutex",
         "condition");
}

}  // namespace
}  // namespace jzx::testing
