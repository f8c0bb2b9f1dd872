// What the rest of the system may ask of the outside world. Two kinds of request:
//
//   Operation   one system call's worth of work; completes exactly once, with its result
//   Watch       lasting interest in the readiness of a file descriptor, edge by edge
//
// Implemented by the reactors of this folder (io_uring, epoll) and, in memory, by the
// simulator. Nothing above this line makes a system call of its own.
//
// Threads: wake() from any thread; everything else on the reactor's own thread, except that after
// share() any thread that holds the mutex may watch() and unwatch(). Completions and readiness are
// told from inside wait(), never from inside submit() or watch().
// Lifetime: an Operation and its buffers live until it has completed; cancel() only asks for an
// early end, and the completion still comes (with -ECANCELED, or with the data if that won).
// A Watch lives until unwatch() returned; after that it hears nothing.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/clock.hpp"
#include "base/list.hpp"

namespace jzx::io {

// A file, socket, process or simulated thing; what the number means is the reactor's business.
struct Handle {
  int64_t value = -1;
};

enum class Opcode : uint8_t {
  open,
  accept,
  connect,
  read,
  write,
  fsync,
  close,
  resolve,
  signal,
  process,
};

struct InOperationList {};

class Operation : public base::ListNode<InOperationList> {
 public:
  using CompleteFn = void (*)(Operation& self);

  Operation(Opcode what, CompleteFn function) noexcept : opcode(what), complete_(function) {}

  // Called once by the reactor, which then no longer knows the operation.
  void complete_with(int64_t outcome) {
    result = outcome;
    complete_(*this);
  }

  Opcode opcode;
  Handle handle;           // what it works on; for open and connect, what came of it
  void* buffer = nullptr;  // bytes, or the path, address, host name, … of the opcode
  size_t size = 0;
  int64_t offset = -1;  // files: where; -1 is the current position
  uint32_t flags = 0;   // of the opcode
  int64_t result = 0;   // bytes, a handle, or -errno

 private:
  CompleteFn complete_;
};

// The bits equal JZX_IO_*.
enum Readiness : uint32_t { kReadable = 1, kWritable = 2, kError = 4, kHangup = 8 };

// One readiness, one call: `ready` is called when readiness begins and when more arrives later;
// old readiness that nobody consumed is not told again. kError and kHangup come unasked.
class Watch {
 public:
  using ReadyFn = void (*)(Watch& self, uint32_t readiness);

  explicit Watch(ReadyFn function) noexcept : ready_(function) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void ready(uint32_t readiness) { ready_(*this, readiness); }

  int fd = -1;
  uint32_t interest = 0;
  // The reactor's own: tells an event of this registration from one of an earlier one.
  uint64_t registration = 0;

 private:
  ReadyFn ready_;
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

  // Exactly one completion follows, from inside a later wait(). An opcode that this reactor
  // cannot do completes with -ENOSYS.
  virtual void submit(Operation& operation) = 0;
  virtual void cancel(Operation& operation) = 0;

  // ---- waiting ----

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
