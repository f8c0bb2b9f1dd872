#include "base/time/timer_wheel.hpp"

#include <algorithm>

#include "base/time/clock.hpp"

namespace jzx::base {

TimerWheel::TimerWheel(uint64_t start_ms) noexcept : tick_ms_(start_ms) {
  for (Node& sentinel : buckets_) sentinel.next = sentinel.prev = &sentinel;
}

size_t TimerWheel::first_occupied() const noexcept {
  for (size_t word = 0; word < kWheelWords; ++word) {
    if (occupied_[word] != 0) {
      return word * 64 + static_cast<size_t>(std::countr_zero(occupied_[word]));
    }
  }
  return kWheelBuckets;
}

uint64_t TimerWheel::start_of(size_t bucket) const noexcept {
  if (bucket < kFirstLevelBuckets) return (tick_ms_ & ~uint64_t{kFirstLevelBuckets - 1}) | bucket;
  const size_t above = bucket - kFirstLevelBuckets;
  const unsigned shift = shift_of(static_cast<unsigned>(above / kLevelBuckets) + 1);
  // Two shifts: the digit of the top level ends beyond the 64th bit.
  const uint64_t higher_digits = tick_ms_ & (~uint64_t{0} << shift << kDigitBits);
  return higher_digits | (uint64_t{above % kLevelBuckets} << shift);
}

uint64_t TimerWheel::next_wake_ms() const noexcept {
  const Node& due = buckets_[kDueBucket];
  if (due.next != &due) return as_timer(*due.next).deadline_ms;
  const size_t bucket = first_occupied();
  return bucket == kWheelBuckets ? kNever : start_of(bucket);
}

uint64_t TimerWheel::next_deadline_ms() const noexcept {
  const Node& due = buckets_[kDueBucket];
  if (due.next != &due) return as_timer(*due.next).deadline_ms;
  const size_t bucket = first_occupied();
  if (bucket < kFirstLevelBuckets) return start_of(bucket);
  uint64_t earliest = kNever;
  if (bucket == kWheelBuckets) return earliest;
  const Node& sentinel = buckets_[bucket];
  for (Node* node = sentinel.next; node != &sentinel; node = node->next) {
    earliest = std::min(earliest, as_timer(*node).deadline_ms);
  }
  return earliest;
}

Timer& TimerWheel::any_timer() noexcept {
  JZX_ASSERT(!empty());
  const size_t bucket = first_occupied();  // kWheelBuckets is kDueBucket
  return as_timer(*buckets_[bucket].next);
}

// From one occupied bucket to the next: the empty time between them costs nothing.
void TimerWheel::collect_due(uint64_t now_ms) noexcept {
  now_ms = std::max(now_ms, tick_ms_);
  for (;;) {
    const size_t bucket = first_occupied();
    if (bucket == kWheelBuckets) break;
    const uint64_t start = start_of(bucket);
    if (start > now_ms) break;
    tick_ms_ = start;
    if (bucket < kFirstLevelBuckets) {
      make_due(bucket);
    } else {
      cascade(bucket);
    }
  }
  tick_ms_ = now_ms;
}

void TimerWheel::make_due(size_t bucket) noexcept {
  Node& from = buckets_[bucket];
  Node& due = buckets_[kDueBucket];
  from.next->prev = due.prev;
  due.prev->next = from.next;
  from.prev->next = &due;
  due.prev = from.prev;
  from.next = from.prev = &from;
  mark_empty(bucket);
}

// The tick has reached the bucket's start, so each of its timers now belongs on a lower level.
void TimerWheel::cascade(size_t bucket) noexcept {
  Node& from = buckets_[bucket];
  Node* node = from.next;
  from.next = from.prev = &from;
  mark_empty(bucket);
  while (node != &from) {
    Timer& timer = as_timer(*node);
    node = node->next;
    timer.next = timer.prev = nullptr;
    place(timer);
  }
}

}  // namespace jzx::base
