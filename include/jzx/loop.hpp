// Loop: a system of actors on one thread, the caller's. The C++ face of jzx_loop.
//
//   jzx::Loop loop;
//   auto counter = loop.spawn<Counter>();
//   counter.send(Add{1});
//   loop.run();
//
// Threads: request_stop() and sends to references from anywhere; the rest on one thread at a time,
// which is the loop's own while it runs.
#pragma once

#include <chrono>
#include <vector>

#include <jzx/context.hpp>
#include <jzx/observer.hpp>
#include <jzx/supervisor.hpp>

namespace jzx {

enum class Reactor : uint8_t {
  automatic,  // the environment variable JZX_REACTOR, else io_uring if the kernel allows, else epoll
  io_uring,
  epoll,
};

struct LoopOptions {
  uint32_t max_actors = 65536;
  uint32_t default_mailbox_cap = 1024;  // slots; 4 of them are the system's
  uint32_t max_msgs_per_actor = 64;     // messages an actor handles in one turn
  uint32_t max_actors_per_tick = 1024;  // turns before the loop looks at I/O and timers
  uint32_t max_io_watchers = 1024;
  Observer* observer = nullptr;  // must outlive the loop
  Reactor reactor = Reactor::automatic;
};

class JZX_API Loop : public SystemFace {
 public:
  // False in a boolean context if it could not be made.
  explicit Loop(const LoopOptions& options = {});
  // Waits for other threads' calls; what is queued is dead-lettered.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  [[nodiscard]] explicit operator bool() const noexcept { return port_ != nullptr; }

  // Until stopped, or until no actor is left alive. May be called again.
  Errc run();
  // One tick. False: stopped, or nobody alive.
  bool run_once(std::chrono::milliseconds max_wait);
  // Any thread; remembered until a run consumes it.
  void request_stop() noexcept;
  // Readable when run_once(0ms) has work: to be polled by a foreign event loop.
  [[nodiscard]] int fd();

  // Runs until the future has its result, and takes that. An error if the loop ends first.
  template <class T>
  Result<T> run_until(Future<T> future) {
    while (!future.is_ready()) {
      if (!run_once(std::chrono::hours(1)) && !future.is_ready()) {
        return Error(Errc::loop_closed, "the loop ended before the future was resolved");
      }
    }
    return future.get();
  }

  // An empty reference if it cannot be; spawn_error() tells.
  SupervisorRef supervise(const SupervisorOptions& options, const std::vector<ChildSpec>& children,
                          Pid parent = {}) {
    SupervisorRef made;
    supervise_error_ = start(options, children, parent, made);
    return made;
  }
  // Why the last supervise gave an empty reference.
  [[nodiscard]] Errc supervise_error() const noexcept { return supervise_error_; }

 private:
  Errc start(const SupervisorOptions& options, const std::vector<ChildSpec>& children, Pid parent,
             SupervisorRef& out);

  Errc supervise_error_ = Errc::ok;
};

}  // namespace jzx
