#include "base/run_queue.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "base/prng.hpp"

namespace jzx::base {
namespace {

struct Work : Runnable {
  Work() : Runnable([](Runnable&, Executor&) {}) {}
};

TEST(RunQueue, GivesNothingWhenEmpty) {
  RunQueue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(RunQueue, WorksAgainAfterItRanEmpty) {
  RunQueue queue;
  Work a, b;
  queue.push(a);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_TRUE(queue.empty());
  queue.push(b);
  queue.push(a);
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(RunQueue, ForgetsWhatFollowedWorkInAnEarlierStay) {
  RunQueue queue;
  Work a, b;
  queue.push(a);
  queue.push(b);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.pop(), &b);
  queue.push(a);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_TRUE(queue.empty());
}

TEST(RunQueue, BehavesLikeADequeUnderRandomOperations) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Prng random(seed);
    std::deque<Work> works(32);
    std::deque<Runnable*> idle, model;
    for (Work& work : works) idle.push_back(&work);
    RunQueue queue;
    for (int step = 0; step < 2000; ++step) {
      const uint32_t dice = random.below(5);
      if (dice == 0 && !model.empty()) {
        const size_t at = random.below(static_cast<uint32_t>(model.size()));
        ASSERT_TRUE(queue.remove(*model[at]));
        ASSERT_FALSE(queue.remove(*model[at])) << "it is not there any more";
        idle.push_back(model[at]);
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (dice <= 2 && !idle.empty()) {
        queue.push(*idle.front());
        model.push_back(idle.front());
        idle.pop_front();
      } else {
        Runnable* expected = model.empty() ? nullptr : model.front();
        ASSERT_EQ(queue.pop(), expected);
        if (expected == nullptr) continue;
        model.pop_front();
        idle.push_back(expected);
      }
      ASSERT_EQ(queue.empty(), model.empty());
    }
  }
}

}  // namespace
}  // namespace jzx::base
