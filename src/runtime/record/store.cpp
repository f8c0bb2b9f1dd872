#include "runtime/record/store.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"

namespace jzx::runtime {

namespace {

constexpr uint64_t kFirstBytes = 1 << 16;

}  // namespace

// ---- a file ----

FileStore::FileStore(const std::string& path, uint64_t most_bytes) : most_(most_bytes) {
  if (base::has_zero_byte(path)) {
    why_ = base::kPathHasZeroByte;
    return;
  }
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) (void)fail("the file cannot be made");
}

FileStore::~FileStore() {
  if (memory_ != nullptr) ::munmap(memory_, mapped_);
  if (fd_ < 0) return;
  // What was mapped beyond the end are zeros, which a reader takes for the end.
  [[maybe_unused]] const int cut = ::ftruncate(fd_, static_cast<off_t>(used_));
  ::close(fd_);
}

bool FileStore::fail(const char* what) {
  why_ = std::string(what) + ": " + std::strerror(errno);
  return false;
}

// The blocks are taken from the disk first: a page of a map that finds no room is a SIGBUS.
bool FileStore::make_room(uint64_t bytes) {
  if (used_ + bytes > most_) {
    why_ = "the record has reached its limit of " + std::to_string(most_) + " bytes";
    return false;
  }
  if (used_ + bytes <= mapped_) return true;
  uint64_t wanted = std::max(mapped_ * 2, kFirstBytes);
  while (wanted < used_ + bytes) wanted *= 2;
  errno = ::posix_fallocate(fd_, 0, static_cast<off_t>(wanted));
  if (errno != 0) return fail("there is no room for the file");
  void* memory = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED) return fail("the file cannot be mapped");
  if (memory_ != nullptr) ::munmap(memory_, mapped_);
  memory_ = static_cast<char*>(memory);
  mapped_ = wanted;
  return true;
}

bool FileStore::append(std::string_view line) {
  if (!why_.empty() || !make_room(line.size())) return false;
  std::memcpy(memory_ + used_, line.data(), line.size());
  used_ += line.size();
  return true;
}

// ---- a ring ----

bool RingStore::append(std::string_view line) {
  lines_.emplace_back(line);
  bytes_ += line.size();
  while (bytes_ > most_ && lines_.size() > 1) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
    ++lost_;
  }
  return true;
}

std::string RingStore::text() const {
  std::string text;
  text.reserve(bytes_);
  for (const std::string& line : lines_) text += line;
  return text;
}

}  // namespace jzx::runtime
