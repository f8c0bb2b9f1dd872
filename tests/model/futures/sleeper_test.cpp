// async/sleeper.hpp: a thread that sleeps until its result is there, and who gives it.
#include "async/sleeper.hpp"

#include <gtest/gtest.h>

#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

// The kernel looks at the word and falls asleep in one step, as far as wake-ups go. It is not
// relied on to order anything.
struct ModelFutex {
  struct Time {};
  static void wait(const Atomic<uint32_t>& word, uint32_t expected, const Time&) {
    // An exchange, since the kernel sees what the word is now.
    auto& seen = const_cast<Atomic<uint32_t>&>(word);
    if (seen.fetch_add(0, std::memory_order_relaxed) != expected) return yield_thread();
    MODEL_ASSERT(sleep->until_woken());  // else it sleeps for ever
  }
  static void wake(const Atomic<uint32_t>&, int) { sleep->wake(); }
  static inline Sleep* sleep = nullptr;
};

using Sleeper = async::Sleeper<ModelFutex>;

TEST(Sleeper, IsWokenAndSeesTheResult) {
  expect_always({.name = "sleeper, an answer and one who looks out and sleeps", .preemptions = 4},
                [](Scene& scene) {
                  ModelFutex::sleep = &scene.make<Sleep>(Sleep::Ordering::orders_nothing);
                  auto& sleeper = scene.make<Sleeper>();
                  auto& result = scene.make<Shared<int>>(0);
                  scene.thread([&] {
                    result = 1;
                    sleeper.wake();
                  });
                  scene.thread([&] {
                    if (!sleeper.has_woken()) {
                      MODEL_ASSERT(sleeper.sleep([](ModelFutex::Time&) { return true; }));
                    }
                    MODEL_ASSERT(result == 1);
                  });
                  scene.join();
                });
}

TEST(Sleeper, WhoseTimeIsUpIsWokenAllTheSameWhenItSleepsAgain) {
  expect_always({.name = "sleeper, an answer and one whose time is up", .preemptions = 4},
                [](Scene& scene) {
                  ModelFutex::sleep = &scene.make<Sleep>(Sleep::Ordering::orders_nothing);
                  auto& sleeper = scene.make<Sleeper>();
                  auto& result = scene.make<Shared<int>>(0);
                  scene.thread([&] {
                    result = 1;
                    sleeper.wake();
                  });
                  scene.thread([&] {
                    const bool is_there = sleeper.sleep([](ModelFutex::Time&) { return false; });
                    if (!is_there) {
                      MODEL_ASSERT(sleeper.sleep([](ModelFutex::Time&) { return true; }));
                    }
                    MODEL_ASSERT(result == 1);
                  });
                  scene.join();
                });
}

}  // namespace
}  // namespace jzx::base::model
