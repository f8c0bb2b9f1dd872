// The queue of a CommandScheduler: one ring, first in, first out, that doubles up to its limit. A
// command's number is its place in the line, from 1; so numbers cost nothing.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include <jzx/envelope.hpp>

#include "base/assert.hpp"

namespace jzx::runtime {

struct QueuedCommand {
  Envelope* envelope;
  ActorId target;
  uint64_t cause;
  uint64_t time_ns;
};

class CommandQueue {
 public:
  explicit CommandQueue(size_t limit) noexcept : limit_(limit) {}

  [[nodiscard]] bool is_empty() const noexcept { return taken_ == queued_; }
  [[nodiscard]] size_t size() const noexcept { return queued_ - taken_; }
  [[nodiscard]] size_t limit() const noexcept { return limit_; }
  // How many were ever queued, and taken.
  [[nodiscard]] uint64_t queued() const noexcept { return queued_; }
  [[nodiscard]] uint64_t taken() const noexcept { return taken_; }

  // Then so many can be pushed. False: there is no room, or no memory.
  [[nodiscard]] bool make_room(size_t count) noexcept {
    return size() + count <= usable_ || grow(count);
  }
  void push(const QueuedCommand& command) noexcept {
    JZX_ASSERT(size() < capacity_);
    ring_[queued_++ & (capacity_ - 1)] = command;
  }

  [[nodiscard]] QueuedCommand& first() noexcept { return ring_[taken_ & (capacity_ - 1)]; }
  [[nodiscard]] QueuedCommand pop() noexcept {
    JZX_ASSERT(!is_empty());
    return ring_[taken_++ & (capacity_ - 1)];
  }
  void drop_first() noexcept {
    JZX_ASSERT(!is_empty());
    ++taken_;
  }
  // The last one that was taken is the first again; nothing was pushed since.
  void put_back() noexcept { --taken_; }

 private:
  [[gnu::noinline]] bool grow(size_t count) noexcept {
    const size_t wanted = size() + count;
    if (wanted > limit_) return false;
    size_t larger = capacity_ == 0 ? kFirstCapacity : capacity_;
    while (larger < wanted) larger *= 2;
    std::unique_ptr<QueuedCommand[]> ring(new (std::nothrow) QueuedCommand[larger]);
    if (ring == nullptr) return false;
    for (uint64_t i = taken_; i != queued_; ++i)
      ring[i & (larger - 1)] = ring_[i & (capacity_ - 1)];
    ring_ = std::move(ring);
    capacity_ = larger;
    usable_ = std::min(larger, limit_);
    return true;
  }

  static constexpr size_t kFirstCapacity = 64;

  std::unique_ptr<QueuedCommand[]> ring_;
  size_t capacity_ = 0;  // a power of two
  size_t usable_ = 0;    // of it, by the limit
  uint64_t taken_ = 0;
  uint64_t queued_ = 0;
  const size_t limit_;
};

}  // namespace jzx::runtime
