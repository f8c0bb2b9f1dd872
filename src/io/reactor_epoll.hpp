// The reactor on epoll alone: its wait is the readiness set's. Works on every kernel we run on. The
// reactor on io_uring is this one and a ring.
//
// Threads and lifetime: as in contract.hpp.
#pragma once

#include "base/allocator.hpp"
#include "io/contract.hpp"
#include "io/readiness_set.hpp"
#include "io/unsupported_operations.hpp"

namespace jzx::io {

class EpollReactor : public Reactor {
 public:
  explicit EpollReactor(const base::Allocator& allocator) noexcept : readiness_(allocator) {}

  // Once, before anything else. 0 or -errno.
  [[nodiscard]] int open() noexcept;

  [[nodiscard]] int watch(Watch& watch) override;
  int unwatch(Watch& watch) override;
  void share(std::mutex& mutex) noexcept override { readiness_.share(mutex); }
  void submit(Operation& operation) override;
  void cancel(Operation& operation) override;
  [[nodiscard]] int wait(uint64_t timeout_ns) override;
  void wake() noexcept override;
  [[nodiscard]] int pollable_fd() const noexcept override;
  [[nodiscard]] const char* name() const noexcept override;

 protected:
  ReadinessSet readiness_;

 private:
  UnsupportedOperations unsupported_;
};

}  // namespace jzx::io
