// Mutex and Condition: order, cancelling, and what outlives what.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

TEST(Mutex, IsHeldByOneAtATimeInOrder) {
  Mutex mutex;
  MutexGuard guard = mutex.try_lock();
  ASSERT_TRUE(guard);
  EXPECT_FALSE(mutex.try_lock());
  std::vector<int> order;
  std::vector<MutexGuard> held;
  for (int i = 0; i < 3; ++i) {
    mutex.lock().then([&, i](Result<MutexGuard> got) {
      order.push_back(i);
      held.push_back(std::move(*got));
    });
  }
  EXPECT_TRUE(order.empty());
  guard.unlock();
  EXPECT_EQ(order, (std::vector<int>{0}));
  held[0].unlock();
  EXPECT_EQ(order, (std::vector<int>{0, 1}));
  held[1].unlock();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(Mutex, AWaitThatIsCancelledLeavesTheQueue) {
  Mutex mutex;
  MutexGuard guard = mutex.try_lock();
  Future<MutexGuard> first = mutex.lock();
  Future<MutexGuard> second = mutex.lock();
  first.cancel();
  EXPECT_EQ(first.get().error().code(), Errc::cancelled);
  guard.unlock();
  EXPECT_TRUE(second.is_ready());
}

TEST(Mutex, AGrantThatIsDroppedGoesToTheNext) {
  Mutex mutex;
  MutexGuard guard = mutex.try_lock();
  std::optional<Future<MutexGuard>> first = mutex.lock();
  Future<MutexGuard> second = mutex.lock();
  guard.unlock();
  EXPECT_TRUE(first->is_ready());
  EXPECT_FALSE(second.is_ready());
  first.reset();
  EXPECT_TRUE(second.is_ready());
}

TEST(Mutex, ThatEndsTellsThoseWhoWait) {
  auto mutex = std::make_unique<Mutex>();
  MutexGuard guard = mutex->try_lock();
  Future<MutexGuard> waiting = mutex->lock();
  mutex.reset();
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
  EXPECT_TRUE(guard);
}

// ---- conditions ----

struct Queue {
  Mutex mutex;
  Condition changed{mutex};
};

TEST(Condition, GivesTheMutexBackWhileItWaits) {
  Queue queue;
  Future<MutexGuard> waiting = queue.changed.wait(queue.mutex.try_lock());
  MutexGuard mine = queue.mutex.try_lock();
  ASSERT_TRUE(mine);
  queue.changed.notify_one();
  EXPECT_FALSE(waiting.is_ready());  // the mutex is not free
  mine.unlock();
  ASSERT_TRUE(waiting.is_ready());
  EXPECT_FALSE(queue.mutex.try_lock());
  EXPECT_TRUE(waiting.get().ok());
  EXPECT_TRUE(queue.mutex.try_lock());
}

TEST(Condition, TellsOneOrAllInOrder) {
  Queue queue;
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) {
    queue.changed.wait(queue.mutex.try_lock()).then([&order, i](Result<MutexGuard> guard) {
      EXPECT_TRUE(guard.ok());
      order.push_back(i);
    });
  }
  queue.changed.notify_one();
  EXPECT_EQ(order, (std::vector<int>{0}));
  queue.changed.notify_all();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  queue.changed.notify_one();  // to nobody
}

TEST(Condition, RemembersNoNotification) {
  Queue queue;
  queue.changed.notify_one();
  Future<MutexGuard> waiting = queue.changed.wait(queue.mutex.try_lock());
  EXPECT_FALSE(waiting.is_ready());
}

TEST(Condition, AWaitThatIsCancelledIsWithoutTheMutex) {
  Queue queue;
  Future<MutexGuard> waiting = queue.changed.wait(queue.mutex.try_lock());
  waiting.cancel();
  EXPECT_EQ(waiting.get().error().code(), Errc::cancelled);
  EXPECT_TRUE(queue.mutex.try_lock());
}

TEST(Condition, OneThatWasToldAndIsCancelledTellsTheNext) {
  Queue queue;
  Future<MutexGuard> first = queue.changed.wait(queue.mutex.try_lock());
  Future<MutexGuard> second = queue.changed.wait(queue.mutex.try_lock());
  MutexGuard mine = queue.mutex.try_lock();
  queue.changed.notify_one();
  first.cancel();
  EXPECT_EQ(first.get().error().code(), Errc::cancelled);
  mine.unlock();
  EXPECT_TRUE(second.is_ready());
}

TEST(Condition, OneThatWasToldWithAllAndIsCancelledTellsNobody) {
  Queue queue;
  Future<MutexGuard> first = queue.changed.wait(queue.mutex.try_lock());
  MutexGuard mine = queue.mutex.try_lock();
  queue.changed.notify_all();
  mine.unlock();
  mine = std::move(*first.get());
  Future<MutexGuard> told = queue.changed.wait(std::move(mine));
  mine = queue.mutex.try_lock();
  queue.changed.notify_all();
  mine.unlock();
  mine = std::move(*told.get());
  Future<MutexGuard> late = queue.changed.wait(std::move(mine));
  EXPECT_FALSE(late.is_ready());
}

TEST(Condition, RefusesTheGuardOfAnotherMutexAndLeavesItAlone) {
  Queue queue;
  Mutex other;
  MutexGuard guard = other.try_lock();
  EXPECT_EQ(queue.changed.wait(std::move(guard)).get().error().code(), Errc::invalid_arg);
  EXPECT_TRUE(guard);  // NOLINT: that is the point
  EXPECT_EQ(queue.changed.wait(MutexGuard()).get().error().code(), Errc::invalid_arg);
}

TEST(Condition, ThatEndsTellsThoseWhoWait) {
  Mutex mutex;
  auto changed = std::make_unique<Condition>(mutex);
  Future<MutexGuard> waiting = changed->wait(mutex.try_lock());
  changed.reset();
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
  EXPECT_TRUE(mutex.try_lock());
}

TEST(Condition, MayEndWhileOneThatWasToldWaitsForTheMutex) {
  Mutex mutex;
  auto changed = std::make_unique<Condition>(mutex);
  Future<MutexGuard> waiting = changed->wait(mutex.try_lock());
  MutexGuard mine = mutex.try_lock();
  changed->notify_one();
  changed.reset();
  waiting.cancel();  // looks for the next to tell, and finds nobody
  EXPECT_EQ(waiting.get().error().code(), Errc::cancelled);
}

TEST(Condition, OfAMutexThatHasEndedSaysSo) {
  auto mutex = std::make_unique<Mutex>();
  Condition changed(*mutex);
  Future<MutexGuard> waiting = changed.wait(mutex->try_lock());
  mutex.reset();
  changed.notify_one();
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
}

}  // namespace
}  // namespace jzx
