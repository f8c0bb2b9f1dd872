// Does it pay to take work from a sibling? What is taken brings its cache lines along, some 100 ns
// each, and whoever only looks takes lines away too. So work stays where it is while its worker
// will soon reach it, and a worker with nothing to do looks at the others only now and then. It
// pays if
//
//   the sibling is in a long turn    it handled nothing for kLongTurnNs, about as long as it takes
//                                    to wake somebody; or
//   its queue is long                at the pace of that time the last one there would have to wait
//                                    for kLongWaitNs; or
//   its oldest fresh actor waits     for as long: that is a branch of a tree, which it will reach
//                                    last.
//
// Threads: one worker's own; what it is shown of the others are snapshots.
#pragma once

#include <cstdint>

namespace jzx::drivers {

// What can be seen of a sibling.
struct WorkerLoad {
  uint64_t steps = 0;    // messages handled, ever
  uint64_t taken = 0;    // taken from its rings, ever
  uint64_t waiting = 0;  // in its rings
  uint64_t first_fresh = 0;
  uint64_t fresh = 0;  // how many there are, from first_fresh on
};

class Victim {
 public:
  static constexpr uint64_t kBetweenLooksNs = 10'000;
  static constexpr uint64_t kLongTurnNs = 50'000;
  static constexpr uint64_t kLongWaitNs = 300'000;

  [[nodiscard]] bool may_be_looked_at(uint64_t now_ns) const noexcept {
    return now_ns - looked_ns_ >= kBetweenLooksNs;
  }

  // Is taking from it worth while?
  [[nodiscard]] bool is_worth_it(const WorkerLoad& now, uint64_t now_ns) noexcept {
    if (now_ns - looked_ns_ > kMemoryNs) begin(now, now_ns);  // too long ago to tell anything
    looked_ns_ = now_ns;
    if (now.fresh == 0 || now.first_fresh != first_fresh_) {
      first_fresh_ = now.first_fresh;
      fresh_since_ns_ = now_ns;
    }
    if (now.waiting + now.fresh == 0) return begin(now, now_ns), false;
    if (now.fresh > 0 && now_ns - fresh_since_ns_ >= kLongWaitNs) return true;
    const uint64_t elapsed_ns = now_ns - since_ns_;
    if (elapsed_ns < kLongTurnNs) return false;
    if (now.steps == since_.steps) return true;
    const uint64_t taken = now.taken - since_.taken;
    const bool is_long = now.waiting * elapsed_ns >= kLongWaitNs * (taken == 0 ? 1 : taken);
    begin(now, now_ns);
    return is_long;
  }

 private:
  // Well above the longest nap, which without a wait of nanoseconds is a millisecond or two.
  static constexpr uint64_t kMemoryNs = 50'000'000;

  void begin(const WorkerLoad& now, uint64_t now_ns) noexcept {
    since_ = now;
    since_ns_ = now_ns;
  }

  // What is compared with, and since when that is.
  WorkerLoad since_;
  uint64_t since_ns_ = 0;
  uint64_t looked_ns_ = 0;
  uint64_t first_fresh_ = ~uint64_t{0};  // of the last look
  uint64_t fresh_since_ns_ = 0;
};

}  // namespace jzx::drivers
