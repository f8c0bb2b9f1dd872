// Threads for work that blocks, so that it never stalls a worker: blocking actors and
// spawn_blocking(). Elastic: a thread is started when work comes and none is free, up to a limit,
// and ends when it has had nothing to do for a while. Beyond the limit work waits in order.
//
//   post ──▶ queue ──▶ a free thread, or a new one, or the next to become free
//
// Each thread has a host of its own. Hosts stay until the pool ends; a later thread uses an
// earlier one's, so that nothing counted on them is lost.
//
// Threads: any. Work that was taken is run, also if the pool is being closed: close() returns when
// all of it is done.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/allocator.hpp"
#include "base/run_queue.hpp"

namespace jzx::drivers {

class BlockingPool {
 public:
  // What one of its threads runs work with.
  class ThreadHost {
   public:
    virtual ~ThreadHost() = default;
    virtual void begin_thread() noexcept = 0;
    virtual void end_thread() noexcept = 0;
    // `is_halted`: actors take no message any more.
    virtual void run_work(base::Runnable& work, bool is_halted) noexcept = 0;
  };
  // Makes and ends the hosts of its threads.
  class Hosts {
   public:
    virtual ~Hosts() = default;
    // nullptr: no memory.
    [[nodiscard]] virtual ThreadHost* make_thread_host() noexcept = 0;
  };

  static constexpr uint32_t kMostThreads = 512;
  static constexpr uint32_t kKeepAliveMs = 10'000;

  // `keep_alive_ms`: how long a thread stays that has nothing to do.
  BlockingPool(Hosts& hosts, uint32_t max_threads, uint32_t keep_alive_ms = kKeepAliveMs) noexcept;
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  ~BlockingPool();

  // From now on actors that run here take no message any more.
  void halt() noexcept;
  // Runs what was posted, takes no more, and ends the threads.
  void close() noexcept;

  // False: there is no thread for it, or the pool is closed.
  [[nodiscard]] bool post(base::Runnable& work) noexcept;

  [[nodiscard]] uint32_t thread_count() const noexcept;

 private:
  struct Seat {
    ThreadHost* host = nullptr;
    bool is_taken = false;
  };
  struct Start {
    BlockingPool* pool;
    uint32_t seat;
  };

  static void* thread_main(void* start) noexcept;
  // Under the mutex.
  [[nodiscard]] bool start_thread() noexcept;
  void work(uint32_t seat) noexcept;

  Hosts& hosts_;
  const uint32_t max_threads_;
  const uint32_t keep_alive_ms_;
  mutable std::mutex mutex_;
  std::condition_variable work_came_;
  std::condition_variable thread_ended_;
  base::RunQueue queue_;
  uint32_t queued_ = 0;
  uint32_t threads_ = 0;
  uint32_t free_ = 0;
  bool is_closing_ = false;
  bool is_halted_ = false;
  Seat seats_[kMostThreads];
  Start starts_[kMostThreads];
};

}  // namespace jzx::drivers
