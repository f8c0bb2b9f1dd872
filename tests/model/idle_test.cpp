// drivers/workers/idle.hpp: workers that search and sleep, producers that leave work and wake.
//
// Idle, the injection queue and the steal queues are the shipped ones. The worker below does what
// drivers/workers/shared_worker.cpp does about them, and must be kept like it; its sleep stands for
// the wait in a reactor.
#include "drivers/workers/idle.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/steal_queue.hpp"
#include "drivers/workers/injection.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

using drivers::Idle;

struct Job : base::Runnable {
  Job() : Runnable([](Runnable&, Executor&) {}) {}
  base::Shared<int> payload{0};  // the producer writes it, the worker reads and changes it
};

struct Case {
  uint32_t workers = 2;
  // Number 0 is busy and leaves its jobs in its own queue; else a foreign thread injects them.
  bool has_busy_worker = false;
  int producers = 1;  // foreign threads
  int jobs = 1;       // of each
  uint32_t batch = 2;
  // A job takes for ever: others must be woken for the rest.
  bool long_jobs = false;
  // Number 0 is busy for ever and has a job in its queue that it does not pay to take; the others
  // nap.
  bool naps = false;
  // Parts of the protocol, to be left out.
  bool last_look = true;
  bool passes_on = true;
  bool look_before_nap = true;
};

class Pool {
 public:
  explicit Pool(const Case& its) : its_(its), idle_(its.workers) {
    for (uint32_t i = 0; i < its.workers; ++i) workers_.push_back(std::make_unique<Worker>());
    if (its.naps) MODEL_ASSERT(workers_[0]->queue.push(&new_job()));
  }

  // ---- producers ----

  void inject() {
    (void)injection_.push(new_job());
    wake(idle_.worker_to_wake_or_call());
  }
  void push_own() {
    MODEL_ASSERT(workers_[0]->queue.push(&new_job()));
    wake_one();
  }

  // ---- workers ----

  void run_worker(uint32_t self) {
    Worker& own = *workers_[self];
    for (;;) {
      base::Runnable* work = own.queue.pop();
      if (work == nullptr) {
        if (search_once(self)) continue;
        // There is work, but while another searches this one may not: it spins a little.
        if (own.is_worth_looking && !own.is_searching) base::spin_hint();
        if (!sleep(self)) return;
        continue;
      }
      if (own.is_searching) found_something(self);
      auto& job = static_cast<Job&>(*work);
      MODEL_ASSERT(job.payload == 1);
      job.payload = 2;
      ++taken_;
      if (its_.long_jobs) return;
    }
  }

  [[nodiscard]] int taken() const { return taken_; }

 private:
  struct Worker {
    base::StealQueue<base::Runnable, 2> queue;
    bool is_searching = false;
    bool is_worth_looking = false;  // the last look before a sleep saw something
    Sleep sleep;
  };

  Job& new_job() {
    Job& job = jobs_[made_++];
    job.payload = 1;
    return job;
  }

  void wake_one() { wake(idle_.worker_to_wake()); }
  void wake(uint32_t worker) {
    if (worker == Idle::kNone) return;
    if (!its_.naps) {
      MODEL_ASSERT(woken_ == Idle::kNone);  // one at a time
      woken_ = worker;
    }
    workers_[worker]->sleep.wake();
  }

  void found_something(uint32_t self) {
    workers_[self]->is_searching = false;
    if (woken_ == self) woken_ = Idle::kNone;
    if (idle_.end_search()) wake_one();
  }

  bool search_once(uint32_t self) {
    Worker& own = *workers_[self];
    const auto keep = [&](base::Runnable* work) { MODEL_ASSERT(own.queue.push(work)); };
    const uint32_t injected =
        injection_.take(its_.batch, [&](base::Runnable& work) { keep(&work); });
    if (injected > 0) {
      // Who searched passes it on when it begins to work; who did not, does so here.
      if (its_.passes_on && !own.is_searching) wake_one();
      return true;
    }
    if (!own.is_searching) own.is_searching = idle_.begin_search();
    if (!own.is_searching || its_.naps) return false;
    for (auto& victim : workers_) {
      if (victim.get() != &own && victim->queue.steal(its_.batch, keep) > 0) return true;
    }
    return false;
  }

  [[nodiscard]] bool has_stealable(uint32_t except) const {
    if (!injection_.empty()) return true;
    for (uint32_t i = 0; i < its_.workers; ++i) {
      if (i != except && !workers_[i]->queue.empty()) return true;
    }
    return false;
  }

  // False: nobody will ever wake it.
  bool sleep(uint32_t self) {
    Worker& own = *workers_[self];
    if (woken_ == self) woken_ = Idle::kNone;
    idle_.begin_sleep(self, own.is_searching);
    const bool stays_up = its_.last_look && has_stealable(self);
    if (its_.naps) {
      MODEL_ASSERT(stays_up);
      return nap(self);
    }
    if (!stays_up && !own.sleep.until_woken()) return false;
    own.is_searching = idle_.end_sleep(self);
    own.is_worth_looking = stays_up;
    return true;
  }

