// Files: read and written at a position. On io_uring truly asynchronous, otherwise on the threads
// for what blocks.
//
// A cancelled task on those threads ends when the thread is through: nobody can hurry it. Its
// result is then whatever came of it. Errors and threads as in net/stream.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <jzx/async/task.hpp>
#include <jzx/net/handle.hpp>

namespace jzx::net {

struct OpenMode {
  bool read = true;
  bool write = false;
  bool create = false;     // if it is not there
  bool exclusive = false;  // with create: it must not be there
  bool truncate = false;
  bool append = false;
  uint32_t permissions = 0644;  // of one that is created
};

class JZX_API File {
 public:
  File() noexcept = default;

  [[nodiscard]] static Task<File> open(std::string path, OpenMode mode = {}, Home home = {});
  [[nodiscard]] static Task<void> remove(std::string path, Home home = {});
  // All of it; too_long: it is longer than the limit.
  [[nodiscard]] static Task<std::vector<std::byte>> read_all(std::string path,
                                                             size_t limit = size_t{1} << 30,
                                                             Home home = {});

  [[nodiscard]] bool is_open() const noexcept { return handle_.is_open(); }
  void close() noexcept { handle_.close(); }

  // As many as there are; 0: the end.
  [[nodiscard]] Task<size_t> read_at(uint64_t offset, std::span<std::byte> buffer);
  [[nodiscard]] Task<size_t> write_at(uint64_t offset, std::span<const std::byte> bytes);
  // All of it. A full disk: ENOSPC, and a part may have been written.
  [[nodiscard]] Task<void> write_all_at(uint64_t offset, std::span<const std::byte> bytes);
  // What was written is on the disk when this has succeeded; with `only_data` perhaps not when it
  // was changed, and the like.
  [[nodiscard]] Task<void> sync(bool only_data = false);
  [[nodiscard]] Task<void> truncate(uint64_t size);
  [[nodiscard]] Task<uint64_t> size();

 private:
  explicit File(detail::Handle handle) noexcept : handle_(std::move(handle)) {}
  [[nodiscard]] Task<void> simple(int opcode, int64_t value, const char* source);

  detail::Handle handle_;
};

}  // namespace jzx::net
