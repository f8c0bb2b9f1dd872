// Envelopes, and small blocks for what users put into a system: messages that do not fit into an
// envelope, the state of typed actors. Both are blocks that go round between the workers; see
// base/blocks/block_pool.hpp. What is larger than the largest class comes from the user's
// allocator.
//
// Threads: EnvelopePool and SmallBlocks by their host's own; EnvelopeDepot and SmallDepots by any.
#pragma once

#include <new>

#include <jzx/envelope.hpp>

#include "base/blocks/block_pool.hpp"

namespace jzx::core {

class EnvelopeDepot : public base::BlockDepot {
 public:
  explicit EnvelopeDepot(const base::Allocator& allocator) noexcept
      : BlockDepot(allocator, sizeof(Envelope)) {
    static_assert(alignof(Envelope) <= kMaxAlignment);
  }

  // ---- foreign threads ----

  // Counts the message as accepted; give_back() takes that back. nullptr: no memory.
  [[nodiscard]] Envelope* take_foreign(const MessageType* type) noexcept {
    void* memory = take_one([&] { ++foreign_accepted_; });
    return memory == nullptr ? nullptr : new (memory) Envelope(type, 0, 0);
  }
  // The send was refused.
  void give_back(Envelope& envelope) noexcept {
    give_one(&envelope, [&] { --foreign_accepted_; });
  }
  // The message was accepted and dropped at once.
  void give_dropped(Envelope& envelope) noexcept {
    give_one(&envelope, [&] { ++foreign_dropped_; });
  }
  [[nodiscard]] uint64_t foreign_accepted() noexcept {
    return look([&] { return foreign_accepted_; });
  }
  [[nodiscard]] uint64_t foreign_dropped() noexcept {
    return look([&] { return foreign_dropped_; });
  }

 private:
  uint64_t foreign_accepted_ = 0;  // under the depot's lock
  uint64_t foreign_dropped_ = 0;
};

class EnvelopePool : public base::BlockPool {
 public:
  explicit EnvelopePool(EnvelopeDepot& depot) noexcept : BlockPool(depot) {}

  // nullptr: no memory. The storage is not initialised.
  [[nodiscard]] Envelope* take(const MessageType* type, ActorId sender) noexcept {
    void* memory = BlockPool::take();
    if (memory == nullptr) [[unlikely]]
      return nullptr;
    return new (memory) Envelope(type, sender, 0);
  }
  // After has_own().
  [[nodiscard]] Envelope& take_own(const MessageType* type, ActorId sender) noexcept {
    return *new (BlockPool::take_own()) Envelope(Envelope::ToBeQueued{}, type, sender);
  }
  void give(Envelope& envelope) noexcept { BlockPool::give(&envelope); }
};

// ---- small blocks ----

inline constexpr size_t kSmallClasses = 3;
inline constexpr size_t kLargestSmall = 128;

// 0: up to 32 bytes, 1: up to 64, 2: up to 128.
[[nodiscard]] constexpr size_t small_class(size_t size) noexcept {
  return size <= 32 ? 0 : size <= 64 ? 1 : 2;
}

struct SmallDepots {
  explicit SmallDepots(const base::Allocator& allocator) noexcept
      : classes{{allocator, 32}, {allocator, 64}, {allocator, 128}} {}

  base::BlockDepot classes[kSmallClasses];
};

struct SmallBlocks {
  explicit SmallBlocks(SmallDepots& depots) noexcept
      : classes{base::BlockPool(depots.classes[0]), base::BlockPool(depots.classes[1]),
                base::BlockPool(depots.classes[2])} {}

  base::BlockPool classes[kSmallClasses];
};

}  // namespace jzx::core
