// drivers/workers/idle.hpp and job_hunt.hpp: workers that search, sleep and nap, producers that
// leave work and wake.
//
// The hunt of a worker, who is idle, the injection queue and the steal queues are the shipped ones.
// The pool stands for the group of the workers, and a sleep for the wait in a reactor.
#include "drivers/workers/idle.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/steal/steal_queue.hpp"
#include "drivers/workers/injection.hpp"
#include "drivers/workers/job_hunt.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

using drivers::Idle;

constexpr uint64_t kForEver = ~uint64_t{0};

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
  // The first that is woken runs something else, for ever.
  bool calls_back = false;
};

// What the hunt of a worker asks the group for, and the producers.
class Pool {
 public:
  explicit Pool(const Case& its) : idle(its.workers), its_(its) {
    for (uint32_t i = 0; i < its.workers; ++i)
      workers_.push_back(std::make_unique<Worker>(*this, i));
    if (its.naps) MODEL_ASSERT(workers_[0]->queue.push(&new_job()));
  }

  // ---- producers ----

  void inject() {
    (void)injection.push(new_job());
    wake(idle.worker_to_wake_or_call());
  }
  void push_own() {
    MODEL_ASSERT(workers_[0]->queue.push(&new_job()));
    wake_one();
  }

  // ---- workers ----

  // It takes its share between two turns, and the second takes for ever.
  void look_between_turns(uint32_t self) { (void)workers_[self]->hunt.take_from_outside(); }
  // It searches, and what it finds takes for ever.
  void search(uint32_t self) {
    Worker& own = *workers_[self];
    if (!own.hunt.search_once()) return;
    MODEL_ASSERT(own.queue.pop() != nullptr);
    own.hunt.found_work();
  }
  void push_unpaid() { MODEL_ASSERT(workers_[0]->queue.push(&new_job())); }
  void begin_nap(uint32_t self) {
    MODEL_ASSERT(workers_[self]->hunt.begin_sleep(kForEver) != 0);
    MODEL_ASSERT(workers_[self]->hunt.is_napping());
  }
  void begin_sleep(uint32_t self) {
    MODEL_ASSERT(workers_[self]->hunt.begin_sleep(kForEver) == kForEver);
  }
  void wake_up_and_search(uint32_t self) {
    MODEL_ASSERT(workers_[self]->sleep.until_woken());
    woken_ = Idle::kNone;
    workers_[self]->hunt.woke_up();
    search(self);
  }
  // True: it was called.
  [[nodiscard]] bool nap(uint32_t self) { return workers_[self]->sleep.until_woken(); }

  void run_worker(uint32_t self) {
    Worker& own = *workers_[self];
    for (;;) {
      base::Runnable* work = own.queue.pop();
      if (work == nullptr) {
        if (own.hunt.search_once()) continue;
        // There is work, but another is just taking it to its queue, or searches, and then this one
        // may not: it spins a little.
        if (own.saw_something && (!own.hunt.is_searching() || !injection.empty())) {
          base::spin_hint();
        }
        if (!sleep(own)) return;
        continue;
      }
      if (woken_ == self) woken_ = Idle::kNone;
      own.saw_something = false;
      own.hunt.found_work();
      auto& job = static_cast<Job&>(*work);
      MODEL_ASSERT(job.payload == 1);
      job.payload = 2;
      ++taken_;
      if (its_.long_jobs) return;
    }
  }

  [[nodiscard]] int taken() const { return taken_; }
  [[nodiscard]] int woken_count() const { return woken_count_; }

  // ---- the group ----

  Idle idle;
  drivers::Injection injection{100};
  [[nodiscard]] uint32_t size() const { return its_.workers; }
  void wake_one() { wake(idle.worker_to_wake()); }
  void call_napper() { wake(idle.napper_to_call()); }
  [[nodiscard]] bool has_stealable(uint32_t except) const {
    if (!injection.empty()) return true;
    for (uint32_t i = 0; i < its_.workers; ++i) {
      if (i != except && !workers_[i]->queue.empty()) return true;
    }
    return false;
  }

 private:
  struct Worker {
    Worker(Pool& the_pool, uint32_t number) : pool(the_pool), index(number), hunt(*this) {}

    // ---- what the hunt asks for ----
    Pool& group() { return pool; }
    [[nodiscard]] uint32_t share_from_outside() const { return pool.its_.batch; }
    void keep(base::Runnable& work) { MODEL_ASSERT(queue.push(&work)); }
    bool steal() {
      if (pool.its_.naps) return false;  // it does not pay
      const auto take = [&](base::Runnable* work) { keep(*work); };
      for (auto& victim : pool.workers_) {
        if (victim.get() != this && victim->queue.steal(pool.its_.batch, take) > 0) return true;
      }
      return false;
    }
    static bool siblings_get_on() { return true; }

