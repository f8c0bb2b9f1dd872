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
// Whether it has paid can be seen afterwards, when the thief has done what it took: the two of them
// should have handled more than the sibling alone did before, or else the sibling at least as much.
// Where it was only slowed down, because what was taken talks to what was left, the next wait has
// to be twice as long.
//
// A worker that has found nothing worth taking naps before it looks again, and longer when that was
// in vain several times: to wake up takes time from whoever else runs on the same core. A worker
// looks at itself in the same way, while others nap, and calls one when it would pay.
//
// Threads: one worker's own; what it is shown of the others are snapshots.
#pragma once

#include <algorithm>
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
  static constexpr uint32_t kMostDoublings = 4;
  // One doubling is taken back after so long: things may have changed.
  static constexpr uint64_t kForgetNs = 20'000'000;

  // Now and then, and when the thief has done what it took.
  [[nodiscard]] bool may_be_looked_at(uint64_t now_ns) const noexcept {
    return was_robbed_ || now_ns - looked_ns_ >= kBetweenLooksNs;
  }

  // Is taking from it worth while? `own_steps`: the messages that the thief handled, ever.
  [[nodiscard]] bool is_worth_it(const WorkerLoad& now, uint64_t own_steps,
                                 uint64_t now_ns) noexcept {
    is_in_long_turn_ = false;
    if (was_robbed_) judge(now, own_steps, now_ns);
    if (now_ns - looked_ns_ > kMemoryNs) begin(now, now_ns);  // too long ago to tell anything
    looked_ns_ = now_ns;
    if (now.fresh == 0 || now.first_fresh != first_fresh_) {
      first_fresh_ = now.first_fresh;
      fresh_since_ns_ = now_ns;
    }
    if (now.waiting + now.fresh == 0) return begin(now, now_ns), false;
    const uint64_t elapsed_ns = now_ns - since_ns_;
    if (elapsed_ns >= kLongTurnNs) alone_ = {now.steps - since_.steps, elapsed_ns};
    forget(now_ns);
    const uint64_t long_wait_ns = kLongWaitNs << doublings_;
    if (now.fresh > 0 && now_ns - fresh_since_ns_ >= long_wait_ns) return true;
    if (elapsed_ns < kLongTurnNs) return false;
    is_in_long_turn_ = now.steps == since_.steps;
    if (is_in_long_turn_) return true;
    const uint64_t taken = now.taken - since_.taken;
    const bool is_long = now.waiting * elapsed_ns >= long_wait_ns * (taken == 0 ? 1 : taken);
    begin(now, now_ns);
    return is_long;
  }

  // Was that, at the last look, why it is worth it?
  [[nodiscard]] bool is_in_long_turn() const noexcept { return is_in_long_turn_; }

  // The thief has taken something, now that it was worth it.
  void note_theft(const WorkerLoad& now, uint64_t own_steps, uint64_t now_ns) noexcept {
    was_robbed_ = true;
    robbed_ns_ = now_ns;
    steps_then_ = now.steps;
    own_steps_then_ = own_steps;
  }

 private:
  // Well above the longest nap, which without a wait of nanoseconds is a millisecond or two.
  static constexpr uint64_t kMemoryNs = 50'000'000;

  // Fewer than these tell nothing, and are long: then taking work always pays.
  static constexpr uint64_t kFewSteps = 16;

  struct Pace {
    uint64_t steps = 0;
    uint64_t ns = 0;

    // By more than an eighth, which may be chance.
    [[nodiscard]] bool is_well_above(const Pace& other) const noexcept {
      return 8 * steps * other.ns > 9 * other.steps * ns;
    }
  };

  // The thief is back.
  void judge(const WorkerLoad& now, uint64_t own_steps, uint64_t now_ns) noexcept {
    was_robbed_ = false;
    const Pace sibling = {now.steps - steps_then_, now_ns - robbed_ns_};
    const Pace together = {sibling.steps + own_steps - own_steps_then_, sibling.ns};
    begin(now, now_ns);  // from here on it is alone again
    forget(now_ns);
    // Too short to tell, or so long that all may have changed meanwhile.
    if (together.ns < kLongTurnNs || together.ns > kMemoryNs) return;
    if (alone_.steps < kFewSteps) return;
    if (together.is_well_above(alone_)) {
      doublings_ = 0;
    } else if (alone_.is_well_above(sibling)) {
      doublings_ = std::min(doublings_ + 1, kMostDoublings);
    }
    judged_ns_ = now_ns;
  }
  void forget(uint64_t now_ns) noexcept {
    const uint64_t forgotten = (now_ns - judged_ns_) / kForgetNs;
    if (forgotten == 0) return;
    doublings_ -= static_cast<uint32_t>(std::min<uint64_t>(doublings_, forgotten));
    judged_ns_ = now_ns;
  }

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
  bool is_in_long_turn_ = false;

  Pace alone_;  // of the sibling, when last seen for long enough
  bool was_robbed_ = false;
  uint64_t robbed_ns_ = 0;
  uint64_t steps_then_ = 0;
  uint64_t own_steps_then_ = 0;
  uint32_t doublings_ = 0;  // of the wait that is too long
  uint64_t judged_ns_ = 0;
};

// How long to nap, while others have work that does not pay to take. Who has long naps is called
// when that changes, by the others or by who brings work from outside; but one that is in a long
// turn can call nobody. So naps are long only while the others are seen to get on, and not for some
// time after a long turn.
class Naps {
 public:
  static constexpr uint64_t kShortestNs = 100'000;
  static constexpr uint32_t kShortOnes = 4;  // enough to see that somebody waits for long
  static constexpr uint32_t kMostDoublings = 6;
  static constexpr uint32_t kFewDoublings = 2;
  static constexpr uint32_t kWaryOnes = 256;  // a tenth of a second

  [[nodiscard]] uint64_t next_ns(bool others_get_on) noexcept {
    const bool is_wary = wary_ones_ > 0;
    if (is_wary) --wary_ones_;
    if (in_vain_ < kShortOnes) return ++in_vain_, kShortestNs;
    const uint32_t doublings = in_vain_ - kShortOnes + 1;
    if (doublings < kMostDoublings) ++in_vain_;
    const uint32_t most = others_get_on && !is_wary ? kMostDoublings : kFewDoublings;
    return kShortestNs << std::min(doublings, most);
  }
  // It has found something to do, or there is news.
  void begin_again() noexcept { in_vain_ = 0; }
  // Work had to be taken from one that was in a long turn.
  void note_long_turn() noexcept { wary_ones_ = kWaryOnes; }

 private:
  uint32_t in_vain_ = 0;
  uint32_t wary_ones_ = 0;
};

}  // namespace jzx::drivers
