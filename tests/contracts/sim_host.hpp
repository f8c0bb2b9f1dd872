// A throwaway driver that proves the contracts fit a simulation: one thread, virtual time, I/O in
// memory, and every choice from a seed. The same seed gives the same run; the hash of what happened
// shows it. The real one (policies, faults, replay, shrinking) is a later step's.
//
// Threads: one.
#pragma once

#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "base/time/clock.hpp"
#include "base/time/timer_wheel.hpp"
#include "contracts/memory_reactor.hpp"
#include "core/host.hpp"
#include "core/lifecycle.hpp"
#include "core/mailbox.hpp"
#include "drivers/loop/fd_watches.hpp"

namespace jzx::contracts {

class SimHost final : public core::Host {
 public:
  SimHost(core::System& the_system, uint64_t seed)
      : Host(the_system, 0, 64),
        reactor_(*this),
        watches_(*this, reactor_, 16, nullptr),
        wheel_(now_ns_ / base::kNanosPerMilli),
        random_(seed),
        outer_(current()) {
    set_current(this);
  }
  ~SimHost() override {
    core::abandon_all(*this);
    set_current(outer_);
  }

  // One thing happens. False: nothing is left to happen.
  bool step() {
    ++steps_;
    while (base::Runnable* work = ready.pop()) runnable_.push_back(work);
    // I/O is one more that may come next.
    const auto count = static_cast<uint32_t>(runnable_.size() + (reactor_.has_news() ? 1 : 0));
    if (count == 0) return pass_time();
    const uint32_t chosen = choose(count, base::ChoiceSite::next_runnable);
    if (chosen == runnable_.size()) return reactor_.wait(0) == 0;
    base::Runnable* work = runnable_[chosen];
    runnable_.erase(runnable_.begin() + chosen);
    work->run(*this);
    return true;
  }
  void run() {
    while (step()) {
    }
  }

  // ---- the trace ----

  void note(uint64_t what) {
    for (int i = 0; i < 8; ++i) hash_ = (hash_ ^ ((what >> (8 * i)) & 0xff)) * 0x100000001b3u;
  }
  void note(std::string_view what) {
    for (const char c : what) note(static_cast<uint64_t>(static_cast<unsigned char>(c)));
  }
  [[nodiscard]] uint64_t trace_hash() const { return hash_; }
  [[nodiscard]] uint64_t steps() const { return steps_; }

  // ---- base::Executor ----

  void post(base::Runnable& work) override { submit(work); }
  uint64_t now_ns() override { return now_ns_; }
  // Time stands still during a step, so this is a clock read that follows the call.
  void arm(base::Timer& timer, uint64_t delay_ms) override {
    wheel_.insert(timer, now_ns_ / base::kNanosPerMilli + delay_ms);
  }
  bool disarm(base::Timer& timer) override { return unlink_timer(timer); }
  void submit_last(base::Runnable& work, bool) noexcept override { submit_elsewhere(work); }
  bool unlink_timer(base::Timer& timer) noexcept override {
    if (!timer.is_armed()) return false;
    wheel_.remove(timer);
    return true;
  }
  uint32_t choose(uint32_t count, base::ChoiceSite site) override {
    const uint32_t chosen = random_.below(count);
    note((uint64_t{static_cast<uint16_t>(site)} << 32) | chosen);
    return chosen;
  }
  bool post_blocking(base::Runnable& work) override {
    submit(work);  // a step like any other
    return true;
  }
  io::Reactor& io() override { return reactor_; }

  // ---- core::Host ----

  void release_watches(core::Actor& actor) noexcept override {
    drivers::FdWatches::release_all(system, actor);
  }

  [[nodiscard]] drivers::FdWatches& watches() { return watches_; }
  [[nodiscard]] MemoryReactor& memory() { return reactor_; }

  [[nodiscard]] core::Ledger ledger() {
    core::Ledger total = counters;
    system.actors.for_each_slot([&](core::Actor& actor) {
      total.queued += core::queued_count(actor) - actor.system_queued.load();
    });
    return total;
  }

 private:
  // To the next timer. False: there is none.
  bool pass_time() {
    const uint64_t next_ms = wheel_.next_deadline_ms();
    if (next_ms == base::kNever) return false;
    now_ns_ = std::max(now_ns_, next_ms * base::kNanosPerMilli);
    note(now_ns_);
    wheel_.advance(next_ms, [this](base::Timer& timer) { timer.fire(*this); });
    return true;
  }

  uint64_t now_ns_ = 1'000'000'000;
  MemoryReactor reactor_;
  drivers::FdWatches watches_;
  base::TimerWheel wheel_;
  base::Prng random_;
  std::vector<base::Runnable*> runnable_;
  uint64_t hash_ = 0xcbf29ce484222325u;
  uint64_t steps_ = 0;
  base::Executor* outer_;
};

}  // namespace jzx::contracts