    Pool& pool;
    const uint32_t index;
    base::StealQueue<base::Runnable, 2> queue;
    drivers::JobHunt<Worker> hunt;
    bool saw_something = false;  // in the last look before a sleep
    Sleep sleep;
  };

  Job& new_job() {
    Job& job = jobs_[made_++];
    job.payload = 1;
    return job;
  }

  void wake(uint32_t worker) {
    if (worker == Idle::kNone) return;
    MODEL_ASSERT(woken_ == Idle::kNone);  // one at a time
    woken_ = worker;
    ++woken_count_;
    workers_[worker]->sleep.wake();
  }

  // False: nobody will ever wake it.
  bool sleep(Worker& own) {
    if (woken_ == own.index) woken_ = Idle::kNone;
    const uint64_t allowed_ns = own.hunt.begin_sleep(kForEver);
    own.saw_something = allowed_ns == 0 || own.hunt.is_napping();
    // A nap that ends by itself would hide a call that is lost: so it does only where what the
    // others have is to be taken.
    const bool waits = allowed_ns != 0 && (its_.naps || !own.hunt.is_napping());
    const bool wakes_up = !waits || own.sleep.until_woken();
    own.hunt.woke_up();
    if (its_.calls_back && wakes_up && waits && !was_called_back_) {
      was_called_back_ = true;
      woken_ = Idle::kNone;
      own.hunt.stop_searching();
      return false;
    }
    return wakes_up;
  }

  Case its_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Job jobs_[4];
  size_t made_ = 0;
  int taken_ = 0;
  int woken_count_ = 0;
  bool was_called_back_ = false;
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
// To wake another for nothing would make the answer wait.
TEST(Idle, AJobOfAForeignThreadWakesOneOfTwoThatSleep) {
  expect_always({.name = "idle, a foreign thread's job and 2 who sleep", .preemptions = 3},
                [](Scene& scene) {
                  auto& pool = scene.make<Pool>(Case{});
                  pool.begin_sleep(0);
                  pool.begin_sleep(1);
                  scene.thread([&] { pool.inject(); });
                  scene.thread([&] { pool.wake_up_and_search(1); });  // who fell asleep last
                  scene.join();
                  MODEL_ASSERT(pool.woken_count() == 1);
                });
}
TEST(Idle, WhoTakesTwoInjectedJobsWakesTheNextForTheSecond) {
  expect_always({.name = "idle, a foreign thread's 2 long jobs and 2 workers", .preemptions = 2},
                sleep_and_wake({.workers = 2, .jobs = 2, .long_jobs = true}));
}

TEST(Idle, WhoIsWokenAndRunsSomethingElseWakesTheNext) {
  expect_always({.name = "idle, a foreign thread's job, 2 workers, 1 calls back", .preemptions = 2},
                sleep_and_wake({.workers = 2, .calls_back = true}));
}

// One that is busy takes the job into its own queue, at the moment when the other looks everywhere
// before it sleeps.
TEST(Idle, AJobFromOutsideIsSeenOnItsWayIntoTheQueueOfABusyWorker) {
  expect_always({.name = "idle, a foreign thread's job taken between turns", .preemptions = 3},
                [](Scene& scene) {
                  auto& pool = scene.make<Pool>(Case{});
                  scene.thread([&] { pool.inject(); });
                  scene.thread([&] { pool.look_between_turns(0); });
                  scene.thread([&] { pool.run_worker(1); });
                  scene.join();
                  MODEL_ASSERT(pool.taken() == 1);
                });
}

// ---- jobs from outside, while the others nap beside a busy worker ----

TEST(Idle, WhoNapsIsCalledForWhatCameWhileAnotherSearchedAndFoundSomethingElse) {
  expect_always(
      {.name = "idle, a foreign thread's job, 1 who searches, 1 who naps", .preemptions = 3},
      [](Scene& scene) {
        auto& pool = scene.make<Pool>(Case{.workers = 3});
        pool.push_unpaid();
        pool.begin_nap(2);
        bool is_called = false;
        scene.thread([&] { pool.inject(); });
        scene.thread([&] { pool.search(1); });
        scene.thread([&] { is_called = pool.nap(2); });
        scene.join();
        MODEL_ASSERT(is_called || pool.injection.empty());
      });
}

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
TEST(Idle, OfTwoWorkersThatNapOneIsCalledAtATime) {
  expect_always({.name = "idle, a foreign thread's 2 jobs and 2 who nap", .preemptions = 1},
                sleep_and_wake({.workers = 3, .jobs = 2, .naps = true}));
}

}  // namespace
}  // namespace jzx::base::model
