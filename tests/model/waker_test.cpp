// io/waker.hpp: the flag in front of the eventfd. The system call is replaced by a sleep that
// orders nothing, since the flag alone is to carry what the wakers did.
#include "io/waker.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "model/explore.hpp"

namespace {
jzx::base::model::Sleep* the_eventfd = nullptr;
int written = 0;
int refusals_left = 0;  // of writes, in this execution
int refusal = 0;
}  // namespace

// Instead of the C library's.
extern "C" int eventfd_write(int, eventfd_t) {
  if (refusals_left > 0) {
    --refusals_left;
    errno = refusal;
    return -1;
  }
  the_eventfd->wake();
  ++written;
  return 0;
}

namespace jzx::base::model {
namespace {

void wake_and_take(const char* name, uint32_t bound, int wakers, int times, int refusals = 0) {
  int wakes = 0;
  written = 0;
  expect_always({.name = name, .preemptions = bound}, [&](Scene& scene) {
    refusals_left = refusals;
    auto& waker = scene.make<io::Waker>();
    the_eventfd = &scene.make<Sleep>(Sleep::Ordering::orders_nothing);
    auto& left = scene.make<base::Atomic<int>>(0);
    int found = 0;
    for (int i = 0; i < wakers; ++i) {
      scene.thread([&] {
        for (int round = 0; round < times; ++round) {
          left.fetch_add(1, std::memory_order_relaxed);  // the work
          waker.wake();
          ++wakes;
        }
      });
    }
    scene.thread([&] {
      while (the_eventfd->until_woken()) {
        waker.take();
        found = left.load(std::memory_order_relaxed);  // looks for work
      }
    });
    scene.join();
    MODEL_ASSERT(found == wakers * times);
  });
  EXPECT_GT(written, 0);
  EXPECT_LT(written, wakes);  // several wake-ups, one system call
}

TEST(Waker, NoWakeUpOfOneWakerIsLost) { wake_and_take("waker, 1 waker of 3", kUnbounded, 1, 3); }
TEST(Waker, NoWakeUpOfTwoWakersIsLost) { wake_and_take("waker, 2 wakers of 2", 4, 2, 2); }

TEST(Waker, NoWakeUpIsLostWhenWritesAreInterrupted) {
  refusal = EINTR;
  wake_and_take("waker, 2 wakers, 2 writes interrupted", 3, 2, 2, 2);
}
TEST(Waker, NoWakeUpIsLostWhenTheCounterIsFull) {
  refusal = EAGAIN;
  wake_and_take("waker, 2 wakers, 2 writes to a full counter", 3, 2, 2, 2);
}

}  // namespace
}  // namespace jzx::base::model
