// The ready work of one worker among several.
//
//   lifo      the actor that was woken last: its message is still in the cache. Runs next, but not
//             more than a few times in a row while others wait.
//   fresh     actors that never ran, newest first, so that a tree of spawns goes depth first;
//             thieves take the oldest.
//   rings     a bounded FIFO per priority; thieves take half.
//   overflow  what found its ring full, in order behind it: this worker's part of the injection
//             queue. It comes back into the ring as that empties, so a busy worker's ready actors
//             keep their order; thieves may take from it when the rings are empty.
//   pinned    a FIFO per priority of what only this worker may run.
//
// The next one is the first of the highest priority. So that the others get on too, one pick in
// about kFairEvery goes to one level after another, whatever waits above it; and of those now and
// then one to the oldest of the fresh: seldom, since each that is taken out of turn opens another
// branch of a tree of spawns before the last one is done, and a tree should go depth first.
//
// Threads: the owner; steal_into() and has_stealable() by others.
#pragma once

#include "base/run_queue.hpp"
#include "base/spin_lock.hpp"
#include "base/steal/lifo_slot.hpp"
#include "base/steal/steal_deque.hpp"
#include "base/steal/steal_queue.hpp"
#include "drivers/workers/linger.hpp"
#include "drivers/workers/victims.hpp"

namespace jzx::drivers {

class ReadyQueues {
 public:
  static constexpr uint32_t kRing = 256;
  static constexpr uint32_t kMostFresh = 1024;
  static constexpr uint32_t kFairEvery = 61;
  static constexpr uint32_t kFreshEvery = 1024;
  static constexpr uint32_t kInARow = 16;
  static constexpr auto kCommonLevel = static_cast<uint32_t>(base::Priority::normal);

  // `ring_limit` is at most kRing. Without thieves nothing here needs a locked instruction: then
  // the rings are not used, since all work is as good as pinned.
  ReadyQueues(uint32_t ring_limit, bool has_thieves) noexcept
      : ring_limit_(ring_limit),
        has_thieves_(has_thieves),
        lifo_(has_thieves),
        fresh_(has_thieves) {}

  // ---- the owner ----

  // It was woken. True: there is something new that others may take.
  [[nodiscard]] bool push(base::Runnable& work) noexcept {
    if (work.standing.is_fresh_and_normal()) {
      work.standing.no_longer_fresh();
      if (!fresh_.push(&work)) push_back(work);
      return true;
    }
    work.standing.no_longer_fresh();
    return push_next(work);
  }
  // It has had its turn and wants another: behind the others.
  void push_back(base::Runnable& work) noexcept {
    work.standing.no_longer_fresh();
    if (has_thieves_) {
      push_ring(work);
    } else {
      push_pinned(work);
    }
  }
  // The same of one that has been queued before, without a call or a loop. False: there is
  // something unusual about it, or no room, and it is in no queue.
  [[nodiscard]] bool push_back_at_once(base::Runnable& work) noexcept {
    if (!work.standing.is_common()) [[unlikely]]
      return false;
    if (has_thieves_) return push_ring_at_once(work, kCommonLevel);
    push_pinned(work, kCommonLevel);
    return true;
  }
  // Into the lifo slot. Also for one that has had its turn and whom others give much to do: it goes
  // on at once, as often as the slot may. What others send to it meanwhile would otherwise pile up,
  // and fall out of the cache; and it comes before those that it has just woken, who may be the
  // ones that send. True: there is something new that others may take.
  [[nodiscard]] bool push_next(base::Runnable& work) noexcept {
    base::Runnable* before = lifo_.swap(work);
    if (before == nullptr) return false;
    push_back(*before);
    return true;
  }
  // The same of one that is as most are: who was there before it and is to be pushed back, or
  // nullptr.
  [[nodiscard]] base::Runnable* push_next_common(base::Runnable& work) noexcept {
    return lifo_.swap(work, kCommonLevel);
  }
  void push_pinned(base::Runnable& work) noexcept {
    work.standing.no_longer_fresh();
    push_pinned(work, work.level());
  }

  // nullptr: there is none.
  [[nodiscard]] base::Runnable* next() noexcept {
    if (in_a_row_ < kInARow && (queued_ & lifo_.levels_above()) == 0) [[likely]] {
      if (base::Runnable* work = lifo_.take()) {
        ++in_a_row_;
        return work;
      }
    }
    return next_but_lifo();
  }

