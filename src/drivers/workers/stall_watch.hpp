// Looks after the workers from a thread of its own: what runs for too long is told of, with the
// actor, the message and how long; and what waits in the lifo slot of a worker that is stuck in one
// turn is given free for others to take.
//
// A worker leaves behind, for every message it takes, how many it has taken and of what type this
// one is; and whose turn it is. What is no message leaves the same: the end of an actor, a fiber or
// a coroutine that goes on after a wait, a timer that calls somebody back. The watch looks at it
// every kTickMs while any worker is awake. Where nothing has changed it is still the same, which
// has been running since the look at which it was new; so a time that it tells is too short by at
// most a tick, and nothing needs to read a clock per message. While all workers sleep it sleeps
// too, without a timeout, and forgets what it has seen. The first worker that wakes up sets a timer
// that wakes it after a tick: so a short piece of work does not have to share the machine with it.
//
// What runs in the middle of something else (a manual actor that a handler polls, the mail of one
// that a handler ends) counts for itself, and that begins anew behind it. After a yield() the time
// is right, but the name may be that of what another actor has done meanwhile: a name for it would
// cost every yield. Not seen: threads that are no workers, and what a completion of the reactor
// calls back (it comes from inside the sleep of its worker, where tasks and fibers are only woken).
//
// No wake-up is lost: it says that it dozes and then looks whether anybody is awake; a worker
// counts itself awake and then looks whether the watch dozes. All four are sequentially consistent.
// Whoever takes the doze away sets the timer, and the watch does nothing but wait for that.
//
// Threads: start() and stop() by the owner; somebody_woke() by the workers.
#pragma once

#include "base/atomic.hpp"
#include "base/thread.hpp"
#include "base/time/clock.hpp"
#include "core/actor.hpp"
#include "drivers/workers/idle.hpp"

namespace jzx::drivers {

class SharedWorker;
class WorkerGroup;

class StallWatch {
 public:
  static constexpr uint32_t kTickMs = 10;

  // 0: nothing is told of, but stuck workers are relieved all the same.
  StallWatch(WorkerGroup& group, base::Clock& clock, uint64_t limit_ns) noexcept
      : group_(group), clock_(clock), limit_ns_(limit_ns) {}
  ~StallWatch();

  // False: there is no thread or no timer for it.
  [[nodiscard]] bool start() noexcept;
  void stop() noexcept;

  // For tests. relaxed: a snapshot.
  [[nodiscard]] bool is_dozing() const noexcept { return dozes_.load(std::memory_order_relaxed); }

  void somebody_woke() noexcept {
    // seq_cst: after the worker counted itself awake; see above.
    if (dozes_.load(std::memory_order_seq_cst)) [[unlikely]]
      rouse();
  }

 private:
  // What a worker is busy with.
  struct Doing {
    core::ActorId actor = core::kNobody;
    uint64_t steps = 0;
    const MessageType* type = nullptr;  // null: its start

    [[nodiscard]] bool operator==(const Doing&) const noexcept = default;
    [[nodiscard]] bool is_nothing() const noexcept;
  };
  // What was seen of one worker at the last look.
  struct Seen {
    Doing doing;
    uint64_t since_ns = 0;    // when it was first seen
    uint64_t tell_at_ns = 0;  // how long it must have run to be told of (again)
  };

  static void* thread_main(void* self) noexcept;
  void run() noexcept;
  void forget() noexcept;
  void look_at(SharedWorker& worker, Seen& seen) noexcept;
  [[nodiscard]] static Doing doing_of(const SharedWorker& worker) noexcept;
  void tell(const Doing& doing, uint64_t running_ms) noexcept;
  void rouse() noexcept;
  void wake_after(uint64_t ns) noexcept;
  void wait_for_timer() noexcept;

  WorkerGroup& group_;
  base::Clock& clock_;
  const uint64_t limit_ns_;
  base::Thread thread_;
  int timer_fd_ = -1;
  base::Atomic<bool> is_stopping_{false};
  base::Atomic<bool> dozes_{false};
  Seen seen_[Idle::kMaxWorkers];
};

}  // namespace jzx::drivers
