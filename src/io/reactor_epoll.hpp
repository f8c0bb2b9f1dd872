// The reactor on epoll alone: its wait is the readiness set's. Works on every kernel we run on. The
// reactor on io_uring is this one and a ring.
//
// Threads and lifetime: as in contract.hpp.
#pragma once

#include "base/allocator.hpp"
#include "io/contract.hpp"
#include "io/readiness_set.hpp"

namespace jzx::io {

class EpollReactor : public Reactor {
 public:
  explicit EpollReactor(const base::Allocator& allocator) noexcept : readiness_(allocator) {}

  // Once, before anything else. 0 or -errno.
  [[nodiscard]] int open() noexcept;

  [[nodiscard]] int watch(Watch& watch) override;
  int unwatch(Watch& watch) override;
  void share(std::mutex& mutex) noexcept override { readiness_.share(mutex); }
  [[nodiscard]] Submitted submit(Operation& operation) override;
  void cancel(Operation& operation) override;
  void perform(Operation& operation) noexcept override;
  [[nodiscard]] size_t pending_count() const noexcept override { return 0; }
  [[nodiscard]] int wait(uint64_t timeout_ns) override;
  void wake() noexcept override;
  [[nodiscard]] int pollable_fd() const noexcept override;
  [[nodiscard]] const char* name() const noexcept override;

 protected:
  ReadinessSet readiness_;
};

}  // namespace jzx::io
