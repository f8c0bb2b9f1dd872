#include "runtime/loop_system.hpp"

#include <cstdio>

#include "core/lifecycle.hpp"

namespace jzx::runtime {

namespace {

base::SteadyClock steady_clock;  // has no state

bool is_valid(const LoopOptions& options) noexcept {
  return options.allocator.alloc_fn != nullptr && options.allocator.free_fn != nullptr &&
         options.max_actors != 0 && options.default_mailbox_cap != 0 &&
         options.max_msgs_per_actor != 0 && options.max_actors_per_tick != 0;
}

core::SystemOptions system_options(const LoopOptions& options, uint64_t seed) noexcept {
  core::SystemOptions result;
  result.allocator = options.allocator;
  result.max_actors = options.max_actors;
  result.default_mailbox_cap = options.default_mailbox_cap;
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
    : system(system_options(options, seed)),
      worker(system, options.clock != nullptr ? *options.clock : steady_clock, std::move(reactor),
             worker_options(options, seed)),
      loop(worker) {
  worker.port = this;
}

LoopSystem* LoopSystem::create(const LoopOptions& options) noexcept {
  if (!is_valid(options)) return nullptr;
  io::ReactorPtr reactor = io::make_reactor(options.backend, options.allocator);
  if (reactor == nullptr) return nullptr;
  // Over-aligned, and malloc is not: the pointer that free wants is kept in front of it.
  constexpr size_t kAlignment = alignof(LoopSystem);
  void* memory = options.allocator.allocate(sizeof(LoopSystem) + kAlignment + sizeof(void*));
  if (memory == nullptr) return nullptr;
  void* place = base::align_up(static_cast<void**>(memory) + 1, kAlignment);
  static_cast<void**>(place)[-1] = memory;
  // Two loops of a process differ in time or place.
  uint64_t seed = base::SteadyClock().now_ns() ^ reinterpret_cast<uintptr_t>(memory);
  return new (place) LoopSystem(options, std::move(reactor), base::splitmix64(seed));
}

bool LoopSystem::destroy() noexcept {
  if (!is_open()) return false;  // a callback of this very destruction
  if (loop.is_entered()) {
    std::fputs("jzx: a loop cannot be destroyed from inside its own run or call; ignored\n",
               stderr);
    return false;
  }
  if (!gate_.close()) return false;  // a callback of this very destruction
  // Another thread may be running it: not one message more.
  worker.halted.store(true, std::memory_order_relaxed);
  worker.request_stop();
  gate_.wait_until_empty();
  system.is_closing = true;
  core::abandon_all(worker);
  const base::Allocator allocator = system.allocator;
  void* memory = reinterpret_cast<void**>(this)[-1];
  this->~LoopSystem();
  allocator.release(memory);
  return true;
}

Errc LoopSystem::send_from_anywhere(ActorId target, const RawMessage& message) noexcept {
  // Before memory is asked for: an actor that is gone is gone, whether there is memory or not.
  if (system.find_open(target) == nullptr) return Errc::no_such_actor;
  const bool here = is_on_its_thread();
  Envelope* envelope = here ? worker.envelopes.take(&raw_message_type, worker.current_id)
                            : worker.envelopes.take_foreign(&raw_message_type);
  if (envelope == nullptr) return Errc::no_memory;
  auto* raw = new (envelope->storage) RawMessage(message);
  raw->sender = envelope->sender;
  if (here) {
    const Errc result = core::send(worker, target, *envelope);
    if (result != Errc::ok) worker.envelopes.give(*envelope);
    return result;
  }
  const Errc result = core::send_foreign(worker, target, *envelope);
  if (result != Errc::ok) worker.envelopes.give_back_foreign(*envelope);
  return result;
}

core::Ledger LoopSystem::ledger() noexcept {
  core::Ledger total = worker.counters;
  total.accepted += worker.envelopes.foreign_accepted();
  system.actors.for_each_slot([&](core::Actor& actor) {
    total.queued += core::queued_count(actor) - actor.system_queued.load(std::memory_order_relaxed);
  });
  return total;
}

}  // namespace jzx::runtime
