// Channels with one receiver: order, places, ends, cancelling.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx {
namespace {

using Box = std::unique_ptr<int>;

TEST(Channel, KeepsTheOrder) {
  auto [sender, receiver] = channel<int>(3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sender.try_send(i), Errc::ok);
  EXPECT_EQ(receiver.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*receiver.try_recv(), i);
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::empty);
}

TEST(Channel, RefusesWhatIsTooMuchAndDoesNotTouchIt) {
  auto [sender, receiver] = channel<Box>(1);
  EXPECT_EQ(sender.try_send(std::make_unique<int>(1)), Errc::ok);
  Box second = std::make_unique<int>(2);
  EXPECT_EQ(sender.try_send(std::move(second)), Errc::mailbox_full);
  ASSERT_TRUE(second);  // NOLINT: that is the point
  EXPECT_EQ(*second, 2);
  EXPECT_EQ(**receiver.try_recv(), 1);
  EXPECT_EQ(sender.try_send(std::move(second)), Errc::ok);
  EXPECT_EQ(**receiver.try_recv(), 2);
}

TEST(Channel, GivesPlacesInTheOrderInWhichTheyWereAskedFor) {
  auto [sender, receiver] = channel<int>(1);
  EXPECT_EQ(sender.try_send(0), Errc::ok);
  Future<SendPermit<int>> first = sender.reserve();
  Future<SendPermit<int>> second = sender.reserve();
  EXPECT_FALSE(first.is_ready());
  EXPECT_EQ(*receiver.try_recv(), 0);
  EXPECT_TRUE(first.is_ready());
  EXPECT_FALSE(second.is_ready());
  EXPECT_EQ(sender.try_send(9), Errc::mailbox_full);  // the place is reserved
  Result<SendPermit<int>> permit = first.get();
  EXPECT_EQ(permit->send(1), Errc::ok);
  EXPECT_EQ(permit->send(1), Errc::invalid_arg);
  EXPECT_EQ(*receiver.try_recv(), 1);
  EXPECT_TRUE(second.is_ready());
}

TEST(Channel, APlaceThatIsNotUsedGoesToTheNext) {
  auto [sender, receiver] = channel<int>(1);
  std::optional<Future<SendPermit<int>>> first = sender.reserve();
  Future<SendPermit<int>> second = sender.reserve();
  Future<SendPermit<int>> third = sender.reserve();
  second.cancel();
  EXPECT_EQ(second.get().error().code(), Errc::cancelled);
  first.reset();
  EXPECT_TRUE(third.is_ready());
}

TEST(Channel, ReadyTakesNothing) {
  auto [sender, receiver] = channel<int>(2);
  Future<void> first = receiver.ready();
  Future<void> second = receiver.ready();
  EXPECT_FALSE(first.is_ready());
  EXPECT_EQ(sender.try_send(1), Errc::ok);
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_TRUE(receiver.ready().get().ok());
  EXPECT_EQ(*receiver.try_recv(), 1);
}

TEST(Channel, AWaitThatIsCancelledTakesNothing) {
  auto [sender, receiver] = channel<int>(2);
  Future<void> waiting = receiver.ready();
  waiting.cancel();
  EXPECT_EQ(waiting.get().error().code(), Errc::cancelled);
  (void)receiver.ready();  // dropped
  EXPECT_EQ(sender.try_send(1), Errc::ok);
  EXPECT_EQ(*receiver.try_recv(), 1);
}

TEST(Channel, WithoutSendersGivesWhatIsThereAndThenSaysSo) {
  auto [sender, receiver] = channel<int>(2);
  auto copy = std::make_unique<Sender<int>>(sender);
  EXPECT_EQ(sender.try_send(1), Errc::ok);
  sender = {};
  EXPECT_EQ(*receiver.try_recv(), 1);
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::empty);
  Future<void> waiting = receiver.ready();
  EXPECT_EQ(copy->try_send(2), Errc::ok);
  copy.reset();
  EXPECT_TRUE(waiting.get().ok());
  EXPECT_EQ(*receiver.try_recv(), 2);
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::closed);
  EXPECT_EQ(receiver.ready().get().error().code(), Errc::closed);
  EXPECT_EQ(receiver.recv().get().error().code(), Errc::closed);
}

TEST(Channel, TellsAReceiverThatWaitsThatTheLastSenderIsGone) {
  auto [sender, receiver] = channel<int>(2);
  Future<void> waiting = receiver.ready();
  sender = {};
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
}

TEST(Channel, AReservedPlaceIsASenderToo) {
  auto [sender, receiver] = channel<int>(1);
  Future<SendPermit<int>> reserved = sender.reserve();
  Future<SendPermit<int>> queued = sender.reserve();
  Future<void> waiting = receiver.ready();
  sender = {};
  EXPECT_FALSE(waiting.is_ready());
  EXPECT_EQ(reserved.get()->send(7), Errc::ok);
  EXPECT_TRUE(waiting.get().ok());
  EXPECT_EQ(*receiver.try_recv(), 7);
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::empty);
  waiting = receiver.ready();
  { Result<SendPermit<int>> unused = queued.get(); }
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
}

