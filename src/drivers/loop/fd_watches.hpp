// File descriptors watched for actors. One readiness, one event: an event that is still queued
// takes up what happens meanwhile, so each watch has one message and needs no other. A watch that
// is withdrawn while its message is queued leaves that message behind, void.
//
// In a shared system each worker has one of these, under its own mutex, and the reactor tells of
// readiness with that held. An event that comes while the message is queued, and so perhaps being
// read on another thread, is not written into it: it is sent again when the message is back.
//
// A signal is watched as the eventfd of its source, which belongs to the watch and ends with it. It
// is read before the owner is told, so that the message says how many came.
//
// Threads: the worker's own; in a shared system any.
#pragma once

#include <mutex>

#include <jzx/errc.hpp>

#include "base/slab.hpp"
#include "core/host.hpp"
#include "io/contract.hpp"
#include "io/signal_source.hpp"

namespace jzx::drivers {

// How many fds may be watched, over all workers of a system.
struct WatchLimit {
  uint32_t max = 1024;
  base::Atomic<uint32_t> used{0};
};

class FdWatches {
 public:
  // `limit` is shared; nullptr: `max_watches` of its own.
  FdWatches(core::Host& host, io::Reactor& reactor, uint32_t max_watches,
            WatchLimit* limit) noexcept;
  ~FdWatches();
  FdWatches(const FdWatches&) = delete;
  FdWatches& operator=(const FdWatches&) = delete;

  // Watching an fd again replaces owner and interest, and re-arms it.
  [[nodiscard]] Errc watch(int fd, core::ActorId owner, uint32_t interest) noexcept;
  [[nodiscard]] Errc unwatch(int fd) noexcept;

  // The source is this object's if the answer is ok.
  [[nodiscard]] Errc watch_signal(io::SignalSource& source, core::ActorId owner) noexcept;

  // The owner ended: whatever it watches, here or with another worker.
  static void release_all(core::System& system, core::Actor& owner) noexcept;

  [[nodiscard]] bool empty() const noexcept {
    return count_.load(std::memory_order_relaxed) == 0;  // a number on its own
  }

 private:
  struct FdWatch : core::Notice, io::Watch, core::OwnedWatch {
    FdWatch() noexcept : Watch(&FdWatches::became_ready) {}

    FdWatches* watches = nullptr;
    core::Actor* owner = nullptr;
    IoEvent event;
    io::SignalSource* source = nullptr;  // it is a signal's, and `signal` is its event
    SignalEvent signal;
    uint32_t more = 0;  // readiness that came while it was queued, in a shared system
    bool is_queued = false;
    bool is_withdrawn = false;  // freed when its message comes back
  };

  [[nodiscard]] Errc watch(int fd, core::ActorId owner, uint32_t interest,
                           io::SignalSource* source) noexcept;
  static void became_ready(io::Watch& watch, uint32_t readiness);
  // The message of a watch was handled, or never will be.
  static void reclaim(core::Notice& notice, core::Host& host);
  void send(core::Host& host, FdWatch& watch, uint32_t readiness) noexcept;
  [[nodiscard]] std::unique_lock<std::mutex> hold() noexcept {
    return is_shared_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }

  [[nodiscard]] FdWatch* find(int fd) const noexcept {
    return static_cast<size_t>(fd) < capacity_ ? by_fd_[fd] : nullptr;
  }
  [[nodiscard]] bool take_permit() noexcept;
  void give_permit() noexcept;
  [[nodiscard]] bool add_to_owner(FdWatch& watch, core::Actor& owner, core::ActorId id) noexcept;
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
  base::Atomic<uint32_t> count_{0};
  WatchLimit own_limit_;
  WatchLimit& limit_;
  const bool is_shared_;
  std::mutex mutex_;
};

}  // namespace jzx::drivers
