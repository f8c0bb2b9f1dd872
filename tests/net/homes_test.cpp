// Home(runtime) and Home(context): the workers take turns to keep what is begun there.
#include <jzx/jzx.hpp>
#include <jzx/net/home.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

constexpr uint32_t kWorkers = 3;

using Shares = std::map<detail::Keeper*, uint64_t>;

// Homes of many threads at the same time.
class Census {
 public:
  void add(const Shares& shares) {
    const std::lock_guard hold(mutex_);
    for (const auto& [keeper, count] : shares) all_[keeper] += count;
  }
  void expect_equal(uint64_t share) {
    const std::lock_guard hold(mutex_);
    EXPECT_EQ(all_.size(), kWorkers);
    for (const auto& [keeper, count] : all_) {
      EXPECT_NE(keeper, nullptr);
      EXPECT_EQ(count, share);
    }
  }

 private:
  std::mutex mutex_;
  Shares all_;
};

template <class System>
Shares make_homes(const System& system, uint64_t count) {
  Shares shares;
  for (uint64_t i = 0; i < count; ++i) ++shares[net::Home(system).keeper()];
  return shares;
}

TEST(HomesOfARuntime, MadeByManyThreadsAtOnceAreSharedOutEvenly) {
  Runtime runtime(RuntimeOptions{.workers = kWorkers});
  const uint64_t each = scaled(200'000, 10) * kWorkers;
  Census census;
  std::barrier begin(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      census.add(make_homes(runtime, each));
    });
  }
  for (std::thread& thread : threads) thread.join();
  census.expect_equal(4 * each / kWorkers);
}

struct Begin {
  uint64_t count;
};
struct Settler {
  Census& census;
  std::barrier<>& all_begin;
  Tally& done;
  void on(Begin begin, Context& context) {
    all_begin.arrive_and_wait();
    census.add(make_homes(context, begin.count));
    done.add();
  }
};

TEST(HomesOfAContext, MadeByManyHandlersAtOnceAreSharedOutEvenly) {
  Runtime runtime(RuntimeOptions{.workers = kWorkers});
  const uint64_t each = scaled(200'000, 10) * kWorkers;
  Census census;
  std::barrier all_begin(kWorkers);
  Tally done;
  for (uint32_t i = 0; i < kWorkers; ++i) {
    SpawnOptions options;
    options.placement = Placement::pin_to(i);
    runtime.spawn_with<Settler>(options, Settler{census, all_begin, done}) << Begin{each};
  }
  ASSERT_TRUE(done.reaches(kWorkers));
  census.expect_equal(each);
}

}  // namespace
}  // namespace jzx::testing
