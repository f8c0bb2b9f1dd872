// What the rest of the system may ask of the outside world. Two kinds of request:
//
//   Operation   one system call's worth of work; ends exactly once, with its result
//   Watch       lasting interest in the readiness of a file descriptor, edge by edge
//
// Implemented by the reactors of this folder (io_uring, epoll) and, in memory, by the
// simulator. Nothing above this line makes a system call of its own, and no opcode needs the handle
// to be a file descriptor, except that adopt takes one.
//
//                        ┌── done: the result is there; `complete` is not called
//   submit(operation) ───┼── pending: `complete` is called once, from inside a later wait()
//                        └── must_block: it cannot be waited for here; perform(operation), on a
//                            thread that may block, sets the result; `complete` is not called
//
// Threads: wake(), perform() and pending_count() from any thread. Everything else on the reactor's
// own thread, until share() was called: then submit(), try_now() and cancel() from any thread,
// which take the mutex themselves, and watch() and unwatch() from any thread that holds it.
// Readiness is told from inside wait() with the mutex held; completions from inside wait() without
// it, so that a completion may submit; neither from inside submit(), cancel() or watch(). Lifetime:
// an Operation and what it points to live until it is done; cancel() only asks for an early end,
// and the completion still comes (with -ECANCELED, or with the data if that won). A Watch lives
// until unwatch() returned; after that it hears nothing. A handle that operations work on is not
// watched. What is pending when the reactor ends is never completed, but no longer touched either.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/time/clock.hpp"
#include "io/operation.hpp"

namespace jzx::io {

enum class Submitted : uint8_t { done, pending, must_block };

// The bits equal JZX_IO_*.
enum Readiness : uint32_t { kReadable = 1, kWritable = 2, kError = 4, kHangup = 8 };

// One readiness, one call: `ready` is called when readiness begins and when more arrives later;
// old readiness that nobody consumed is not told again. kError and kHangup come unasked.
class Watch {
 public:
  using ReadyFn = void (*)(Watch& self, uint32_t readiness);

  using ExpectFn = void (*)(const Watch& self);

  explicit Watch(ReadyFn function, ExpectFn expecting = nullptr) noexcept
      : ready_(function), expect_(expecting) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void ready(uint32_t readiness) { ready_(*this, readiness); }
  // Soon ready() is called: what it will look at is brought to the cache.
  void expect() const {
    if (expect_ != nullptr) expect_(*this);
  }

  int fd = -1;
  uint32_t interest = 0;
  // The reactor's own: tells an event of this registration from one of an earlier one.
  uint64_t registration = 0;

 private:
  ReadyFn ready_;
  ExpectFn expect_;
};

class Reactor {
 public:
  virtual ~Reactor() = default;

  // ---- readiness ----

  // Starts, or starts anew with the watch's present fd and interest: if the fd is ready now, one
  // more call of `ready` comes. 0 or -errno.
  [[nodiscard]] virtual int watch(Watch& watch) = 0;
  // 0, or -errno if the fd was no longer watched (it has been closed); forgotten either way.
  virtual int unwatch(Watch& watch) = 0;

  // Before the first wait(): from now on `ready` is called with `mutex` held, and never after an
  // unwatch() that was called with it has returned.
  virtual void share(std::mutex& mutex) noexcept = 0;

  // ---- operations ----

  // What the opcodes take and answer is in operation.hpp. One that this reactor cannot do is done,
  // with -ENOSYS. A close has whatever is pending on its handle complete with -ECANCELED first.
  [[nodiscard]] virtual Submitted submit(Operation& operation) = 0;
  // One that waits, tried without waiting, for who has no place for one that is pending. True: it
  // is done. False: it could not be, or nobody tried; submit() it.
  [[nodiscard]] virtual bool try_now(Operation&) { return false; }
  // Of one that was pending, and may be done or about to be: then it does nothing. The operation
  // has only to be there while this runs.
  virtual void cancel(Operation& operation) = 0;
  // What must_block was the answer for. Blocks; needs no lock, and not even a running reactor.
  virtual void perform(Operation& operation) noexcept = 0;

  // How many completions are still to come. More come only from a wait(), so who skips its wait()
  // looks here first.
  [[nodiscard]] virtual size_t pending_count() const noexcept = 0;

  // Hands over what was submitted, as the next wait() would: for whoever is about to poll
  // pollable_fd() instead of waiting. The reactor's own thread.
  virtual void flush() noexcept {}

  // ---- waiting ----

  // Before the first wait(): `tell` is called by a wait() that has slept or looked and is about to
  // complete operations, since those who wait for them may go on for long.
  struct BeforeCompletions {
    void (*tell)(void* ctx) = nullptr;
    void* ctx = nullptr;
  };
  virtual void tell_before_completions(const BeforeCompletions&) noexcept {}

  // Tells what happened, waiting at most `timeout_ns` (0: not at all, base::kNever: as long as it
  // takes) for something to happen. 0 or -errno; being interrupted is not an error.
  [[nodiscard]] virtual int wait(uint64_t timeout_ns) = 0;

  // Any thread: the wait() under way, or else the next one, returns. Wake-ups coalesce.
  virtual void wake() noexcept = 0;

  // Readable when wait(0) has something to tell; to be polled by a foreign event loop.
  [[nodiscard]] virtual int pollable_fd() const noexcept = 0;

  [[nodiscard]] virtual const char* name() const noexcept = 0;
};

// A reactor lives in memory of its maker's allocator.
struct ReactorDeleter {
  void (*release)(void* ctx, void* memory) = nullptr;
  void* ctx = nullptr;
  void operator()(Reactor* reactor) const noexcept {
    reactor->~Reactor();
    release(ctx, reactor);
  }
};
using ReactorPtr = std::unique_ptr<Reactor, ReactorDeleter>;

}  // namespace jzx::io
