// A stack of free slots of the table of actors, linked through Actor::slot.
//
// Only its owner pushes and pops single slots, for every actor that begins or ends; now and then
// somebody else takes the whole stack. So the owner does it by plain loads and stores, and the
// thief pays: see base/steal/thefts.hpp. Where the system has no heavy barrier all do it by
// exchanges: when the owner's succeeds, the chain that it read is still there, since nobody but
// itself could have put its first slot back; there is no ABA.
//
// It looks empty only if it is or has just been stolen. An owner who was slower than a thief stores
// a chain that is no longer there; it puts that right before anybody can take it.
//
// Threads: size(), steal() and wait_for_owner() by any; the others by the owner.
#pragma once

#include <optional>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/spin_lock.hpp"
#include "base/steal/thefts.hpp"
#include "core/actor.hpp"

namespace jzx::core {

inline constexpr uint32_t kNoSlot = 0xffffffffu;

struct alignas(8) SlotChain {  // as a word, or its atomic may need a lock
  uint32_t first = kNoSlot;
  uint32_t size = 0;
  bool operator==(const SlotChain&) const = default;
};

class alignas(64) FreeSlots {
 public:
  FreeSlots* sibling = nullptr;  // all stacks of a table, in a list
  bool uses_exchanges = false;   // set before other threads come

  [[nodiscard]] uint32_t size() const noexcept {
    // acquire: who sees that it was stolen sees that this is counted; see actor_table.hpp.
    return chain_.load(std::memory_order_acquire).size;
  }

  // actors(slot) is the actor there. kNoSlot: there is none.
  template <class Actors>
  [[nodiscard]] uint32_t pop(Actors&& actors) noexcept {
    SlotChain chain = look();
    while (chain.size != 0) {
      // If the chain is being stolen the link may be anything, and nobody will use it.
      const uint32_t next = actors(chain.first).slot.load(std::memory_order_relaxed);
      const SlotChain rest{next, chain.size - 1};
      if (!uses_exchanges) [[likely]] {
        chain_.store(rest, std::memory_order_release);  // passes on what push() released
        if (thefts_.was_robbed()) [[unlikely]]
          return popped_unless_stolen(chain);
        JZX_ASSERT(chain.size > 1 || next == kNoSlot);
        return chain.first;
      }
      // acquire: if it fails, as in size(). What push() released an exchange passes on anyway.
      if (chain_.compare_exchange_weak(chain, rest, std::memory_order_acquire)) return chain.first;
    }
    return kNoSlot;
  }

  void push(uint32_t slot, Actor& actor) noexcept {
    const SlotChain chain = look();
    if (uses_exchanges) [[unlikely]]
      return push_by_exchange(chain, slot, actor);
    actor.slot.store(chain.first, std::memory_order_relaxed);
    // release: the slot is as its actor left it, and linked; pairs with steal().
    chain_.store({slot, chain.size + 1}, std::memory_order_release);
    if (thefts_.was_robbed()) [[unlikely]]
      push_alone_if_stolen(chain, slot, actor);
  }

  // What was stolen elsewhere, or is new, into an empty stack.
  void refill(SlotChain chain) noexcept {
    // Of an earlier theft: what was stolen may have come back.
    if (thefts_.looks_robbed()) [[unlikely]]
      thefts_.ask([](SlotChain) {});
    // release: the links, and what steal() acquired; pairs with steal().
    chain_.store(chain, std::memory_order_release);
  }

  // Empty: not this time. None: only the owner can have them.
  [[nodiscard]] std::optional<SlotChain> steal() noexcept {
    // acquire: the slots are as their actors left them, and linked; pairs with push(), pop() and
    // refill(). release: pairs with size().
    const auto take = [this] { return chain_.exchange(SlotChain{}, std::memory_order_acq_rel); };
    return uses_exchanges ? take() : thefts_.steal(take);
  }

  // An owner who was slower than a thief is about to put right what it stored: until it has.
  void wait_for_owner() const noexcept {
    base::spin_while([this]() noexcept { return size() != 0 && thefts_.looks_robbed(); });
  }

 private:
  [[nodiscard]] SlotChain look() const noexcept {
    // relaxed: others only take away. The barrier tells of that, or who brings back what they took.
    return chain_.load(std::memory_order_relaxed);
  }
  // The owner has popped the first of this chain.
  [[gnu::noinline, gnu::cold]] uint32_t popped_unless_stolen(SlotChain chain) noexcept {
    return thefts_.ask([&](SlotChain stolen) {
      if (stolen != chain) return chain.first;
      chain_.store(SlotChain{}, std::memory_order_release);  // pairs with size()
      return kNoSlot;
    });
  }
  // The owner has pushed this slot on top of the chain.
  [[gnu::noinline, gnu::cold]] void push_alone_if_stolen(SlotChain chain, uint32_t slot,
                                                         Actor& actor) noexcept {
    thefts_.ask([&](SlotChain stolen) {
      if (stolen != chain) return;
      actor.slot.store(kNoSlot, std::memory_order_relaxed);
      chain_.store({slot, 1}, std::memory_order_relaxed);  // the next thief locks after us
    });
  }
  [[gnu::noinline]] void push_by_exchange(SlotChain chain, uint32_t slot, Actor& actor) noexcept {
    do {
      actor.slot.store(chain.first, std::memory_order_relaxed);
      // release: as in push().
    } while (!chain_.compare_exchange_weak(chain, {slot, chain.size + 1}, std::memory_order_release,
                                           std::memory_order_relaxed));
  }

  base::Atomic<SlotChain> chain_{SlotChain{}};
  base::Thefts<SlotChain> thefts_;
};

}  // namespace jzx::core
