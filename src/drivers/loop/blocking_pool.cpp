#include "drivers/loop/blocking_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "base/assert.hpp"

namespace jzx::drivers {

BlockingPool::BlockingPool(Hosts& hosts, uint32_t max_threads, uint32_t keep_alive_ms) noexcept
    : hosts_(hosts),
      max_threads_(std::clamp(max_threads, 1u, kMostThreads)),
      keep_alive_ms_(keep_alive_ms) {}

BlockingPool::~BlockingPool() { JZX_ASSERT(threads_ == 0); }

void BlockingPool::halt() noexcept {
  std::lock_guard hold(mutex_);
  is_halted_ = true;
}

void BlockingPool::close() noexcept {
  std::unique_lock hold(mutex_);
  is_closing_ = true;
  work_came_.notify_all();
  thread_ended_.wait(hold, [&] { return threads_ == 0 && queue_.empty(); });
}

uint32_t BlockingPool::thread_count() const noexcept {
  std::lock_guard hold(mutex_);
  return threads_;
}

bool BlockingPool::post(base::Runnable& work) noexcept {
  std::lock_guard hold(mutex_);
  if (is_closing_) return false;
  const bool is_free = queued_ < free_;
  if (!is_free && threads_ < max_threads_) (void)start_thread();
  if (threads_ == 0) return false;
  queue_.push(work);
  ++queued_;
  work_came_.notify_one();
  return true;
}

bool BlockingPool::start_thread() noexcept {
  for (uint32_t i = 0; i < max_threads_; ++i) {
    Seat& seat = seats_[i];
    if (seat.is_taken) continue;
    if (seat.host == nullptr) seat.host = hosts_.make_thread_host();
    if (seat.host == nullptr) return false;
    starts_[i] = {this, i};
    pthread_t thread{};
    if (::pthread_create(&thread, nullptr, &thread_main, &starts_[i]) != 0) return false;
    ::pthread_setname_np(thread, "jzx-blocking");
    ::pthread_detach(thread);  // close() waits for its end by count
    seat.is_taken = true;
    ++threads_;
    return true;
  }
  return false;
}

void* BlockingPool::thread_main(void* start) noexcept {
  const auto& begin = *static_cast<Start*>(start);
  begin.pool->work(begin.seat);
  return nullptr;
}

void BlockingPool::work(uint32_t seat) noexcept {
  ThreadHost& host = *seats_[seat].host;
  host.begin_thread();
  std::unique_lock hold(mutex_);
  for (;;) {
    base::Runnable* next = queue_.pop();
    if (next != nullptr) {
      --queued_;
      const bool is_halted = is_halted_;
      hold.unlock();
      host.run_work(*next, is_halted);
      hold.lock();
      continue;
    }
    if (is_closing_) break;
    ++free_;
    const auto outcome = work_came_.wait_for(hold, std::chrono::milliseconds(keep_alive_ms_));
    --free_;
    if (outcome == std::cv_status::timeout && queue_.empty()) break;
  }
  host.end_thread();
  seats_[seat].is_taken = false;
  --threads_;
  thread_ended_.notify_all();
}

}  // namespace jzx::drivers
