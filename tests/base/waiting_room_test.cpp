#include "base/waiting_room.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/scale.hpp"

namespace jzx::testing {
namespace {

using base::WaitingRoom;
using Guest = WaitingRoom::Guest;

// Every wait() on this thread is one that must not wait: else the test hangs.

TEST(WaitingRoom, AGuestThatWasCalledBeforeDoesNotWait) {
  WaitingRoom room;
  Guest guest(7);
  ASSERT_TRUE(room.enter(guest));
  EXPECT_FALSE(room.call(7, 1)) << "nobody is left";
  EXPECT_TRUE(room.wait(guest));
  room.leave(guest);
  EXPECT_EQ(room.count(7), 0u);
}

TEST(WaitingRoom, CallsTheLongestWaitingFirstAndSaysWhetherMoreWait) {
  WaitingRoom room;
  Guest first(7);
  Guest other(7 + 16);  // on the same bench
  Guest second(7);
  Guest third(7);
  for (Guest* guest : {&first, &other, &second, &third}) ASSERT_TRUE(room.enter(*guest));
  EXPECT_TRUE(room.call(7, 1));
  EXPECT_TRUE(room.wait(first));
  EXPECT_TRUE(room.call(7, 2)) << "the first keeps its place";
  EXPECT_TRUE(room.wait(first));
  EXPECT_TRUE(room.wait(second));
  EXPECT_FALSE(room.call(7, 3));
  EXPECT_TRUE(room.wait(third));
  room.call_all(7 + 16);
  EXPECT_TRUE(room.wait(other));
  for (Guest* guest : {&first, &other, &second, &third}) room.leave(*guest);
}

TEST(WaitingRoom, ACallThatIsNotNeededGoesToTheNextOfItsKey) {
  WaitingRoom room;
  Guest first(7);
  Guest other(7 + 16);
  Guest second(7);
  for (Guest* guest : {&first, &other, &second}) ASSERT_TRUE(room.enter(*guest));
  EXPECT_TRUE(room.call(7, 1));
  room.leave(first);
  EXPECT_TRUE(room.wait(second));
  room.leave(second);
  room.leave(other);
}

TEST(WaitingRoom, LetsEverybodyGoWhenItIsClosedAndNobodyIn) {
  WaitingRoom room;
  Guest guest(7);
  ASSERT_TRUE(room.enter(guest));
  std::thread closer([&] { room.close(); });
  EXPECT_FALSE(room.wait(guest));
  room.leave(guest);
  closer.join();
  Guest late(8);
  EXPECT_FALSE(room.enter(late));
}

// Permits are made one by one, each followed by a call; guests take them or wait.
TEST(WaitingRoom, NoCallIsLostBetweenManyThreads) {
  constexpr int kThreads = 4;
  const int each = static_cast<int>(scaled(4000));
  WaitingRoom room;
  std::atomic<int> permits{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const auto take = [&] {
        int seen = permits.load();
        while (seen > 0 && !permits.compare_exchange_weak(seen, seen - 1)) {
        }
        return seen > 0;
      };
      for (int i = 0; i < each; ++i) {
        Guest guest(7);
        ASSERT_TRUE(room.enter(guest));
        while (!take()) ASSERT_TRUE(room.wait(guest));
        room.leave(guest);
      }
    });
  }
  for (int i = 0; i < kThreads * each; ++i) {
    permits.fetch_add(1);
    (void)room.call(7, 1);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(permits.load(), 0);
}

}  // namespace
}  // namespace jzx::testing
