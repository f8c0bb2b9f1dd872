// One system call's worth of work: what can be asked of a reactor, with what, and what it answers.
//
//   opcode         takes                                          result, if not -errno
//   ─────────────────────────────────────────────────────────────────────────────────────────
//   socket         value: a SocketType, address: its family       the handle
//   socket_pair    buffer: two Handles to fill                    0; both ends of a Unix stream
//   bind           address                                        0
//   listen         value: backlog (0: the system's)               0
//   accept         address: where to put the peer's, or null      the peer's handle
//   connect        address                                        0
//   shutdown       value: a Direction                             0
//   set_option     option, value                                  0
//   get_option     option                                         the value
//   local_name     address: where to put it                       0
//   peer_name      address: where to put it                       0
//   read           buffer, size                                   bytes; 0: the end, or size is 0
//   write          buffer, size                                   bytes, perhaps fewer than asked
//   read_vector    buffer: Slices, size: how many (1…kMaxSlices)  as read
//   write_vector   buffer: Slices, size: how many (1…kMaxSlices)  as write
//   receive_from   buffer, size; address: the sender's, or null   the datagram's whole size: more
//                                                                 than `size` if it was cut off
//   send_to        buffer, size; address, null if connected       bytes
//   open           buffer: path, flags: OpenFlags, value: mode    the handle
//   read_at        buffer, size, offset                           bytes; 0: the end
//   write_at       buffer, size, offset                           bytes
//   sync           (data, and what is known about it)             0
//   sync_data      (data)                                         0
//   truncate       value: the size it is to have                  0
//   file_size                                                     bytes
//   remove         buffer: path                                   0
//   pipe           buffer: two Handles to fill                    0; first reads what second writes
//   adopt          value: an fd of the process                    the handle
//   close          handle                                         0
//   resolve        buffer: a Resolution                           how many addresses
//   spawn          buffer: a Spawn                                the handle
//   process_id                                                    its number
//   kill           value: signal                                  0; -ESRCH: it has ended
//   wait_exit                                                     an exit code, see exit_code()
//   open_signal    value: signal                                  the handle
//   next_signal                                                   deliveries since the last time
//
// read, write and their vectors are for what comes and goes: sockets, pipes, terminals. Files are
// read and written at an offset. Sockets do not block and are closed on exec. A write to whom
// nobody reads any more answers -EPIPE and raises no signal.
//
// read, receive_from, accept, wait_exit and next_signal are read-like; write, send_to and connect
// write-like: at most one of each kind is pending on a handle, another answers -EBUSY. Operations
// on files and those that end at once are not counted.
//
// Whoever spawns should wait for the exit before it closes the handle: a process that nobody waited
// for stays in the system's table until this one ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/list.hpp"
#include "io/address.hpp"

namespace jzx::io {

// A file, socket, process or simulated thing; what the number means is the reactor's business. Its
// operations all go to one reactor.
struct Handle {
  int64_t value = -1;

