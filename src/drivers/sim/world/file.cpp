#include "drivers/sim/world/file.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace jzx::drivers::sim {
namespace {

using io::Opcode;

// It is in memory, after all.
constexpr uint64_t kMostBytes = uint64_t{1} << 32;

bool is_write(Opcode opcode) noexcept {
  return opcode == Opcode::write || opcode == Opcode::write_vector || opcode == Opcode::write_at;
}

std::string bytes_of(const io::Operation& operation, size_t size) {
  std::string bytes;
  for_each_piece(operation, size,
                 [&](const char* data, size_t count) { bytes.append(data, count); });
  return bytes;
}

}  // namespace

uint64_t File::time_for(io::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::read:
    case Opcode::read_vector:
    case Opcode::read_at:
    case Opcode::write:
    case Opcode::write_vector:
    case Opcode::write_at:
    case Opcode::truncate:
      return disk_.latency();
    case Opcode::sync:
    case Opcode::sync_data:
      // It has no offset of its own: this remembers what it has to save.
      operation.offset = static_cast<int64_t>(body_->last_change());
      return disk_.sync_latency();
    default:
      return kTakesNoTime;
  }
}

int64_t File::perform(io::Operation& operation) {
  if (const int64_t error = check_pieces(operation); error != 0) return error;
  switch (operation.opcode) {
    case Opcode::read:
    case Opcode::read_vector:
      return read(operation, false);
    case Opcode::read_at:
      return read(operation, true);
    case Opcode::write:
    case Opcode::write_vector:
      return write(operation, false);
    case Opcode::write_at:
      return write(operation, true);
    case Opcode::truncate:
      return truncate(operation.value);
    case Opcode::sync:
    case Opcode::sync_data:
      return sync(static_cast<uint64_t>(operation.offset));
    case Opcode::file_size:
      return static_cast<int64_t>(body_->contents().size());
    case Opcode::next_signal:
      return -EINVAL;
    default:
      return -ENOTSOCK;
  }
}

int64_t File::read(io::Operation& operation, bool is_at_offset) {
  if ((flags_ & io::kRead) == 0) return -EBADF;
  if (is_at_offset && operation.offset < 0) return -EINVAL;
  if (disk_.chance(disk_.faults.read_error_per_million)) return -EIO;
  const std::string& contents = body_->contents();
  uint64_t from = is_at_offset ? static_cast<uint64_t>(operation.offset) : position_;
  if (from >= contents.size()) return 0;
  const size_t size = disk_.perhaps_less(std::min(size_of(operation), contents.size() - from),
                                         disk_.faults.short_read_per_million);
  for_each_piece(operation, size, [&](char* data, size_t count) {
    std::memcpy(data, contents.data() + from, count);
    from += count;
  });
  if (!is_at_offset) position_ = from;
  return static_cast<int64_t>(size);
}

int64_t File::write(io::Operation& operation, bool is_at_offset) {
  if ((flags_ & io::kWrite) == 0) return -EBADF;
  if (is_at_offset && operation.offset < 0) return -EINVAL;
  const size_t wanted = size_of(operation);
  if (wanted == 0) return 0;
  uint64_t to = is_at_offset ? static_cast<uint64_t>(operation.offset) : position_;
  if ((flags_ & io::kAppend) != 0) to = body_->contents().size();
  if (to > kMostBytes || wanted > kMostBytes - to) return -EFBIG;
  if (disk_.chance(disk_.faults.write_error_per_million)) return -EIO;
  const size_t room = disk_.room_for(*body_, to, wanted);
  if (room == 0) return -ENOSPC;
  const size_t size = disk_.perhaps_less(room, disk_.faults.short_write_per_million);
  body_->write(to, bytes_of(operation, size));
  if (!is_at_offset) position_ = to + size;
  return static_cast<int64_t>(size);
}

int64_t File::truncate(int64_t size) {
  if ((flags_ & io::kWrite) == 0 || size < 0) return -EINVAL;
  const auto bytes = static_cast<uint64_t>(size);
  if (bytes > kMostBytes) return -EFBIG;
  if (disk_.chance(disk_.faults.write_error_per_million)) return -EIO;
  const uint64_t now = body_->contents().size();
  if (bytes > now && disk_.room_for(*body_, now, bytes - now) < bytes - now) return -ENOSPC;
  body_->truncate(bytes);
  return 0;
}

int64_t File::sync(uint64_t up_to) {
  if (disk_.chance(disk_.faults.sync_error_per_million)) return body_->lose_sync(up_to), -EIO;
  body_->sync(up_to);
  return 0;
}

void File::interrupt(io::Operation& operation) {
  if (is_write(operation.opcode) || operation.opcode == Opcode::truncate) (void)perform(operation);
}

}  // namespace jzx::drivers::sim
