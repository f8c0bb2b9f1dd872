// The disk of one simulated node. It outlives the node's crashes, and forgets in them what was not
// synced.
//
//   write ──▶ contents, as everybody reads them
//        └──▶ changes since the last sync, in order ── sync ──▶ safe
//   crash: what is safe, and of the other changes any, whole or torn
//
// A sync saves the changes that were made before it began, not those that came while it was at it.
// One that fails has lost them for good, though they can still be read: the next sync succeeds, and
// does not save them. A file that was never synced may not be there at all after a crash. Of a
// write that is lost the length may be there, and zeros.
//
// There are no folders: a path is a name, and every path can be created.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "drivers/sim/choices.hpp"
#include "drivers/sim/world/faults.hpp"

namespace jzx::drivers::sim {

class Disk;

// What a path leads to; lives on while it is open.
class FileBody {
 public:
  [[nodiscard]] const std::string& contents() const noexcept { return contents_; }
  void write(uint64_t offset, std::string bytes);
  void truncate(uint64_t size);

  // The changes up to now, for sync(), which saves them; for lose_sync(), after which nobody does.
  [[nodiscard]] uint64_t last_change() const noexcept { return last_change_; }
  void sync(uint64_t up_to) noexcept;
  void lose_sync(uint64_t up_to) noexcept;

  // What is there after a crash; false: nothing, not even the file.
  [[nodiscard]] bool crash(Choices& choices, const DiskFaults& faults);

 private:
  struct Change {
    uint64_t number = 0;
    uint64_t offset = 0;  // or the new size
    std::string bytes;
    bool is_truncation = false;
    bool is_safe = false;
    bool is_lost = false;  // no sync saves it any more
  };
  static void apply(std::string& contents, const Change& change);
  static void apply_some(std::string& contents, Change change, Choices& choices,
                         const DiskFaults& faults);
  void note(Change change);

  std::string contents_;
  std::string safe_;            // as of the last change that is not in `changes_`
  std::deque<Change> changes_;  // in order; the first is not safe
  uint64_t last_change_ = 0;
  bool has_safe_name_ = false;
};

class Disk {
 public:
  explicit Disk(Choices& choices) noexcept : choices_(choices) {}
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  DiskFaults faults;

  // What was not synced may be lost. Nothing may be open. Network::crash() calls it for a node
  // whose reactor is there.
  void crash();

  // ---- to look at, without faults ----

  // As everybody reads it; nothing: there is no such file.
  [[nodiscard]] std::optional<std::string> contents(std::string_view path) const;
  // Puts it there, synced.
  void put(std::string_view path, std::string contents);
  [[nodiscard]] uint64_t used_bytes() const noexcept;

  // ---- for the reactor and its files ----

  // 0 or -errno, and the body; io::OpenFlags.
  [[nodiscard]] int64_t open(std::string_view path, uint32_t flags, std::shared_ptr<FileBody>& out);
  // 0 or -ENOENT.
  [[nodiscard]] int64_t remove(std::string_view path) noexcept;
  // How many of so many bytes there is room for.
  [[nodiscard]] size_t room_for(const FileBody& body, uint64_t offset, size_t size) const noexcept;

  [[nodiscard]] bool chance(uint32_t per_million) {
    return choices_.chance(per_million, ChoiceSite::disk);
  }
  [[nodiscard]] uint64_t latency() {
    return choices_.between(faults.least_latency_ns, faults.most_latency_ns, ChoiceSite::disk);
  }
  [[nodiscard]] uint64_t sync_latency() {
    return choices_.between(faults.least_sync_ns, faults.most_sync_ns, ChoiceSite::disk);
  }
  // `size`, or by a fault, and if there is one, some smaller number that is not 0.
  [[nodiscard]] size_t perhaps_less(size_t size, uint32_t per_million);

 private:
  Choices& choices_;
  std::map<std::string, std::shared_ptr<FileBody>, std::less<>> files_;
};

}  // namespace jzx::drivers::sim
