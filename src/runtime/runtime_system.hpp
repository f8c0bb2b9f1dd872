// Puts a system on all cores together: workers on threads of their own, the host for foreign
// threads, the pool for what blocks.
//
//   foreign thread ── send: straight into the mailbox; the actor goes to the injection queue
//                  └─ other calls: with the front desk's host, one thread at a time
//   worker         ── everything with its own host
//
// Threads: any. destroy() from none of its own.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "base/thread.hpp"
#include "drivers/workers/blocking_functions.hpp"
#include "drivers/workers/shared_worker.hpp"
#include "drivers/workers/side_host.hpp"
#include "io/reactor.hpp"
#include "runtime/port.hpp"

namespace jzx::runtime {

struct RuntimeOptions {
  base::Allocator allocator;
  uint32_t workers = 0;  // 0: as many as there are cores for this process
  uint32_t max_actors = 1u << 24;
  uint32_t default_mailbox_cap = 1024;
  uint32_t max_msgs_per_actor = 64;
  uint32_t max_actors_per_tick = 1024;
  uint32_t max_io_watchers = 1024;
  uint32_t io_poll_timeout_ms = 0;  // 0: no bound
  uint32_t local_queue = 256;
  uint64_t injection_high_water = 65536;
  uint32_t steal_batch = 32;
  uint32_t max_blocking_threads = 64;
  uint32_t stall_limit_ms = 0;   // 0: stalls are not told of
  base::Clock* clock = nullptr;  // nullptr: the system's monotonic clock
  io::Backend backend = io::Backend::automatic;
  bool detect_deadlocks = false;
};

// Who had not ended when the time was up, and why.
struct Straggler {
  ActorId id = 0;  // kNobody: not an actor
  std::string name;
  std::string why;
};

class RuntimeSystem final : public detail::Port, private drivers::BlockingPool::Hosts {
 public:
  // nullptr: invalid options, no memory, or no reactor.
  [[nodiscard]] static RuntimeSystem* create(const RuntimeOptions& options) noexcept;

  bool destroy() noexcept override;
  core::Host& any_host() noexcept override { return *front_desk_; }
  core::Host* begin_call() noexcept override;
  void end_call(core::Host& host) noexcept override;
  core::Host* begin_turn() noexcept override;
  void end_turn(core::Host& host) noexcept override;
  drivers::FdWatches& watches_for(int fd) noexcept override;
  void wake() noexcept override { ring(); }
  // Async-signal-safe.
  void request_stop() noexcept override;

  // Starts the workers, if they do not run; false: the system has no threads to spare.
  [[nodiscard]] bool start() noexcept;
  // One for each start() that was true; with the last the workers are stopped and joined. What is
  // ready waits for the next start.
  void pause() noexcept;

  // Until request_stop(), or until no actor is alive, or until it is destroyed. A stop ends all
  // waits that have begun; without any it is remembered for the next.
  void wait() noexcept;

  // Asks everybody to end, takes no new actors and functions, and waits. Who is left.
  [[nodiscard]] std::vector<Straggler> shut_down(uint64_t timeout_ns);

  // Is this one of its own threads, which it would wait for, or one that runs actors?
  [[nodiscard]] bool must_not_wait_here() const noexcept;

  // As jzx_runtime_run(): starts, waits, pauses.
  [[nodiscard]] Errc run() noexcept;

  [[nodiscard]] drivers::WorkerGroup& group() noexcept { return group_; }
  drivers::BlockingFunctions blocking_functions;
  // Every host gets it as its face.
  void set_face(void* face) noexcept;

 private:
  template <class T, class... Args>
  friend T* create_aligned(const base::Allocator&, Args&&...) noexcept;
  template <class T>
  friend void destroy_aligned(base::Allocator, T*) noexcept;

  RuntimeSystem(const RuntimeOptions& options, uint32_t workers, uint64_t seed) noexcept;
  ~RuntimeSystem();

  [[nodiscard]] bool open() noexcept;
  // Under life_.
  [[nodiscard]] bool start_workers() noexcept;
  void stop_workers() noexcept;
  // Whoever has started them.
  void stop_workers_now() noexcept;
  // Waits as if it had begun when `consumed` was read from stops_consumed_.
  void wait_for_stop_after(uint64_t consumed) noexcept;
  drivers::SideHost* make_host() noexcept;
  drivers::BlockingPool::ThreadHost* make_thread_host() noexcept override;
  void introduce(core::Host& host) noexcept;
  void ask_everybody_to_end() noexcept;
  [[nodiscard]] bool is_nobody_left() const noexcept;
  void ring() noexcept;
  // Returns when the bell was rung since `heard`. False: the deadline has passed.
  bool wait_for_bell(uint32_t heard, uint64_t deadline_ns) noexcept;
  [[nodiscard]] uint32_t rings() const noexcept {
    return bell_.load(std::memory_order_acquire);  // pairs with ring()
  }
  static void* worker_main(void* worker) noexcept;

  const RuntimeOptions options_;
  base::Clock& clock_;
  const uint64_t seed_;
  void* face_ = nullptr;
  drivers::WorkerGroup group_;
  drivers::WatchLimit watch_limit_;
  drivers::BlockingPool blocking_;
  drivers::StallWatch watch_;
  drivers::SharedWorker* workers_[drivers::Idle::kMaxWorkers] = {};
  base::Thread threads_[drivers::Idle::kMaxWorkers];
  drivers::SideHost* front_desk_ = nullptr;
  std::recursive_mutex front_desk_mutex_;
  std::mutex life_;      // the workers' threads
  uint32_t starts_ = 0;  // that no pause() has followed; under life_
  // Hosts of foreign threads that run turns by hand; each is one thread's at a time.
  struct Visitor {
    drivers::SideHost* host = nullptr;
    base::Executor* outer = nullptr;  // whose thread it is otherwise
    bool is_taken = false;
  };
  static constexpr uint32_t kMostVisitors = 64;
  std::mutex visitors_mutex_;
  std::condition_variable visitor_left_;
  Visitor visitors_[kMostVisitors];
  // A wait is over when there was a stop that had not ended another when it began. So one stop ends
  // all that wait, and none that begin later.
  base::Atomic<uint64_t> stops_requested_{0};
  base::Atomic<uint64_t> stops_consumed_{0};
  base::Atomic<uint32_t> bell_{0};  // a futex: who waits should look whether the wait is over
};

}  // namespace jzx::runtime
