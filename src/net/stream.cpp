#include <jzx/net/stream.hpp>

#include "net/open_handle.hpp"

namespace jzx::net {

namespace {

using detail::Handle;
using io::Opcode;

// ---- operations on a handle ----

Future<int64_t> transfer(const Handle& handle, Opcode opcode, void* buffer, size_t size) noexcept {
  Error error;
  Begun* begun = begin_on(handle, opcode, error);
  if (begun == nullptr) return rejected(error);
  begun->buffer = buffer;
  begun->size = size;
  return begun->begin();
}

// The bytes that could be written without waiting, at least one; 0: begin a write. Nearly all
// writes end here, and need no block, no future and no place in any list.
Result<size_t> write_now(const Handle& handle, std::span<const std::byte> bytes) noexcept {
  io::Operation operation(Opcode::write, &nothing_to_do);
  operation.buffer = const_cast<std::byte*>(bytes.data());
  operation.size = bytes.size();
  if (!try_now(handle, operation)) return size_t{0};
  return size_of(operation.result, "write");
}

Result<void> shut_down_by(const Handle& handle, io::Direction direction) noexcept {
  io::Operation operation(Opcode::shutdown, &nothing_to_do);
  operation.value = static_cast<int64_t>(direction);
  return nothing_of(operate_now(handle, operation), "shut down");
}

// ---- opening ----

Result<std::pair<Stream, Stream>> make_pair(Home home, Opcode opcode, const char* source) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) return no_home(source);
  io::Handle ends[2];
  io::Operation operation(opcode, &nothing_to_do);
  operation.buffer = ends;
  const int64_t result = operate_now(*executor, operation);
  if (result < 0) return error_of(result, source);
  Result<Handle> first = keep(*executor, ends[0]);
  Result<Handle> second = keep(*executor, ends[1]);
  if (!first) return first.error();
  if (!second) return second.error();
  return std::pair(Stream(std::move(*first)), Stream(std::move(*second)));
}

}  // namespace

// A task that was asked to stop begins nothing any more: what it took nobody would get.

// ---- streams ----

Task<Stream> Stream::connect(Address address, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) co_return no_home("connect");
  Result<Handle> handle = open_socket(*executor, address, io::SocketType::stream);
  if (!handle) co_return handle.error();
  Error error;
  Begun* begun = begin_on(*handle, Opcode::connect, error);
  if (begun == nullptr) co_return error;
  begun->address = &address;
  Future<int64_t> connecting = begun->begin();
  Result<int64_t> result = co_await connecting;
  Result<void> connected = nothing_of(result, "connect");
  if (!connected) co_return connected.error();
  co_return Stream(std::move(*handle));
}

Result<std::pair<Stream, Stream>> Stream::pair(Home home) {
  return make_pair(home, Opcode::socket_pair, "socket pair");
}

Result<std::pair<Stream, Stream>> Stream::pipe(Home home) {
  return make_pair(home, Opcode::pipe, "pipe");
}

Result<Stream> Stream::adopt(int fd, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) return no_home("adopt");
  io::Operation operation(Opcode::adopt, &nothing_to_do);
  operation.value = fd;
  Result<Handle> handle = keep_opened(*executor, operate_now(*executor, operation), "adopt");
  if (!handle) return handle.error();
  return Stream(std::move(*handle));
}

Task<size_t> Stream::read(std::span<std::byte> buffer) {
  if (buffer.empty()) co_return size_t{0};
  if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "read");
  Future<int64_t> reading = transfer(handle_, Opcode::read, buffer.data(), buffer.size());
  Result<int64_t> result = co_await reading;
  co_return size_of(result, "read");
}

Task<size_t> Stream::write(std::span<const std::byte> bytes) {
  if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "write");
  Future<int64_t> writing =
      transfer(handle_, Opcode::write, const_cast<std::byte*>(bytes.data()), bytes.size());
  Result<int64_t> result = co_await writing;
  co_return size_of(result, "write");
}

Task<void> Stream::read_exact(std::span<std::byte> buffer, size_t* done) {
  size_t own = 0;
  size_t& at = done != nullptr ? *done : own;
  while (at < buffer.size()) {
    if (co_await stop_requested()) co_await fail(Error(Errc::cancelled, {}, "read"));
    Future<int64_t> reading =
        transfer(handle_, Opcode::read, buffer.data() + at, buffer.size() - at);
    Result<int64_t> result = co_await reading;
    Result<size_t> count = size_of(result, "read");
    if (!count) co_await fail(count.error());
    if (*count == 0) co_await fail(Errc::end_of_stream, "the peer ended before all was there");
    at += *count;
  }
}

