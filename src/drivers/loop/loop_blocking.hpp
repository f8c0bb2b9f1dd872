// The one-thread loop's place for work that blocks: a pool of threads, made with the first job and
// ended with the loop. So a loop that never blocks has one thread and no pool.
//
// A job runs outside the loop, whose actors belong to the loop's thread alone. All it can do there
// is to come back: it runs with an executor whose post() leaves work for the loop, which may be
// asleep. That is nobody's current() executor, and has neither timers nor choices.
//
// Threads: post() by the loop's thread and by jobs; the rest by the loop's thread.
#pragma once

#include "base/executor.hpp"
#include "drivers/loop/blocking_pool.hpp"
#include "drivers/loop/worker.hpp"

namespace jzx::drivers {

class LoopBlocking final : public BlockingPlace, private BlockingPool::Hosts {
 public:
  static constexpr uint32_t kMostThreads = 64;

  explicit LoopBlocking(Worker& worker) noexcept : worker_(worker), jobs_(*this) {
    worker.set_blocking_place(this);
  }
  ~LoopBlocking() override;
  LoopBlocking(const LoopBlocking&) = delete;
  LoopBlocking& operator=(const LoopBlocking&) = delete;

  [[nodiscard]] bool post(base::Runnable& work) noexcept override;

  // Returns when every job has run; takes no more.
  void close() noexcept;

 private:
  // What jobs run with. It has no state, so all threads have the same.
  class JobExecutor final : public base::Executor, public BlockingPool::ThreadHost {
   public:
    explicit JobExecutor(LoopBlocking& place) noexcept : place_(place) {}

    void post(base::Runnable& work) override { place_.worker_.post(work); }
    uint64_t now_ns() override { return place_.worker_.now_ns(); }
    void arm(base::Timer&, uint64_t) override {
      constexpr bool kJobMayArmTimers = false;
      JZX_ASSERT(kJobMayArmTimers);
    }
    bool disarm(base::Timer&) override { return false; }
    uint32_t choose(uint32_t, base::ChoiceSite) override { return 0; }
    bool post_blocking(base::Runnable& work) override { return place_.post(work); }
    io::Reactor& io() override { return place_.worker_.io(); }

    void begin_thread() noexcept override {}
    void end_thread() noexcept override {}
    void run_work(base::Runnable& work, bool) noexcept override { work.run(*this); }

   private:
    LoopBlocking& place_;
  };

  BlockingPool::ThreadHost* make_thread_host() noexcept override { return &jobs_; }

  Worker& worker_;
  JobExecutor jobs_;
  BlockingPool* pool_ = nullptr;  // made by the loop's thread, before there are jobs
  bool is_closed_ = false;
};

}  // namespace jzx::drivers
