// The hosts of the timer tests: real workers, and hosts for threads that are no workers. The wheel
// and the tick are the shipped ones; what stands in for something else is the reactor (a
// model::Sleep), the clock (it stands still: a delay of 0 is due at the next tick) and the run
// queue (one place).
//
// Plain data is guarded by locks that the checker sees, but is not itself seen by it. So whoever
// touches a wheel also writes a word that is: see Guarded.
#pragma once

#include <array>

#include "drivers/loop/worker.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {

// Whose thread this is; the checker's threads are fibers of one thread.
inline std::array<Executor*, kMaxThreads> current_executors{};
inline Executor*& current_executor() noexcept {
  return current_executors[is_running() ? current_execution()->current_thread() : 0];
}

}  // namespace jzx::base::model

namespace jzx::base {
// Instead of base/executor.cpp. Weak, since each test file has them.
[[gnu::weak]] Executor* Executor::current() noexcept { return model::current_executor(); }
[[gnu::weak]] void Executor::set_current(Executor* it) noexcept { model::current_executor() = it; }
}  // namespace jzx::base

namespace jzx::base::model {

// A word that is written by whoever uses what a lock guards: without the lock, a data race.
class Guarded {
 public:
  void touch() noexcept { ++word_; }

 private:
  base::Shared<int> word_{0};
};

// ---- what the worker is made of ----

// It is only read under the lock of the timers.
class StandingClock final : public base::Clock {
 public:
  uint64_t now_ns() noexcept override {
    wheel.touch();
    return 1'000'000'000;
  }
  // Under no lock; the worker's own.
  uint64_t quick_ns() noexcept override { return quick_ += quick_step; }
  uint64_t allowed_wait_ns(uint64_t deadline_ns) noexcept override {
    return deadline_ns == base::kNever ? base::kNever : 0;
  }
  Guarded wheel;
  uint64_t quick_step = 0;  // so much time has passed at each look

 private:
  uint64_t quick_ = 0;
};

class SleepingReactor final : public io::Reactor {
 public:
  int watch(io::Watch&) override { return -ENOSYS; }
  int unwatch(io::Watch&) override { return -ENOSYS; }
  void share(std::mutex&) noexcept override {}
  io::Submitted submit(io::Operation& operation) override {
    perform(operation);
    return io::Submitted::done;
  }
  void cancel(io::Operation&) override {}
  void perform(io::Operation& operation) noexcept override { operation.result = -ENOSYS; }
  size_t pending_count() const noexcept override { return 0; }
  int wait(uint64_t timeout_ns) override {
    return timeout_ns == 0 || sleep.until_woken() ? 0 : -ETIMEDOUT;
  }
  void wake() noexcept override { sleep.wake(); }
  int pollable_fd() const noexcept override { return -1; }
  const char* name() const noexcept override { return "model"; }

  Sleep sleep;
};

// The run queue, for one actor.
class RunPlace {
 public:
  void submit() {
    if (is_running()) MODEL_ASSERT(!is_submitted_);
    is_submitted_ = true;
    if (is_running()) sleep_.wake();
  }
  // False: it will never be submitted again.
  [[nodiscard]] bool wait() {
    if (!sleep_.until_woken()) return false;
    is_submitted_ = false;
    return true;
  }
  [[nodiscard]] bool is_submitted() const { return is_submitted_; }
  void clear() { *this = RunPlace(); }

 private:
  bool is_submitted_ = false;
  Sleep sleep_;
};

class Worker final : public drivers::Worker {
 public:
  Worker(core::System& its_system, RunPlace& place, StandingClock& clock, SleepingReactor& reactor,
         uint8_t its_index)
      : drivers::Worker(its_system, clock, io::ReactorPtr(&reactor, {[](void*, void*) {}, nullptr}),
                        {.index = its_index}),
        place_(place),
        wheel_(clock.wheel) {}

  void fire() { (void)tick(0); }

  void post(base::Runnable&) override { place_.submit(); }
  void submit_elsewhere(base::Runnable&) noexcept override { place_.submit(); }
  bool unlink_timer(base::Timer& timer) noexcept override {
    wheel_.touch();
    return drivers::Worker::unlink_timer(timer);
  }

  bool may_wait = false;  // else a tick does not look how long it might

 protected:
  void run_ready() override {}  // the test does, in a thread of its own
  bool has_ready() noexcept override { return !may_wait || !ready.empty(); }

 private:
  RunPlace& place_;
  Guarded& wheel_;
};

// As drivers/workers/side_host.
class Visitor final : public core::Host {
 public:
  Visitor(core::System& its_system, RunPlace& place, core::Host& timer_home)
      : Host(its_system, kNoTimers, 64), place_(place), timer_home_(timer_home) {}

  void post(base::Runnable&) override { place_.submit(); }
  void submit_elsewhere(base::Runnable&) noexcept override { place_.submit(); }
  void submit_last(base::Runnable& work, bool) noexcept override { submit_elsewhere(work); }
  uint64_t now_ns() override { return 0; }
  void arm(base::Timer&, uint64_t) override { MODEL_ASSERT(!"its timers are another's"); }
  bool disarm(base::Timer&) override { return false; }
  uint32_t choose(uint32_t, base::ChoiceSite) override { return 0; }
  bool post_blocking(base::Runnable&) override { return false; }
  io::Reactor& io() override { return timer_home_.io(); }
  bool unlink_timer(base::Timer&) noexcept override { return false; }
  core::Host& timer_home_elsewhere() noexcept override { return timer_home_; }
  void release_watches(core::Actor&) noexcept override {}

 private:
  RunPlace& place_;
  core::Host& timer_home_;
};

}  // namespace jzx::base::model
