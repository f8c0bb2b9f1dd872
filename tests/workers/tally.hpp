// A number that threads count up and a test waits for: how these tests wait, instead of sleeping.
//
// A wait has an end, so that a test which lost something says so and does not hang; it is far
// beyond what any machine needs, and nothing depends on how long it is.
//
// Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace jzx::testing {

class Tally {
 public:
  void add(uint64_t count = 1) {
    const std::lock_guard hold(mutex_);
    value_ += count;
    changed_.notify_all();
  }

  // False: it is not there after a minute, and will never be.
  [[nodiscard]] bool reaches(uint64_t wanted) {
    std::unique_lock hold(mutex_);
    return changed_.wait_for(hold, std::chrono::minutes(1), [&] { return value_ >= wanted; });
  }

  [[nodiscard]] uint64_t value() const {
    const std::lock_guard hold(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_ = 0;
};

// Closed until somebody opens it, and then for good.
class Gate {
 public:
  void open() { opened_.add(); }
  [[nodiscard]] bool wait() { return opened_.reaches(1); }
  [[nodiscard]] bool is_open() const { return opened_.value() > 0; }

 private:
  Tally opened_;
};

}  // namespace jzx::testing
