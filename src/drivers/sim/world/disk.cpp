#include "drivers/sim/world/disk.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/time/clock.hpp"
#include "io/operation.hpp"

namespace jzx::drivers::sim {

// ---- a file ----

void FileBody::apply(std::string& contents, const Change& change) {
  if (change.is_truncation) return contents.resize(change.offset, '\0');
  const uint64_t end = change.offset + change.bytes.size();
  if (contents.size() < end) contents.resize(end, '\0');
  contents.replace(change.offset, change.bytes.size(), change.bytes);
}

void FileBody::note(Change change) {
  change.number = ++last_change_;
  apply(contents_, change);
  changes_.push_back(std::move(change));
}

void FileBody::write(uint64_t offset, std::string bytes) {
  if (bytes.empty()) return;
  Change change;
  change.offset = offset;
  change.bytes = std::move(bytes);
  note(std::move(change));
}

void FileBody::truncate(uint64_t size) {
  if (size == contents_.size()) return;
  Change change;
  change.offset = size;
  change.is_truncation = true;
  note(std::move(change));
}

void FileBody::sync(uint64_t up_to) noexcept {
  has_safe_name_ = true;
  for (Change& change : changes_) {
    if (change.number <= up_to && !change.is_lost) change.is_safe = true;
  }
  for (; !changes_.empty() && changes_.front().is_safe; changes_.pop_front()) {
    apply(safe_, changes_.front());
  }
}

void FileBody::lose_sync(uint64_t up_to) noexcept {
  for (Change& change : changes_) {
    if (change.number <= up_to && !change.is_safe) change.is_lost = true;
  }
}

bool FileBody::crash(Choices& choices, const DiskFaults& faults) {
  if (!has_safe_name_ && choices.chance(faults.lost_per_million, ChoiceSite::disk)) return false;
  for (; !changes_.empty(); changes_.pop_front()) {
    Change& change = changes_.front();
    if (change.is_safe) {
      apply(safe_, change);
    } else {
      apply_some(safe_, std::move(change), choices, faults);
    }
  }
  contents_ = safe_;
  has_safe_name_ = true;
  return true;
}

void FileBody::apply_some(std::string& contents, Change change, Choices& choices,
                          const DiskFaults& faults) {
  const bool is_lost = choices.chance(faults.lost_per_million, ChoiceSite::disk);
  if (change.is_truncation) {
    if (!is_lost) apply(contents, change);
    return;
  }
  if (!is_lost && !choices.chance(faults.torn_per_million, ChoiceSite::disk)) {
    return apply(contents, change);
  }
  const uint64_t end = change.offset + change.bytes.size();
  uint64_t cut = change.offset;
  if (!is_lost) {
    // As many whole sectors as are chosen, but not all.
    const uint64_t first = change.offset / kSectorBytes;
    const auto sectors = static_cast<uint32_t>((end - 1) / kSectorBytes - first + 1);
    const uint64_t kept = sectors - 1 - choices.choose(sectors, ChoiceSite::disk);
    if (kept > 0) cut = (first + kept) * kSectorBytes;
  }
  change.bytes.resize(cut - change.offset);
  if (!change.bytes.empty()) apply(contents, change);
  if (contents.size() < end && choices.choose(2, ChoiceSite::disk) == 1) {
    contents.resize(end, '\0');
  }
}

// ---- the disk ----

void Disk::crash() {
  std::erase_if(files_, [&](auto& file) { return !file.second->crash(choices_, faults); });
}

std::optional<std::string> Disk::contents(std::string_view path) const {
  const auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  return found->second->contents();
}

void Disk::put(std::string_view path, std::string contents) {
  auto body = std::make_shared<FileBody>();
  body->write(0, std::move(contents));
  body->sync(body->last_change());
  files_.insert_or_assign(std::string(path), std::move(body));
}

uint64_t Disk::used_bytes() const noexcept {
  uint64_t bytes = 0;
  for (const auto& [path, body] : files_) bytes += body->contents().size();
  return bytes;
}

int64_t Disk::open(std::string_view path, uint32_t flags, std::shared_ptr<FileBody>& out) {
  constexpr uint32_t kAll =
      io::kRead | io::kWrite | io::kCreate | io::kExclusive | io::kTruncate | io::kAppend;
  if ((flags & (io::kRead | io::kWrite)) == 0 || (flags & ~kAll) != 0) return -EINVAL;
  if (path.empty()) return -ENOENT;
  if (chance(faults.open_error_per_million)) return -EIO;
  const bool creates = (flags & io::kCreate) != 0;
  auto found = files_.find(path);
  if (found != files_.end() && creates && (flags & io::kExclusive) != 0) return -EEXIST;
  if (found == files_.end()) {
    if (!creates) return -ENOENT;
    found = files_.emplace(std::string(path), std::make_shared<FileBody>()).first;
  }
  out = found->second;
  if ((flags & io::kTruncate) != 0) out->truncate(0);
  return 0;
}

int64_t Disk::remove(std::string_view path) noexcept {
  const auto found = files_.find(path);
  if (found == files_.end()) return -ENOENT;
  files_.erase(found);
  return 0;
}

size_t Disk::room_for(const FileBody& body, uint64_t offset, size_t size) const noexcept {
  if (faults.capacity_bytes == base::kNever) return size;
  const uint64_t used = used_bytes();
  const uint64_t free = faults.capacity_bytes > used ? faults.capacity_bytes - used : 0;
  const uint64_t most = body.contents().size() + free;  // it can be so long
  return offset < most ? static_cast<size_t>(std::min<uint64_t>(size, most - offset)) : 0;
}

size_t Disk::perhaps_less(size_t size, uint32_t per_million) {
  if (size < 2 || !chance(per_million)) return size;
  const auto count = static_cast<uint32_t>(std::min<size_t>(size, UINT32_MAX));
  return size - choices_.choose(count, ChoiceSite::disk);
}

}  // namespace jzx::drivers::sim