  // False: nobody will ever call it. A nap that ends by itself would hide a call that is lost.
  bool nap(uint32_t self) {
    Worker& own = *workers_[self];
    own.is_searching = !idle_.begin_nap(self);
    if (own.is_searching) return true;
    const bool has_news = its_.look_before_nap && !injection_.empty();
    const bool gets_up = has_news || own.sleep.until_woken();
    (void)idle_.end_nap(self);
    return gets_up;
  }

  Case its_;
  Idle idle_;
  drivers::Injection injection_{100};
  std::vector<std::unique_ptr<Worker>> workers_;
  Job jobs_[4];
  size_t made_ = 0;
  int taken_ = 0;
  uint32_t woken_ = Idle::kNone;  // was woken, and has not yet found anything or gone to sleep
};

Body sleep_and_wake(const Case& its) {
  return [=](Scene& scene) {
    auto& pool = scene.make<Pool>(its);
    for (int i = 0; i < its.producers; ++i) {
      scene.thread([&] {
        for (int job = 0; job < its.jobs; ++job) {
          its.has_busy_worker ? pool.push_own() : pool.inject();
        }
      });
    }
    for (uint32_t worker = its.has_busy_worker || its.naps ? 1 : 0; worker < its.workers;
         ++worker) {
      scene.thread([&, worker] { pool.run_worker(worker); });
    }
    scene.join();
    MODEL_ASSERT(pool.taken() == its.producers * its.jobs);
  };
}

// ---- jobs that a busy worker leaves in its own queue ----

TEST(Idle, NoWorkOfABusyWorkerIsLeftWhileTheOtherSleeps) {
  expect_always({.name = "idle, a worker's 2 jobs and 1 sleeper", .preemptions = 3},
                sleep_and_wake({.has_busy_worker = true, .jobs = 2}));
}
TEST(Idle, NoWorkOfABusyWorkerIsLeftWhileTwoOthersSleep) {
  expect_always({.name = "idle, a worker's job and 2 sleepers", .preemptions = 2},
                sleep_and_wake({.workers = 3, .has_busy_worker = true}));
}
TEST(Idle, WhoFindsSomethingWakesTheNextForTheRest) {
  expect_always(
      {.name = "idle, a worker's 2 long jobs and 2 sleepers", .preemptions = 2},
      sleep_and_wake({.workers = 3, .has_busy_worker = true, .jobs = 2, .long_jobs = true}));
}

// ---- jobs from outside ----

TEST(Idle, NoWorkOfAForeignThreadIsLeft) {
  expect_always({.name = "idle, a foreign thread's 2 jobs and 1 worker", .preemptions = 4},
                sleep_and_wake({.workers = 1, .jobs = 2}));
}
TEST(Idle, NoWorkOfTwoForeignThreadsIsLeft) {
  expect_always({.name = "idle, 2 foreign threads and 1 worker", .preemptions = 2},
                sleep_and_wake({.workers = 1, .producers = 2}));
}
TEST(Idle, NoWorkOfAForeignThreadIsLeftByTwoWorkers) {
  expect_always({.name = "idle, a foreign thread's job and 2 workers", .preemptions = 2},
                sleep_and_wake({.workers = 2}));
}
TEST(Idle, WhoTakesTwoInjectedJobsWakesTheNextForTheSecond) {
  expect_always({.name = "idle, a foreign thread's 2 long jobs and 2 workers", .preemptions = 2},
                sleep_and_wake({.workers = 2, .jobs = 2, .long_jobs = true}));
}

// ---- jobs from outside, while the others nap beside a busy worker ----

TEST(Idle, NoWorkOfAForeignThreadIsLeftWhileAWorkerNaps) {
  expect_always({.name = "idle, a foreign thread's 2 jobs and 1 who naps", .preemptions = 3},
                sleep_and_wake({.jobs = 2, .naps = true}));
}
TEST(Idle, NoWorkOfTwoForeignThreadsIsLeftWhileAWorkerNaps) {
  expect_always({.name = "idle, 2 foreign threads and 1 who naps", .preemptions = 2},
                sleep_and_wake({.producers = 2, .naps = true}));
}
TEST(Idle, NoWorkOfAForeignThreadIsLeftWhileTwoWorkersNap) {
  expect_always({.name = "idle, a foreign thread's job and 2 who nap", .preemptions = 2},
                sleep_and_wake({.workers = 3, .naps = true}));
}

// ---- what it would be without one of its parts ----

TEST(Idle, WithoutTheLastLookAWakeUpIsLost) {
  expect_sometimes_fails({.name = "idle, without the last look", .preemptions = 2}, "taken",
                         sleep_and_wake({.has_busy_worker = true, .last_look = false}));
}
TEST(Idle, WithoutTheLookBeforeANapACallIsLost) {
  expect_sometimes_fails({.name = "idle, without the look before a nap", .preemptions = 2}, "taken",
                         sleep_and_wake({.naps = true, .look_before_nap = false}));
}
TEST(Idle, WithoutPassingOnAnInjectedJobWaitsWhileAWorkerSleeps) {
  expect_sometimes_fails(
      {.name = "idle, without passing on", .preemptions = 2}, "taken",
      sleep_and_wake({.workers = 2, .jobs = 2, .long_jobs = true, .passes_on = false}));
}

}  // namespace
}  // namespace jzx::base::model
