// Who sleeps, who searches, and whom to wake. Workers without work search the others' queues for a
// while and then sleep in their reactors; whoever leaves work that anybody may take wakes one
// sleeper, but only if nobody is searching already: that one will find it, or will look once more
// before it sleeps. So at most one worker is woken at a time, and wakes the next only when it has
// found something to do.
//
//   state:  awake (high 16) | searching (low 16)
//
//   producer                                   worker
//   leaves the work             (seq_cst)      looked everywhere, found nothing
//   reads state                 (seq_cst)      state: awake - 1, searching - 1     (seq_cst)
//     somebody searches, or nobody sleeps?     looks at every queue once more      (seq_cst)
//       done                                   sleeps
//     else wakes a sleeper
//
// No wake-up is lost: these four stand in one order. If the producer reads a state in which the
// worker is still awake, then it stands before the worker's change of the state, and its work
// before that; the worker looks after the change and sees the work. (Every worker looks, not only
// the last who searched: one that was not let search may be the last to go to sleep.) If the
// producer reads the state after the change, it finds the worker asleep and wakes it, or one before
// it. A searcher that finds something to do is, if it was the last, a producer itself: it calls
// worker_to_wake().
//
// A worker whose last look saw only what others will reach soon naps: it sleeps for a time, and
// counts as awake, so that not everything that is left wakes it up. Who has something for it all
// the same calls it, in the same order: the producer leaves the work and reads how many nap, the
// worker says that it naps and looks again. One that is called counts as searching, like one that
// is woken; so of these, too, there is one at a time.
//
// Threads: any; begin_sleep(), begin_nap() and their ends by the worker concerned.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/spin_lock.hpp"

namespace jzx::drivers {

class Idle {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr uint32_t kMaxWorkers = 250;

  explicit Idle(uint32_t workers) noexcept : workers_(workers), state_(workers * kOneAwake) {
    JZX_ASSERT(workers <= kMaxWorkers);
  }

  // After work was left where anybody may take it: the worker that the caller must wake, or kNone.
  [[nodiscard]] uint32_t worker_to_wake() noexcept {
    if (!wants_waking()) return kNone;
    std::lock_guard hold(lock_);
    // relaxed: sleepers change under the lock only, and a searcher that comes now has yet to look.
    if (!wants_waking(state_.load(std::memory_order_relaxed)) || sleepers_.count == 0) return kNone;
    const uint32_t worker = sleepers_.take_newest();
    // It counts as searching from now on, so that nobody else is woken for the same work.
    state_.fetch_add(kOneAwake + kOneSearching, std::memory_order_seq_cst);
    return worker;
  }

  // After work was left where anybody may take it: false if nobody has to be woken.
  [[nodiscard]] bool wants_waking() const noexcept {
    // seq_cst: after the work was left; see above.
    return wants_waking(state_.load(std::memory_order_seq_cst));
  }

  // May this worker search? At most half of them do at a time: more would only get in each
  // other's way.
  [[nodiscard]] bool begin_search() noexcept {
    // relaxed: a limit for the sake of speed; one more does no harm.
    if (2 * searching(state_.load(std::memory_order_relaxed)) >= workers_) return false;
    state_.fetch_add(kOneSearching, std::memory_order_seq_cst);  // in the one order of the state
    return true;
  }

  // It found something to do. True: it was the last one searching; if there may be more to do, it
  // must go on to worker_to_wake().
  [[nodiscard]] bool end_search() noexcept {
    const uint32_t before = state_.fetch_sub(kOneSearching, std::memory_order_seq_cst);
    JZX_ASSERT(searching(before) > 0);
    return searching(before) == 1;
  }

  // It is about to sleep, and must look at every queue once more before it does.
  void begin_sleep(uint32_t worker, bool is_searching) noexcept {
    std::lock_guard hold(lock_);
    sleepers_.add(worker);
    // seq_cst: before the last look; see above.
    state_.fetch_sub(kOneAwake + (is_searching ? kOneSearching : 0), std::memory_order_seq_cst);
  }

  // It is awake again. True: somebody woke it to search, and it counts as searching.
  [[nodiscard]] bool end_sleep(uint32_t worker) noexcept {
    std::lock_guard hold(lock_);
    return !stop_sleeping(worker);
  }

