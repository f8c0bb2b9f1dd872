#include "io/ring_requests.hpp"

#include <cstddef>

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>

#include "io/calls/handles.hpp"
#include "io/calls/open_flags.hpp"
#include "io/calls/perform.hpp"

namespace jzx::io {
namespace {

constexpr uint64_t kHere = ~uint64_t{0};  // at the position of the file

// The kernel takes no more at once, and its answer is an int.
unsigned bytes_of(const Operation& operation) noexcept {
  return static_cast<unsigned>(std::min<size_t>(operation.size, 0x7ffff000));
}
const iovec* slices_of(const Operation& operation) noexcept {
  return static_cast<const iovec*>(operation.buffer);
}
unsigned count_of(const Operation& operation) noexcept {
  return static_cast<unsigned>(operation.size);
}

msghdr* message_of(const Operation& operation, RingExtra& extra) noexcept {
  extra.message = {};
  if (operation.opcode == Opcode::read_vector) {
    extra.message.msg_iov = static_cast<iovec*>(operation.buffer);
    extra.message.msg_iovlen = operation.size;
  } else {
    extra.slice = {operation.buffer, operation.size};
    extra.message.msg_iov = &extra.slice;
    extra.message.msg_iovlen = 1;
    extra.message.msg_name = extra.address.get();
    extra.message.msg_namelen = sizeof extra.address.storage;
  }
  return &extra.message;
}

void fill_accept(io_uring_sqe& request, const Operation& operation, RingExtra* extra) noexcept {
  if (extra != nullptr) extra->address.size = sizeof extra->address.storage;
  io_uring_prep_accept(
      &request, fd_of(operation.handle), extra != nullptr ? extra->address.get() : nullptr,
      extra != nullptr ? &extra->address.size : nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void fill_read(io_uring_sqe& request, const Operation& operation) noexcept {
  const int fd = fd_of(operation.handle);
  if (is_socket(kind_of(operation.handle))) {
    io_uring_prep_recv(&request, fd, operation.buffer, bytes_of(operation), 0);
  } else {
    io_uring_prep_read(&request, fd, operation.buffer, bytes_of(operation), kHere);
  }
}

}  // namespace

bool is_for_ring(const Operation& operation) noexcept {
  const HandleKind kind = kind_of(operation.handle);
  switch (operation.opcode) {
    case Opcode::accept:
    case Opcode::connect:
      return is_socket(kind);
    case Opcode::read:
    case Opcode::read_vector:
      return kind == HandleKind::datagram || kind == HandleKind::pipe || kind == HandleKind::file;
    case Opcode::write:
    case Opcode::write_vector:
      return kind == HandleKind::file;
    case Opcode::receive_from:
      return is_socket(kind);
    case Opcode::open:
    case Opcode::read_at:
    case Opcode::write_at:
    case Opcode::sync:
    case Opcode::sync_data:
      return true;
    default:
      return false;
  }
}

int check_request(const Operation& operation) noexcept {
  switch (operation.opcode) {
    case Opcode::read_vector:
    case Opcode::write_vector:
      return operation.size == 0 || operation.size > kMaxSlices ? -EINVAL : 0;
    case Opcode::read_at:
    case Opcode::write_at:
      return operation.offset < 0 ? -EINVAL : 0;
    case Opcode::connect:
      return operation.address == nullptr || SocketAddress(*operation.address).size == 0 ? -EINVAL
                                                                                         : 0;
    case Opcode::open:
      return std::min(open_flags(operation.flags), 0);
    default:
      return 0;
  }
}

bool needs_extra(const Operation& operation) noexcept {
  switch (operation.opcode) {
    case Opcode::connect:
    case Opcode::receive_from:
      return true;
    case Opcode::accept:
      return operation.address != nullptr;
    case Opcode::read_vector:
      return is_socket(kind_of(operation.handle));
    default:
      return false;
  }
}

void fill_request(io_uring_sqe& request, Operation& operation, RingExtra* extra) noexcept {
  const int fd = fd_of(operation.handle);
  const auto offset = static_cast<uint64_t>(operation.offset);
  switch (operation.opcode) {
    case Opcode::accept:
      return fill_accept(request, operation, extra);
    case Opcode::connect:
      extra->address = SocketAddress(*operation.address);
      return io_uring_prep_connect(&request, fd, extra->address.get(), extra->address.size);
    case Opcode::read:
      return fill_read(request, operation);
    case Opcode::read_vector:
      if (extra == nullptr) {
        return io_uring_prep_readv(&request, fd, slices_of(operation), count_of(operation), kHere);
      }
      return io_uring_prep_recvmsg(&request, fd, message_of(operation, *extra), 0);
    case Opcode::receive_from:
      return io_uring_prep_recvmsg(&request, fd, message_of(operation, *extra), MSG_TRUNC);
    case Opcode::write:
      if (is_socket(kind_of(operation.handle))) {
        return io_uring_prep_send(&request, fd, operation.buffer, bytes_of(operation),
                                  MSG_NOSIGNAL);
      }
      return io_uring_prep_write(&request, fd, operation.buffer, bytes_of(operation), kHere);
    case Opcode::write_vector:
      return io_uring_prep_writev(&request, fd, slices_of(operation), count_of(operation), kHere);
    case Opcode::open:
      return io_uring_prep_openat(&request, AT_FDCWD, static_cast<const char*>(operation.buffer),
                                  open_flags(operation.flags),
                                  static_cast<mode_t>(operation.value));
    case Opcode::read_at:
      return io_uring_prep_read(&request, fd, operation.buffer, bytes_of(operation), offset);
    case Opcode::write_at:
      return io_uring_prep_write(&request, fd, operation.buffer, bytes_of(operation), offset);
    case Opcode::sync:
      return io_uring_prep_fsync(&request, fd, 0);
    case Opcode::sync_data:
      return io_uring_prep_fsync(&request, fd, IORING_FSYNC_DATASYNC);
    default:
      return io_uring_prep_nop(&request);
  }
}

int64_t result_of(Operation& operation, RingExtra* extra, int answer) noexcept {
  if (answer < 0) return answer;
  switch (operation.opcode) {
    case Opcode::accept:
      if (extra != nullptr) *operation.address = extra->address.address();
      return make_handle(answer, kind_of(operation.handle)).value;
    case Opcode::open:
      return handle_of_file(answer);
    case Opcode::receive_from:
      extra->address.size = extra->message.msg_namelen;
      if (operation.address != nullptr) *operation.address = extra->address.address();
      return answer;
    default:
      return answer;
  }
}

bool has_all_requests(io_uring& ring) noexcept {
  // Not by io_uring_get_probe_ring(), which takes memory from the system.
  constexpr unsigned kMostRequests = 128;
  alignas(io_uring_probe)
      std::byte memory[sizeof(io_uring_probe) + kMostRequests * sizeof(io_uring_probe_op)] = {};
  auto* probe = reinterpret_cast<io_uring_probe*>(memory);
  if (io_uring_register_probe(&ring, probe, kMostRequests) != 0) return false;
  bool has_all = (ring.features & IORING_FEAT_RW_CUR_POS) != 0;
  for (const int request :
       {IORING_OP_ACCEPT, IORING_OP_CONNECT, IORING_OP_RECV, IORING_OP_RECVMSG, IORING_OP_READ,
        IORING_OP_READV, IORING_OP_WRITE, IORING_OP_WRITEV, IORING_OP_SEND, IORING_OP_OPENAT,
        IORING_OP_FSYNC, IORING_OP_ASYNC_CANCEL}) {
    has_all = has_all && io_uring_opcode_supported(probe, request) != 0;
  }
  return has_all;
}

}  // namespace jzx::io
