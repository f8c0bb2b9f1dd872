// Work from outside the workers: foreign threads, blocking threads, calls that belong to no worker.
// A FIFO per priority, intrusive and never full, under one lock; workers take a batch at a time.
// The seed's limit is a high-water mark here: passing it is told, and nothing is refused.
//
// Where one worker runs all actors, those of them that others schedule wait in its list of calls
// and not here; to the mark both are work from outside. A call is made without the lock, which is
// taken only to decide whether the mark is passed, and by whoever it is that tells.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/atomic.hpp"
#include "base/run_queue.hpp"
#include "base/spin_lock.hpp"
#include "drivers/loop/call_list.hpp"

namespace jzx::drivers {

class Injection {
 public:
  explicit Injection(uint64_t high_water) noexcept : high_water_(high_water) {}

  // What waits there counts for the mark too. Before any thread uses this.
  void count_too(const CallList& calls) noexcept { calls_ = &calls; }

  // 0; or more work than the mark waits, and that is to be told: how much.
  [[nodiscard]] uint64_t push(base::Runnable& work) noexcept {
    std::lock_guard hold(lock_);
    queues_[work.level()].push(work);
    // seq_cst: before the caller's look for sleepers; see idle.hpp.
    const uint64_t size = size_.fetch_add(1, std::memory_order_seq_cst) + 1;
    return pass_mark(size + call_count());
  }

  // There is one more call. As push().
  [[nodiscard]] uint64_t note_call() noexcept {
    if (waiting() <= high_water_ || looks_high()) [[likely]]
      return 0;
    std::lock_guard hold(lock_);
    return pass_mark(waiting());
  }

  // The one worker: all calls have been taken, so many. As push(): others may have come since.
  [[nodiscard]] uint64_t note_calls_taken(uint64_t count) noexcept {
    // seq_cst: after they were taken; pairs with pass_mark().
    if (!is_high_.load(std::memory_order_seq_cst)) [[likely]]
      return 0;
    std::lock_guard hold(lock_);
    // What counts is the moment when there were no calls: half is gone if it was there before.
    if (size() > high_water_ / 2 || count + size() <= high_water_ / 2) return 0;
    is_high_.store(false, std::memory_order_relaxed);
    return pass_mark(waiting());
  }

  // Calls take(Runnable&) for `at_most` of them: the oldest of the highest priority, and one in
  // kFairEvery of one level after another, so that the lower ones get on.
  template <class Take>
  uint32_t take(uint32_t at_most, Take&& take) noexcept {
    if (empty()) return 0;
    base::RunQueue batch;
    uint32_t count = 0;
    {
      std::lock_guard hold(lock_);
      for (base::Runnable* work; count < at_most && (work = next()) != nullptr; ++count) {
        batch.push(*work);
      }
    }
    if (count == 0) return 0;  // another is just taking it
    while (base::Runnable* work = batch.pop()) take(*work);
    lower(count);
    return count;
  }

  // seq_cst: a worker looks here between its announcement that it sleeps and its sleep.
  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }
  [[nodiscard]] uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  // With the calls; a snapshot.
  [[nodiscard]] uint64_t waiting() const noexcept { return size() + call_count(); }
  // relaxed: changed under the lock; without it, a first look.
  [[nodiscard]] bool looks_high() const noexcept {
    return is_high_.load(std::memory_order_relaxed);
  }
  // The next to be taken, or nullptr. Under the lock.
  [[nodiscard]] base::Runnable* next() noexcept {
    if (++picks_ % kFairEvery == 0) {
      for (uint32_t i = 0; i < base::kPriorities; ++i) {
        fair_level_ = (fair_level_ + 1) % base::kPriorities;
        if (base::Runnable* work = queues_[fair_level_].pop()) return work;
      }
    }
    for (base::RunQueue& queue : queues_) {
      if (base::Runnable* work = queue.pop()) return work;
    }
    return nullptr;
  }
  // So many have been taken, and are where thieves find them: who looks here and there before it
  // sleeps must not find them nowhere.
  void lower(uint32_t count) noexcept {
    // seq_cst: after they were put there; pairs with that look.
    const uint64_t size = size_.fetch_sub(count, std::memory_order_seq_cst) - count;
    if (!looks_high() || size + call_count() > high_water_ / 2) return;
    std::lock_guard hold(lock_);
    if (waiting() <= high_water_ / 2) is_high_.store(false, std::memory_order_relaxed);
  }
  // Under the lock.
  [[nodiscard]] uint64_t pass_mark(uint64_t waiting_now) noexcept {
    if (waiting_now <= high_water_ || looks_high()) return 0;
    // seq_cst: before another look at the calls. If they were taken meanwhile, either we see that,
    // or who took them sees that they were told of.
    is_high_.store(true, std::memory_order_seq_cst);
    if (waiting() > high_water_) return waiting_now;
    is_high_.store(false, std::memory_order_relaxed);
    return 0;
  }
  [[nodiscard]] uint64_t call_count() const noexcept {
    return calls_ != nullptr ? calls_->size() : 0;
  }

  static constexpr uint32_t kFairEvery = 61;  // as in a worker's own queues

  const uint64_t high_water_;
  const CallList* calls_ = nullptr;
  alignas(64) base::SpinLock lock_;
  base::RunQueue queues_[base::kPriorities];
  uint32_t picks_ = 0;
  uint32_t fair_level_ = 0;
  base::Atomic<bool> is_high_{false};  // told, and not halved since
  base::Atomic<uint64_t> size_{0};
};

}  // namespace jzx::drivers
