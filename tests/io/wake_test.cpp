// wake(): from any thread, never lost, and cheap when it is repeated.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "io/reactor_fixture.hpp"
#include "io/waker.hpp"
#include "support/scale.hpp"
#include "support/system_calls.hpp"

namespace jzx::io {
namespace {

class Wake : public ReactorTest {};
JZX_TEST_BOTH_REACTORS(Wake);

TEST_P(Wake, EndsTheNextWait) {
  reactor->wake();
  EXPECT_EQ(reactor->wait(base::kNever), 0);
}

TEST_P(Wake, EndsEveryLaterWaitAnew) {
  for (int i = 0; i < 100; ++i) {
    reactor->wake();
    EXPECT_EQ(reactor->wait(base::kNever), 0);
  }
}

TEST_P(Wake, ManyWakesAreConsumedByOneWait) {
  for (int i = 0; i < 1000; ++i) reactor->wake();
  EXPECT_EQ(reactor->wait(base::kNever), 0);
  EXPECT_FALSE(is_readable(reactor->pollable_fd()));
}

TEST_P(Wake, AWaitThatDoesNotBlockConsumesItToo) {
  reactor->wake();
  tell();
  EXPECT_FALSE(is_readable(reactor->pollable_fd()));
}

TEST_P(Wake, ManyWakesCostOneWrite) {
  if (!jzx::testing::can_count_system_calls()) GTEST_SKIP() << "nothing is counted here";
  for (int round = 0; round < 3; ++round) {
    const uint64_t before = jzx::testing::writes_of_this_thread();
    for (int i = 0; i < 1000; ++i) reactor->wake();
    EXPECT_EQ(jzx::testing::writes_of_this_thread() - before, 1u);
    tell();
  }
}

TEST_P(Wake, WatchesAreToldInTheWaitThatItEnds) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  put(pipe.writer);
  reactor->wake();
  EXPECT_EQ(reactor->wait(base::kNever), 0);
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(Wake, MayBeCalledFromACallback) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  reader.then = [this] { reactor->wake(); };
  watch(reader);
  put(pipe.writer);
  tell();
  EXPECT_TRUE(is_readable(reactor->pollable_fd()));
  EXPECT_EQ(reactor->wait(base::kNever), 0);
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

// Each side sleeps until the other has acted: one lost wake-up and the test stands still.
TEST_P(Wake, IsNeverLostBetweenTwoThreads) {
  const uint64_t rounds = jzx::testing::scaled(100'000);
  std::atomic<uint64_t> asked{0};
  std::atomic<uint64_t> answered{0};
  std::thread asker([&] {
    for (uint64_t round = 1; round <= rounds; ++round) {
      // Relaxed: wake() is what publishes it.
      asked.store(round, std::memory_order_relaxed);
      reactor->wake();
      for (uint64_t seen = answered.load(); seen < round; seen = answered.load()) {
        answered.wait(seen);
      }
    }
  });
  for (uint64_t round = 1; round <= rounds; ++round) {
    while (asked.load(std::memory_order_relaxed) < round) {
      ASSERT_EQ(reactor->wait(base::kNever), 0);
    }
    answered.store(round);
    answered.notify_one();
  }
  asker.join();
  EXPECT_EQ(asked.load(), rounds);
}

// Nobody waits for an answer, so wake-ups meet one another and every phase of the wait. What the
// last one publishes must still be seen.
TEST_P(Wake, IsNeverLostAmongManyThreads) {
  const uint64_t rounds = jzx::testing::scaled(100'000);
  std::array<std::atomic<uint64_t>, 4> published{};
  std::vector<std::thread> threads;
  for (auto& mine : published) {
    threads.emplace_back([&mine, this] {
      for (uint64_t round = 1; round <= rounds; ++round) {
        // Relaxed: wake() is what publishes it.
        mine.store(round, std::memory_order_relaxed);
        reactor->wake();
      }
    });
  }
  for (const auto& theirs : published) {
    while (theirs.load(std::memory_order_relaxed) < rounds) {
      ASSERT_EQ(reactor->wait(base::kNever), 0);
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(reactor->wait(0), 0);
  EXPECT_FALSE(is_readable(reactor->pollable_fd()));
}

// The work is plain memory, and what orders it is the reactor alone: the thread sanitizer looks.
TEST_P(Wake, PublishesWhatWasDoneBeforeIt) {
  const uint64_t rounds = jzx::testing::scaled(20'000);
  uint64_t work = 0;  // the waiter's after each wake(), the waker's after each answer
  std::atomic<uint64_t> answered{0};
  std::thread waker([&] {
    for (uint64_t round = 1; round <= rounds; ++round) {
      work = round;
      reactor->wake();
      for (uint64_t seen = answered.load(); seen < round; seen = answered.load()) {
        answered.wait(seen);
      }
    }
  });
  for (uint64_t round = 1; round <= rounds; ++round) {
    // Nothing else can be told, so readable means woken.
    while (!is_readable(reactor->pollable_fd())) std::this_thread::yield();
    ASSERT_EQ(reactor->wait(0), 0);
    ASSERT_EQ(work, round);
    answered.store(round);
    answered.notify_one();
  }
  waker.join();
}

// The eventfd is in the waiter's set edge-triggered: a full counter is no new edge.
TEST(WakerOfAFullEventfd, IsHeardAllTheSame) {
  Waker waker;
  ASSERT_EQ(waker.open(), 0);
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  ASSERT_GE(set, 0);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  ASSERT_EQ(::epoll_ctl(set, EPOLL_CTL_ADD, waker.fd(), &event), 0);
  ASSERT_EQ(::eventfd_write(waker.fd(), UINT64_MAX - 1), 0);
  ASSERT_EQ(::epoll_wait(set, &event, 1, 0), 1);
  ASSERT_EQ(::epoll_wait(set, &event, 1, 0), 0) << "that edge was told";
  waker.wake();
  EXPECT_EQ(::epoll_wait(set, &event, 1, 0), 1);
  waker.take();
  waker.wake();
  EXPECT_EQ(::epoll_wait(set, &event, 1, 0), 1);
  ::close(set);
}

}  // namespace
}  // namespace jzx::io
