// The outside of a node that has none: every operation is refused.
#pragma once

#include "base/allocator.hpp"
#include "io/contract.hpp"

namespace jzx::drivers::sim {

class EmptyWorld final : public io::Reactor {
 public:
  [[nodiscard]] static io::ReactorPtr make(const base::Allocator& allocator) {
    auto* world = allocator.create<EmptyWorld>();
    return io::ReactorPtr(world, {allocator.free_fn, allocator.ctx});
  }

  int watch(io::Watch&) override { return -EPERM; }
  int unwatch(io::Watch&) override { return -EPERM; }
  void share(std::mutex&) noexcept override {}
  io::Submitted submit(io::Operation& operation) override {
    operation.result = -ENOSYS;
    return io::Submitted::done;
  }
  void cancel(io::Operation&) override {}
  void perform(io::Operation& operation) noexcept override { operation.result = -ENOSYS; }
  size_t pending_count() const noexcept override { return 0; }
  int wait(uint64_t) override { return 0; }
  void wake() noexcept override {}
  int pollable_fd() const noexcept override { return -1; }
  const char* name() const noexcept override { return "empty world"; }
};

}  // namespace jzx::drivers::sim
