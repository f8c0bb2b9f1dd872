#include <jzx/net/file.hpp>

#include "net/open_handle.hpp"

namespace jzx::net {

using io::Opcode;

namespace {

uint32_t flags_of(const OpenMode& mode) noexcept {
  uint32_t flags = 0;
  if (mode.read) flags |= io::kRead;
  if (mode.write) flags |= io::kWrite;
  if (mode.create) flags |= io::kCreate;
  if (mode.exclusive) flags |= io::kExclusive;
  if (mode.truncate) flags |= io::kTruncate;
  if (mode.append) flags |= io::kAppend;
  return flags;
}

Future<int64_t> transfer_at(const detail::Handle& handle, Opcode opcode, uint64_t offset,
                            void* buffer, size_t size) noexcept {
  Error error;
  Begun* begun = begin_on(handle, opcode, error);
  if (begun == nullptr) return rejected(error);
  begun->buffer = buffer;
  begun->size = size;
  begun->offset = static_cast<int64_t>(offset);
  return begun->begin();
}

}  // namespace

Task<File> File::open(std::string path, OpenMode mode, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) co_return no_home("open");
  if (has_zero_byte(path)) co_return zero_byte_in("the path", "open");
  Begun* begun = Begun::make(*executor, Opcode::open);
  if (begun == nullptr) co_return Error(Errc::no_memory);
  begun->buffer = path.data();
  begun->flags = flags_of(mode);
  begun->value = mode.permissions;
  Future<int64_t> opening = begun->begin();
  Result<int64_t> opened = co_await opening;
  Result<detail::Handle> handle = keep_opened(*executor, opened, "open");
  if (!handle) co_return handle.error();
  co_return File(std::move(*handle));
}

Task<void> File::remove(std::string path, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) co_await fail(no_home("remove"));
  if (has_zero_byte(path)) co_await fail(zero_byte_in("the path", "remove"));
  Begun* begun = Begun::make(*executor, Opcode::remove);
  if (begun == nullptr) co_await fail(Errc::no_memory);
  begun->buffer = path.data();
  Future<int64_t> removing = begun->begin();
  Result<int64_t> result = co_await removing;
  Result<void> removed = nothing_of(result, "remove");
  co_await removed;
}

Task<std::vector<std::byte>> File::read_all(std::string path, size_t limit, Home home) {
  auto opening = open(std::move(path), OpenMode{}, home);
  Result<File> opened = co_await opening;
  if (!opened) co_return opened.error();
  std::vector<std::byte> bytes;
  constexpr size_t kStep = size_t{1} << 16;
  for (;;) {
    const size_t before = bytes.size();
    if (before > limit)
      co_return Error(Errc::too_long, "the file is longer than the limit", "read");
    bytes.resize(before + kStep);
    auto reading = opened->read_at(before, std::span(bytes).subspan(before));
    Result<size_t> count = co_await reading;
    if (!count) co_return count.error();
    bytes.resize(before + *count);
    if (*count == 0) co_return std::move(bytes);
  }
}

Task<size_t> File::read_at(uint64_t offset, std::span<std::byte> buffer) {
  auto reading = transfer_at(handle_, Opcode::read_at, offset, buffer.data(), buffer.size());
  Result<int64_t> result = co_await reading;
  co_return size_of(result, "read");
}

Task<size_t> File::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  auto writing = transfer_at(handle_, Opcode::write_at, offset,
                             const_cast<std::byte*>(bytes.data()), bytes.size());
  Result<int64_t> result = co_await writing;
  co_return size_of(result, "write");
}

Task<void> File::write_all_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    auto writing = write_at(offset, bytes);
    Result<size_t> count = co_await writing;
    if (!count) co_await fail(count.error());
    offset += *count;
    bytes = bytes.subspan(*count);
  }
}

Task<void> File::simple(int opcode, int64_t value, const char* source) {
  Error error;
  Begun* begun = begin_on(handle_, static_cast<Opcode>(opcode), error);
  if (begun == nullptr) co_await fail(error);
  begun->value = value;
  Future<int64_t> future = begun->begin();
  Result<int64_t> result = co_await future;
  Result<void> done = nothing_of(result, source);
  co_await done;
}

Task<void> File::sync(bool only_data) {
  return simple(static_cast<int>(only_data ? Opcode::sync_data : Opcode::sync), 0, "sync");
}

Task<void> File::truncate(uint64_t size) {
  return simple(static_cast<int>(Opcode::truncate), static_cast<int64_t>(size), "truncate");
}

Task<uint64_t> File::size() {
  Error error;
  Begun* begun = begin_on(handle_, Opcode::file_size, error);
  if (begun == nullptr) co_return error;
  Future<int64_t> asking = begun->begin();
  Result<int64_t> result = co_await asking;
  co_return size_of(result, "size");
}

}  // namespace jzx::net
