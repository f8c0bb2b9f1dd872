// What a worker does that has no work of its own: it takes what came from outside, robs its
// siblings, looks around a while longer if that has paid lately, and then sleeps, or naps where
// others will soon reach what is left. And it passes on that it has found something. This is the
// worker's half of the protocol in idle.hpp; the other half is whoever leaves work.
//
// `Worker` is who hunts; the model tests have one of their own. It has
//
//   index, group()              the number it has in the group; of that idle, injection, size(),
//                               has_cores(), wake_one(), call_napper() and has_stealable()
//   share_from_outside()        how much to take from the injection at a time
//   keep(work)                  into its own queues
//   steal()                     from siblings, if it pays; false: nothing
//   siblings_get_on()           is none of those in a long turn whose work is left to them?
//
// Threads: the worker's own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/executor.hpp"
#include "drivers/workers/idle.hpp"
#include "drivers/workers/victims.hpp"

namespace jzx::drivers {

template <class Worker>
class JobHunt {
 public:
  explicit JobHunt(Worker& worker) noexcept : worker_(worker) {}

  // It has work again, and has taken it out of its queues.
  void found_work() noexcept {
    naps_.begin_again();
    if (is_searching_) [[unlikely]]
      stop_searching();
  }
  // Also where it has found nothing and hunts no more, or is about to run what it has not looked
  // for, a timer's code. While this one counted as searching nobody else was woken: so it looks for
  // what was left meanwhile, in its own queues too. What is left after that wakes somebody by
  // itself.
  void stop_searching() noexcept {
    if (!is_searching_) return;
    is_searching_ = false;
    if (!worker_.group().idle.end_search()) return;
    if (!worker_.group().has_stealable(Idle::kNone)) return;
    worker_.group().wake_one();
    // Who left something outside meanwhile has called nobody from a nap, because this one searched.
    if (!worker_.group().injection.empty()) worker_.group().call_napper();
  }
  // What it took from a sibling had waited for one in a long turn.
  void note_long_turn() noexcept { naps_.note_long_turn(); }

  // True: there is something in its own queues now.
  [[nodiscard]] bool take_from_outside() noexcept {
    if (worker_.group().injection.empty()) return false;
    const uint32_t taken = worker_.group().injection.take(
        worker_.share_from_outside(), [&](base::Runnable& work) { worker_.keep(work); });
    // The first of them may run for long. Who searches does this when it stops searching.
    if (taken > 1 && !is_searching_) worker_.group().wake_one();
    return taken > 0;
  }
  // The same, of what is anywhere.
  [[nodiscard]] bool search_once() noexcept {
    if (take_from_outside()) return true;
    if (worker_.group().size() == 1) return false;
    if (!is_searching_) is_searching_ = worker_.group().idle.begin_search();
    return is_searching_ && worker_.steal();
  }
  // For as long as that has paid lately. `has_news()`: the next tick has something to do, so there
  // is no need to go on.
  template <class HasNews>
  [[nodiscard]] bool look_around(HasNews&& has_news) noexcept {
    if (search_once()) return true;
    if (!worker_.group().has_cores()) return false;  // who has work for it needs this one
    for (uint32_t round = 0; round < rounds_; ++round) {
      const bool is_for_the_tick = pause_for(has_news);
      if (!is_for_the_tick && !search_once()) continue;
      rounds_ = kMostRounds;  // it has paid
      return !is_for_the_tick;
    }
    return false;
  }

  // It is about to sleep, and all its siblings know: for how long it may, at most `wait_ns`. 0:
  // there is something to do after all. In any case woke_up() must follow.
  [[nodiscard]] uint64_t begin_sleep(uint64_t wait_ns) noexcept {
    Idle& idle = worker_.group().idle;
    idle.begin_sleep(worker_.index, is_searching_);
    is_searching_ = false;
    is_asleep_ = true;
    // Spinning did not pay: less next time, and now and then a try whether it would again.
    rounds_ = ++sleeps_ % 16 == 0 ? std::max(rounds_, kFewRounds) : rounds_ / 2;
    // Everyone looks once more, not only the last who searched: one that was not let search may be
    // the only one left awake.
    if (!worker_.group().has_stealable(worker_.index)) return wait_ns;
    // Awake for the others, who need not wake it.
    is_napping_ = idle.begin_nap(worker_.index);
    is_searching_ = !is_napping_;
    if (is_searching_ || !worker_.group().injection.empty()) return 0;
    return std::min(wait_ns, naps_.next_ns(worker_.siblings_get_on()));
  }
  [[nodiscard]] bool is_asleep() const noexcept { return is_asleep_; }
  [[nodiscard]] bool is_napping() const noexcept { return is_napping_; }
  [[nodiscard]] bool is_searching() const noexcept { return is_searching_; }

  void woke_up() noexcept {
    if (!std::exchange(is_asleep_, false)) return;
    if (is_napping_) {
      is_napping_ = false;
      is_searching_ = worker_.group().idle.end_nap(worker_.index);
      if (is_searching_) naps_.begin_again();
    } else if (!is_searching_) {
      is_searching_ = worker_.group().idle.end_sleep(worker_.index);
      naps_.begin_again();
    }
  }

 private:
  // For a round's worth of pauses, or until there is news. News lies in lines of this worker's own,
  // so to look between any two pauses costs nobody anything; a pause may take 20 ns, and a message
  // from another worker would wait for half of them.
  template <class HasNews>
  [[nodiscard]] static bool pause_for(HasNews& has_news) noexcept {
    for (int pauses = 0; pauses < kPausesPerRound; ++pauses) {
      base::spin_hint();
      if (has_news()) return true;
    }
    return false;
  }

  static constexpr uint32_t kMostRounds = 256;
  static constexpr uint32_t kFewRounds = 16;
  static constexpr int kPausesPerRound = 8;

  Worker& worker_;
  bool is_searching_ = false;
  bool is_asleep_ = false;   // or napping, as far as the others know
  bool is_napping_ = false;  // others have work that does not pay yet to take: for a while only
  uint32_t rounds_ = kMostRounds;  // of spinning before the next sleep
  uint32_t sleeps_ = 0;
  Naps naps_;
};

}  // namespace jzx::drivers