TEST(Channel, AWaitForAPlaceThatIsCancelledIsASenderNoMore) {
  auto [sender, receiver] = channel<int>(1);
  EXPECT_EQ(sender.try_send(1), Errc::ok);
  Future<SendPermit<int>> queued = sender.reserve();
  sender = {};
  queued.cancel();
  EXPECT_EQ(*receiver.try_recv(), 1);
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::closed);
}

TEST(Channel, WithoutItsReceiverRefusesAtOnceAndEndsWhatWasQueued) {
  auto counted = std::make_shared<int>(1);
  auto [sender, receiver] = channel<std::shared_ptr<int>>(2);
  Future<SendPermit<std::shared_ptr<int>>> reserved = sender.reserve();
  EXPECT_EQ(sender.try_send(counted), Errc::ok);
  Future<SendPermit<std::shared_ptr<int>>> waiting = sender.reserve();
  Future<void> closed = sender.closed();
  EXPECT_FALSE(sender.is_closed());
  EXPECT_EQ(counted.use_count(), 2);
  receiver = {};
  EXPECT_EQ(counted.use_count(), 1);
  EXPECT_TRUE(sender.is_closed());
  EXPECT_TRUE(closed.get().ok());
  EXPECT_TRUE(sender.closed().is_ready());
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
  EXPECT_EQ(sender.reserve().get().error().code(), Errc::closed);
  EXPECT_EQ(sender.try_send(counted), Errc::closed);
  EXPECT_EQ(sender.send(counted).get().error().code(), Errc::closed);
  std::shared_ptr<int> kept = counted;
  EXPECT_EQ(reserved.get()->send(std::move(kept)), Errc::closed);
  EXPECT_TRUE(kept);  // NOLINT: that is the point
}

TEST(Channel, ThatIsClosedByItsReceiverGivesWhatIsThere) {
  auto [sender, receiver] = channel<int>(2);
  EXPECT_EQ(sender.try_send(1), Errc::ok);
  Future<void> ended = sender.closed();
  receiver.close();
  EXPECT_TRUE(ended.is_ready());
  EXPECT_EQ(sender.try_send(2), Errc::closed);
  EXPECT_EQ(*receiver.recv().get(), 1);
  EXPECT_EQ(receiver.recv().get().error().code(), Errc::closed);
}

TEST(Channel, EndsThatAreEmptyAreRefused) {
  Sender<int> sender;
  Receiver<int> receiver;
  EXPECT_FALSE(sender);
  EXPECT_FALSE(receiver);
  EXPECT_EQ(sender.try_send(1), Errc::invalid_arg);
  EXPECT_EQ(sender.reserve().get().error().code(), Errc::invalid_arg);
  EXPECT_EQ(sender.send(1).get().error().code(), Errc::invalid_arg);
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::invalid_arg);
  EXPECT_EQ(receiver.ready().get().error().code(), Errc::invalid_arg);
  EXPECT_EQ(receiver.size(), 0u);
  EXPECT_TRUE(sender.is_closed());
}

TEST(Channel, EndsItsMessagesWithItsEnds) {
  auto counted = std::make_shared<int>(1);
  {
    auto [sender, receiver] = unbounded_channel<std::shared_ptr<int>>();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(sender.send(counted), Errc::ok);
    EXPECT_EQ(counted.use_count(), 101);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(UnboundedChannel, TakesEverything) {
  auto [sender, receiver] = unbounded_channel<int>();
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(sender.send(i), Errc::ok);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(*receiver.try_recv(), i);
  const UnboundedSender<int>& unchanged = sender;  // to send changes the channel, not its end
  EXPECT_EQ(unchanged.send(1), Errc::ok);
  EXPECT_EQ(unchanged.try_send(2), Errc::ok);
  receiver = {};
  EXPECT_EQ(sender.send(1), Errc::closed);
}

JZX_SUITE_ON_ALL_DRIVERS(ChannelOfTasks);

TEST_P(ChannelOfTasks, SendsAndReceives) {
  testing::ClockedLoop loop;
  auto [sender, receiver] = channel<std::string>(2);
  auto sent = loop.spawn_async([](Sender<std::string> out) -> Task<void> {
    for (int i = 0; i < 10; ++i) {
      auto sending = out.send(std::to_string(i));
      Result<void> result = co_await sending;
      co_await result;
    }
  }(std::move(sender)));
  auto received = loop.spawn_async([](Receiver<std::string> in) -> Task<std::string> {
    std::string all;
    for (;;) {
      auto receiving = in.recv();
      Result<std::string> one = co_await receiving;
      if (!one) co_return all;
      all += *one;
    }
  }(std::move(receiver)));
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_TRUE(sent.get().ok());
  EXPECT_EQ(*received.get(), "0123456789");
}

}  // namespace
}  // namespace jzx
