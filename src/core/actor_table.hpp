// The table of all actors of a system: chunked, never moving, with a stack of free slots so that
// the slot freed last, whose lines are warm, is used next. Generations live in the actors' state
// words; see state_word.hpp for why a stale id never reaches a newer actor.
//
// Threads: find() by any thread, the rest by the owner.
#pragma once

#include "base/chunked_array.hpp"
#include "core/actor.hpp"

namespace jzx::core {

class ActorTable {
 public:
  ActorTable(base::Allocator allocator, uint32_t max_actors) noexcept
      : actors_(allocator, max_actors) {}

  // nullptr: no slot, or no memory for one; is_full() tells which.
  [[nodiscard]] Actor* take() noexcept {
    if (free_ == kNoSlot && !grow()) return nullptr;
    Actor& actor = actors_[free_];
    const uint32_t slot = free_;
    free_ = actor.slot;
    actor.slot = slot;
    return &actor;
  }

  void give(Actor& actor) noexcept {
    const uint32_t slot = actor.slot;
    actor.slot = free_;
    free_ = slot;
  }

  [[nodiscard]] bool is_full() const noexcept {
    return free_ == kNoSlot && actors_.size() == actors_.max_size();
  }

  // The slot of an id; whether the id is still good is the state word's to say.
  [[nodiscard]] Actor* find(ActorId id) const noexcept { return actors_.find(slot_of(id)); }

  template <class Each>
  void for_each_slot(Each&& each) {
    for (uint32_t slot = 0; slot < actors_.size(); ++slot) each(actors_[slot]);
  }

 private:
  static constexpr uint32_t kNoSlot = 0xffffffffu;

  [[nodiscard]] bool grow() noexcept {
    const uint32_t first = actors_.size();
    if (!actors_.grow()) return false;
    for (uint32_t slot = actors_.size(); slot-- > first;) {
      actors_[slot].slot = free_;
      free_ = slot;
    }
    return true;
  }

  base::ChunkedArray<Actor, 256> actors_;
  uint32_t free_ = kNoSlot;
};

}  // namespace jzx::core
