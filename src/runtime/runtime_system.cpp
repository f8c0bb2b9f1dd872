#include "runtime/runtime_system.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <iterator>

#include "base/futex.hpp"
#include "base/thread.hpp"
#include "core/lifecycle.hpp"
#include "runtime/waiting_get.hpp"

namespace jzx::runtime {

namespace {

base::SteadyClock steady_clock;

bool is_valid(const RuntimeOptions& options) noexcept {
  return options.allocator.alloc_fn != nullptr && options.allocator.free_fn != nullptr &&
         is_actor_limit(options.max_actors) && options.default_mailbox_cap != 0 &&
         options.max_msgs_per_actor != 0 && options.max_actors_per_tick != 0 &&
         options.workers <= drivers::Idle::kMaxWorkers && options.local_queue != 0 &&
         options.local_queue <= drivers::ReadyQueues::kRing && options.steal_batch != 0 &&
         options.max_blocking_threads != 0 &&
         options.max_blocking_threads <= drivers::BlockingPool::kMostThreads;
}

core::SystemOptions system_options(const RuntimeOptions& options, uint32_t workers,
                                   uint64_t seed) noexcept {
  core::SystemOptions result;
  result.allocator = options.allocator;
  if (options.allocator.is_default()) result.table = core::TablePlace::reserved;
  result.max_actors = options.max_actors;
  result.default_mailbox_cap = options.default_mailbox_cap;
  result.first_generation = static_cast<uint32_t>(seed >> 32);
  result.detect_deadlocks = options.detect_deadlocks;
  result.is_shared = true;
  result.workers = workers;
  return result;
}

drivers::GroupOptions group_options(const RuntimeOptions& options, uint32_t workers) noexcept {
  return {.workers = workers,
          .cores = base::cores_of_this_process(),
          .local_queue = options.local_queue,
          .injection_high_water = options.injection_high_water,
          .steal_batch = options.steal_batch};
}

}  // namespace

RuntimeSystem::RuntimeSystem(const RuntimeOptions& options, uint32_t workers,
                             uint64_t seed) noexcept
    : Port(system_options(options, workers, seed)),
      options_(options),
      clock_(options.clock != nullptr ? *options.clock : steady_clock),
      seed_(seed),
      group_(system, group_options(options, workers)),
      watch_limit_{options.max_io_watchers, {}},
      blocking_(*this, options.max_blocking_threads),
      watch_(group_, clock_, options.stall_limit_ms * base::kNanosPerMilli) {
  group_.blocking = &blocking_;
  group_.watch = &watch_;
  group_.on_nobody_left = [](void* self) { static_cast<RuntimeSystem*>(self)->ring(); };
  group_.on_nobody_left_context = this;
}

RuntimeSystem* RuntimeSystem::create(const RuntimeOptions& options) noexcept {
  if (!is_valid(options)) return nullptr;
  const uint32_t cores = std::min(base::cores_of_this_process(), drivers::Idle::kMaxWorkers);
  const uint32_t workers = options.workers != 0 ? options.workers : cores;
  auto* system =
      create_aligned<RuntimeSystem>(options.allocator, options, workers, make_seed(&options));
  if (system == nullptr || system->open()) return system;
  destroy_aligned(options.allocator, system);
  return nullptr;
}

bool RuntimeSystem::open() noexcept {
  for (uint32_t i = 0; i < group_.options.workers; ++i) {
    io::ReactorPtr reactor = io::make_reactor(options_.backend, options_.allocator);
    if (reactor == nullptr) return false;
    drivers::WorkerOptions wanted;
    wanted.index = static_cast<uint8_t>(i);
    wanted.messages_per_turn = options_.max_msgs_per_actor;
    wanted.turns_per_tick = options_.max_actors_per_tick;
    wanted.watch_limit = &watch_limit_;
    wanted.seed = seed_ + i;
    if (options_.io_poll_timeout_ms != 0) {
      wanted.longest_wait_ns = options_.io_poll_timeout_ms * base::kNanosPerMilli;
    }
    workers_[i] = create_aligned<drivers::SharedWorker>(options_.allocator, group_, clock_,
                                                        std::move(reactor), wanted);
    if (workers_[i] == nullptr) return false;
    introduce(*workers_[i]);
  }
  front_desk_ = make_host();
  return front_desk_ != nullptr;
}

void RuntimeSystem::introduce(core::Host& host) noexcept {
  host.port = static_cast<detail::Port*>(this);
  host.face = face_;
  if (workers_[0] != nullptr) host.tap = workers_[0]->tap;
}

void RuntimeSystem::set_face(void* face) noexcept {
  face_ = face;
  system.for_each_host([&](core::Host& host) { host.face = face; });
}

// They are in the system's list until the end, and ended from there.
drivers::SideHost* RuntimeSystem::make_host() noexcept {
  auto* host = create_aligned<drivers::SideHost>(options_.allocator, group_, clock_,
                                                 options_.max_msgs_per_actor, seed_);
  if (host == nullptr) return nullptr;
  introduce(*host);
  return host;
}

drivers::BlockingPool::ThreadHost* RuntimeSystem::make_thread_host() noexcept {
  drivers::SideHost* host = make_host();
  if (host != nullptr) host->may_wait = true;
  return host;
}

RuntimeSystem::~RuntimeSystem() {
  core::Host* worker_hosts[drivers::Idle::kMaxWorkers] = {};
  for (uint32_t i = 0; i < group_.options.workers; ++i) worker_hosts[i] = workers_[i];
  system.end_hosts([&](core::Host& host) {
    for (uint32_t i = 0; i < group_.options.workers; ++i) {
      if (worker_hosts[i] == &host) return destroy_aligned(options_.allocator, workers_[i]);
    }
    destroy_aligned(options_.allocator, static_cast<drivers::SideHost*>(&host));
  });
}

// ---- life ----

void* RuntimeSystem::worker_main(void* worker) noexcept {
  static_cast<drivers::SharedWorker*>(worker)->run();
  return nullptr;
}

bool RuntimeSystem::start() noexcept {
  std::lock_guard hold(life_);
  if (starts_ == 0 && !start_workers()) {
    stop_workers();
    return false;
  }
  ++starts_;
  return true;
}

void RuntimeSystem::pause() noexcept {
  std::lock_guard hold(life_);
  if (--starts_ == 0) stop_workers();
}

bool RuntimeSystem::start_workers() noexcept {
  if (!watch_.start()) return false;
  for (uint32_t i = 0; i < group_.options.workers; ++i) {
    char name[24];
    std::snprintf(name, sizeof name, "jzx-%u", i);
    if (!threads_[i].start(&worker_main, workers_[i], name)) return false;
  }
  return true;
}

void RuntimeSystem::stop_workers_now() noexcept {
  std::lock_guard hold(life_);
  stop_workers();
}

void RuntimeSystem::stop_workers() noexcept {
  for (uint32_t i = 0; i < group_.options.workers; ++i) {
    if (threads_[i].is_running()) workers_[i]->request_stop();
  }
  for (uint32_t i = 0; i < group_.options.workers; ++i) threads_[i].join();
  watch_.stop();
}

// A futex of our own and no condition variable: it may be rung from a signal handler.
void RuntimeSystem::ring() noexcept {
  const int outer_errno = errno;                  // of the code that a signal interrupted
  bell_.fetch_add(1, std::memory_order_release);  // what it is rung for is seen by who heard it
  base::Futex::wake(bell_, INT_MAX);
  errno = outer_errno;
}

bool RuntimeSystem::wait_for_bell(uint32_t heard, uint64_t deadline_ns) noexcept {
  base::Futex::Time time;
  if (deadline_ns != base::kNever) {
    const uint64_t now_ns = clock_.now_ns();
    if (now_ns >= deadline_ns) return false;
    time.limit(deadline_ns - now_ns);
  }
  // Comes back at once if the bell has been rung meanwhile, and may come back for nothing.
  base::Futex::wait(bell_, heard, time);
  return true;
}

void RuntimeSystem::request_stop() noexcept {
  stops_requested_.fetch_add(1, std::memory_order_relaxed);  // published by the bell
  ring();
}

void RuntimeSystem::wait() noexcept {
  // relaxed, here and below: the bell orders what was requested, and of two waits that overlap
  // either may count as the earlier.
  wait_for_stop_after(stops_consumed_.load(std::memory_order_relaxed));
}

void RuntimeSystem::wait_for_stop_after(uint64_t consumed) noexcept {
  for (;;) {
    const uint32_t heard = rings();
    const uint64_t requested = stops_requested_.load(std::memory_order_relaxed);
    if (requested != consumed) {
      // Never back: another wait may have consumed a later one.
      while (consumed < requested && !stops_consumed_.compare_exchange_weak(
                                         consumed, requested, std::memory_order_relaxed)) {
      }
      return;
    }
    if (system.alive_count() == 0 || !is_open()) return;
    (void)wait_for_bell(heard, base::kNever);
  }
}

bool RuntimeSystem::must_not_wait_here() const noexcept {
  return host_here() != nullptr || must_not_block();
}

Errc RuntimeSystem::run() noexcept {
  if (must_not_wait_here()) return Errc::invalid_arg;
  // Before the start, which may take its time: a stop that comes meanwhile is for this run, too.
  const uint64_t consumed = stops_consumed_.load(std::memory_order_relaxed);
  if (!start()) return Errc::unknown;
  wait_for_stop_after(consumed);
  pause();
  return Errc::ok;
}

bool RuntimeSystem::destroy() noexcept {
  if (host_here() != nullptr) {
    std::fputs("jzx: a runtime cannot be destroyed from one of its own threads; ignored\n", stderr);
    return false;
  }
  if (!is_open()) return false;  // a callback of this very destruction
  if (front_desk_->tap != nullptr) front_desk_->tap->destroying();
  // Not one message more. relaxed: a handler that sees the gate closed sees this too.
  const auto halt = [](core::Host& host) { host.halted.store(true, std::memory_order_relaxed); };
  system.for_each_host(halt);
  if (!gate_.close()) return false;  // another thread's
  system.for_each_host(halt);        // those that came meanwhile; no more can
  system.waiting_senders.close();
  blocking_.halt();
  ring();  // every run sees that it is closed
  stop_workers_now();
  blocking_.close();
  gate_.wait_until_empty();
  stop_workers_now();  // those of a run that had just begun
  system.refuse_spawns();
  system.is_closing.store(true, std::memory_order_relaxed);  // no other thread is left
  core::abandon_all(*front_desk_);
  destroy_aligned(system.allocator, this);
  return true;
}

// ---- calls ----

core::Host* RuntimeSystem::begin_call() noexcept {
  if (!is_open()) return nullptr;
  if (core::Host* here = host_here_inlined()) return here;  // a virtual function, and nothing waits
  if (!enter()) return nullptr;
  front_desk_mutex_.lock();
  return front_desk_;
}

void RuntimeSystem::end_call(core::Host& host) noexcept {
  if (&host != front_desk_) return;
  front_desk_mutex_.unlock();
  leave();
}

core::Host* RuntimeSystem::begin_turn() noexcept {
  if (!is_open()) return nullptr;
  if (core::Host* here = host_here()) return here;
  if (!enter()) return nullptr;
  std::unique_lock hold(visitors_mutex_);
  for (;;) {
    for (Visitor& visitor : visitors_) {
      if (visitor.is_taken) continue;
      if (visitor.host == nullptr) visitor.host = make_host();
      if (visitor.host == nullptr) return leave(), nullptr;
      visitor.is_taken = true;
      visitor.outer = base::Executor::current();
      visitor.host->enter_thread();
      return visitor.host;
    }
    visitor_left_.wait(hold);
  }
}

void RuntimeSystem::end_turn(core::Host& host) noexcept {
  // A turn inside a turn has the same host, and is not the last.
  if (host.acting() != core::kNobody) return;
  if (system.alive_count() == 0) ring();  // the workers may be asleep, and will not notice
  {
    std::lock_guard hold(visitors_mutex_);
    Visitor* visitor = std::find_if(std::begin(visitors_), std::end(visitors_),
                                    [&](const Visitor& one) { return one.host == &host; });
    if (visitor == std::end(visitors_)) return;  // a worker polled it
    visitor->host->leave_thread(visitor->outer);
    visitor->is_taken = false;
  }
  visitor_left_.notify_one();
  leave();
}

drivers::FdWatches& RuntimeSystem::watches_for(int fd) noexcept {
  const uint32_t index = fd < 0 ? 0 : static_cast<uint32_t>(fd) % group_.options.workers;
  return workers_[index]->watches();
}

}  // namespace jzx::runtime
