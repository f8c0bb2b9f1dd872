// drivers/workers/ready_queues.hpp: the overflow of a worker's ring, between its owner and a thief,
// and a sibling that goes to sleep while something is pushed there.
#include "drivers/workers/ready_queues.hpp"

#include <gtest/gtest.h>

#include "drivers/workers/idle.hpp"
#include "drivers/workers/ready_queues.cpp"  // a copy of its own, which a mutation can change
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

using drivers::Idle;
using drivers::ReadyQueues;

constexpr uint32_t kTiny = 1;  // room in the ring: what comes next overflows

struct Job : base::Runnable {
  Job() : Runnable([](Runnable&, Executor&) {}) {}
  base::Shared<int> payload{0};  // the owner writes it, whoever runs it reads and changes it
};

void run(Runnable& work) {
  auto& job = static_cast<Job&>(work);
  MODEL_ASSERT(job.payload == 1);
  job.payload = 2;
}
int run_all(ReadyQueues& queues) {
  int count = 0;
  for (; Runnable* work = queues.next(); ++count) run(*work);
  return count;
}

struct Two {
  explicit Two(uint32_t ring = kTiny) : owner(ring, true), thief(ring, true) {}

  ReadyQueues owner;
  ReadyQueues thief;
  Idle idle{2};
  Sleep sleep;
  Job jobs[4];

  void push(int job) {
    jobs[job].payload = 1;
    owner.push_back(jobs[job]);
  }
};

// The owner leaves all its jobs, and wakes who sleeps. The thief may take the one in the ring just
// when the next has found it full, and then nothing but the overflow tells of that.
Body overflow_and_sleep(int jobs) {
  return [=](Scene& scene) {
    auto& two = scene.make<Two>();
    int done = 0;
    scene.thread([&] {
      for (int i = 0; i < jobs; ++i) two.push(i);
      if (two.idle.worker_to_wake() != Idle::kNone) two.sleep.wake();
    });
    scene.thread([&] {
      while (done < jobs) {
        if (two.owner.steal_into(two.thief, 2, false)) {
          done += run_all(two.thief);
          continue;
        }
        two.idle.begin_sleep(1, false);
        const bool stays_up = two.owner.has_stealable(false);
        if (!stays_up && !two.sleep.until_woken()) return;
        if (two.idle.end_sleep(1)) (void)two.idle.end_search();
      }
    });
    scene.join();
    MODEL_ASSERT(done == jobs);
  };
}

TEST(ReadyQueues, NothingThatOverflowedIsLeftWhileTheOtherSleeps) {
  expect_always(
      {.name = "ready queues, 2 jobs, 1 in the overflow, and a sleeper", .preemptions = 2},
      overflow_and_sleep(2));
}

// Thieves have emptied the ring. The owner brings the overflow back into it and is in a turn for
// ever, at the moment when the other looks everywhere before it sleeps.
TEST(ReadyQueues, WhatComesBackFromTheOverflowIsSeenOnItsWay) {
  expect_always({.name = "ready queues, 2 jobs from the overflow, and a sleeper", .preemptions = 3},
                [](Scene& scene) {
                  auto& two = scene.make<Two>(2u);
                  for (int i = 0; i < 4; ++i) two.push(i);
                  for (int i = 0; i < 2; ++i) {
                    MODEL_ASSERT(two.owner.steal_into(two.thief, 1, false));
                  }
                  bool sleeps = false;
                  scene.thread([&] { MODEL_ASSERT(two.owner.next() != nullptr); });
                  scene.thread([&] {
                    two.idle.begin_sleep(1, false);
                    sleeps = !two.owner.has_stealable(false);
                  });
                  scene.join();
                  MODEL_ASSERT(!sleeps || !two.owner.has_stealable(false));
                });
}

// Both take at once, and everything is taken once.
TEST(ReadyQueues, WhatOverflowedIsTakenOnceByTheOwnerOrAThief) {
  int stolen = 0;
  expect_always({.name = "ready queues, 3 jobs, 2 in the overflow, and a thief", .preemptions = 2},
                [&](Scene& scene) {
                  auto& two = scene.make<Two>();
                  int own = 0;
                  int theirs = 0;
                  for (int i = 0; i < 3; ++i) two.push(i);
                  scene.thread([&] { own += run_all(two.owner); });
                  scene.thread([&] {
                    (void)two.owner.steal_into(two.thief, 1, false);
                    theirs += run_all(two.thief);
                  });
                  scene.join();
                  own += run_all(two.owner);
                  MODEL_ASSERT(own + theirs == 3);
                  MODEL_ASSERT(!two.owner.has_ready() && !two.owner.has_stealable(true));
                  stolen += theirs;
                });
  EXPECT_GT(stolen, 0);
}

}  // namespace
}  // namespace jzx::base::model
