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

// `wait(sleeper)` returns when it was woken.
template <class Wait>
void expect_woken_with_the_result(const Options& options, Wait&& wait) {
  expect_always(options, [&](Scene& scene) {
    ModelFutex::sleep = &scene.make<Sleep>(Sleep::Ordering::orders_nothing);
    auto& sleeper = scene.make<Sleeper>();
    auto& result = scene.make<Shared<int>>(0);
    scene.thread([&] {
      result = 1;
      sleeper.wake();
    });
    scene.thread([&] {
      wait(sleeper);
      MODEL_ASSERT(result == 1);
    });
    scene.join();
  });
}

constexpr auto for_ever = [](ModelFutex::Time&) { return true; };
constexpr auto not_at_all = [](ModelFutex::Time&) { return false; };

TEST(Sleeper, IsWokenAndSeesTheResult) {
  expect_woken_with_the_result(
      {.name = "sleeper, an answer and one who looks out and sleeps", .preemptions = 4},
      [](Sleeper& sleeper) {
        if (!sleeper.has_woken()) MODEL_ASSERT(sleeper.sleep(for_ever));
      });
}

TEST(Sleeper, WhoseTimeIsUpIsWokenAllTheSameWhenItSleepsAgain) {
  expect_woken_with_the_result(
      {.name = "sleeper, an answer and one whose time is up", .preemptions = 4},
      [](Sleeper& sleeper) {
        if (!sleeper.sleep(not_at_all)) MODEL_ASSERT(sleeper.sleep(for_ever));
      });
}

}  // namespace
}  // namespace jzx::base::model
