// Who was killed by another, for as long as the scheduler lives: mail that was sent past the queue
// (by a timer, or to an inbox that nobody reads yet) may come at any time after its sender's end.
// One bit for an actor; the actors that had one slot after another share words.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/actor.hpp"

namespace jzx::runtime {

class DeadSenders {
 public:
  void add(ActorId id) { words_[key_of(id)] |= bit_of(id); }
  [[nodiscard]] bool contains(ActorId id) const noexcept {
    if (words_.empty()) return false;
    const auto found = words_.find(key_of(id));
    return found != words_.end() && (found->second & bit_of(id)) != 0;
  }

 private:
  static constexpr uint32_t kBits = 64;
  [[nodiscard]] static uint64_t key_of(ActorId id) noexcept {
    return core::make_id(core::slot_of(id), core::generation_of(id) / kBits);
  }
  [[nodiscard]] static uint64_t bit_of(ActorId id) noexcept {
    return uint64_t{1} << (core::generation_of(id) % kBits);
  }

  std::unordered_map<uint64_t, uint64_t> words_;
};

}  // namespace jzx::runtime
