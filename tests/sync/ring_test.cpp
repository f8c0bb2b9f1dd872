// Broadcast, watch and oneshot channels.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

// ---- broadcast ----

TEST(Broadcast, IsHeardByEverybody) {
  auto [sender, receiver] = broadcast<int>(4);
  BroadcastReceiver<int> other = sender.subscribe();
  EXPECT_EQ(sender.receivers(), 2u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sender.send(i), Errc::ok);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(*receiver.try_recv(), i);
    EXPECT_EQ(*other.try_recv(), i);
  }
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::empty);
}

TEST(Broadcast, TellsOneThatLagsHowMuchItMissed) {
  auto [sender, receiver] = broadcast<int>(2);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(sender.send(i), Errc::ok);
  EXPECT_TRUE(receiver.ready().get().ok());
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::lagged);
  EXPECT_EQ(receiver.missed(), 3u);
  EXPECT_EQ(*receiver.try_recv(), 3);
  EXPECT_EQ(*receiver.try_recv(), 4);
  EXPECT_EQ(receiver.try_recv().error().code(), Errc::empty);
}

TEST(Broadcast, IsHeardFromTheSubscriptionOn) {
  auto [sender, receiver] = broadcast<int>(4);
  EXPECT_EQ(sender.send(1), Errc::ok);
  BroadcastReceiver<int> late = sender.subscribe();
  BroadcastReceiver<int> copy = receiver;  // where that one is
  EXPECT_EQ(sender.send(2), Errc::ok);
  EXPECT_EQ(*late.try_recv(), 2);
  EXPECT_EQ(*copy.try_recv(), 1);
  EXPECT_EQ(*receiver.try_recv(), 1);
}

TEST(Broadcast, WakesThoseWhoWait) {
  auto [sender, receiver] = broadcast<int>(4);
  Future<void> first = receiver.ready();
  Future<void> second = receiver.ready();
  second.cancel();
  EXPECT_EQ(second.get().error().code(), Errc::cancelled);
  EXPECT_EQ(sender.send(1), Errc::ok);
  EXPECT_TRUE(first.get().ok());
  EXPECT_EQ(*receiver.recv().get(), 1);
}

TEST(Broadcast, WithoutSendersGivesWhatIsThereAndThenSaysSo) {
  auto [sender, receiver] = broadcast<int>(4);
  EXPECT_EQ(sender.send(1), Errc::ok);
  BroadcastReceiver<int> other = sender.subscribe();
  Future<void> waiting = other.ready();
  { BroadcastSender<int> copy = sender; }
  EXPECT_FALSE(waiting.is_ready());
  sender = {};
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
  EXPECT_EQ(*receiver.recv().get(), 1);
  EXPECT_EQ(receiver.recv().get().error().code(), Errc::closed);
}

TEST(Broadcast, TellsItsSenderThatNobodyListens) {
  auto [sender, receiver] = broadcast<int>(4);
  Future<void> closed = sender.closed();
  BroadcastReceiver<int> other = receiver;
  receiver = {};
  EXPECT_FALSE(closed.is_ready());
  other = {};
  EXPECT_TRUE(closed.get().ok());
  EXPECT_EQ(sender.send(1), Errc::ok);  // to nobody
}

TEST(Broadcast, EndsItsMessages) {
  auto counted = std::make_shared<int>(0);
  {
    auto [sender, receiver] = broadcast<std::shared_ptr<int>>(2);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(sender.send(counted), Errc::ok);
    EXPECT_EQ(counted.use_count(), 3);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

// ---- watch ----

TEST(Watch, GivesTheNewest) {
  auto [sender, receiver] = watch<std::string>("first");
  EXPECT_EQ(*receiver.get(), "first");
  EXPECT_FALSE(receiver.changed().is_ready());
  EXPECT_EQ(sender.send("second"), Errc::ok);
  EXPECT_EQ(sender.send("third"), Errc::ok);
  EXPECT_TRUE(receiver.changed().get().ok());
  EXPECT_TRUE(receiver.changed().is_ready());  // waiting takes nothing
  EXPECT_EQ(*receiver.get(), "third");
  EXPECT_FALSE(receiver.changed().is_ready());
}

TEST(Watch, WakesEverybodyWhoWaits) {
  auto [sender, receiver] = watch<int>(1);
  WatchReceiver<int> other = sender.subscribe();
  Future<void> first = receiver.changed();
  Future<void> second = other.changed();
  Future<void> third = other.changed();
  third.cancel();
  EXPECT_EQ(third.get().error().code(), Errc::cancelled);
  EXPECT_EQ(sender.send(2), Errc::ok);
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_EQ(*other.get(), 2);
}

TEST(Watch, WithoutSendersSaysSoOnceTheNewestWasSeen) {
  auto [sender, receiver] = watch<int>(1);
  Future<void> waiting = receiver.changed();
  EXPECT_EQ(sender.send(2), Errc::ok);
  sender = {};
  EXPECT_TRUE(waiting.get().ok());
  EXPECT_TRUE(receiver.changed().get().ok());
  EXPECT_EQ(*receiver.get(), 2);
  EXPECT_EQ(receiver.changed().get().error().code(), Errc::closed);
  EXPECT_EQ(*receiver.get(), 2);
}

TEST(Watch, EndsThatAreEmptyAreRefused) {
  WatchSender<int> sender;
  WatchReceiver<int> receiver = sender.subscribe();
  EXPECT_EQ(sender.send(1), Errc::invalid_arg);
  EXPECT_EQ(receiver.get().error().code(), Errc::invalid_arg);
  EXPECT_EQ(receiver.changed().get().error().code(), Errc::invalid_arg);
}

// ---- oneshot ----

TEST(Oneshot, CarriesOneMessage) {
  auto [sender, receiver] = oneshot<std::unique_ptr<int>>();
  Future<void> ready = receiver.ready();
  EXPECT_EQ(std::move(sender).send(std::make_unique<int>(7)), Errc::ok);
  EXPECT_FALSE(sender);  // NOLINT: it is used up
  EXPECT_TRUE(ready.get().ok());
  EXPECT_EQ(**receiver.recv().get(), 7);
  EXPECT_EQ(receiver.recv().get().error().code(), Errc::closed);
}

TEST(Oneshot, SaysThatNothingWillCome) {
  auto [sender, receiver] = oneshot<int>();
  Future<void> ready = receiver.ready();
  sender = {};
  EXPECT_EQ(ready.get().error().code(), Errc::closed);
}

TEST(Oneshot, TellsItsSenderThatNobodyWantsIt) {
  auto [sender, receiver] = oneshot<std::unique_ptr<int>>();
  Future<void> closed = sender.closed();
  receiver = {};
  EXPECT_TRUE(closed.is_ready());
  EXPECT_TRUE(sender.is_closed());
  auto message = std::make_unique<int>(1);
  EXPECT_EQ(std::move(sender).send(std::move(message)), Errc::closed);
  EXPECT_TRUE(message);  // NOLINT: it was given back
}

}  // namespace
}  // namespace jzx
