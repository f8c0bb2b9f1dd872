// The checker itself: small programs whose outcomes under the C++20 memory model are known. Each
// collects what all executions showed; the sets must be exactly the allowed ones.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/atomic.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

using Outcome = std::vector<int>;
using Outcomes = std::set<Outcome>;
using Int = base::Atomic<int>;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;

// `body` answers what one execution showed.
template <class Body>
Outcomes outcomes_of(const char* name, Body&& body) {
  Outcomes outcomes;
  expect_always({.name = name, .preemptions = kUnbounded},
                [&](Scene& scene) { outcomes.insert(body(scene)); });
  return outcomes;
}

Outcomes message_passing(const char* name, std::memory_order store, std::memory_order load) {
  return outcomes_of(name, [=](Scene& scene) {
    auto& data = scene.make<Int>(0);
    auto& flag = scene.make<Int>(0);
    int seen_flag = 0, seen_data = 0;
    scene.thread([&] {
      data.store(1, relaxed);
      flag.store(1, store);
    });
    scene.thread([&] {
      seen_flag = flag.load(load);
      seen_data = data.load(relaxed);
    });
    scene.join();
    return Outcome{seen_flag, seen_data};
  });
}

TEST(Litmus, MessagePassingWithRelaxedOrdersShowsTheStaleRead) {
  EXPECT_EQ(message_passing("message passing, relaxed", relaxed, relaxed),
            (Outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}
TEST(Litmus, MessagePassingNeedsBothTheReleaseAndTheAcquire) {
  EXPECT_TRUE(
      message_passing("message passing, release/relaxed", release, relaxed).contains({1, 0}));
  EXPECT_TRUE(
      message_passing("message passing, relaxed/acquire", relaxed, acquire).contains({1, 0}));
}
TEST(Litmus, MessagePassingWithReleaseAndAcquireHasNoStaleRead) {
  EXPECT_EQ(message_passing("message passing, release/acquire", release, acquire),
            (Outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

Outcomes store_buffering(const char* name, std::memory_order store, std::memory_order load) {
  return outcomes_of(name, [=](Scene& scene) {
    auto& x = scene.make<Int>(0);
    auto& y = scene.make<Int>(0);
    int seen_x = 0, seen_y = 0;
    scene.thread([&] {
      x.store(1, store);
      seen_y = y.load(load);
    });
    scene.thread([&] {
      y.store(1, store);
      seen_x = x.load(load);
    });
    scene.join();
    return Outcome{seen_x, seen_y};
  });
}

TEST(Litmus, StoreBufferingWithReleaseAndAcquireShowsBothZero) {
  EXPECT_EQ(store_buffering("store buffering, release/acquire", release, acquire),
            (Outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}
TEST(Litmus, StoreBufferingNeedsBothSidesSequentiallyConsistent) {
  EXPECT_TRUE(
      store_buffering("store buffering, seq_cst/acquire", seq_cst, acquire).contains({0, 0}));
  EXPECT_TRUE(
      store_buffering("store buffering, release/seq_cst", release, seq_cst).contains({0, 0}));
}
TEST(Litmus, StoreBufferingWithSequentialConsistencyNeverShowsBothZero) {
  EXPECT_EQ(store_buffering("store buffering, seq_cst", seq_cst, seq_cst),
            (Outcomes{{0, 1}, {1, 0}, {1, 1}}));
}

TEST(Litmus, StoreBufferingThroughExchangesIsOrderedByTheAtomicsThemselves) {
  // Each exchange reads the newest, and the later of two on one atomic acquires from the earlier.
  const Outcomes outcomes = outcomes_of("two exchanges of one atomic", [](Scene& scene) {
    auto& lock = scene.make<Int>(0);
    auto& x = scene.make<Int>(0);
    auto& y = scene.make<Int>(0);
    int seen_x = 0, seen_y = 0;
    scene.thread([&] {
      x.store(1, relaxed);
      lock.exchange(1, acq_rel);
      seen_y = y.load(relaxed);
    });
    scene.thread([&] {
      y.store(1, relaxed);
      lock.exchange(1, acq_rel);
      seen_x = x.load(relaxed);
    });
    scene.join();
    return Outcome{seen_x, seen_y};
  });
  EXPECT_EQ(outcomes, (Outcomes{{0, 1}, {1, 0}, {1, 1}}));
}

Outcomes independent_reads(const char* name, std::memory_order store, std::memory_order load) {
  return outcomes_of(name, [=](Scene& scene) {
    auto& x = scene.make<Int>(0);
    auto& y = scene.make<Int>(0);
    int first_x = 0, then_y = 0, first_y = 0, then_x = 0;
    scene.thread([&] { x.store(1, store); });
    scene.thread([&] { y.store(1, store); });
    scene.thread([&] {
      first_x = x.load(load);
      then_y = y.load(load);
    });
    scene.thread([&] {
      first_y = y.load(load);
      then_x = x.load(load);
    });
    scene.join();
    return Outcome{first_x, then_y, first_y, then_x};
  });
}

TEST(Litmus, IndependentReadersMayDisagreeUnderAcquire) {
  EXPECT_TRUE(independent_reads("IRIW, release/acquire", release, acquire).contains({1, 0, 1, 0}));
}
TEST(Litmus, IndependentReadersAgreeUnderSequentialConsistency) {
  const Outcomes outcomes = independent_reads("IRIW, seq_cst", seq_cst, seq_cst);
  EXPECT_FALSE(outcomes.contains({1, 0, 1, 0}));
  EXPECT_EQ(outcomes.size(), 15u);
}
TEST(Litmus, SequentiallyConsistentReadersAgreeAboutRelaxedStores) {
  EXPECT_FALSE(independent_reads("IRIW, relaxed/seq_cst", relaxed, seq_cst).contains({1, 0, 1, 0}));
}

TEST(Litmus, OneThreadsReadsOfOneAtomicNeverGoBack) {
  const Outcomes outcomes = outcomes_of("read-read coherence", [](Scene& scene) {
    auto& x = scene.make<Int>(0);
    int first = 0, second = 0;
    scene.thread([&] {
      x.store(1, relaxed);
      x.store(2, relaxed);
    });
    scene.thread([&] {
      first = x.load(relaxed);
      second = x.load(relaxed);
    });
    scene.join();
    return Outcome{first, second};
  });
  EXPECT_EQ(outcomes, (Outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(Litmus, WhatWasReadBeforeAReleaseIsNotUnreadAfterItsAcquire) {
  const Outcomes outcomes = outcomes_of("coherence across threads", [](Scene& scene) {
    auto& x = scene.make<Int>(0);
    auto& flag = scene.make<Int>(0);
    int first = 0, seen_flag = 0, second = 0;
    scene.thread([&] { x.store(1, relaxed); });
    scene.thread([&] {
      first = x.load(relaxed);
      flag.store(1, release);
    });
    scene.thread([&] {
      seen_flag = flag.load(acquire);
      second = x.load(relaxed);
    });
    scene.join();
    return Outcome{first, seen_flag, second};
  });
  EXPECT_FALSE(outcomes.contains({1, 1, 0}));
  EXPECT_TRUE(outcomes.contains({0, 1, 0}));
  EXPECT_TRUE(outcomes.contains({1, 0, 0}));
}

TEST(Litmus, AThreadSeesItsOwnStores) {
  const Outcomes outcomes = outcomes_of("write-read coherence", [](Scene& scene) {
    auto& x = scene.make<Int>(0);
    int seen = 0;
    scene.thread([&] { x.store(1, relaxed); });
    scene.thread([&] {
      x.store(2, relaxed);
      seen = x.load(relaxed);
    });
    scene.join();
    return Outcome{seen};
  });
  EXPECT_EQ(outcomes, (Outcomes{{1}, {2}}));
}

TEST(Litmus, ReadModifyWritesReadTheNewestStore) {
  const Outcomes outcomes = outcomes_of("two relaxed increments", [](Scene& scene) {
    auto& x = scene.make<Int>(0);
    scene.thread([&] { x.fetch_add(1, relaxed); });
    scene.thread([&] { x.fetch_add(1, relaxed); });
    scene.join();
    return Outcome{x.load(relaxed)};
  });
  EXPECT_EQ(outcomes, (Outcomes{{2}}));
}

// One publishes with a release; another changes the flag in between; the third acquires it.
template <class Between>
Outcomes release_sequence(const char* name, Between&& between) {
  return outcomes_of(name, [&](Scene& scene) {
    auto& data = scene.make<Int>(0);
    auto& flag = scene.make<Int>(0);
    int seen_flag = 0, seen_data = 0;
    scene.thread([&] {
      data.store(1, relaxed);
      flag.store(1, release);
    });
    scene.thread([&] { between(flag); });
    scene.thread([&] {
      seen_flag = flag.load(acquire);
      seen_data = data.load(relaxed);
    });
    scene.join();
    return Outcome{seen_flag, seen_data};
  });
}

TEST(Litmus, AReadModifyWriteContinuesAReleaseSequence) {
  const Outcomes outcomes = release_sequence("release sequence through an increment",
                                             [](Int& flag) { flag.fetch_add(10, relaxed); });
  EXPECT_TRUE(outcomes.contains({11, 1}));
  EXPECT_FALSE(outcomes.contains({11, 0}));
  EXPECT_TRUE(outcomes.contains({10, 0}));
}
TEST(Litmus, APlainStoreEndsAReleaseSequence) {
  const Outcomes outcomes = outcomes_of("release, then a relaxed store", [](Scene& scene) {
    auto& data = scene.make<Int>(0);
    auto& flag = scene.make<Int>(0);
    int seen_flag = 0, seen_data = 0;
    scene.thread([&] {
      data.store(1, relaxed);
      flag.store(1, release);
      flag.store(2, relaxed);
    });
    scene.thread([&] {
      seen_flag = flag.load(acquire);
      seen_data = data.load(relaxed);
    });
    scene.join();
    return Outcome{seen_flag, seen_data};
  });
  EXPECT_TRUE(outcomes.contains({2, 0}));
  EXPECT_FALSE(outcomes.contains({1, 0}));
}

TEST(Litmus, TheSameValueMayComeFromAStoreThatPublishesNothing) {
  const Outcomes outcomes =
      outcomes_of("release, then a relaxed store of the same", [](Scene& scene) {
        auto& data = scene.make<Int>(0);
        auto& flag = scene.make<Int>(0);
        int seen_flag = 0, seen_data = 0;
        scene.thread([&] {
          data.store(1, relaxed);
          flag.store(1, release);
          flag.store(1, relaxed);
        });
        scene.thread([&] {
          seen_flag = flag.load(acquire);
          seen_data = data.load(relaxed);
        });
        scene.join();
        return Outcome{seen_flag, seen_data};
      });
  EXPECT_TRUE(outcomes.contains({1, 0}));
}

TEST(Litmus, AFailedExchangeIsALoadWithItsOwnOrder) {
  const auto try_with = [](const char* name, std::memory_order failure) {
    return outcomes_of(name, [=](Scene& scene) {
      auto& data = scene.make<Int>(0);
      auto& flag = scene.make<Int>(0);
      int expected = 7, seen_data = 0;
      scene.thread([&] {
        data.store(1, relaxed);
        flag.store(1, release);
      });
      scene.thread([&] {
        (void)flag.compare_exchange_strong(expected, 8, acq_rel, failure);
        seen_data = data.load(relaxed);
      });
      scene.join();
      return Outcome{expected, seen_data};
    });
  };
  EXPECT_TRUE(try_with("failed exchange, relaxed", relaxed).contains({1, 0}));
  EXPECT_FALSE(try_with("failed exchange, acquire", acquire).contains({1, 0}));
}

TEST(Litmus, OneOfTwoExchangesWins) {
  const Outcomes outcomes = outcomes_of("two compare-exchanges", [](Scene& scene) {
    auto& x = scene.make<Int>(0);
    int wins = 0;
    for (int i = 1; i <= 2; ++i) {
      scene.thread([&, i] {
        int expected = 0;
        if (x.compare_exchange_strong(expected, i, relaxed, relaxed)) ++wins;
      });
    }
    scene.join();
    return Outcome{wins};
  });
  EXPECT_EQ(outcomes, (Outcomes{{1}}));
}

}  // namespace
}  // namespace jzx::base::model
