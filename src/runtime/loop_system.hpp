// Puts a one-thread system together: clock, reactor, System, Worker and Loop, in memory of the
// user's allocator. What jzx_loop and jzx::Loop are made of.
//
// Threads: enter()/leave(), send_from_anywhere() and request_stop() by anybody, the rest by the
// loop's thread.
#pragma once

#include "base/call_gate.hpp"
#include "core/send.hpp"
#include "drivers/loop/loop.hpp"
#include "io/reactor.hpp"

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
};

class LoopSystem {
 public:
  // nullptr: invalid options, no memory, or no reactor.
  [[nodiscard]] static LoopSystem* create(const LoopOptions& options) noexcept;

  // Ends everything, then itself. Waits for other threads' calls, also for a run. False: it did
  // nothing, because it was called from inside its own run, or by a callback of itself.
  bool destroy() noexcept;

  // Any call: false once destroy() began.
  [[nodiscard]] bool is_open() const noexcept { return !gate_.is_closed(); }
  // Open, and nobody polls its fd: a call needs no care afterwards.
  [[nodiscard]] bool is_plain() const noexcept { return is_open() && !loop.is_embedded(); }
  // A call that destroy() must wait for.
  [[nodiscard]] bool enter() noexcept { return gate_.enter(); }
  void leave() noexcept { gate_.leave(); }

  // Sends a raw message from whatever thread this is.
  [[nodiscard]] Errc send_from_anywhere(ActorId target, const RawMessage& message) noexcept;

  // At a quiet moment.
  [[nodiscard]] core::Ledger ledger() noexcept;

  [[nodiscard]] bool is_on_its_thread() const noexcept {
    return base::Executor::current() == &worker;
  }

  core::System system;
  drivers::Worker worker;
  drivers::Loop loop;

 private:
  LoopSystem(const LoopOptions& options, io::ReactorPtr reactor, uint64_t seed) noexcept;
  ~LoopSystem() = default;

  base::CallGate gate_;
};

// A call that destroy() waits for. False: the loop is closing, or there is none.
class Entered {
 public:
  explicit Entered(LoopSystem* system) noexcept
      : system_(system != nullptr && system->enter() ? system : nullptr) {}
  ~Entered() {
    if (system_ != nullptr) system_->leave();
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return system_ != nullptr; }
  [[nodiscard]] LoopSystem* operator->() const noexcept { return system_; }

 private:
  LoopSystem* system_;
};

}  // namespace jzx::runtime
