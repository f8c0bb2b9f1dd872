// The one-thread driver: a worker run by the caller's thread, until it is stopped or nobody is
// left.
//
// Threads: request_stop() by anybody; the rest by one thread at a time.
#pragma once

#include "base/atomic.hpp"
#include "drivers/loop/loop_blocking.hpp"
#include "drivers/loop/loop_fd.hpp"
#include "drivers/loop/worker.hpp"

namespace jzx::drivers {

class Loop {
 public:
  explicit Loop(Worker& worker) noexcept;

  // ok when stopped or when no actor is left alive; invalid_arg from inside its own run.
  [[nodiscard]] Errc run();

  // What ends a run, besides a stop.
  enum class EndsWhen : uint8_t {
    nobody_is_alive,
    nothing_can_come,  // nobody is alive, no timer is armed, no operation is pending
  };
  // One tick. `again` is false when it has ended.
  [[nodiscard]] Errc run_once(uint64_t max_wait_ns, bool& again,
                              EndsWhen end = EndsWhen::nobody_is_alive);

  void request_stop() noexcept { worker_.request_stop(); }

  // Returns when all work that was posted to block has been done, and takes no more.
  void end_blocking() noexcept { blocking_.close(); }

  // See LoopFd. Negative: -errno.
  [[nodiscard]] int fd() noexcept { return fd_.open(); }

  // Around every call of the loop's thread that may change what there is to do, or call back.
  void enter_call() noexcept { count_calls(1); }
  void leave_call() noexcept {
    count_calls(-1);
    if (fd_.is_open()) [[unlikely]]
      update_fd();
  }

  // Is this thread inside a run or a call of this loop? Then it cannot be run again, nor destroyed.
  [[nodiscard]] bool is_entered() const noexcept;

  // Is this the thread that made it, or ran it last?
  [[nodiscard]] bool is_at_home() const noexcept;

  // Has fd() been asked for?
  [[nodiscard]] bool is_embedded() const noexcept { return fd_.is_open(); }

  [[nodiscard]] bool is_running() const noexcept { return is_running_; }

 private:
  void update_fd() noexcept;
  // relaxed, and no locked instruction: one thread at a time writes it.
  void count_calls(int change) noexcept {
    const int count = calls_inside_.load(std::memory_order_relaxed);
    calls_inside_.store(count + change, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_over(EndsWhen end) noexcept {
    if (worker_.take_stop_request()) return true;
    if (worker_.system.alive_count() != 0) return false;
    return end == EndsWhen::nobody_is_alive || !worker_.expects_something();
  }

  // A stop request that ended the run may have woken the reactor for it.
  void forget_wake_up() {
    if (fd_.is_open()) (void)worker_.poll();
  }

  Worker& worker_;
  LoopFd fd_;
  LoopBlocking blocking_;
  bool is_running_ = false;
  base::Atomic<int> calls_inside_{0};
  base::Atomic<const void*> running_thread_{nullptr};  // a name of the thread that is inside run()
  base::Atomic<const void*> home_thread_;              // of the one that is, or was last
};

}  // namespace jzx::drivers
