// Looks after the workers from a thread of its own: a handler that runs for too long is told of,
// with the actor, the message and how long; and what waits in the lifo slot of a worker that is
// stuck in one turn is given free for others to take.
//
// A worker leaves two words behind for every message it takes: how many it has taken, and of what
// type this one is. The watch looks at them every kTickMs while any worker is awake. Where the
// number has not moved the handler has been running since the last look; so a time that it tells is
// too short by at most a tick, and nothing needs to read a clock per message. While all workers
// sleep it sleeps too, without a timeout; the first worker that wakes up wakes it.
//
// No wake-up is lost: it says that it dozes and then looks whether anybody is awake; a worker
// counts itself awake and then looks whether the watch dozes. All four are sequentially consistent.
//
// Threads: start() and stop() by the owner; somebody_woke() by the workers.
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "base/thread.hpp"
#include "drivers/workers/idle.hpp"

namespace jzx::drivers {

class WorkerGroup;

class StallWatch {
 public:
  static constexpr uint32_t kTickMs = 10;

  // 0: nothing is told of, but stuck workers are relieved all the same.
  StallWatch(WorkerGroup& group, base::Clock& clock, uint64_t limit_ns) noexcept
      : group_(group), clock_(clock), limit_ns_(limit_ns) {}

  [[nodiscard]] bool start() noexcept;
  void stop() noexcept;

  void somebody_woke() noexcept {
    // seq_cst: after the worker counted itself awake; see above.
    if (dozes_.load(std::memory_order_seq_cst)) [[unlikely]]
      rouse();
  }

 private:
  // What was seen of one worker at the last look.
  struct Seen {
    uint64_t steps = 0;
    uint64_t since_ns = 0;    // when this number was first seen
    uint64_t tell_at_ns = 0;  // how long it must have run to be told of (again)
  };

  static void* thread_main(void* self) noexcept;
  void run() noexcept;
  void look() noexcept;
  void look_at(uint32_t worker, uint64_t now_ns) noexcept;
  void rouse() noexcept;

  WorkerGroup& group_;
  base::Clock& clock_;
  const uint64_t limit_ns_;
  base::Thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  base::Atomic<bool> dozes_{false};
  Seen seen_[Idle::kMaxWorkers];
};

}  // namespace jzx::drivers
