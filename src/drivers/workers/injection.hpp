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
    const uint64_t size = size_.load(std::memory_order_relaxed) + 1;  // changed under the lock only
    // seq_cst: before the caller's look for sleepers; see idle.hpp.
    size_.store(size, std::memory_order_seq_cst);
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

  // Calls take(Runnable&) for the oldest of the highest priority, `at_most` of them.
  template <class Take>
  uint32_t take(uint32_t at_most, Take&& take) noexcept {
    if (empty()) return 0;
    base::RunQueue batch;
    uint32_t count = 0;
    {
      std::lock_guard hold(lock_);
      for (base::RunQueue& queue : queues_) {
        while (count < at_most && !queue.empty()) {
          batch.push(*queue.pop());
          ++count;
        }
      }
      const uint64_t size = size_.load(std::memory_order_relaxed) - count;  // as above
      size_.store(size, std::memory_order_seq_cst);
      if (size + call_count() <= high_water_ / 2 && looks_high()) {
        is_high_.store(false, std::memory_order_relaxed);  // under the lock
      }
    }
    while (base::Runnable* work = batch.pop()) take(*work);
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

  const uint64_t high_water_;
  const CallList* calls_ = nullptr;
  alignas(64) base::SpinLock lock_;
  base::RunQueue queues_[base::kPriorities];
  base::Atomic<bool> is_high_{false};  // told, and not halved since
  base::Atomic<uint64_t> size_{0};
};

}  // namespace jzx::drivers