Task<void> Stream::write_all(std::span<const std::byte> bytes, size_t* done) {
  size_t own = 0;
  size_t& at = done != nullptr ? *done : own;
  while (at < bytes.size()) {
    if (co_await stop_requested()) co_await fail(Error(Errc::cancelled, {}, "write"));
    Result<size_t> count = write_now(handle_, bytes.subspan(at));
    if (count && *count == 0) {
      Future<int64_t> writing = transfer(
          handle_, Opcode::write, const_cast<std::byte*>(bytes.data() + at), bytes.size() - at);
      Result<int64_t> result = co_await writing;
      count = size_of(result, "write");
    }
    if (!count) co_await fail(count.error());
    at += *count;
  }
}

Task<void> Stream::write_kept(std::string text) {
  auto writing = write_all(std::string_view(text));
  Result<void> written = co_await writing;
  co_await written;
}

Task<size_t> Stream::read_pieces(std::span<const MutablePiece> pieces) {
  static_assert(sizeof(MutablePiece) == sizeof(io::Slice));
  if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "read");
  Future<int64_t> reading = transfer(handle_, Opcode::read_vector,
                                     const_cast<MutablePiece*>(pieces.data()), pieces.size());
  Result<int64_t> result = co_await reading;
  co_return size_of(result, "read");
}

Task<size_t> Stream::write_pieces(std::span<const Piece> pieces) {
  static_assert(sizeof(Piece) == sizeof(io::Slice));
  if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "write");
  Future<int64_t> writing =
      transfer(handle_, Opcode::write_vector, const_cast<Piece*>(pieces.data()), pieces.size());
  Result<int64_t> result = co_await writing;
  co_return size_of(result, "write");
}

Result<void> Stream::shut_down_writing() { return shut_down_by(handle_, io::Direction::writing); }
Result<void> Stream::shut_down() { return shut_down_by(handle_, io::Direction::both); }

Result<void> Stream::set_no_delay(bool on) {
  return set_option(handle_, io::Option::no_delay, on ? 1 : 0, "no delay");
}
Result<void> Stream::set_keep_alive(bool on, std::chrono::seconds idle) {
  Result<void> result = set_option(handle_, io::Option::keep_alive, on ? 1 : 0, "keep alive");
  if (!result || idle.count() <= 0) return result;
  return set_option(handle_, io::Option::keep_idle_s, idle.count(), "keep alive");
}
Result<void> Stream::set_reset_on_close() {
  return set_option(handle_, io::Option::linger_s, 0, "linger");
}
Result<Address> Stream::local_address() const {
  return name_of(handle_, Opcode::local_name, "local address");
}
Result<Address> Stream::peer_address() const {
  return name_of(handle_, Opcode::peer_name, "peer address");
}

// ---- listeners ----

Result<Listener> Listener::open(const Address& address, const ListenOptions& options, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) return no_home("listen");
  Result<Handle> handle = open_socket(*executor, address, io::SocketType::stream);
  if (!handle) return handle.error();
  const bool has_ports = address.family != Family::local;
  if (has_ports && options.reuse_address) {
    Result<void> set = set_option(*handle, io::Option::reuse_address, 1, "reuse address");
    if (!set) return set.error();
  }
  if (has_ports && options.reuse_port) {
    Result<void> set = set_option(*handle, io::Option::reuse_port, 1, "reuse port");
    if (!set) return set.error();
  }
  Result<void> bound = bind_to(*handle, address);
  if (!bound) return bound.error();
  io::Operation listen(Opcode::listen, &nothing_to_do);
  listen.value = options.backlog;
  Result<void> listening = nothing_of(operate_now(*handle, listen), "listen");
  if (!listening) return listening.error();
  return Listener(std::move(*handle));
}

Result<Address> Listener::address() const {
  return name_of(handle_, Opcode::local_name, "local address");
}

Task<Stream> Listener::accept(Address* peer) {
  if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "accept");
  if (Handle kept = kept_.take(); kept.is_open()) {
    if (peer != nullptr) *peer = name_of(kept, Opcode::peer_name, "accept").value_or(Address{});
    co_return Stream(std::move(kept));
  }
  Error error;
  Begun* begun = begin_on(handle_, Opcode::accept, error);
  if (begun == nullptr) co_return error;
  begun->address = peer;
  base::Executor& executor = begun->executor();
  Future<int64_t> accepting = begun->begin();
  Result<int64_t> result = co_await accepting;
  Result<Handle> handle = keep_opened(executor.next_keeper(), result, "accept");
  if (!handle) co_return handle.error();
  if (co_await stop_requested()) {
    kept_.put(std::move(*handle));
    if (!is_open()) (void)kept_.take();  // closed meanwhile: by us, or by close()
    co_return Error(Errc::cancelled, {}, "accept");
  }
  co_return Stream(std::move(*handle));
}

}  // namespace jzx::net
