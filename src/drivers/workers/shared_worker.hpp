// A worker among several: a worker whose ready queues others may steal from, and that steals when
// it has nothing to do. The tick, the wheel, the reactor and the sleep are the worker's own; this
// says what is ready, where woken work goes, and what to try before sleeping.
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
#include "drivers/workers/ready_queues.hpp"
#include "drivers/workers/worker_group.hpp"

namespace jzx::drivers {

class SharedWorker final : public Worker {
 public:
  SharedWorker(WorkerGroup& group, base::Clock& clock, io::ReactorPtr reactor,
               const WorkerOptions& options) noexcept;

  // The life of its thread: runs until it is asked to stop.
  void run() noexcept;

  // ---- Executor and Host ----
  void post(base::Runnable& work) override { group_.route(work); }
  bool post_blocking(base::Runnable& work) override;
  base::Executor& next_keeper() noexcept override { return group_.next_worker(); }
  void submit_elsewhere(base::Runnable& work) noexcept override;
  void submit_last(base::Runnable& work, bool is_fed_by_others) noexcept override;

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
  bool has_ready() noexcept override { return queues_.has_ready() || is_worth_looking_; }
  uint64_t allowed_sleep_ns(uint64_t wait_ns) noexcept override;
  void woke_up() noexcept override;
  void tell_of_calls(uint64_t waiting) noexcept override { group_.tell_high(waiting); }
  void ready_from_outside(base::Runnable& work) noexcept override { queues_.push_pinned(work); }

 private:
  base::LifoSlot* own_lifo() noexcept override { return &queues_.lifo(); }
  [[nodiscard]] bool is_stuck() const noexcept {
    return stuck_.load(std::memory_order_relaxed);  // a hint
  }
  template <bool kWatched>
  void run_all_ready();
  void submit_otherwise(base::Runnable& work) noexcept;
  void push_back_and_tell(base::Runnable& work) noexcept;
  // There is something new that others may take.
  void tell_others() noexcept {
    if (queues_.has_thieves()) group_.wake_one();
  }
  void submit_last_otherwise(base::Runnable& work, bool is_fed_by_others) noexcept;
  // More work into the own queues. False: there is none to be had.
  [[nodiscard]] bool look_around() noexcept;
  [[nodiscard]] bool search_once() noexcept;
  [[nodiscard]] bool take_from_injection() noexcept;
  [[nodiscard]] bool steal() noexcept;
  [[nodiscard]] bool rob(uint32_t victim, uint64_t now_ns) noexcept;
  void found_something() noexcept;
  void call_if_it_pays() noexcept;
  [[nodiscard]] bool siblings_get_on() noexcept;

  static constexpr uint32_t kMostRounds = 256;
  static constexpr int kMoment = 64;  // of pauses: about a microsecond

  WorkerGroup& group_;
  ReadyQueues queues_;
  bool is_searching_ = false;
  bool is_worth_looking_ = false;  // the last look before a sleep saw something
  uint32_t rounds_ = kMostRounds;  // of spinning before the next sleep
  uint32_t sleeps_ = 0;
  bool is_napping_ = false;   // others have work that does not pay yet to take: for a while only
  base::SteadyClock steady_;  // for what takes real time, whatever the time of the actors is
  Victim victims_[Idle::kMaxWorkers];
  Naps naps_;

  alignas(64) base::Atomic<bool> stuck_{false};
};

}  // namespace jzx::drivers
