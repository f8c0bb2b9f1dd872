#include "drivers/workers/ready_queues.hpp"

#include <mutex>

namespace jzx::drivers {

using base::kPriorities;
using base::Runnable;

namespace {

constexpr uint32_t kFreshLevel = ReadyQueues::kCommonLevel;
constexpr uint32_t kAboveFresh = (1u << kFreshLevel) - 1;

}  // namespace

void ReadyQueues::push_ring(Runnable& work) noexcept {
  const uint32_t level = work.level();
  if (push_ring_at_once(work, level)) return;
  std::lock_guard hold(overflow_lock_);
  overflow_[level].push(work);
  // seq_cst: before the look for sleepers; see idle.hpp.
  overflow_count_[level].fetch_add(1, std::memory_order_seq_cst);
}

Runnable* ReadyQueues::next_but_lifo() noexcept {
  // What went through the lifo slot since the last time is counted now: it had to come here before
  // it were too many.
  const bool lifo_had_its_share = in_a_row_ >= kInARow;
  picks_ += 1 + in_a_row_;
  in_a_row_ = 0;
  // Mostly it is the turn of what was spawned last, or of the oldest at the same level.
  if (!lifo_had_its_share && picks_ < kFairEvery && (queued_ & kAboveFresh) == 0) [[likely]] {
    if (Runnable* work = fresh_.pop()) return work;
    // No call here, so that no register has to be saved: what is unusual is left to who follows.
    if (!has_thieves_) {
      if (Runnable* work = pop_pinned(kFreshLevel)) return work;
    } else if (pinned_[kFreshLevel].empty() && !has_overflow(kFreshLevel)) [[likely]] {
      if (Runnable* work = rings_[kFreshLevel].pop()) return work;
    }
  }
  return next_in_order(lifo_had_its_share);
}

Runnable* ReadyQueues::next_in_order(bool lifo_had_its_share) noexcept {
  // After the lifo slot has had its share, the fresh and the others take turns.
  bool others_first = false;
  if (lifo_had_its_share) {
    fresh_after_lifo_ = !fresh_after_lifo_;
    others_first = !fresh_after_lifo_;
  }
  if (picks_ >= kFairEvery) {
    picks_ = 0;
    if (Runnable* work = next_in_fairness()) return work;
  }
  for (uint32_t level = 0; level < kPriorities; ++level) {
    if (level == kFreshLevel && !others_first) {
      if (Runnable* work = fresh_.pop()) return work;
    }
    if ((queued_ & (1u << level)) == 0) continue;
    if (Runnable* work = pop(level)) return work;
  }
  if (Runnable* work = fresh_.pop()) return work;
  return lifo_.take();
}

// One level after another, so that each comes up once in a few picks.
Runnable* ReadyQueues::next_in_fairness() noexcept {
  // The oldest, as a thief would. Where there are so many that this is no tree, it is soon its
  // turn.
  if (++fair_picks_ % kFreshEvery == 0 || fresh_.size() == kMostFresh) {
    if (Runnable* work = fresh_.steal()) return work;
  }
  for (uint32_t tries = 0; tries < kPriorities; ++tries) {
    fair_level_ = (fair_level_ + kPriorities - 1) % kPriorities;  // the lowest level early
    // What is in the lifo slot and the others of its level take turns.
    const bool has_lifo = lifo_.level() == fair_level_ && !lifo_.is_empty();
    if (has_lifo) lifo_is_next_ = !lifo_is_next_;
    if (has_lifo && lifo_is_next_) {
      if (Runnable* work = lifo_.take()) return work;
    }
    // And so do the fresh and the others.
    if (fair_level_ == kFreshLevel) fresh_is_next_ = !fresh_is_next_;
    if (fair_level_ == kFreshLevel && fresh_is_next_) {
      if (Runnable* work = fresh_.pop()) return work;
    }
    if ((queued_ & (1u << fair_level_)) != 0) {
      if (Runnable* work = pop(fair_level_)) return work;
    }
    if (fair_level_ == kFreshLevel) {
      if (Runnable* work = fresh_.pop()) return work;
    }
    if (has_lifo) {
      if (Runnable* work = lifo_.take()) return work;
    }
  }
  return nullptr;
}

Runnable* ReadyQueues::pop_of_all(uint32_t level) noexcept {
  if (!pinned_[level].empty()) return pop_in_turns(level);
  // Thieves may have taken all that came back into the ring, and there may be more.
  do {
    if (Runnable* work = pop_ring(level)) return work;
  } while (has_overflow(level));
  queued_ &= ~(1u << level);
  return nullptr;
}

// Pinned work, of which there is some, and the rest. Not where there is none: to whom it is the
// turn would be guessed wrong, every other time.
Runnable* ReadyQueues::pop_in_turns(uint32_t level) noexcept {
  pinned_first_ = !pinned_first_;
  if (!pinned_first_) {
    if (Runnable* work = pop_ring(level)) return work;
  }
  Runnable* work = pinned_[level].pop();
  if (work != nullptr && work->home() <= base::kLastWorker) {
    auto& actor = static_cast<core::Actor&>(*work);  // only actors have a worker for a home
    last_pinned_ = {&actor, actor.id()};
  }
  return work;
}

Runnable* ReadyQueues::pop_ring(uint32_t level) noexcept {
  if (has_overflow(level)) refill(level);
  return rings_[level].pop();
}

// The ring holds what came before the overflow, so order is kept.
void ReadyQueues::refill(uint32_t level) noexcept {
  if (rings_[level].size() > ring_limit_ / 2) return;
  std::lock_guard hold(overflow_lock_);
  while (rings_[level].size() < ring_limit_) {
    Runnable* work = overflow_[level].pop();
    if (work == nullptr) return;
    [[maybe_unused]] const bool pushed = rings_[level].push(work, ring_limit_);
    JZX_ASSERT(pushed);  // only the owner fills it
    // seq_cst: after the push; pairs with has_stealable(), which finds it in one of the two.
    overflow_count_[level].fetch_sub(1, std::memory_order_seq_cst);
  }
}

bool ReadyQueues::steal_into(ReadyQueues& thief, uint32_t at_most, bool even_lifo) noexcept {
  const auto take = [&](Runnable* work) { thief.push_back(*work); };
  for (uint32_t level = 0; level < kPriorities; ++level) {
    if (rings_[level].steal(at_most, take) > 0) return true;
  }
  if (Runnable* work = fresh_.steal()) return take(work), true;
  for (uint32_t level = 0; level < kPriorities; ++level) {
    if (overflow_count_[level].load(std::memory_order_relaxed) == 0) continue;  // a hint
    uint32_t taken = 0;
    base::RunQueue batch;
    {
      std::lock_guard hold(overflow_lock_);
      while (taken < at_most && !overflow_[level].empty()) {
        batch.push(*overflow_[level].pop());
        ++taken;
      }
      overflow_count_[level].fetch_sub(taken, std::memory_order_seq_cst);  // as in push_ring()
    }
    while (Runnable* work = batch.pop()) thief.push_back(*work);
    if (taken > 0) return true;
  }
  if (!even_lifo) return false;
  Runnable* work = lifo_.steal();
  if (work == nullptr) return false;
  return take(work), true;
}

bool ReadyQueues::is_empty() const noexcept {
  for (const base::RunQueue& pinned : pinned_) {
    if (!pinned.empty()) return false;
  }
  return !has_stealable(true);
}

bool ReadyQueues::has_stealable(bool even_lifo) const noexcept {
  for (uint32_t level = 0; level < kPriorities; ++level) {
    // seq_cst: looked at between the announcement of a sleep and the sleep. The overflow first:
    // what leaves it is in the ring by then, see refill().
    if (overflow_count_[level].load(std::memory_order_seq_cst) > 0) return true;
    if (!rings_[level].empty()) return true;
  }
  return !fresh_.empty() || (even_lifo && !lifo_.is_empty());
}

WorkerLoad ReadyQueues::load() const noexcept {
  WorkerLoad load;
  load.fresh = fresh_.size();
  load.first_fresh = fresh_.first();
  for (uint32_t level = 0; level < kPriorities; ++level) {
    load.taken += rings_[level].taken();
    load.waiting += rings_[level].size();
    load.waiting += overflow_count_[level].load(std::memory_order_relaxed);  // a snapshot
  }
  return load;
}

}  // namespace jzx::drivers
