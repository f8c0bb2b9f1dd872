// Work from outside the workers: foreign threads, blocking threads, calls that belong to no worker.
// A FIFO per priority, intrusive and never full, under one lock; workers take a batch at a time.
// The seed's limit is a high-water mark here: passing it is told, and nothing is refused.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/atomic.hpp"
#include "base/run_queue.hpp"
#include "base/spin_lock.hpp"

namespace jzx::drivers {

class Injection {
 public:
  explicit Injection(uint64_t high_water) noexcept : high_water_(high_water) {}

  // True: it has just passed its high-water mark.
  [[nodiscard]] bool push(base::Runnable& work) noexcept {
    std::lock_guard hold(lock_);
    queues_[work.level()].push(work);
    const uint64_t size = size_.load(std::memory_order_relaxed) + 1;  // changed under the lock only
    // seq_cst: before the caller's look for sleepers; see idle.hpp.
    size_.store(size, std::memory_order_seq_cst);
    if (size <= high_water_ || is_high_) return false;
    is_high_ = true;
    return true;
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
      if (size <= high_water_ / 2) is_high_ = false;
    }
    while (base::Runnable* work = batch.pop()) take(*work);
    return count;
  }

  // seq_cst: a worker looks here between its announcement that it sleeps and its sleep.
  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }
  [[nodiscard]] uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  const uint64_t high_water_;
  alignas(64) base::SpinLock lock_;
  base::RunQueue queues_[base::kPriorities];
  bool is_high_ = false;
  base::Atomic<uint64_t> size_{0};
};

}  // namespace jzx::drivers
