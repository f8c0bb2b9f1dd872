// The pending timers of one worker, as a hierarchical wheel over the digits of a 64-bit
// millisecond: the lowest digit has 8 bits, every higher one 6.
//
//   level 0   256 buckets of 1 ms      one deadline each
//   level 1    64 buckets of 256 ms
//   level 2    64 buckets of 16.4 s
//   level 3…10                         the ordered overflow, up to the whole 64-bit range
//
// A timer lies on the level of the highest digit in which its deadline differs from the current
// tick, in the bucket of that digit. Three things follow, as long as the tick stays put or moves
// forward over empty buckets only:
//   - a bucket lies ahead of the tick's own digit on its level, so no level ever wraps around;
//   - every deadline of a level is before every deadline of the level above, so the first
//     occupied bucket, in the order of the array, holds the earliest deadline;
//   - equal deadlines share a bucket at all times, so their order survives each cascade.
//
// The overflow is more levels, not a sorted list: a sorted list is O(n) to insert into, a heap
// loses the order of equal deadlines and the O(1) removal, and eight more levels cost 8 KiB and
// no code of their own.
//
// A bit per bucket says whether it is occupied, exactly: removal takes the last timer's bucket
// from its neighbour, which is then the bucket's sentinel.
//
// Timers are linked in, not owned: each outlives its stay. Threads: the owner only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/executor.hpp"
#include "base/list.hpp"

namespace jzx::base {

class TimerWheel {
 public:
  explicit TimerWheel(uint64_t start_ms) noexcept;
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;
  ~TimerWheel() { JZX_ASSERT(empty()); }

  // A deadline before the current tick counts as the current tick, and is stored as such: the
  // timer is due at the next advance(), after those inserted for this tick before it.
  void insert(Timer& timer, uint64_t deadline_ms) noexcept {
    timer.deadline_ms = deadline_ms > tick_ms_ ? deadline_ms : tick_ms_;
    place(timer);
    ++size_;
  }

  // The timer must be in this wheel.
  void remove(Timer& timer) noexcept {
    JZX_ASSERT(size_ > 0);
    take_out(timer);
  }

  // Moves the tick to `now_ms` (an older one than the current is taken as the current) and calls
  // fire(Timer&) for each timer due by then, in the order of deadlines and, among equals, of
  // insertion. The timer is unlinked before the call. `fire` may insert and remove any timers;
  // what it inserts waits for a later advance(), however short its delay, so that a timer
  // that rearms itself cannot hold the caller for ever.
  template <class Fire>
  void advance(uint64_t now_ms, Fire&& fire) {
    collect_due(now_ms);
    while (Timer* timer = pop_due()) fire(*timer);
  }

  // The two steps of advance(), for those who let go of a lock in between: moves the tick, …
  void collect_due(uint64_t now_ms) noexcept;
  // … and unlinks the next timer that is due, or nullptr.
  [[nodiscard]] Timer* pop_due() noexcept {
    Node& due = buckets_[kDueBucket];
    if (due.next == &due) return nullptr;
    Timer& timer = as_timer(*due.next);
    take_out(timer);
    return &timer;
  }

  // Never later than the earliest deadline, but possibly earlier: the instant at which a bucket
  // must be cascaded. kNever if empty.
  [[nodiscard]] uint64_t next_wake_ms() const noexcept;

  // The earliest deadline; kNever if empty. Looks through one bucket.
  [[nodiscard]] uint64_t next_deadline_ms() const noexcept;

  [[nodiscard]] size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  // Unlinks every timer and calls each(Timer&) for it, in no promised order. `each` may remove
  // timers, but not insert any.
  template <class Each>
  void clear(Each&& each) {
    while (!empty()) {
      Timer& timer = any_timer();
      take_out(timer);
      each(timer);
    }
  }

 private:
  using Node = ListNode<InTimerList>;

  static constexpr unsigned kFirstDigitBits = 8;
  static constexpr unsigned kDigitBits = 6;
  static constexpr size_t kFirstLevelBuckets = size_t{1} << kFirstDigitBits;
  static constexpr size_t kLevelBuckets = size_t{1} << kDigitBits;
  static constexpr size_t kLevelsAbove = (64 - kFirstDigitBits + kDigitBits - 1) / kDigitBits;
  static constexpr size_t kWheelBuckets = kFirstLevelBuckets + kLevelsAbove * kLevelBuckets;
  // Holds what advance() is about to fire. It has a bit, so that removal need not tell it from
  // other buckets, but the bit is never set.
  static constexpr size_t kDueBucket = kWheelBuckets;
  static constexpr size_t kWheelWords = kWheelBuckets / 64;

  static Timer& as_timer(Node& node) noexcept { return static_cast<Timer&>(node); }

  // The lowest bit of the digit that `level` (1 or above) stands for.
  static constexpr unsigned shift_of(unsigned level) noexcept {
    return kFirstDigitBits + kDigitBits * (level - 1);
  }

  [[nodiscard]] size_t bucket_for(uint64_t deadline_ms) const noexcept {
    const uint64_t difference = deadline_ms ^ tick_ms_;
    if (difference < kFirstLevelBuckets) return deadline_ms & (kFirstLevelBuckets - 1);
    const unsigned highest_bit = static_cast<unsigned>(std::bit_width(difference)) - 1;
    const unsigned level = (highest_bit - kFirstDigitBits) / kDigitBits + 1;
    const uint64_t digit = (deadline_ms >> shift_of(level)) & (kLevelBuckets - 1);
    return kFirstLevelBuckets + (level - 1) * kLevelBuckets + digit;
  }

  void place(Timer& timer) noexcept {
    const size_t bucket = bucket_for(timer.deadline_ms);
    timer.insert_before(buckets_[bucket]);
    occupied_[bucket / 64] |= uint64_t{1} << (bucket % 64);
  }

  void take_out(Timer& timer) noexcept {
    Node* neighbour = timer.prev;
    timer.unlink();
    --size_;
    // Only the sentinel of an empty bucket is its own neighbour.
    if (neighbour->next == neighbour) mark_empty(static_cast<size_t>(neighbour - buckets_));
  }

  void mark_empty(size_t bucket) noexcept {
    JZX_ASSERT(bucket <= kDueBucket);
    occupied_[bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
  }

  // kWheelBuckets if none is.
  [[nodiscard]] size_t first_occupied() const noexcept;
  // The earliest deadline that an occupied `bucket` may hold.
  [[nodiscard]] uint64_t start_of(size_t bucket) const noexcept;
  [[nodiscard]] Timer& any_timer() noexcept;

  void make_due(size_t bucket) noexcept;
  void cascade(size_t bucket) noexcept;

  uint64_t tick_ms_;
  size_t size_ = 0;
  uint64_t occupied_[kWheelWords + 1] = {};
  Node buckets_[kWheelBuckets + 1];  // the sentinels of circular lists, the oldest timer first
};

}  // namespace jzx::base
