// Loop: a system of actors on one thread, the caller's. The C++ face of jzx_loop.
//
//   jzx::Loop loop;
//   auto counter = loop.spawn<Counter>();
//   counter << Add{1};
//   loop.run();
//
// Threads: request_stop() and sends to references from anywhere; the rest on one thread at a time,
// which is the loop's own while it runs.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <jzx/context.hpp>
#include <jzx/observer.hpp>

namespace jzx {

class Recorder;

enum class Reactor : uint8_t {
  automatic,  // the environment variable JZX_REACTOR, else io_uring if the kernel allows, else
              // epoll
  io_uring,
  epoll,
};

struct LoopOptions {
  // At most 2^28, else the loop cannot be made, and a line on stderr says so.
  uint32_t max_actors = 65536;
  uint32_t default_mailbox_cap = 1024;  // slots; 4 of them are the system's
  uint32_t max_msgs_per_actor = 64;     // messages in one turn of an actor, fewer if they take long
  uint32_t max_actors_per_tick = 1024;  // turns before I/O and timers, fewer if they take long
  uint32_t max_io_watchers = 1024;
  Observer* observer = nullptr;  // must outlive the loop
  Reactor reactor = Reactor::automatic;
  // An actor that waits, in the middle of its body, for the answer of one that waits for it gets
  // Errc::deadlock at once; see Observer::deadlock(). Of asks without a time limit.
  bool detect_deadlocks = false;
  // Writes down all that happens, see sim/recorder.hpp. Must outlive the loop, and is for this one
  // alone: without that it cannot be made.
  Recorder* recorder = nullptr;
};

namespace detail {

// What run_until() shares with whoever resolves its future, which may come too late.
//
//   waiting ──▶ answered ──▶ done    the result is there; its thread still wakes the loop
//      └──────▶ left                 the loop ended first, and may be destroyed at any moment
template <class T>
class Awaited {
 public:
  // By the thread of the promise.
  void answer(Port& port, Result<T> result) {
    result_.emplace(std::move(result));
    uint32_t expected = waiting;
    // release: publishes the result; pairs with is_waiting() and leave().
    if (!stage_.compare_exchange_strong(expected, answered, std::memory_order_acq_rel)) return;
    wake(port);
    stage_.store(done, std::memory_order_release);  // the port is used no more; pairs with take()
    stage_.notify_one();
  }

  // By the loop.
  [[nodiscard]] bool is_waiting() const noexcept {
    return stage_.load(std::memory_order_acquire) == waiting;  // pairs with answer()
  }
  // False: the answer came first after all.
  [[nodiscard]] bool leave() noexcept {
    uint32_t expected = waiting;
    return stage_.compare_exchange_strong(expected, left, std::memory_order_acq_rel);
  }
  [[nodiscard]] Result<T> take() {
    stage_.wait(answered, std::memory_order_acquire);  // pairs with the store of done in answer()
    return std::move(*result_);
  }

 private:
  enum Stage : uint32_t { waiting, answered, done, left };

  std::atomic<uint32_t> stage_{waiting};
  std::optional<Result<T>> result_;
};

}  // namespace detail

class JZX_API Loop : public SystemFace {
 public:
  // False in a boolean context if it could not be made.
  explicit Loop(const LoopOptions& options = {});
  // Waits for other threads' calls; what is queued is dead-lettered.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  [[nodiscard]] explicit operator bool() const noexcept { return port_ != nullptr; }

  // Until stopped, or until no actor is left alive. May be called again. In an actor, which must
  // not wait, not even for another loop, it is refused: invalid_arg.
  Errc run();
  // One tick. False: stopped, nobody alive, or refused as in run(), which without a wait it is not.
  bool run_once(std::chrono::milliseconds max_wait);
  // Any thread; remembered until a run consumes it.
  void request_stop() noexcept;
  // Readable when run_once(0ms) has work: to be polled by a foreign event loop.
  [[nodiscard]] int fd();

  // Runs until the future has its result, and takes that. An error if the loop ends first: it is
  // stopped, or no actor is alive and no timer armed. Whoever resolves the future may be on another
  // thread. Where run() is refused this is, too, unless the result is there; a task is not begun.
  template <class T>
  Result<T> run_until(Future<T> future) {
    if (future.is_ready()) return future.get();
    if (must_not_wait_here()) return refused_here();
    auto awaited = std::make_shared<detail::Awaited<T>>();
    future.then(
        [awaited, port = port_](Result<T> result) { awaited->answer(*port, std::move(result)); });
    while (awaited->is_waiting()) {
      if (run_on(std::chrono::hours(1)) || !awaited->leave()) continue;
      return Error(Errc::loop_closed, "the loop ended before the future was resolved", "run_until");
    }
    return awaited->take();
  }
  // The same of a task, which is an actor of this loop meanwhile.
  template <class T>
  Result<T> run_until(Task<T> task) {
    if (must_not_wait_here()) return refused_here();
    return run_until(spawn_async(std::move(task)));
  }

 protected:
  // A system that was put together elsewhere, with a clock of its own for example.
  explicit Loop(detail::Port* port) noexcept : SystemFace(port) {}

 private:
  // Is this a thread that runs actors, which must not wait?
  [[nodiscard]] static bool must_not_wait_here() noexcept;
  [[nodiscard]] static Error refused_here() noexcept {
    return Error(Errc::invalid_arg,
                 "run_until() would wait inside an actor, which must not: use then(), or a task",
                 "run_until");
  }
  // As run_once(), but timers and operations keep it going too.
  bool run_on(std::chrono::milliseconds max_wait);
};

}  // namespace jzx
