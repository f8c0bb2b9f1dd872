#include "drivers/loop/loop_fd.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

namespace jzx::drivers {

using base::kNever;

int LoopFd::open() noexcept {
  if (is_open()) return epoll_fd_;
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  work_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  bool good = epoll_fd_ >= 0 && work_fd_ >= 0 && timer_fd_ >= 0;
  for (const int fd : {worker_.io().pollable_fd(), work_fd_, timer_fd_}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    good = good && epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) == 0;
  }
  if (!good) {
    const int error = -errno;
    close();
    return error;
  }
  update();
  return epoll_fd_;
}

void LoopFd::close() noexcept {
  for (int* fd : {&epoll_fd_, &work_fd_, &timer_fd_}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

void LoopFd::update() noexcept {
  // Announced first, so that foreign work from here on wakes the reactor, which shows.
  (void)worker_.announce_sleep();
  worker_.io().flush();
  const uint64_t deadline_ns = worker_.next_deadline_ns();
  const bool is_due = deadline_ns != kNever && deadline_ns <= worker_.now_ns();
  show_work(worker_.has_work() || is_due);
  set_alarm(is_due ? kNever : deadline_ns);
}

void LoopFd::show_work(bool has_work) noexcept {
  if (has_work == shows_work_) return;
  shows_work_ = has_work;
  uint64_t count = 1;
  // Neither can fail: the counter goes from 0 to 1 and back.
  const ssize_t size =
      has_work ? write(work_fd_, &count, sizeof count) : read(work_fd_, &count, sizeof count);
  JZX_ASSERT(size == sizeof count);
  (void)size;
}

void LoopFd::set_alarm(uint64_t deadline_ns) noexcept {
  if (deadline_ns == alarm_ns_) return;
  alarm_ns_ = deadline_ns;
  itimerspec alarm{};  // all zero: off
  if (deadline_ns != kNever) {
    // Relative: the worker's clock need not be the kernel's.
    const uint64_t now_ns = worker_.now_ns();
    const uint64_t wait_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 1;
    alarm.it_value.tv_sec = static_cast<time_t>(wait_ns / 1'000'000'000u);
    alarm.it_value.tv_nsec = static_cast<long>(wait_ns % 1'000'000'000u);
  }
  timerfd_settime(timer_fd_, 0, &alarm, nullptr);
}

}  // namespace jzx::drivers
