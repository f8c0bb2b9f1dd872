// The two contracts under everything that runs: Runnable, a piece of work that queues hold,
// and Executor, who runs it. Actors and task continuations are both Runnables; async, sync
// and net know nothing of actors and only this of drivers.
//
// Lifetime: a Runnable outlives its stay in a queue; it is in at most one queue at a time.
// Threads: each function of Executor says who may call it.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/end_list.hpp"
#include "base/list.hpp"

namespace jzx::io {
class Reactor;
}

namespace jzx::base {

class Executor;

// Among what is ready, earlier first; a worker sees to it that the later ones get on too.
enum class Priority : uint8_t { critical, high, normal, low };
inline constexpr uint32_t kPriorities = 4;

// Where a Runnable may run: a number is the worker it is pinned to.
enum Home : uint8_t {
  kAnyWorker = 255,
  kBlockingPool = 254,  // on a thread that may block
  kByHand = 253,        // whenever its owner says so
  kSomeWorker = 252,    // for who asks: one worker, whichever; see core::settle_home()
  kLastWorker = 249,
};

// How a Runnable wants to be queued. One word, so that one look tells what needs no thought, and
// does not have to wait for two stores.
class Standing {
 public:
  Standing() noexcept = default;
  Standing(Priority priority, uint8_t home, bool is_fresh) noexcept
      : bits_(static_cast<uint16_t>(static_cast<unsigned>(priority) | (is_fresh ? kFresh : 0u) |
                                    static_cast<unsigned>(home) << kHomeShift)) {}

  // Of the next one in the same place; others may be looking, for the one before. relaxed: where
  // there are others it is fresh, and to them that is as good as anything else.
  void become(const Standing& other) noexcept {
    bits_.show(other.bits_.own(), std::memory_order_relaxed);
  }

  [[nodiscard]] uint32_t level() const noexcept { return bits_.own() & kLevelBits; }
  // Which never changes, and may be looked at by others. relaxed: so any look will do.
  [[nodiscard]] uint8_t home() const noexcept {
    return static_cast<uint8_t>(bits_.look(std::memory_order_relaxed) >> kHomeShift);
  }
  // The same, for others to look at: who is scheduled and was never queued is held back. relaxed: a
  // flag on its own.
  [[nodiscard]] bool is_fresh_as_seen() const noexcept {
    return (bits_.look(std::memory_order_relaxed) & kFresh) != 0;
  }
  // It has been in the queue of a worker, and only they run it. May be looked at by others.
  [[nodiscard]] bool is_with_workers() const noexcept {
    // acquire: what the thread that held it back did to it is seen; pairs with no_longer_fresh().
    const unsigned bits = bits_.look(std::memory_order_acquire);
    if (bits == kCommon) [[likely]]
      return true;
    const unsigned where = bits >> kHomeShift;
    return (bits & kFresh) == 0 && where != kBlockingPool && where != kByHand;
  }
  // It has not been queued yet: newest first, see StealDeque.
  [[nodiscard]] bool is_fresh() const noexcept { return (bits_.own() & kFresh) != 0; }
  // Whoever held it back lets go of it, also of its inbox. release: pairs with is_with_workers().
  void no_longer_fresh() noexcept {
    if (!is_fresh()) return;
    bits_.show(static_cast<uint16_t>(bits_.own() & ~kFresh), std::memory_order_release);
  }

  // As most are, wherever they may run.
  [[nodiscard]] bool is_common() const noexcept { return bits_.own() == kCommon; }
  [[nodiscard]] bool is_fresh_and_normal() const noexcept {
    return (bits_.own() & (kLevelBits | kFresh)) ==
           (static_cast<unsigned>(Priority::normal) | kFresh);
  }

 private:
  static constexpr unsigned kLevelBits = kPriorities - 1;
  static constexpr unsigned kFresh = 128;
  static constexpr unsigned kHomeShift = 8;
  static constexpr unsigned kCommon =
      static_cast<unsigned>(Priority::normal) | static_cast<unsigned>(kAnyWorker) << kHomeShift;
  static_assert((kPriorities & kLevelBits) == 0);

  Seen<uint16_t> bits_{kCommon};
};

class Runnable {
 public:
  using RunFn = void (*)(Runnable& self, Executor& executor);

