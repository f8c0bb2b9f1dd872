#include "io/calls/perform.hpp"

#include "io/calls/handles.hpp"

namespace jzx::io {
namespace {

bool is_transfer(Opcode opcode) noexcept {
  return opcode >= Opcode::read && opcode <= Opcode::write_vector;
}

}  // namespace

Manner manner_of(const Operation& operation) noexcept {
  switch (operation.opcode) {
    case Opcode::socket:
    case Opcode::socket_pair:
    case Opcode::bind:
    case Opcode::listen:
    case Opcode::shutdown:
    case Opcode::set_option:
    case Opcode::get_option:
    case Opcode::local_name:
    case Opcode::peer_name:
    case Opcode::file_size:
    case Opcode::pipe:
    case Opcode::adopt:
    case Opcode::process_id:
    case Opcode::kill:
      return Manner::at_once;
    case Opcode::read:
    case Opcode::write:
    case Opcode::read_vector:
    case Opcode::write_vector:
      return kind_of(operation.handle) == HandleKind::file ? Manner::blocks : Manner::waits;
    case Opcode::accept:
    case Opcode::connect:
    case Opcode::receive_from:
    case Opcode::send_to:
    case Opcode::wait_exit:
    case Opcode::next_signal:
      return Manner::waits;
    case Opcode::open:
    case Opcode::read_at:
    case Opcode::write_at:
    case Opcode::sync:
    case Opcode::sync_data:
    case Opcode::truncate:
    case Opcode::remove:
    case Opcode::resolve:
    case Opcode::spawn:
      return Manner::blocks;
    case Opcode::close:
    case Opcode::open_signal:
      return Manner::special;
  }
  return Manner::unknown;
}

Side side_of(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::write:
    case Opcode::write_vector:
    case Opcode::send_to:
    case Opcode::connect:
      return kWriteSide;
    default:
      return kReadSide;
  }
}

int64_t perform(Operation& operation) noexcept {
  const Opcode opcode = operation.opcode;
  if (is_transfer(opcode)) [[likely]]
    return perform_transfer(operation);
  if (opcode <= Opcode::send_to) return perform_on_socket(operation);
  if (opcode <= Opcode::adopt) return perform_on_file(operation);
  switch (opcode) {
    case Opcode::resolve:
      return resolve(*static_cast<Resolution*>(operation.buffer));
    case Opcode::spawn:
    case Opcode::process_id:
    case Opcode::kill:
    case Opcode::wait_exit:
    case Opcode::next_signal:
      return perform_on_process(operation);
    default:
      return -ENOSYS;
  }
}

}  // namespace jzx::io
