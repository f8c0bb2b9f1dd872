#include "runtime/loop_system.hpp"

#include <cstdio>

#include "core/lifecycle.hpp"

namespace jzx::runtime {

namespace {

base::SteadyClock loop_clock;  // has no state

bool is_valid(const LoopOptions& options) noexcept {
  return options.allocator.alloc_fn != nullptr && options.allocator.free_fn != nullptr &&
         is_actor_limit(options.max_actors) && options.default_mailbox_cap != 0 &&
         options.max_msgs_per_actor != 0 && options.max_actors_per_tick != 0;
}

core::SystemOptions system_options(const LoopOptions& options, uint64_t seed) noexcept {
  core::SystemOptions result;
  result.allocator = options.allocator;
  if (options.allocator.is_default()) result.table = core::TablePlace::reserved;
  result.max_actors = options.max_actors;
  result.default_mailbox_cap = options.default_mailbox_cap;
  result.detect_deadlocks = options.detect_deadlocks;
  result.first_generation = static_cast<uint32_t>(seed >> 32);
  return result;
}

drivers::WorkerOptions worker_options(const LoopOptions& options, uint64_t seed) noexcept {
  drivers::WorkerOptions result;
  result.messages_per_turn = options.max_msgs_per_actor;
  result.turns_per_tick = options.max_actors_per_tick;
  result.max_watches = options.max_io_watchers;
  result.seed = seed;
  if (options.io_poll_timeout_ms != 0) {
    result.longest_wait_ns = options.io_poll_timeout_ms * base::kNanosPerMilli;
  }
  return result;
}

}  // namespace

LoopSystem::LoopSystem(const LoopOptions& options, io::ReactorPtr reactor, uint64_t seed) noexcept
    : Port(system_options(options, seed)),
      worker(system, options.clock != nullptr ? *options.clock : loop_clock, std::move(reactor),
             worker_options(options, seed)),
      loop(worker) {
  worker.port = static_cast<detail::Port*>(this);
}

LoopSystem* LoopSystem::create(const LoopOptions& options) noexcept {
  if (!is_valid(options)) return nullptr;
  io::ReactorPtr reactor = io::make_reactor(options.backend, options.allocator);
  if (reactor == nullptr) return nullptr;
  const uint64_t seed = make_seed(reactor.get());
  return create_aligned<LoopSystem>(options.allocator, options, std::move(reactor), seed);
}

core::Host* LoopSystem::begin_turn() noexcept {
  if (!is_open()) return nullptr;
  loop.enter_call();
  if (turns_by_hand_++ == 0) {
    outer_ = base::Executor::current();
    worker.enter_thread();
  }
  return &worker;
}

void LoopSystem::end_turn(core::Host&) noexcept {
  if (--turns_by_hand_ == 0) worker.leave_thread(outer_);
  loop.leave_call();
}

bool LoopSystem::destroy() noexcept {
  if (!is_open()) return false;  // a callback of this very destruction
  if (loop.is_entered()) {
    std::fputs("jzx: a loop cannot be destroyed from inside its own run or call; ignored\n",
               stderr);
    return false;
  }
  if (worker.tap != nullptr) worker.tap->destroying();
  // Another thread may be running it: not one message more. relaxed: a handler that sees the gate
  // closed sees this too.
  worker.halted.store(true, std::memory_order_relaxed);
  if (!gate_.close()) return false;  // a callback of this very destruction
  system.waiting_senders.close();
  worker.request_stop();
  gate_.wait_until_empty();
  system.refuse_spawns();
  system.is_closing.store(true, std::memory_order_relaxed);  // no other thread is left
  loop.end_blocking();
  core::abandon_all(worker);
  destroy_aligned(system.allocator, this);
  return true;
}

}  // namespace jzx::runtime