  // It was about to sleep and naps instead; before it does, it must look again at what it is to be
  // called for. False: somebody woke it to search, and it counts as searching.
  [[nodiscard]] bool begin_nap(uint32_t worker) noexcept {
    std::lock_guard hold(lock_);
    if (!stop_sleeping(worker)) return false;
    nappers_.add(worker);
    // seq_cst: before the look; see above.
    napper_count_.store(nappers_.count, std::memory_order_seq_cst);
    return true;
  }

  // It does not nap any more. True: somebody called it, and it counts as searching.
  bool end_nap(uint32_t worker) noexcept {
    std::lock_guard hold(lock_);
    if (!nappers_.remove(worker)) return true;
    napper_count_.store(nappers_.count, std::memory_order_relaxed);  // who misses this looks again
    return false;
  }

  // After work was left that no worker may reach soon: as worker_to_wake(), or one that naps.
  [[nodiscard]] uint32_t worker_to_wake_or_call() noexcept {
    const uint32_t worker = worker_to_wake();
    return worker != kNone ? worker : napper_to_call();
  }

  // The worker that the caller must wake from its nap, or kNone.
  [[nodiscard]] uint32_t napper_to_call() noexcept {
    // seq_cst: after the work was left; see above.
    if (napper_count_.load(std::memory_order_seq_cst) == 0 || somebody_searches()) return kNone;
    std::lock_guard hold(lock_);
    if (nappers_.count == 0 || somebody_searches()) return kNone;
    const uint32_t worker = nappers_.take_newest();
    napper_count_.store(nappers_.count, std::memory_order_relaxed);  // as in end_nap()
    // As in worker_to_wake(): one at a time.
    state_.fetch_add(kOneSearching, std::memory_order_seq_cst);
    return worker;
  }

  // Snapshots.
  [[nodiscard]] uint32_t awake_count() const noexcept {
    return state_.load(std::memory_order_seq_cst) >> 16;  // see stall_watch.hpp
  }
  [[nodiscard]] bool somebody_naps() const noexcept {
    return napper_count_.load(std::memory_order_relaxed) > 0;  // a snapshot will do
  }
  [[nodiscard]] bool everybody_sleeps() const noexcept { return awake_count() == 0; }

 private:
  static constexpr uint32_t kOneSearching = 1;
  static constexpr uint32_t kOneAwake = 1u << 16;

  static constexpr uint32_t searching(uint32_t state) noexcept { return state & 0xffff; }
  // Who searches finds what was left, or looks once more before it sleeps or naps. relaxed: not
  // older than what the caller has read, or it holds the lock, and then any look will do: who
  // begins to search now has yet to look.
  [[nodiscard]] bool somebody_searches() const noexcept {
    return searching(state_.load(std::memory_order_relaxed)) > 0;
  }
  [[nodiscard]] bool wants_waking(uint32_t state) const noexcept {
    return searching(state) == 0 && (state >> 16) < workers_;
  }

  // Under the lock. False: somebody woke it.
  [[nodiscard]] bool stop_sleeping(uint32_t worker) noexcept {
    if (!sleepers_.remove(worker)) return false;
    state_.fetch_add(kOneAwake, std::memory_order_seq_cst);  // in the one order of the state
    return true;
  }

  // Some of the workers, in the order in which they came.
  struct Some {
    void add(uint32_t worker) noexcept { each[count++] = static_cast<uint8_t>(worker); }
    [[nodiscard]] uint32_t take_newest() noexcept { return each[--count]; }
    // False: it is not among them.
    [[nodiscard]] bool remove(uint32_t worker) noexcept {
      for (uint32_t i = 0; i < count; ++i) {
        if (each[i] != worker) continue;
        for (--count; i < count; ++i) each[i] = each[i + 1];
        return true;
      }
      return false;
    }

    base::Shared<uint32_t> count{0};
    base::Shared<uint8_t> each[kMaxWorkers];
  };

  uint32_t workers_;
  alignas(64) base::Atomic<uint32_t> state_;
  base::Atomic<uint32_t> napper_count_{0};
  base::SpinLock lock_;
  Some sleepers_;
  Some nappers_;
};

}  // namespace jzx::drivers
