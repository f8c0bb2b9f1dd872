// Puts a one-thread system together: clock, reactor, System, Worker and Loop, in memory of the
// user's allocator. What jzx_loop and jzx::Loop are made of.
//
// Threads: as Port says; run, run_once and other calls by the loop's thread.
#pragma once

#include "drivers/loop/loop.hpp"
#include "io/reactor.hpp"
#include "runtime/port.hpp"

namespace jzx::runtime {

struct LoopOptions {
  base::Allocator allocator;
  uint32_t max_actors = 65536;
  uint32_t default_mailbox_cap = 1024;
  uint32_t max_msgs_per_actor = 64;
  uint32_t max_actors_per_tick = 1024;
  uint32_t max_io_watchers = 1024;
  uint32_t io_poll_timeout_ms = 0;  // 0: no bound
  base::Clock* clock = nullptr;     // nullptr: the system's monotonic clock
  io::Backend backend = io::Backend::automatic;
  bool detect_deadlocks = false;
};

class LoopSystem final : public detail::Port {
 public:
  // nullptr: invalid options, no memory, or no reactor.
  [[nodiscard]] static LoopSystem* create(const LoopOptions& options) noexcept;

  bool destroy() noexcept override;
  core::Host& any_host() noexcept override { return worker; }
  bool is_run_by_this_thread() const noexcept override { return loop.is_at_home(); }
  core::Host* begin_call() noexcept override {
    if (!is_open()) return nullptr;
    loop.enter_call();
    return &worker;
  }
  void end_call(core::Host&) noexcept override { loop.leave_call(); }
  core::Host* begin_turn() noexcept override;
  void end_turn(core::Host& host) noexcept override;
  drivers::FdWatches& watches_for(int) noexcept override { return worker.watches(); }
  void wake() noexcept override { worker.io().wake(); }
  void request_stop() noexcept override { loop.request_stop(); }

  // Open, and nobody polls its fd: a call needs no care afterwards.
  [[nodiscard]] bool is_plain() const noexcept { return is_open() && !loop.is_embedded(); }

  drivers::Worker worker;
  drivers::Loop loop;

 private:
  template <class T, class... Args>
  friend T* create_aligned(const base::Allocator&, Args&&...) noexcept;
  template <class T>
  friend void destroy_aligned(base::Allocator, T*) noexcept;

  LoopSystem(const LoopOptions& options, io::ReactorPtr reactor, uint64_t seed) noexcept;

  base::Executor* outer_ = nullptr;  // whose thread it was before a turn by hand
  uint32_t turns_by_hand_ = 0;
  ~LoopSystem() = default;
};

}  // namespace jzx::runtime