  // So many went through the lifo slot, one after the other.
  [[nodiscard]] uint32_t in_a_row() const noexcept { return in_a_row_; }
  // What went through the lifo slot has taken long enough: it is the turn of the others.
  void end_row() noexcept { in_a_row_ = kInARow; }

  // The pinned actor that was taken last, once.
  [[nodiscard]] LastRun take_last_pinned() noexcept { return std::exchange(last_pinned_, {}); }

  [[nodiscard]] bool has_thieves() const noexcept { return has_thieves_; }
  // Perhaps.
  [[nodiscard]] bool has_ready() const noexcept {
    return queued_ != 0 || !lifo_.is_empty() || !fresh_.empty();
  }
  [[nodiscard]] bool is_empty() const noexcept;

  // ---- thieves ----

  // Moves some to the thief. False: there was nothing to be had. `even_lifo`: the owner has been in
  // one turn for long.
  [[nodiscard]] bool steal_into(ReadyQueues& thief, uint32_t at_most, bool even_lifo) noexcept;
  [[nodiscard]] bool has_stealable(bool even_lifo) const noexcept;

  // What others see, all but the steps.
  [[nodiscard]] WorkerLoad load() const noexcept;

  [[nodiscard]] base::LifoSlot& lifo() noexcept { return lifo_; }

 private:
  [[nodiscard]] base::Runnable* next_but_lifo() noexcept;
  [[nodiscard]] base::Runnable* next_in_order(bool lifo_had_its_share) noexcept;
  [[nodiscard]] base::Runnable* next_in_fairness() noexcept;
  [[nodiscard]] base::Runnable* pop(uint32_t level) noexcept {
    return has_thieves_ ? pop_of_all(level) : pop_pinned(level);
  }
  [[nodiscard]] base::Runnable* pop_of_all(uint32_t level) noexcept;
  [[nodiscard]] base::Runnable* pop_in_turns(uint32_t level) noexcept;
  // Without thieves there is nothing else.
  [[nodiscard]] base::Runnable* pop_pinned(uint32_t level) noexcept {
    base::Runnable* work = pinned_[level].pop();
    if (work == nullptr) queued_ &= ~(1u << level);
    return work;
  }
  [[nodiscard]] base::Runnable* pop_ring(uint32_t level) noexcept;
  void push_pinned(base::Runnable& work, uint32_t level) noexcept {
    pinned_[level].push(work);
    queued_ |= 1u << level;
  }
  void push_ring(base::Runnable& work) noexcept;
  // False: its ring is full, or others wait before it.
  [[nodiscard]] bool push_ring_at_once(base::Runnable& work, uint32_t level) noexcept {
    queued_ |= 1u << level;
    return !has_overflow(level) && rings_[level].push(&work, ring_limit_);
  }
  [[nodiscard]] bool has_overflow(uint32_t level) const noexcept {
    // relaxed: only the owner adds to it, so who reads 0 has nothing of its own in there; and what
    // a thief took is gone either way.
    return overflow_count_[level].load(std::memory_order_relaxed) > 0;
  }
  void refill(uint32_t level) noexcept;

  // ---- the owner's own ----
  uint32_t queued_ = 0;  // a bit per level with something in ring, overflow or pinned; may be stale
  uint32_t in_a_row_ = 0;
  uint32_t picks_ = 0;  // since one went by fairness
  uint32_t fair_picks_ = 0;
  uint32_t fair_level_ = 0;
  uint32_t ring_limit_;
  const bool has_thieves_;
  bool pinned_first_ = false;
  bool lifo_is_next_ = false;
  bool fresh_is_next_ = false;
  bool fresh_after_lifo_ = false;
  base::RunQueue pinned_[base::kPriorities];
  LastRun last_pinned_;

  // ---- shared ----
  alignas(64) base::LifoSlot lifo_;
  base::StealDeque<base::Runnable, kMostFresh> fresh_;
  base::StealQueue<base::Runnable, kRing> rings_[base::kPriorities];

  alignas(64) base::SpinLock overflow_lock_;
  base::RunQueue overflow_[base::kPriorities];
  base::Atomic<uint32_t> overflow_count_[base::kPriorities]{};
};

}  // namespace jzx::drivers
