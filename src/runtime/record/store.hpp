// Where the lines of a record go: into a file that is mapped into memory, so that it holds them
// also when the process dies in the middle of the next instruction; or into a ring in memory, which
// forgets the oldest.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace jzx::runtime {

class RecordStore {
 public:
  virtual ~RecordStore() = default;
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  // A whole line. False: it was not kept, and no other will be; why() says why.
  [[nodiscard]] virtual bool append(std::string_view line) = 0;
  // All lines that are still there.
  [[nodiscard]] virtual std::string text() const = 0;
  // How many were there before those.
  [[nodiscard]] virtual uint64_t lost() const noexcept { return 0; }
  // Empty: nothing is wrong.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 protected:
  RecordStore() = default;
  std::string why_;
};

class FileStore final : public RecordStore {
 public:
  FileStore(const std::string& path, uint64_t most_bytes);
  ~FileStore() override;

  bool append(std::string_view line) override;
  std::string text() const override { return std::string(memory_, used_); }

 private:
  [[nodiscard]] bool make_room(uint64_t bytes);
  bool fail(const char* what);

  int fd_ = -1;
  char* memory_ = nullptr;
  uint64_t mapped_ = 0;
  uint64_t used_ = 0;
  uint64_t most_;
};

class RingStore final : public RecordStore {
 public:
  explicit RingStore(uint64_t most_bytes) noexcept : most_(most_bytes) {}

  bool append(std::string_view line) override;
  std::string text() const override;
  uint64_t lost() const noexcept override { return lost_; }

 private:
  std::deque<std::string> lines_;
  uint64_t bytes_ = 0;
  uint64_t lost_ = 0;
  uint64_t most_;
};

}  // namespace jzx::runtime
