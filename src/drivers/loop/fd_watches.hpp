// File descriptors watched for actors. One readiness, one event: an event that is still queued
// takes up what happens meanwhile, so each watch has one message and needs no other. A watch that
// is withdrawn while its message is queued leaves that message behind, void.
//
// Threads: the worker's own.
#pragma once

#include <jzx/errc.hpp>

#include "base/slab.hpp"
#include "core/host.hpp"
#include "io/contract.hpp"

namespace jzx::drivers {

class FdWatches {
 public:
  FdWatches(core::Host& host, io::Reactor& reactor, uint32_t max_watches) noexcept;
  ~FdWatches();
  FdWatches(const FdWatches&) = delete;
  FdWatches& operator=(const FdWatches&) = delete;

  // Watching an fd again replaces owner and interest, and re-arms it.
  [[nodiscard]] Errc watch(int fd, core::ActorId owner, uint32_t interest) noexcept;
  [[nodiscard]] Errc unwatch(int fd) noexcept;

  // The owner ended.
  void release_all(core::Actor& owner) noexcept;
  // The message of a watch was handled, or never will be.
  void reclaim(core::Notice& notice) noexcept;

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

 private:
  struct FdWatch : core::Notice, io::Watch, core::OwnedWatch {
    FdWatch() noexcept : Watch(&FdWatches::became_ready) {}

    FdWatches* watches = nullptr;
    core::Actor* owner = nullptr;
    IoEvent event;
    bool is_queued = false;
    bool is_withdrawn = false;  // freed when its message comes back
  };

  static void became_ready(io::Watch& watch, uint32_t readiness);

  [[nodiscard]] FdWatch* find(int fd) const noexcept {
    return static_cast<size_t>(fd) < capacity_ ? by_fd_[fd] : nullptr;
  }
  [[nodiscard]] bool make_place(int fd) noexcept;
  [[nodiscard]] FdWatch* make_record(int fd, core::Actor& owner, uint32_t interest) noexcept;
  [[nodiscard]] int replace(FdWatch& old, FdWatch& fresh) noexcept;
  void free_record(FdWatch& watch) noexcept;
  void withdraw(FdWatch& watch) noexcept;

  core::Host& host_;
  io::Reactor& reactor_;
  base::Slab records_;
  FdWatch** by_fd_ = nullptr;  // fds are small and dense
  size_t capacity_ = 0;
  uint32_t count_ = 0;
  uint32_t max_watches_;
};

}  // namespace jzx::drivers
