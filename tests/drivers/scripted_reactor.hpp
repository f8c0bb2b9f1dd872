// A reactor that knows no I/O but lets a test act at the exact moment between a worker's last look
// for work and its sleep, and tells whether that sleep would have been for ever.
//
// Threads: one; what "another thread" does, the script does.
#pragma once

#include <functional>
#include <new>
#include <utility>

#include "io/contract.hpp"

namespace jzx::testing {

class ScriptedReactor final : public io::Reactor {
 public:
  int watch(io::Watch&) override { return -ENOSYS; }
  void share(std::mutex&) noexcept override {}
  int unwatch(io::Watch&) override { return -ENOSYS; }
  io::Submitted submit(io::Operation& operation) override {
    perform(operation);
    return io::Submitted::done;
  }
  void cancel(io::Operation&) override {}
  void perform(io::Operation& operation) noexcept override { operation.result = -ENOSYS; }
  size_t pending_count() const noexcept override { return pending; }

  int wait(uint64_t timeout_ns) override {
    ++(timeout_ns == 0 ? looks : sleeps);
    last_timeout_ns = timeout_ns;
    if (timeout_ns > 0 && before_sleep) std::exchange(before_sleep, nullptr)();
    if (!std::exchange(is_woken_, false) && timeout_ns == base::kNever) overslept = true;
    return 0;
  }
  void wake() noexcept override {
    ++wakes;
    is_woken_ = true;
  }
  int pollable_fd() const noexcept override { return -1; }
  const char* name() const noexcept override { return "scripted"; }

  std::function<void()> before_sleep;
  int looks = 0;
  int sleeps = 0;
  int wakes = 0;
  uint64_t last_timeout_ns = 0;
  size_t pending = 0;      // what it answers
  bool overslept = false;  // slept without an end in sight, and nobody woke it

 private:
  bool is_woken_ = false;
};

// The pointer that a worker wants, and the reactor itself for the test.
[[nodiscard]] inline std::pair<io::ReactorPtr, ScriptedReactor*> make_scripted_reactor() {
  auto* reactor = new ScriptedReactor;
  io::ReactorDeleter deleter;
  deleter.release = [](void*, void* memory) { ::operator delete(memory); };
  return {io::ReactorPtr(reactor, deleter), reactor};
}

}  // namespace jzx::testing
