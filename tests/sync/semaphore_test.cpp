// Semaphore: order, cancelling, and what outlives what.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

TEST(Semaphore, HandsOutAsManyPermitsAsItHas) {
  Semaphore semaphore(2);
  Future<Permit> first = semaphore.acquire();
  Future<Permit> second = semaphore.acquire();
  Future<Permit> third = semaphore.acquire();
  EXPECT_TRUE(first.is_ready());
  EXPECT_TRUE(second.is_ready());
  EXPECT_FALSE(third.is_ready());
  { Result<Permit> permit = first.get(); }
  EXPECT_TRUE(third.is_ready());
  EXPECT_EQ(semaphore.available(), 0u);
}

TEST(Semaphore, IsFairAlsoToOneWhoWantsMuch) {
  Semaphore semaphore(3);
  Permit one = semaphore.try_acquire();
  Future<Permit> many = semaphore.acquire(3);
  Future<Permit> few = semaphore.acquire(1);
  EXPECT_FALSE(few.is_ready());  // there are two, but others came first
  EXPECT_FALSE(semaphore.try_acquire());
  one.release();
  EXPECT_TRUE(many.is_ready());
  EXPECT_FALSE(few.is_ready());
  EXPECT_EQ(many.get()->count(), 3u);
  EXPECT_TRUE(few.is_ready());
}

TEST(Semaphore, AWaitThatIsCancelledLetsOthersPass) {
  Semaphore semaphore(1);
  Future<Permit> many = semaphore.acquire(2);
  Future<Permit> few = semaphore.acquire(1);
  EXPECT_FALSE(few.is_ready());
  many.cancel();
  EXPECT_TRUE(many.is_ready());
  EXPECT_EQ(many.get().error().code(), Errc::cancelled);
  EXPECT_TRUE(few.is_ready());
}

TEST(Semaphore, AWaitThatIsDroppedLetsOthersPass) {
  Semaphore semaphore(1);
  std::optional<Future<Permit>> many = semaphore.acquire(2);
  Future<Permit> few = semaphore.acquire(1);
  many.reset();
  EXPECT_TRUE(few.is_ready());
}

TEST(Semaphore, AGrantStandsAlthoughItIsCancelled) {
  Semaphore semaphore(1);
  Future<Permit> granted = semaphore.acquire();
  granted.cancel();
  Result<Permit> permit = granted.get();
  ASSERT_TRUE(permit.ok());
  EXPECT_EQ(semaphore.available(), 0u);
  permit->release();
  EXPECT_EQ(semaphore.available(), 1u);
}

TEST(Semaphore, AGrantThatIsDroppedIsGivenBack) {
  Semaphore semaphore(1);
  { Future<Permit> granted = semaphore.acquire(); }
  EXPECT_EQ(semaphore.available(), 1u);
}

TEST(Semaphore, MovesPermitsAndForgetsThem) {
  Semaphore semaphore(2);
  Permit a = semaphore.try_acquire();
  Permit b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_TRUE(b);
  b = semaphore.try_acquire();  // the first one goes back
  EXPECT_EQ(semaphore.available(), 1u);
  b.forget();
  EXPECT_EQ(semaphore.available(), 1u);
  semaphore.add_permits(4);
  EXPECT_EQ(semaphore.available(), 5u);
}

TEST(Semaphore, ThatIsClosedTellsThoseWhoWait) {
  Semaphore semaphore(0);
  Future<Permit> waiting = semaphore.acquire();
  semaphore.close();
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
  EXPECT_EQ(semaphore.acquire().get().error().code(), Errc::closed);
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST(Semaphore, ThatEndsTellsThoseWhoWait) {
  Future<Permit> waiting;
  Permit left;
  {
    Semaphore semaphore(1);
    left = semaphore.try_acquire();
    waiting = semaphore.acquire();
  }
  ASSERT_TRUE(waiting.is_ready());
  EXPECT_EQ(waiting.get().error().code(), Errc::closed);
  left.release();  // it may outlive the semaphore
}

TEST(Semaphore, NeedsNoStackForALongQueueOfCallbacks) {
  Semaphore semaphore(1);
  Permit first = semaphore.try_acquire();
  std::vector<int> order;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    semaphore.acquire().then([&order, i](Result<Permit> permit) {
      EXPECT_TRUE(permit.ok());
      order.push_back(i);
    });
  }
  first.release();
  ASSERT_EQ(order.size(), static_cast<size_t>(kCount));
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Semaphore, MayEndInACallbackOfItsOwn) {
  auto semaphore = std::make_unique<Semaphore>(1);
  Permit first = semaphore->try_acquire();
  bool was_closed = false;
  semaphore->acquire().then([&](Result<Permit> permit) {
    EXPECT_TRUE(permit.ok());
    semaphore.reset();
  });
  semaphore->acquire().then(
      [&](Result<Permit> permit) { was_closed = permit.error().code() == Errc::closed; });
  first.release();
  EXPECT_TRUE(was_closed);
}

}  // namespace
}  // namespace jzx