  [[nodiscard]] bool is_open() const noexcept { return value >= 0; }
  friend bool operator==(Handle, Handle) noexcept = default;
};

enum class Opcode : uint8_t {
  // sockets
  socket,
  socket_pair,
  bind,
  listen,
  accept,
  connect,
  shutdown,
  set_option,
  get_option,
  local_name,
  peer_name,
  // bytes that come and go
  read,
  write,
  read_vector,
  write_vector,
  receive_from,
  send_to,
  // files
  open,
  read_at,
  write_at,
  sync,
  sync_data,
  truncate,
  file_size,
  remove,
  // any
  pipe,
  adopt,
  close,
  // the rest of the world
  resolve,
  spawn,
  process_id,
  kill,
  wait_exit,
  open_signal,
  next_signal,
};
inline constexpr uint32_t kOpcodes = static_cast<uint32_t>(Opcode::next_signal) + 1;

enum class SocketType : uint8_t { stream, datagram };

enum class Direction : uint8_t { reading, writing, both };

// Switches are 0 or 1.
enum class Option : uint8_t {
  reuse_address,
  reuse_port,
  no_delay,
  keep_alive,
  only_ipv6,
  broadcast,
  send_buffer,     // bytes
  receive_buffer,  // bytes
  time_to_live,
  linger_s,         // -1: off, 0: a close resets; more would have it block
  keep_idle_s,      // before the first probe
  send_timeout_ms,  // unacknowledged data for so long ends the connection
  error,            // get only: what went wrong since the last time, 0 or an errno
};

enum OpenFlags : uint32_t {
  kRead = 1,
  kWrite = 2,
  kCreate = 4,     // if it is not there
  kExclusive = 8,  // with kCreate: it must not be there
  kTruncate = 16,
  kAppend = 32,
};

struct Slice {
  void* data = nullptr;
  size_t size = 0;
};
inline constexpr size_t kMaxSlices = 1024;

struct Resolution {
  const char* host = nullptr;     // null: this machine, to listen at (with is_passive) or to call
  const char* service = nullptr;  // a port's name or number, or null
  Family family = Family::none;   // none: IPv4 and IPv6
  bool is_passive = false;
  bool is_numeric = false;       // do not ask anybody: the host is written in numbers
  Address* addresses = nullptr;  // to fill, best first; those that do not fit are left out
  size_t capacity = 0;
};
// What a resolve answers if not a number of addresses: -ENOENT (there is no such name), -EAGAIN
// (those who should know do not answer now), -EIO (they answered nonsense), -EINVAL, -ENOMEM, ….

// How a child's standard input, output or error begins.
struct ChildStream {
  enum class From : uint8_t { inherited, nothing, handle } from = From::inherited;
  // It becomes one that blocks, as programs expect. The child has its own; ours is still to close.
  Handle handle;
};

struct Spawn {
  const char* program = nullptr;             // searched in PATH if it has no slash
  const char* const* arguments = nullptr;    // the first is its name; ends with null
  const char* const* environment = nullptr;  // NAME=value, ends with null; null: ours
  const char* directory = nullptr;           // null: ours
  ChildStream streams[3];
};

// A wait_exit's result. A process that a signal ended has an exit code of -1.
inline constexpr int64_t kSignalled = 256;
[[nodiscard]] constexpr int exit_code(int64_t result) noexcept {
  return result >= kSignalled ? -1 : static_cast<int>(result);
}
// 0: it ended by itself.
[[nodiscard]] constexpr int exit_signal(int64_t result) noexcept {
  return result >= kSignalled ? static_cast<int>(result - kSignalled) : 0;
}

// Asks for memory that is looked at soon. Only worth it where several things are waited for that do
// not depend on one another, so that their cache misses are waited for together. Any address will
// do: nothing happens if nothing is there.
inline constexpr size_t kCacheLine = 64;
template <size_t lines>
inline void prefetch(const void* where) noexcept {
  for (size_t line = 0; line < lines; ++line) {
    __builtin_prefetch(static_cast<const char*>(where) + line * kCacheLine);
  }
}

struct InOperationList {};

// Lives, with its buffers, paths and addresses, until it is done. May then be used again.
class Operation : public base::ListNode<InOperationList> {
 public:
  using CompleteFn = void (*)(Operation& self);

  // What a completion will look at is brought to the cache, step by step: each looks at what the
  // one before has asked for.
  enum class Step : uint8_t { itself, waiter, rest };
  using ExpectFn = void (*)(const Operation& self, Step step);

  Operation(Opcode what, CompleteFn function, ExpectFn expecting = nullptr) noexcept
      : complete_(function), expect_(expecting), opcode(what) {}

  // Soon complete() is called, and by now it is nearly certain.
  void expect(Step step) const {
    if (expect_ != nullptr) expect_(*this, step);
  }

  // Called by the reactor for what was pending, as the last thing it does with it.
  void complete() { complete_(*this); }
  void complete_with(int64_t outcome) {
    result = outcome;
    complete_(*this);
  }

  // Of one that opens something, and has succeeded.
  [[nodiscard]] Handle made() const noexcept { return Handle{result}; }

 private:
  CompleteFn complete_;
  ExpectFn expect_;

 public:
  Opcode opcode;
  Option option = Option::reuse_address;
  // The reactor's own; under its lock.
  enum class State : uint8_t {
    idle,
    waiting,    // for its handle to be ready
    queued,     // to be handed to the kernel
    in_kernel,  // which may write to its buffers
    ending,     // still there, but it cannot be cancelled, or is already
    completing,
  } state = State::idle;
  bool is_under_way = false;  // a connect that has begun; the reactor's own
  uint32_t flags = 0;         // of the opcode
  Handle handle;              // what it works on
  void* buffer = nullptr;
  size_t size = 0;
  union {
    int64_t offset = 0;
    int64_t value;
  };
  Address* address = nullptr;
  int64_t result = 0;
  void* note = nullptr;  // the reactor's own
};

}  // namespace jzx::io
