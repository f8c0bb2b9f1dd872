// Random operations on a TimerWheel beside a std::multimap, which keeps equal keys in the order
// of insertion. Every seed is a different history; a failure prints its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <list>
#include <map>

#include "base/prng.hpp"
#include "base/time/clock.hpp"
#include "base/time/timer_wheel.hpp"
#include "support/scale.hpp"

namespace jzx::base {
namespace {

struct NumberedTimer : Timer {
  explicit NumberedTimer(uint32_t timer_number)
      : Timer([](Timer&, Executor&) {}), number(timer_number) {}
  uint32_t number;
};

class WheelAndModel {
 public:
  static constexpr uint32_t kTimers = 120;

  explicit WheelAndModel(uint64_t seed) : random_(seed), now_(random_number()), wheel_(now_) {
    for (uint32_t number = 0; number < kTimers; ++number) timers_.emplace_back(number);
  }
  ~WheelAndModel() {
    wheel_.clear([](Timer&) {});
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (random_.below(4) == 0) {
        ASSERT_NO_FATAL_FAILURE(advance(chosen_time()));
      } else {
        insert_or_remove(timers_[random_.below(kTimers)]);
      }
      ASSERT_NO_FATAL_FAILURE(expect_equal());
    }
    // The last moment: every timer must have been somewhere.
    ASSERT_NO_FATAL_FAILURE(advance_quietly(kNever));
    ASSERT_NO_FATAL_FAILURE(expect_equal());
    ASSERT_TRUE(wheel_.empty());
  }

 private:
  // Of any magnitude: each number of bits is as likely as any other.
  uint64_t random_number() { return random_.next() >> random_.below(64); }

  uint64_t after_now(uint64_t distance) {
    return distance > kNever - now_ ? kNever : now_ + distance;
  }

  uint64_t chosen_deadline() {
    switch (random_.below(8)) {
      case 0:
        return now_ - std::min(now_, random_number());
      case 1:
        return now_;
      case 2:  // equal to another
        return pending_.empty() ? now_
                                : std::next(pending_.begin(), random_.below(3) % size())->first;
      case 3:  // the edge of a bucket
        return after_now(random_number()) & (~uint64_t{0} << random_.below(40));
      case 4:
        return after_now(random_number());
      default:
        return after_now(random_.below(40'000));
    }
  }

  uint64_t chosen_time() {
    switch (random_.below(10)) {
      case 0:
        return now_;
      case 1:
        return std::min(wheel_.next_wake_ms(), after_now(1'000'000));
      case 2:
        return std::min(wheel_.next_deadline_ms(), after_now(1'000'000));
      case 3:  // rarely beyond what leaves room for more
        return after_now(random_number() >> (random_.below(20) == 0 ? 0 : 24));
      case 4:
        return after_now(random_.below(30'000));
      default:
        return after_now(random_.below(300));
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(pending_.size()); }

  void insert_or_remove(NumberedTimer& timer) {
    if (timer.is_armed()) {
      wheel_.remove(timer);
      ASSERT_FALSE(timer.is_armed());
      forget(timer);
    } else {
      const uint64_t deadline = chosen_deadline();
      wheel_.insert(timer, deadline);
      ASSERT_TRUE(timer.is_armed());
      ASSERT_EQ(timer.deadline_ms, std::max(deadline, now_));
      pending_.emplace(timer.deadline_ms, timer.number);
    }
  }

  void forget(NumberedTimer& timer) {
    if (std::erase(due_, timer.number) != 0) return;
    const auto [first, last] = pending_.equal_range(timer.deadline_ms);
    const auto entry =
        std::find_if(first, last, [&](const auto& pair) { return pair.second == timer.number; });
    ASSERT_NE(entry, last);
    pending_.erase(entry);
  }

  void move_model_to(uint64_t now_ms) {
    now_ = now_ms;
    const auto later = pending_.upper_bound(now_ms);
    for (auto entry = pending_.begin(); entry != later; ++entry) due_.push_back(entry->second);
    pending_.erase(pending_.begin(), later);
  }

  void expect_next_due(NumberedTimer& timer) {
    ASSERT_FALSE(timer.is_armed());
    ASSERT_LE(timer.deadline_ms, now_);
    ASSERT_FALSE(due_.empty());
    ASSERT_EQ(timer.number, due_.front());
    due_.pop_front();
  }

  void advance(uint64_t now_ms) {
    move_model_to(now_ms);
    wheel_.advance(now_ms, [&](Timer& fired) {
      auto& timer = static_cast<NumberedTimer&>(fired);
      ASSERT_NO_FATAL_FAILURE(expect_next_due(timer));
      if (random_.below(2) == 0) insert_or_remove(timer);  // rearms itself
      for (uint32_t i = random_.below(3); i > 0; --i) {
        insert_or_remove(timers_[random_.below(kTimers)]);
      }
      if (!due_.empty() && random_.below(4) == 0) insert_or_remove(timers_[due_.back()]);
      ASSERT_EQ(wheel_.size(), pending_.size() + due_.size());
      ASSERT_EQ(wheel_.next_deadline_ms(), earliest_in_model());
      ASSERT_LE(wheel_.next_wake_ms(), earliest_in_model());
    });
    ASSERT_TRUE(due_.empty()) << "not every due timer fired";
  }

  void advance_quietly(uint64_t now_ms) {
    move_model_to(now_ms);
    wheel_.advance(now_ms, [&](Timer& fired) {
      ASSERT_NO_FATAL_FAILURE(expect_next_due(static_cast<NumberedTimer&>(fired)));
    });
    ASSERT_TRUE(due_.empty()) << "not every due timer fired";
  }

  uint64_t earliest_in_model() const {
    if (!due_.empty()) return timers_[due_.front()].deadline_ms;
    return pending_.empty() ? kNever : pending_.begin()->first;
  }

  void expect_equal() const {
    ASSERT_EQ(wheel_.size(), pending_.size());
    ASSERT_EQ(wheel_.empty(), pending_.empty());
    ASSERT_EQ(wheel_.next_deadline_ms(), earliest_in_model());
    ASSERT_LE(wheel_.next_wake_ms(), earliest_in_model());
    if (pending_.empty()) {
      ASSERT_EQ(wheel_.next_wake_ms(), kNever);
    } else if (earliest_in_model() > now_) {
      ASSERT_GT(wheel_.next_wake_ms(), now_) << "a loop that sleeps until then would spin";
    }
  }

  Prng random_;
  uint64_t now_;
  std::deque<NumberedTimer> timers_;
  TimerWheel wheel_;
  std::multimap<uint64_t, uint32_t> pending_;
  std::list<uint32_t> due_;  // due in the advance() that is going on, and not fired yet
};

TEST(TimerWheelModel, BehavesLikeAMultimapUnderRandomOperations) {
  for (uint64_t seed = 1; seed <= testing::scaled(150); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    WheelAndModel both(seed);
    ASSERT_NO_FATAL_FAILURE(both.run(2000));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace jzx::base
