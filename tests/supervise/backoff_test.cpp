// The delays before restarts, with every choice made by the test.
#include "supervise/backoff.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "base/executor.hpp"

namespace jzx::supervise {
namespace {

// Chooses what it is told to; can do nothing else.
class Chooser final : public base::Executor {
 public:
  void post(base::Runnable&) override { std::abort(); }
  uint64_t now_ns() override { std::abort(); }
  void arm(base::Timer&, uint64_t) override { std::abort(); }
  bool disarm(base::Timer&) override { return false; }
  uint32_t choose(uint32_t count, base::ChoiceSite site) override {
    EXPECT_EQ(site, base::ChoiceSite::backoff_jitter);
    asked.push_back(count);
    return next < count ? next : count - 1;
  }
  bool post_blocking(base::Runnable&) override { std::abort(); }
  io::Reactor& io() override { std::abort(); }

  uint32_t next = 0;
  std::vector<uint32_t> asked;
};

std::vector<uint32_t> delays(Backoff& backoff, const BackoffSpec& spec, int count,
                             Chooser& chooser) {
  std::vector<uint32_t> result;
  for (int n = 0; n < count; ++n) result.push_back(backoff.next_delay_ms(spec, chooser));
  return result;
}

TEST(Backoff, GrowsByItsFactorUpToItsLimit) {
  Chooser chooser;
  Backoff backoff;
  EXPECT_EQ(delays(backoff, {100, 1000, 2.0f, 0}, 6, chooser),
            (std::vector<uint32_t>{100, 200, 400, 800, 1000, 1000}));
  EXPECT_TRUE(chooser.asked.empty()) << "without jitter there is nothing to choose";
}

TEST(Backoff, BeginsAgainAfterAReset) {
  Chooser chooser;
  Backoff backoff;
  (void)delays(backoff, {100, 1000, 2.0f, 0}, 3, chooser);
  backoff.reset();
  EXPECT_EQ(delays(backoff, {100, 1000, 2.0f, 0}, 2, chooser), (std::vector<uint32_t>{100, 200}));
}

TEST(Backoff, StaysTheSameWithAFactorOfZeroOrOne) {
  for (const float factor : {0.0f, 1.0f}) {
    Chooser chooser;
    Backoff backoff;
    EXPECT_EQ(delays(backoff, {70, 1000, factor, 0}, 3, chooser),
              (std::vector<uint32_t>{70, 70, 70}));
  }
}

TEST(Backoff, IsLimitedFromTheFirstDelayOn) {
  Chooser chooser;
  Backoff backoff;
  EXPECT_EQ(delays(backoff, {500, 200, 2.0f, 0}, 2, chooser), (std::vector<uint32_t>{200, 200}));
}

TEST(Backoff, DoesNotOverflowNearTheEndOfItsRange) {
  Chooser chooser;
  Backoff backoff;
  const BackoffSpec spec{3'000'000'000u, 0xffffffffu, 1000.0f, 0};
  EXPECT_EQ(delays(backoff, spec, 3, chooser),
            (std::vector<uint32_t>{3'000'000'000u, 0xffffffffu, 0xffffffffu}));
}

TEST(Backoff, JitterReachesFromMinusToPlusAndNoFurther) {
  const BackoffSpec spec{100, 1000, 1.0f, 30};
  for (const auto& [choice, expected] :
       {std::pair(0u, 70u), std::pair(30u, 100u), std::pair(60u, 130u)}) {
    Chooser chooser;
    chooser.next = choice;
    Backoff backoff;
    EXPECT_EQ(backoff.next_delay_ms(spec, chooser), expected);
    EXPECT_EQ(chooser.asked, std::vector<uint32_t>{61});
  }
}

TEST(Backoff, JitterLeadsNeitherBelowZeroNorAboveTheLimit) {
  Chooser chooser;
  Backoff low;
  EXPECT_EQ(low.next_delay_ms({10, 1000, 1.0f, 50}, chooser), 0u);
  chooser.next = ~0u;
  Backoff high;
  EXPECT_EQ(high.next_delay_ms({990, 1000, 1.0f, 50}, chooser), 1000u);
}

TEST(Backoff, JitterDoesNotFeedTheGrowth) {
  Chooser chooser;
  chooser.next = ~0u;  // the largest jitter every time
  Backoff backoff;
  EXPECT_EQ(delays(backoff, {100, 10'000, 2.0f, 5}, 3, chooser),
            (std::vector<uint32_t>{105, 205, 405}));
}

TEST(Backoff, TakesTheLargestJitterThereIs) {
  Chooser chooser;
  Backoff backoff;
  EXPECT_EQ(backoff.next_delay_ms({5, 0xffffffffu, 1.0f, 0xffffffffu}, chooser), 0u);
  EXPECT_EQ(chooser.asked, std::vector<uint32_t>{0xffffffffu});
}

TEST(BackoffSpec, RefusesFactorsThatAreNoNumbersOrNegative) {
  EXPECT_TRUE((BackoffSpec{1, 1, 0.5f, 0}.is_valid()));
  EXPECT_FALSE((BackoffSpec{1, 1, -1.0f, 0}.is_valid()));
  EXPECT_FALSE((BackoffSpec{1, 1, std::nanf(""), 0}.is_valid()));
  EXPECT_FALSE((BackoffSpec{1, 1, HUGE_VALF, 0}.is_valid()));
}

}  // namespace
}  // namespace jzx::supervise
