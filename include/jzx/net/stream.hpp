// Streams of bytes: TCP connections, Unix sockets, pipes; and who listens for them.
//
//   jzx::Task<void> echo(jzx::net::Stream stream) {
//     std::array<std::byte, 4096> buffer;
//     for (;;) {
//       auto reading = stream.read(buffer);
//       const size_t count = co_await co_await reading;
//       if (count == 0) co_return;                       // the peer sends no more
//       auto writing = stream.write_all(std::span(buffer).first(count));
//       co_await co_await writing;
//     }
//   }
//
// Everything is a task: awaited by a coroutine, run by get() in a fiber or on a thread. The buffer
// must be there until the task has ended, which is all that is asked of it: a task that is
// cancelled ends when the operation has, and not before.
//
// What a cancelled task may have done: read() has taken nothing, or answers with what it took;
// write() has written nothing, or answers how much; a connection that accept() cannot deliver any
// more is given by the next one. read_exact() and write_all() may have got on in part, and note in
// `done` where they are: called again with the same arguments they go on from there.
//
// Errors: Errc::io_failed with the errno in Error::system_code(); Errc::end_of_stream, if the peer
// ended before all was there; Errc::cancelled; Errc::closed, if the stream is not open;
// Errc::loop_closed, if its system has ended; what was pending then ends with that, or cancelled.
//
// Threads: as net/handle.hpp. One task may read while another writes; a second reader or writer
// gets EBUSY.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <jzx/async/task.hpp>
#include <jzx/net/address.hpp>
#include <jzx/net/handle.hpp>

namespace jzx::net {

// Pieces of memory that are read into, or written, as if they were one.
struct MutablePiece {
  std::byte* data = nullptr;
  size_t size = 0;
};
struct Piece {
  const std::byte* data = nullptr;
  size_t size = 0;
};

class JZX_API Stream {
 public:
  Stream() noexcept = default;

  // To a TCP or Unix socket. Taken back when cancelled: the socket is closed.
  [[nodiscard]] static Task<Stream> connect(Address address, Home home = {});
  // Two Unix sockets that are connected to each other.
  [[nodiscard]] static Result<std::pair<Stream, Stream>> pair(Home home = {});
  // A pipe: what is written to the second can be read from the first.
  [[nodiscard]] static Result<std::pair<Stream, Stream>> pipe(Home home = {});
  // A file descriptor of the process that can be waited for; it is the stream's then.
  [[nodiscard]] static Result<Stream> adopt(int fd, Home home = {});

  [[nodiscard]] bool is_open() const noexcept { return handle_.is_open(); }
  // Ends what is pending; see handle.hpp.
  void close() noexcept { handle_.close(); }

  // As many as there are, at least one; 0: the peer sends no more, or the buffer is empty.
  [[nodiscard]] Task<size_t> read(std::span<std::byte> buffer);
  // As many as there is room for, at least one.
  [[nodiscard]] Task<size_t> write(std::span<const std::byte> bytes);
  // All of it. end_of_stream: the peer sent less. With `done` it begins there, and notes there how
  // far it is, also when it fails or is cancelled.
  [[nodiscard]] Task<void> read_exact(std::span<std::byte> buffer, size_t* done = nullptr);
  [[nodiscard]] Task<void> write_all(std::span<const std::byte> bytes, size_t* done = nullptr);
  [[nodiscard]] Task<void> write_all(std::string_view text, size_t* done = nullptr) {
    return write_all(std::as_bytes(std::span(text)), done);
  }
  // A temporary would be gone before the task begins: it is kept by the task.
  template <class Text>
  requires std::is_same_v<Text, std::string>
  [[nodiscard]] Task<void> write_all(Text&& text) { return write_kept(std::move(text)); }
  // At least one and at most 1,024 pieces at once; the list must be there until the task has ended.
  [[nodiscard]] Task<size_t> read_pieces(std::span<const MutablePiece> pieces);
  [[nodiscard]] Task<size_t> write_pieces(std::span<const Piece> pieces);

  // The peer reads the end; this side can still read.
  Result<void> shut_down_writing();
  Result<void> shut_down();

  Result<void> set_no_delay(bool on);
  Result<void> set_keep_alive(bool on, std::chrono::seconds idle = std::chrono::seconds(0));
  // Ends the connection with a reset instead of sending what is left, when it is closed.
  Result<void> set_reset_on_close();
  [[nodiscard]] Result<Address> local_address() const;
  [[nodiscard]] Result<Address> peer_address() const;

  // ---- for the library ----
  explicit Stream(detail::Handle handle) noexcept : handle_(std::move(handle)) {}

 private:
  [[nodiscard]] Task<void> write_kept(std::string text);

  detail::Handle handle_;
};

struct ListenOptions {
  int backlog = 0;  // 0: the system's
  bool reuse_address = true;
  bool reuse_port = false;
};

class JZX_API Listener {
 public:
  Listener() noexcept = default;

  // For TCP or Unix sockets, by the address. Port 0: one that is free; see address().
  [[nodiscard]] static Result<Listener> open(const Address& address,
                                             const ListenOptions& options = {}, Home home = {});

  [[nodiscard]] bool is_open() const noexcept { return handle_.is_open(); }
  void close() noexcept {
    handle_.close();
    (void)kept_.take();
  }
  [[nodiscard]] Result<Address> address() const;

  // The next connection; it belongs to the system of whoever accepts it, if that runs in one, and
  // `peer` gets its address. EMFILE and the like are errors of this call only: what waits is not
  // lost, try again when there is room.
  [[nodiscard]] Task<Stream> accept(Address* peer = nullptr);

  // ---- for the library ----
  explicit Listener(detail::Handle handle) noexcept : handle_(std::move(handle)) {}

 private:
  detail::Handle handle_;
  detail::HandlePlace kept_;  // a connection that came when its task was asked to stop
};

}  // namespace jzx::net
