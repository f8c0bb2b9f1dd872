// A thread of the library's own. pthreads and not std::thread, which takes memory from operator
// new and throws.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstdint>

#include "base/assert.hpp"

namespace jzx::base {

// How many cores this process may use, at least 1.
[[nodiscard]] inline uint32_t cores_of_this_process() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? static_cast<uint32_t>(count) : 1;
}

class Thread {
 public:
  Thread() noexcept = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread() { JZX_ASSERT(!is_running_); }

  // False: the system has no thread to spare. `name` is for people, at most 15 characters.
  [[nodiscard]] bool start(void* (*function)(void*), void* argument, const char* name) noexcept {
    is_running_ = ::pthread_create(&handle_, nullptr, function, argument) == 0;
    if (is_running_) (void)::pthread_setname_np(handle_, name);
    return is_running_;
  }
  void join() noexcept {
    if (!is_running_) return;
    ::pthread_join(handle_, nullptr);
    is_running_ = false;
  }
  [[nodiscard]] bool is_running() const noexcept { return is_running_; }
  [[nodiscard]] bool is_this_one() const noexcept {
    return is_running_ && ::pthread_equal(handle_, ::pthread_self()) != 0;
  }

 private:
  pthread_t handle_{};
  bool is_running_ = false;
};

}  // namespace jzx::base
