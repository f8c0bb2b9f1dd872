// A worker among several: a worker whose ready queues others may steal from, and that steals when
// it has nothing to do. The tick, the wheel, the reactor and the sleep are the worker's own; this
// says what is ready, where woken work goes, and whom to rob. What it tries before it sleeps is its
// job hunt.
//
//   next turn ◀── own queues ◀── injection ◀── a random sibling's queues
//                     nothing: look around a while longer, if that has paid lately, then sleep
//
// A wake-up takes some 20 µs, so a worker that runs dry spins a little first; how long follows from
// whether the last times found anything. Work that others will reach soon is left to them (see
// victims.hpp); while there is such work, a worker does not sleep for good, but naps.
//
// Threads: post(), post_pinned() and has_stealable() by anybody; the rest by its own.
#pragma once

#include "drivers/loop/worker.hpp"
#include "drivers/workers/job_hunt.hpp"
#include "drivers/workers/ready_queues.hpp"
#include "drivers/workers/worker_group.hpp"

namespace jzx::drivers {

class SharedWorker final : public Worker {
 public:
  SharedWorker(WorkerGroup& group, base::Clock& clock, io::ReactorPtr reactor,
               const WorkerOptions& options) noexcept;
  // What is pending is ended after this, and calls nobody here any more.
  ~SharedWorker() override { io().tell_before_completions({}); }

  // The life of its thread: runs until it is asked to stop.
  void run() noexcept;

  // ---- Executor and Host ----
  void post(base::Runnable& work) override { group_.route(work); }
  bool post_blocking(base::Runnable& work) override;
  base::Executor& next_keeper() noexcept override { return group_.next_worker(); }
  void submit_elsewhere(base::Runnable& work) noexcept override;
  void submit_last(base::Runnable& work, bool is_fed_by_others) noexcept override;
  void call(core::Actor& actor) noexcept override;

  // Work that is pinned here. Any thread.
  void post_pinned(base::Runnable& work) { Worker::post(work); }

  [[nodiscard]] bool has_stealable() const noexcept { return queues_.has_stealable(is_stuck()); }

  // ---- what siblings see of it ----

  [[nodiscard]] WorkerLoad load() const noexcept {
    WorkerLoad load = queues_.load();
    load.steps = steps();
    return load;
  }
  // Does it handle messages at this moment, one after the other?
  [[nodiscard]] bool gets_on() const noexcept;

  // ---- for whoever watches for stalls; any thread ----

  // Its turn has taken long: what waits in its lifo slot may be taken.
  void mark_stuck(bool stuck) noexcept {
    stuck_.store(stuck, std::memory_order_relaxed);  // a hint
  }

 protected:
  void run_ready() override;
  bool has_ready() noexcept override { return queues_.has_ready(); }
  uint64_t allowed_sleep_ns(uint64_t wait_ns) noexcept override;
  void woke_up() noexcept override;
  void about_to_call_back() noexcept override;
  void took_calls(uint64_t count) noexcept override;
  void ready_from_outside(base::Runnable& work) noexcept override { queues_.push_pinned(work); }

 private:
  friend class JobHunt<SharedWorker>;

  base::LifoSlot* own_lifo() noexcept override { return &queues_.lifo(); }
  [[nodiscard]] bool is_stuck() const noexcept {
    return stuck_.load(std::memory_order_relaxed);  // a hint
  }
  template <bool kWatched>
  void run_all_ready();
  // What goes_on() does, and a look at what came for all workers.
  [[nodiscard]] bool looks_up_and_goes_on() noexcept;
  void submit_otherwise(base::Runnable& work) noexcept;
  void push_back_and_tell(base::Runnable& work) noexcept;
  // There is something new that others may take.
  void tell_others() noexcept {
    if (queues_.has_thieves()) group_.wake_one();
  }
  void submit_last_otherwise(base::Runnable& work, bool is_fed_by_others) noexcept;
  // Elsewhere, when its own queues are empty; nullptr: there is none to be had.
  [[nodiscard]] base::Runnable* find_work() noexcept;
  [[nodiscard]] bool waits_for_answer(const Linger& linger) noexcept;
  [[nodiscard]] uint32_t share_from_outside() const noexcept;
  [[nodiscard]] WorkerGroup& group() noexcept { return group_; }
  void keep(base::Runnable& work) noexcept { queues_.push_back(work); }
  [[nodiscard]] bool steal() noexcept;
  [[nodiscard]] bool rob(uint32_t victim, uint64_t now_ns) noexcept;
  void call_if_it_pays() noexcept;
  [[nodiscard]] bool siblings_get_on() noexcept;

  static constexpr uint32_t kMostFromOutside = 128;
  static constexpr uint32_t kWaitsInARow = 16;
  static constexpr int kMoment = 64;  // of pauses: about a microsecond

  WorkerGroup& group_;
  ReadyQueues queues_;
  JobHunt<SharedWorker> hunt_;
  int pauses_for_answer_ = kMoment;  // see Linger; fewer if that has not paid lately
  uint32_t waits_ = 0;               // for an answer
  base::SteadyClock steady_;         // for what takes real time, whatever the time of the actors is
  Victim victims_[Idle::kMaxWorkers];

  alignas(64) base::Atomic<bool> stuck_{false};
};

}  // namespace jzx::drivers
