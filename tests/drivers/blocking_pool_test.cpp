// The pool of threads for work that blocks: it grows with the work, and shrinks without.
#include "drivers/loop/blocking_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <thread>

namespace jzx::drivers {
namespace {

constexpr uint32_t kKeepAliveMs = 1;

// What is posted; the host knows what to do.
struct Work : base::Runnable {
  Work() : Runnable([](base::Runnable&, base::Executor&) {}) {}
};

// The host of every thread of the pool: counts them, and what they ran.
class CountingHost : public BlockingPool::Hosts, public BlockingPool::ThreadHost {
 public:
  explicit CountingHost(std::function<void()> action = [] {}) : action_(std::move(action)) {}

  BlockingPool::ThreadHost* make_thread_host() noexcept override {
    ++made;
    return this;
  }
  void begin_thread() noexcept override { ++begun; }
  void end_thread() noexcept override { ++ended; }
  void run_work(base::Runnable&, bool) noexcept override {
    action_();
    ++ran;
  }

  std::atomic<uint32_t> made{0};
  std::atomic<uint32_t> begun{0};
  std::atomic<uint32_t> ended{0};
  std::atomic<uint32_t> ran{0};

 private:
  std::function<void()> action_;
};

void wait_until_empty(const BlockingPool& pool) {
  while (pool.thread_count() != 0) std::this_thread::yield();
}

TEST(BlockingPool, GrowsWithTheWorkAndShrinksToNothingWithoutIt) {
  constexpr uint32_t kThreads = 3;
  std::latch all_run{kThreads};
  std::latch let_go{1};
  CountingHost host([&] {
    all_run.count_down();
    let_go.wait();
  });
  BlockingPool pool(host, kThreads, kKeepAliveMs);
  Work work[kThreads];
  for (Work& each : work) ASSERT_TRUE(pool.post(each));
  all_run.wait();  // at once, so each on a thread of its own
  EXPECT_EQ(pool.thread_count(), kThreads);
  let_go.count_down();
  wait_until_empty(pool);
  EXPECT_EQ(host.ran, kThreads);
  EXPECT_EQ(host.ended, kThreads);
  pool.close();
}

TEST(BlockingPool, RunsLaterWorkOnANewThreadWithTheHostOfOneThatEnded) {
  CountingHost host;
  BlockingPool pool(host, 1, kKeepAliveMs);
  Work work;
  for (uint32_t round = 1; round <= 3; ++round) {
    ASSERT_TRUE(pool.post(work));
    wait_until_empty(pool);
    EXPECT_EQ(host.ran, round);
    EXPECT_EQ(host.begun, round);
  }
  EXPECT_EQ(host.made, 1u);
  pool.close();
}

// A thread that stops waiting just when work comes: the work is run, by it or by another.
TEST(BlockingPool, LosesNoWorkThatComesWhileAThreadGivesUpWaiting) {
  constexpr uint32_t kRounds = 5'000;
  CountingHost host;
  BlockingPool pool(host, 1, 0);
  Work work;
  for (uint32_t round = 1; round <= kRounds; ++round) {
    ASSERT_TRUE(pool.post(work));
    while (host.ran != round && pool.thread_count() != 0) {
    }
    ASSERT_EQ(host.ran, round);
  }
  pool.close();
}

}  // namespace
}  // namespace jzx::drivers
