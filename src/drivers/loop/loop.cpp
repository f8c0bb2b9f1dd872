#include "drivers/loop/loop.hpp"

namespace jzx::drivers {

namespace {

// For the length of a run this thread is the worker's.
class OnWorkersThread {
 public:
  OnWorkersThread(Worker& worker, bool& is_running) noexcept
      : worker_(worker), is_running_(is_running), outer_(base::Executor::current()) {
    is_running_ = true;
    worker_.enter_thread();
  }
  ~OnWorkersThread() {
    worker_.leave_thread(outer_);
    is_running_ = false;
  }
  OnWorkersThread(const OnWorkersThread&) = delete;
  OnWorkersThread& operator=(const OnWorkersThread&) = delete;

 private:
  Worker& worker_;
  bool& is_running_;
  base::Executor* outer_;  // an actor of one loop may run another loop
};

}  // namespace

void Loop::update_fd() noexcept {
  if (!is_running_) fd_.update();
}

Errc Loop::run() {
  if (is_running_) return Errc::invalid_arg;
  int error = 0;
  {
    OnWorkersThread here(worker_, is_running_);
    while (!is_over() && error == 0) error = worker_.tick(base::kNever);
    forget_wake_up();
  }
  changed_from_outside();
  return error == 0 ? Errc::ok : Errc::unknown;
}

Errc Loop::run_once(uint64_t max_wait_ns, bool& again) {
  again = false;
  if (is_running_) return Errc::invalid_arg;
  int error = 0;
  {
    OnWorkersThread here(worker_, is_running_);
    if (!is_over()) {
      error = worker_.tick(max_wait_ns);
      again = !is_over();
    }
    if (!again) forget_wake_up();
  }
  changed_from_outside();
  return error == 0 ? Errc::ok : Errc::unknown;
}

}  // namespace jzx::drivers