  explicit Runnable(RunFn function) noexcept : run_(function) {}
  Runnable(const Runnable&) = delete;
  Runnable& operator=(const Runnable&) = delete;

  void run(Executor& executor) { run_(*this, executor); }

  // Belongs to whichever queue holds it.
  Runnable* next_runnable = nullptr;

 protected:
  // While it is in no queue.
  void set_run(RunFn function) noexcept { run_ = function; }

 private:
  RunFn run_;

 public:
  // Last, so that a derived class may use the bytes behind it. Set while it is in no queue.
  Standing standing;

  [[nodiscard]] uint32_t level() const noexcept { return standing.level(); }
  [[nodiscard]] uint8_t home() const noexcept { return standing.home(); }
};

struct InTimerList {};

// A timer waits in its executor's wheel. `fire` is called on the executor's thread, exactly once
// unless the timer was disarmed before.
class Timer : public ListNode<InTimerList> {
 public:
  using FireFn = void (*)(Timer& self, Executor& executor);

  explicit Timer(FireFn function) noexcept : fire_(function) {}

  void fire(Executor& executor) { fire_(*this, executor); }
  [[nodiscard]] bool is_armed() const noexcept { return is_linked(); }

  // The tick at which it is due; with kUnstamped, the delay from a clock read that is still to
  // come.
  static constexpr uint64_t kUnstamped = 1ull << 63;
  uint64_t deadline_ms = 0;

 private:
  FireFn fire_;
};

// Names the places where a driver may choose; a simulator tells them apart in its trace.
enum class ChoiceSite : uint16_t {
  backoff_jitter,
  steal_victim,
  next_runnable,
  user,
  // of the simulator alone: whether, and how much
  fault,
  fault_amount,
  network,
  network_amount,
  disk,
  disk_amount,
  clock,  // how wrong one is
};
inline constexpr uint32_t kChoiceSites = static_cast<uint32_t>(ChoiceSite::clock) + 1;

class Executor {
 public:
  virtual ~Executor() = default;

  // Runs it soon. Any thread.
  virtual void post(Runnable& work) = 0;

  // Monotonic. The executor's thread reads the time of the current tick or later.
  [[nodiscard]] virtual uint64_t now_ns() = 0;

  // Fires after at least `delay_ms`, measured from a clock read that follows this call. The
  // executor's thread; where several threads share a system, any.
  virtual void arm(Timer& timer, uint64_t delay_ms) = 0;
  // True: it will not fire. False: it has fired, or was not armed. Either way its `fire` is not
  // running when this returns, unless on this very thread. By the executor it was armed with;
  // threads as arm().
  virtual bool disarm(Timer& timer) = 0;
  // By a `fire` that is about to end its timer, which nobody will disarm any more: another may lie
  // at the same address before `fire` has returned, and who disarms that one need not wait.
  virtual void fired_for_good(Timer&) noexcept {}

  // Who keeps what is begun from here: its timers and its operations. Use that one for them.
  [[nodiscard]] virtual Executor& keeper() noexcept { return *this; }
  // Who is to keep the next of many things that last, so that all have their share.
  [[nodiscard]] virtual Executor& next_keeper() noexcept { return keeper(); }
  // Is this one of the threads that may arm, disarm, submit and cancel?
  [[nodiscard]] virtual bool may_use_here() const noexcept { return true; }

  // Every choice the runtime makes: a number below `count` (not 0). The executor's thread.
  [[nodiscard]] virtual uint32_t choose(uint32_t count, ChoiceSite site) = 0;

  // Runs it where blocking does not hurt; false if this executor has no such place.
  [[nodiscard]] virtual bool post_blocking(Runnable& work) = 0;

  [[nodiscard]] virtual io::Reactor& io() = 0;

  // Who must hear of the end of this executor.
  EndList end_list;

  // The executor whose thread this is, or nullptr. Not inlined: a fiber may have moved
  // to another thread between two calls.
  [[nodiscard]] static Executor* current() noexcept;
  // The same, for a function that is itself not inlined and in which nothing can wait.
  [[nodiscard]] static Executor* current_inlined() noexcept { return current_; }

 protected:
  static void set_current(Executor* executor) noexcept;

 private:
  // initial-exec: one load, also from a shared library; it is one word of the static TLS.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Executor* current_;
};

}  // namespace jzx::base
