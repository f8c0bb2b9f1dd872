// The checker itself: races on plain words, lifetimes, waiting, bounds and what a failure prints.
#include <gtest/gtest.h>

#include "base/atomic.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

using Int = base::Atomic<int>;
using Plain = base::Shared<int>;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

Body hand_over(std::memory_order store, std::memory_order load) {
  return [=](Scene& scene) {
    auto& data = scene.make<Plain>(0);
    auto& flag = scene.make<Int>(0);
    scene.thread([&] {
      data = 1;
      flag.store(1, store);
    });
    scene.thread([&] {
      if (flag.load(load) == 1) MODEL_ASSERT(data == 1);
    });
    scene.join();
  };
}

TEST(Checker, PlainDataHandedOverByReleaseAndAcquireDoesNotRace) {
  expect_always({.name = "plain data, release/acquire"}, hand_over(release, acquire));
}
TEST(Checker, PlainDataHandedOverWithoutReleaseRaces) {
  expect_sometimes_fails({.name = "plain data, relaxed/acquire"}, "data race",
                         hand_over(relaxed, acquire));
}
TEST(Checker, PlainDataHandedOverWithoutAcquireRaces) {
  expect_sometimes_fails({.name = "plain data, release/relaxed"}, "data race",
                         hand_over(release, relaxed));
}

TEST(Checker, TwoPlainReadersDoNotRaceButAWriterAfterThemDoes) {
  const auto readers = [](bool with_writer) {
    return [=](Scene& scene) {
      auto& data = scene.make<Plain>(0);
      scene.thread([&] { (void)(data == 0); });
      scene.thread([&] { (void)(data == 0); });
      if (with_writer) scene.thread([&] { ++data; });
      scene.join();
    };
  };
  expect_always({.name = "plain data, two readers"}, readers(false));
  expect_sometimes_fails({.name = "plain data, readers and a writer"}, "data race", readers(true));
}

TEST(Checker, ASharedWordBehavesAsThePlainOne) {
  struct Node {
    int value = 5;
  };
  Node node;
  Shared<Node*> pointer = nullptr;
  EXPECT_TRUE(pointer == nullptr);
  pointer = &node;
  EXPECT_TRUE(pointer != nullptr);
  EXPECT_EQ(pointer->value, 5);
  Shared<uint32_t> count{0};
  EXPECT_EQ(count++, 0u);
  EXPECT_EQ(++count, 2u);
  EXPECT_EQ(--count, 1u);
  count += 4;
  EXPECT_EQ(count - 1, 4u);
  static_assert(sizeof(Shared<uint8_t>) == 1 && sizeof(base::Atomic<uint8_t>) == 1);
}

TEST(Checker, AnAtomicMustBeConstructedBeforeOthersUseIt) {
  const auto publish = [](std::memory_order order) {
    return [=](Scene& scene) {
      auto& place = scene.make<base::Atomic<Int*>>(nullptr);
      scene.thread([&] { place.store(&scene.make<Int>(1), order); });
      scene.thread([&] {
        if (Int* found = place.load(acquire)) MODEL_ASSERT(found->load(relaxed) == 1);
      });
      scene.join();
    };
  };
  expect_always({.name = "a new atomic, published"}, publish(release));
  expect_sometimes_fails({.name = "a new atomic, not published"}, "construction", publish(relaxed));
}

TEST(Checker, AnAtomicMustNotBeDestroyedUnderItsUsers) {
  const auto close = [](std::memory_order order) {
    return [=](Scene& scene) {
      auto* word = new Int(0);
      auto& done = scene.make<Int>(0);
      scene.thread([&, word] {
        word->fetch_add(1, relaxed);
        done.store(1, order);
      });
      scene.thread([&, word] {
        while (done.load(acquire) == 0) yield();
        delete word;
      });
      scene.join();
    };
  };
  expect_always({.name = "destroyed after its last use"}, close(release));
  expect_sometimes_fails({.name = "destroyed perhaps under its user"}, "destroyed", close(relaxed));
}

TEST(Checker, AWaitingLoopSeesTheStoreInTheEnd) {
  expect_always({.name = "a loop that waits for a relaxed flag", .preemptions = kUnbounded},
                [](Scene& scene) {
                  auto& flag = scene.make<Int>(0);
                  scene.thread([&] { flag.store(1, relaxed); });
                  scene.thread([&] {
                    while (flag.load(relaxed) == 0) yield();
                  });
                  scene.join();
                });
}

