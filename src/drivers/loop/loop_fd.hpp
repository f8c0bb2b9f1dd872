// An fd by which a foreign event loop can own the thread: readable exactly when a tick that does
// not wait has something to do. An epoll instance over
//
//   the reactor     I/O happened, or another thread left work
//   an eventfd      there is ready work, left over or made between ticks by the loop's own thread
//   a timerfd       set to the next deadline
//
// Made on the first demand, so that nobody else pays for keeping it true.
// Threads: the worker's own.
#pragma once

#include <cstdint>

#include "drivers/loop/worker.hpp"

namespace jzx::drivers {

class LoopFd {
 public:
  explicit LoopFd(Worker& worker) noexcept : worker_(worker) {}
  ~LoopFd() { close(); }
  LoopFd(const LoopFd&) = delete;
  LoopFd& operator=(const LoopFd&) = delete;

  // The fd, made now if need be; -errno if it cannot be.
  [[nodiscard]] int open() noexcept;
  [[nodiscard]] bool is_open() const noexcept { return epoll_fd_ >= 0; }

  // Makes it true again. Between ticks only.
  void update() noexcept;

 private:
  void close() noexcept;
  void show_work(bool has_work) noexcept;
  void set_alarm(uint64_t deadline_ns) noexcept;

  Worker& worker_;
  int epoll_fd_ = -1;
  int work_fd_ = -1;
  int timer_fd_ = -1;
  bool shows_work_ = false;
  uint64_t alarm_ns_ = base::kNever;
};

}  // namespace jzx::drivers
