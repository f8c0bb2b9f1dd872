#include "drivers/loop/loop.hpp"

namespace jzx::drivers {

namespace {

// The address of this is a name of the thread.
thread_local char thread_name;

// For the length of a run this thread is the worker's.
class OnWorkersThread {
 public:
  OnWorkersThread(Worker& worker, bool& is_running, base::Atomic<const void*>& thread) noexcept
      : worker_(worker),
        is_running_(is_running),
        thread_(thread),
        outer_(base::Executor::current()) {
    is_running_ = true;
    thread_.store(&thread_name, std::memory_order_relaxed);  // only this thread compares equal
    worker_.enter_thread();
  }
  ~OnWorkersThread() {
    worker_.leave_thread(outer_);
    thread_.store(nullptr, std::memory_order_relaxed);
    is_running_ = false;
  }
  OnWorkersThread(const OnWorkersThread&) = delete;
  OnWorkersThread& operator=(const OnWorkersThread&) = delete;

 private:
  Worker& worker_;
  bool& is_running_;
  base::Atomic<const void*>& thread_;
  base::Executor* outer_;  // an actor of one loop may run another loop
};

}  // namespace

Loop::Loop(Worker& worker) noexcept
    : worker_(worker), fd_(worker), blocking_(worker), home_thread_(&thread_name) {}

bool Loop::is_at_home() const noexcept {
  return home_thread_.load(std::memory_order_relaxed) == &thread_name;  // as running_thread_
}

void Loop::update_fd() noexcept {
  if (!is_running_) fd_.update();
}

bool Loop::is_entered() const noexcept {
  const void* runner = running_thread_.load(std::memory_order_relaxed);
  // While one thread runs it, what calls are inside is no business of another's.
  return runner != nullptr ? runner == &thread_name
                           : calls_inside_.load(std::memory_order_relaxed) > 0;
}

Errc Loop::run() {
  if (is_running_ || calls_inside_.load(std::memory_order_relaxed) > 0) return Errc::invalid_arg;
  int error = 0;
  {
    OnWorkersThread here(worker_, is_running_, running_thread_);
    home_thread_.store(&thread_name, std::memory_order_relaxed);  // as running_thread_
    while (!is_over(EndsWhen::nobody_is_alive) && error == 0) error = worker_.tick(base::kNever);
    forget_wake_up();
  }
  if (fd_.is_open()) update_fd();
  return error == 0 ? Errc::ok : Errc::unknown;
}

Errc Loop::run_once(uint64_t max_wait_ns, bool& again, EndsWhen end) {
  again = false;
  if (is_running_ || calls_inside_.load(std::memory_order_relaxed) > 0) return Errc::invalid_arg;
  int error = 0;
  {
    OnWorkersThread here(worker_, is_running_, running_thread_);
    home_thread_.store(&thread_name, std::memory_order_relaxed);  // as running_thread_
    if (!is_over(end)) {
      error = worker_.tick(max_wait_ns);
      again = !is_over(end);
    }
    if (!again) forget_wake_up();
  }
  if (fd_.is_open()) update_fd();
  return error == 0 ? Errc::ok : Errc::unknown;
}

}  // namespace jzx::drivers
