// The outside of a replay: fds can be watched, and are ready when the record says so; what
// operations would have answered is not recorded, so they are pending until they are cancelled.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <vector>

#include "base/allocator.hpp"
#include "io/contract.hpp"

namespace jzx::runtime {

class ReplayWorld final : public io::Reactor {
 public:
  int watch(io::Watch& watch) override { return watches_.push_back(&watch), 0; }
  int unwatch(io::Watch& watch) override { return std::erase(watches_, &watch), 0; }
  void share(std::mutex&) noexcept override {}
  io::Submitted submit(io::Operation& operation) override {
    pending_.push_back(&operation);
    ++operations_;
    return io::Submitted::pending;
  }
  void cancel(io::Operation& operation) override {
    if (std::erase(pending_, &operation) != 0) cancelled_.push_back(&operation);
  }
  void perform(io::Operation& operation) noexcept override { operation.result = -ENOSYS; }
  size_t pending_count() const noexcept override { return cancelled_.size(); }
  int wait(uint64_t) override {
    while (!cancelled_.empty()) {
      io::Operation* operation = cancelled_.front();
      cancelled_.erase(cancelled_.begin());
      operation->complete_with(-ECANCELED);
    }
    return 0;
  }
  void wake() noexcept override {}
  int pollable_fd() const noexcept override { return -1; }
  const char* name() const noexcept override { return "replay"; }

  // False: nobody watches it. Where one fd is watched it is that one, whatever its number is now.
  [[nodiscard]] bool tell(int fd, uint32_t readiness) {
    auto found = std::find_if(watches_.begin(), watches_.end(),
                              [&](const io::Watch* watch) { return watch->fd == fd; });
    if (found == watches_.end() && watches_.size() == 1) found = watches_.begin();
    if (found == watches_.end()) return false;
    (*found)->ready(readiness);
    return true;
  }
  // How many were submitted.
  [[nodiscard]] size_t operations() const noexcept { return operations_; }

 private:
  std::vector<io::Watch*> watches_;
  std::vector<io::Operation*> pending_;
  std::vector<io::Operation*> cancelled_;
  size_t operations_ = 0;
};

}  // namespace jzx::runtime
