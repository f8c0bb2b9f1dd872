// Runtime: a system of actors on all cores. Workers, one per core, share the ready actors and take
// from one another when they run out; each actor is still run by one thread at a time.
//
//   jzx::Runtime runtime;                                  // starts its workers
//   auto counter = runtime.spawn<Counter>();
//   counter << Add{1};
//   auto value = runtime.block_on(counter.ask(Get{}));     // from main, which may wait
//   runtime.shutdown(5s);
//
//   auto runtime = jzx::Runtime::builder().workers(4).max_actors(10'000'000).build();
//
// Threads: everything from any thread. What waits (run, block_on, shutdown, the destructor) is for
// threads that are not the runtime's own.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <jzx/loop.hpp>

namespace jzx {

struct RuntimeOptions {
  uint32_t workers = 0;  // 0: one per core of this process; at most 250
  // At most 2^28, else the runtime cannot be made, and a line on stderr says so. Memory is taken as
  // they come.
  uint32_t max_actors = 1u << 24;
  uint32_t default_mailbox_cap = 1024;  // slots; 4 of them are the system's
  uint32_t max_msgs_per_actor = 64;     // messages in one turn of an actor, fewer if they take long
  uint32_t max_actors_per_tick = 1024;  // turns before I/O and timers, fewer if they take long
  uint32_t max_io_watchers = 1024;      // over all workers
  // Ready actors in a worker's ring, 1 to 256, else the runtime cannot be made. More wait behind
  // them in a list, in order.
  uint32_t local_queue = 256;
  uint64_t injection_high_water = 65536;  // work from outside that may wait before an event tells
  uint32_t steal_batch = 32;              // what an idle worker takes at once, at most
  uint32_t max_blocking_threads = 64;     // of the pool for what blocks; 1 to 512, else as above
  std::chrono::milliseconds stall_limit{0};  // a handler that runs longer is told of; 0: none is
  Observer* observer = nullptr;              // must outlive the runtime; called on any worker
  Reactor reactor = Reactor::automatic;
  bool detect_deadlocks = false;  // see LoopOptions
  // As in LoopOptions. Only of one worker: with more the runtime cannot be made, and the recorder
  // says why.
  Recorder* recorder = nullptr;
};

// Somebody who had not ended when a shutdown ran out of time, and why.
struct StillAlive {
  Pid pid;           // empty: no actor
  std::string name;  // "spawn_blocking": functions of that
  std::string why;
};

class JZX_API Runtime : public SystemFace {
 public:
  class Builder;
  [[nodiscard]] static Builder builder();

  // False in a boolean context if it could not be made: options that make no sense, no memory, no
  // threads. The workers run when this returns.
  explicit Runtime(const RuntimeOptions& options = {});
  // Stops the workers; what is queued is dead-lettered. Use shutdown() before, to let actors end.
  // Waits, however long it takes, for handlers that run and for functions of spawn_blocking() that
  // were taken.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  [[nodiscard]] explicit operator bool() const noexcept { return port_ != nullptr; }

  // The runtime whose worker or blocking thread this is, or nullptr.
  [[nodiscard]] static Runtime* current() noexcept;

  // Waits until request_stop(), or until no actor is alive. The workers go on. invalid_arg on a
  // thread of this runtime, and wherever actors run that must not wait.
  Errc run();
  // From anywhere, also from a signal handler. Ends every run that has begun; without any it is
  // remembered for the next.
  void request_stop() noexcept;

  // Waits for the future; an error on a thread of the runtime, which must not wait.
  template <class T>
  Result<T> block_on(Future<T> future) {
    return future.get();
  }
  // The same of a task, which is an actor of this runtime meanwhile.
  template <class T>
  Result<T> block_on(Task<T> task) {
    return spawn_async(std::move(task)).get();
  }

  // Asks every actor to end, children before their parents, and waits for them and for functions of
  // spawn_blocking(), at most this long. Who has not ended by then, and why; empty: no actor is
  // alive, and no function runs or waits for a thread. From the beginning on, and for good, new
  // actors and functions are refused; functions that were taken cannot be called off, and are told
  // in one entry for those that run and one for those that wait. Where run() is refused this is,
  // too: then nobody is asked to end, and the answer is the caller.
  std::vector<StillAlive> shutdown(std::chrono::milliseconds deadline);

  // Runs the function on a thread that may block. A future of what it returns; what it throws
  // rejects the future, and so does a runtime that is shut down (loop_closed), or a system that has
  // no thread for it (broken_promise): then it never runs.
  template <class F>
  [[nodiscard]] Future<std::invoke_result_t<F>> spawn_blocking(F function);

  [[nodiscard]] uint32_t worker_count() const noexcept;

 private:
  [[nodiscard]] Result<void> run_on_blocking_thread(std::function<void()> work);
};

// Options by name, one after the other.
class Runtime::Builder {
 public:
  Builder& workers(uint32_t count) { return options_.workers = count, *this; }
  Builder& max_actors(uint32_t count) { return options_.max_actors = count, *this; }
  Builder& default_mailbox_cap(uint32_t slots) {
    return options_.default_mailbox_cap = slots, *this;
  }
  Builder& max_msgs_per_actor(uint32_t count) { return options_.max_msgs_per_actor = count, *this; }
  Builder& max_actors_per_tick(uint32_t count) {
    return options_.max_actors_per_tick = count, *this;
  }
  Builder& max_io_watchers(uint32_t count) { return options_.max_io_watchers = count, *this; }
  Builder& local_queue(uint32_t count) { return options_.local_queue = count, *this; }
  Builder& injection_high_water(uint64_t count) {
    return options_.injection_high_water = count, *this;
  }
  Builder& steal_batch(uint32_t count) { return options_.steal_batch = count, *this; }
  Builder& max_blocking_threads(uint32_t count) {
    return options_.max_blocking_threads = count, *this;
  }
  Builder& stall_limit(std::chrono::milliseconds limit) {
    return options_.stall_limit = limit, *this;
  }
  Builder& observer(Observer& observer) { return options_.observer = &observer, *this; }
  Builder& detect_deadlocks(bool on = true) { return options_.detect_deadlocks = on, *this; }
  Builder& recorder(Recorder& recorder) { return options_.recorder = &recorder, *this; }
  Builder& reactor(Reactor reactor) { return options_.reactor = reactor, *this; }

  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] Runtime build() const { return Runtime(options_); }

 private:
  RuntimeOptions options_;
};

inline Runtime::Builder Runtime::builder() { return {}; }

template <class F>
Future<std::invoke_result_t<F>> Runtime::spawn_blocking(F function) {
  using R = std::invoke_result_t<F>;
  auto [future, promise] = jzx::promise<R>();
  // std::function wants to copy what it holds.
  auto work = std::make_shared<std::pair<F, Promise<R>>>(std::move(function), std::move(promise));
  const Result<void> taken =
      run_on_blocking_thread([work] { detail::settle_with(work->second, work->first); });
  if (!taken) work->second.reject(taken.error());
  return std::move(future);
}

}  // namespace jzx
