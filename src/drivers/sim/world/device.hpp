// What is behind a handle of a simulated node: a socket, an end of a pipe, a file, a signal. Like
// a file of a kernel that does not block: it is asked to perform an operation, and either has the
// result or is not ready. When it may have become ready it says so to its node, which asks again.
//
// Threads: one. Lifetime: the handle owns it; others who refer to it across time do so weakly.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "io/operation.hpp"

namespace jzx::drivers::sim {

class Device;

// Who has the handles of a node: its reactor.
class DeviceOwner {
 public:
  // A handle's value, or -EMFILE.
  [[nodiscard]] virtual int64_t add(std::shared_ptr<Device> device) = 0;
  [[nodiscard]] virtual bool has_room(size_t handles) const noexcept = 0;
  // What waits for it may succeed now. Tells nobody before the next wait().
  virtual void changed(uint32_t index) noexcept = 0;

 protected:
  ~DeviceOwner() = default;
};

// No errno that an operation ends with.
inline constexpr int64_t kNotReady = -EINPROGRESS;
// No operation takes so long: it does not take time, but may have to wait.
inline constexpr uint64_t kTakesNoTime = UINT64_MAX;

class Device : public std::enable_shared_from_this<Device> {
 public:
  Device() noexcept = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  // A result as in io/operation.hpp, -errno, or kNotReady.
  [[nodiscard]] virtual int64_t perform(io::Operation& operation) = 0;
  // Asked once, first: how long the device itself is at it, before perform() is called, once and
  // without a kNotReady.
  [[nodiscard]] virtual uint64_t time_for(io::Operation&) { return kTakesNoTime; }
  // The node has crashed in that time.
  virtual void interrupt(io::Operation&) {}
  // The handle is closed. Nothing is asked of it after that.
  virtual void close() = 0;
  // The node has crashed: as close(), but nobody else hears of it.
  virtual void vanish() = 0;

  void put_behind(DeviceOwner& owner, uint32_t index) noexcept {
    owner_ = &owner;
    index_ = index;
  }
  void take_away() noexcept { owner_ = nullptr; }
  // To be said by whatever it is that changed it.
  void changed() noexcept {
    if (owner_ != nullptr) owner_->changed(index_);
  }

 protected:
  [[nodiscard]] DeviceOwner* owner() const noexcept { return owner_; }

 private:
  DeviceOwner* owner_ = nullptr;
  uint32_t index_ = 0;
};

// ---- the bytes of an operation ----

[[nodiscard]] inline bool is_vector(const io::Operation& operation) noexcept {
  return operation.opcode == io::Opcode::read_vector ||
         operation.opcode == io::Opcode::write_vector;
}

// Calls `use(data, size)` for each piece until `limit` bytes are through.
template <class Use>
void for_each_piece(const io::Operation& operation, size_t limit, Use use) {
  const io::Slice whole{operation.buffer, operation.size};
  const bool many = is_vector(operation);
  const auto* pieces = many ? static_cast<const io::Slice*>(operation.buffer) : &whole;
  const size_t count = many ? operation.size : 1;
  for (size_t i = 0; i < count && limit > 0; ++i) {
    const size_t size = pieces[i].size < limit ? pieces[i].size : limit;
    if (size > 0) use(static_cast<char*>(pieces[i].data), size);
    limit -= size;
  }
}

[[nodiscard]] inline size_t size_of(const io::Operation& operation) noexcept {
  if (!is_vector(operation)) return operation.size;
  size_t total = 0;
  for_each_piece(operation, SIZE_MAX, [&](const char*, size_t size) { total += size; });
  return total;
}

// -EINVAL: more or fewer pieces than there may be.
[[nodiscard]] inline int64_t check_pieces(const io::Operation& operation) noexcept {
  const bool is_wrong =
      is_vector(operation) && (operation.size == 0 || operation.size > io::kMaxSlices);
  return is_wrong ? -EINVAL : 0;
}

}  // namespace jzx::drivers::sim
