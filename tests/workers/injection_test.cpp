// Work from outside (drivers/workers/injection.hpp): in which order it is taken, and its mark where
// one worker runs all actors: work in the queue and actors that were called for
// (drivers/loop/call_list.hpp) count together.
#include "drivers/workers/injection.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace jzx::drivers {
namespace {

struct Job : base::Runnable {
  Job() noexcept : Runnable(nullptr) {}
};

// What SharedWorker does about both, on one thread. All answer the sum of what is told: of 11 that
// is 11, if it is told once.
class Outside {
 public:
  explicit Outside(uint64_t mark) : injection_(mark) { injection_.count_too(calls_); }

  uint64_t inject(int count) {
    uint64_t told = 0;
    for (int i = 0; i < count; ++i) told += injection_.push(jobs_.emplace_back());
    return told;
  }
  uint64_t call(int count) {
    uint64_t told = 0;
    for (int i = 0; i < count; ++i) {
      core::Actor& actor = actors_.emplace_back();
      actor.own_id = core::make_id(static_cast<uint32_t>(actors_.size() - 1), 1);
      calls_.push(actor);
      told += injection_.note_call();
    }
    return told;
  }
  void take_jobs(uint32_t count) {
    EXPECT_EQ(injection_.take(count, [](base::Runnable&) {}), count);
  }
  uint64_t take_calls() {
    return take_calls([] {}, [] {});
  }
  // `at_once` happens before anybody knows that they were taken, `later` before the first of them
  // is queued.
  template <class AtOnce, class Later>
  uint64_t take_calls(AtOnce&& at_once, Later&& later) {
    uint64_t told = 0;
    calls_.take_all([&](uint32_t slot) -> core::Actor& { return actors_[slot]; },
                    [&](uint32_t count) {
                      at_once();
                      told = injection_.note_calls_taken(count);
                      later();
                    },
                    [](core::Actor&) {});
    return told;
  }

 private:
  CallList calls_;
  Injection injection_;
  std::deque<core::Actor> actors_;
  std::deque<Job> jobs_;
};

// ---- order ----

struct Prioritised : base::Runnable {
  explicit Prioritised(base::Priority priority) noexcept : Runnable(nullptr) {
    standing = {priority, base::kAnyWorker, false};
  }
};

TEST(Injection, GivesTheOldestOfTheHighestPriorityFirst) {
  Injection injection(100);
  Prioritised low(base::Priority::low), high(base::Priority::high), later(base::Priority::high);
  for (Prioritised* work : {&low, &high, &later}) (void)injection.push(*work);
  std::vector<base::Runnable*> taken;
  EXPECT_EQ(injection.take(8, [&](base::Runnable& work) { taken.push_back(&work); }), 3u);
  EXPECT_EQ(taken, (std::vector<base::Runnable*>{&high, &later, &low}));
  EXPECT_TRUE(injection.empty());
}

// However much of higher priority comes from outside, and however little is taken at a time.
TEST(Injection, LetsTheLowerPrioritiesGetOn) {
  for (const uint32_t at_a_time : {1u, 32u}) {
    Injection injection(100'000);
    Prioritised low(base::Priority::low);
    (void)injection.push(low);
    std::deque<Prioritised> urgent;
    bool low_is_taken = false;
    uint32_t picks = 0;
    while (!low_is_taken && picks < 10'000) {
      for (uint32_t i = 0; i <= at_a_time; ++i) {
        (void)injection.push(urgent.emplace_back(base::Priority::critical));
      }
      picks += injection.take(
          at_a_time, [&](base::Runnable& work) { low_is_taken = low_is_taken || &work == &low; });
    }
    EXPECT_LE(picks, 61u * base::kPriorities + at_a_time) << at_a_time << " at a time";
  }
}

// ---- the mark ----

TEST(InjectionMark, CountsNoCallThatHasBeenTaken) {
  Outside outside(10);
  EXPECT_EQ(outside.call(9), 0u);
  EXPECT_EQ(outside.take_calls([] {}, [&] { EXPECT_EQ(outside.call(2), 0u); }), 0u);
  EXPECT_EQ(outside.call(8), 0u);
  EXPECT_EQ(outside.call(1), 11u);
}

TEST(InjectionMark, IsToldAgainOfCallsThatComeWhileOthersAreBeingQueued) {
  Outside outside(10);
  EXPECT_EQ(outside.call(12), 11u);
  EXPECT_EQ(outside.take_calls([] {}, [&] { EXPECT_EQ(outside.call(12), 11u); }), 0u);
}

TEST(InjectionMark, IsToldByWhoTakesCallsOfThoseThatComeAtThatMoment) {
  Outside outside(10);
  EXPECT_EQ(outside.call(12), 11u);
  EXPECT_EQ(outside.take_calls([&] { EXPECT_EQ(outside.call(12), 0u); }, [] {}), 12u);
  EXPECT_EQ(outside.call(1), 0u);
}

TEST(InjectionMark, IsNotToldAgainOfCallsWhileMoreThanHalfIsInTheQueue) {
  Outside outside(10);
  EXPECT_EQ(outside.inject(6), 0u);
  EXPECT_EQ(outside.call(6), 11u);
  EXPECT_EQ(outside.take_calls(), 0u);
  EXPECT_EQ(outside.call(6), 0u);
  outside.take_jobs(6);
  EXPECT_EQ(outside.call(6), 0u);  // there were six calls left
  EXPECT_EQ(outside.take_calls(), 0u);
  EXPECT_EQ(outside.call(12), 11u);
}

TEST(InjectionMark, IsToldAgainOfWorkInTheQueueOnceTheCallsAreTaken) {
  Outside outside(10);
  EXPECT_EQ(outside.call(6), 0u);
  EXPECT_EQ(outside.inject(5), 11u);
  EXPECT_EQ(outside.take_calls(), 0u);
  EXPECT_EQ(outside.inject(6), 11u);
}

}  // namespace
}  // namespace jzx::drivers
