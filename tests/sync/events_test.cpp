// Notify, Barrier and Latch.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

// ---- Notify ----

TEST(Notify, KeepsOneNotificationForWhoComesNext) {
  Notify notify;
  notify.notify_one();
  notify.notify_one();
  EXPECT_TRUE(notify.wait().get().ok());
  EXPECT_FALSE(notify.wait().is_ready());
}

TEST(Notify, TellsTheOneWhoHasWaitedLongest) {
  Notify notify;
  Future<void> first = notify.wait();
  Future<void> second = notify.wait();
  notify.notify_one();
  EXPECT_TRUE(first.is_ready());
  EXPECT_FALSE(second.is_ready());
  notify.notify_one();
  EXPECT_TRUE(second.is_ready());
}

TEST(Notify, TellsAllWhoWaitAndKeepsNothing) {
  Notify notify;
  Future<void> first = notify.wait();
  Future<void> second = notify.wait();
  notify.notify_all();
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_FALSE(notify.wait().is_ready());
}

TEST(Notify, AWaitThatIsCancelledTakesNoNotification) {
  Notify notify;
  Future<void> first = notify.wait();
  Future<void> second = notify.wait();
  first.cancel();
  EXPECT_EQ(first.get().error().code(), Errc::cancelled);
  notify.notify_one();
  EXPECT_TRUE(second.is_ready());
}

TEST(Notify, AWaitThatIsCancelledTooLateSaysThatItWasTold) {
  Notify notify;
  Future<void> first = notify.wait();
  notify.notify_one();
  first.cancel();
  EXPECT_TRUE(first.get().ok());
}

TEST(Notify, ThatEndsTellsThoseWhoWait) {
  auto notify = std::make_unique<Notify>();
  Future<void> waiting = notify->wait();
  notify.reset();
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
}

// ---- Barrier ----

TEST(Barrier, OpensWhenAllHaveComeAndCloses) {
  Barrier barrier(3);
  for (int round = 0; round < 3; ++round) {
    Future<BarrierPass> first = barrier.arrive_and_wait();
    Future<BarrierPass> second = barrier.arrive_and_wait();
    EXPECT_FALSE(first.is_ready());
    Future<BarrierPass> third = barrier.arrive_and_wait();
    EXPECT_FALSE(first.get()->is_last);
    EXPECT_FALSE(second.get()->is_last);
    EXPECT_TRUE(third.get()->is_last);
  }
}

TEST(Barrier, OneThatIsCancelledHasNotArrived) {
  Barrier barrier(2);
  Future<BarrierPass> first = barrier.arrive_and_wait();
  first.cancel();
  EXPECT_EQ(first.get().error().code(), Errc::cancelled);
  Future<BarrierPass> second = barrier.arrive_and_wait();
  EXPECT_FALSE(second.is_ready());
  Future<BarrierPass> third = barrier.arrive_and_wait();
  EXPECT_TRUE(second.is_ready());
  second.cancel();  // it has passed
  EXPECT_TRUE(second.get().ok());
}

TEST(Barrier, ForNobodyIsForOne) {
  Barrier barrier(0);
  EXPECT_TRUE(barrier.arrive_and_wait().get()->is_last);
}

TEST(Barrier, ThatEndsTellsThoseWhoWait) {
  auto barrier = std::make_unique<Barrier>(2);
  Future<BarrierPass> waiting = barrier->arrive_and_wait();
  barrier.reset();
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
}

// ---- Latch ----

TEST(Latch, OpensOnceAndStaysOpen) {
  Latch latch(3);
  Future<void> waiting = latch.wait();
  latch.count_down();
  EXPECT_FALSE(latch.is_open());
  latch.count_down(5);  // more than there is
  EXPECT_TRUE(latch.is_open());
  EXPECT_TRUE(waiting.get().ok());
  EXPECT_TRUE(latch.wait().is_ready());
}

TEST(Latch, AWaitThatIsCancelledChangesNothing) {
  Latch latch(1);
  Future<void> waiting = latch.wait();
  waiting.cancel();
  EXPECT_EQ(waiting.get().error().code(), Errc::cancelled);
  EXPECT_FALSE(latch.is_open());
}

TEST(Latch, ThatEndsTellsThoseWhoWait) {
  auto latch = std::make_unique<Latch>(1);
  Future<void> waiting = latch->wait();
  latch.reset();
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
}

}  // namespace
}  // namespace jzx