TEST(Checker, WaitingForWhatNobodyStoresIsADeadlock) {
  expect_sometimes_fails({.name = "two that wait for one another"}, "deadlock", [](Scene& scene) {
    auto& a = scene.make<Int>(0);
    auto& b = scene.make<Int>(0);
    scene.thread([&] {
      while (a.load(acquire) == 0) yield();
      b.store(1, release);
    });
    scene.thread([&] {
      while (b.load(acquire) == 0) yield();
      a.store(1, release);
    });
    scene.join();
  });
}

TEST(Checker, ALoopWithoutEndIsReported) {
  expect_sometimes_fails({.name = "a loop that does not wait"}, "livelock", [](Scene& scene) {
    auto& flag = scene.make<Int>(0);
    scene.thread([&] {
      while (flag.load(relaxed) == 0) {
      }
    });
    scene.join();
  });
}

TEST(Checker, ASleeperIsWokenOrToldThatNobodyWill) {
  int woken = 0, alone = 0;
  expect_always({.name = "a sleeper and a waker that may look too late"}, [&](Scene& scene) {
    auto& sleep = scene.make<Sleep>();
    auto& asleep = scene.make<Int>(0);
    auto& data = scene.make<Plain>(0);
    scene.thread([&] {
      asleep.store(1, relaxed);
      const bool was_woken = sleep.until_woken();
      if (was_woken) MODEL_ASSERT(data == 1);  // waking orders
      ++(was_woken ? woken : alone);
    });
    scene.thread([&] {
      data = 1;
      if (asleep.load(relaxed) == 1) sleep.wake();
    });
    scene.join();
  });
  EXPECT_GT(woken, 0);
  EXPECT_GT(alone, 0);
}

// A bug that needs two preemptions of the same thread, in the middle of its three steps.
Body needs_two_preemptions() {
  return [](Scene& scene) {
    auto& x = scene.make<Int>(0);
    auto& y = scene.make<Int>(0);
    scene.thread([&] {
      x.store(1);
      if (y.load() == 1) {
        x.store(2);
        MODEL_ASSERT(y.load() != 2);
      }
    });
    scene.thread([&] {
      if (x.load() != 1) return;
      y.store(1);
      if (x.load() == 2) y.store(2);
    });
    scene.join();
  };
}

TEST(Checker, TheBoundOnPreemptionsIsKept) {
  EXPECT_FALSE(explore({.preemptions = 1}, needs_two_preemptions()).failed);
  EXPECT_TRUE(explore({.preemptions = 3}, needs_two_preemptions()).failed);
  const auto orders_of_two_by_two = [](uint32_t bound) {
    return explore({.preemptions = bound},
                   [](Scene& scene) {
                     auto& x = scene.make<Int>(0);
                     for (int i = 0; i < 2; ++i) {
                       scene.thread([&] {
                         x.fetch_add(1, relaxed);
                         x.fetch_add(1, relaxed);
                       });
                     }
                     scene.join();
                   })
        .executions;
  };
  EXPECT_EQ(orders_of_two_by_two(0), 2u);
  EXPECT_EQ(orders_of_two_by_two(1), 4u);
  EXPECT_EQ(orders_of_two_by_two(2), 6u);  // all: 4 over 2
  EXPECT_EQ(orders_of_two_by_two(kUnbounded), 6u);
}

TEST(Checker, TooManyExecutionsAreAFailure) {
  const Result result = explore({.max_executions = 3}, needs_two_preemptions());
  EXPECT_TRUE(result.failed);
  EXPECT_NE(result.message.find("not all"), std::string::npos);
}

TEST(Checker, AFailurePrintsTheStepsThatLedToIt) {
  const Result result = explore({}, [](Scene& scene) {
    auto& flag = scene.make<base::Atomic<bool>>(false);
    scene.thread([&] { flag.store(true, release); });
    scene.thread([&] { MODEL_ASSERT(!flag.load(acquire)); });
    scene.join();
  });
  ASSERT_TRUE(result.failed);
  EXPECT_NE(result.message.find("!flag.load(acquire)"), std::string::npos);
  EXPECT_NE(result.trace.find("thread 1"), std::string::npos);
  EXPECT_NE(result.trace.find("a1.store true (release)"), std::string::npos) << result.trace;
  EXPECT_NE(result.trace.find("a1.load = true (acquire)"), std::string::npos) << result.trace;
  EXPECT_NE(result.trace.find("checker_test.cpp"), std::string::npos) << result.trace;
}

}  // namespace
}  // namespace jzx::base::model
