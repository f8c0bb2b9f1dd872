// The table of all actors of a system: growing, never moving. Free slots are in stacks, one per
// worker, so that the slot freed last, whose lines are warm, is used next. Generations live in the
// actors' state words; see state_word.hpp for why a stale id never reaches a newer actor.
//
// A send has to find its actor before it can know anything, so the way there should be short. Where
// the memory need not come from a user's allocator the whole table is one array in address space
// reserved for it, and the way is an addition. Otherwise it is made of chunks, and a directory and
// a chunk's address are read first.
//
// Where several workers share the table, slots are freed by one worker and wanted by another. Who
// has none takes a whole stack away from a sibling, in one exchange, before it asks for a new
// chunk; so every free slot can be had by everybody. A spawn is refused at the limit only after
// every stack was seen empty while none was on its way from one worker to another. Only its owner
// pushes to a stack and pops single slots: when its exchange succeeds, the top that it read
// is still the top, since nobody but itself could have put it back; there is no ABA.
//
// Threads that are no workers share one more stack, the commons, and own it one at a time.
//
// Threads: find() by any; take() and give() by the owner of the stack.
#pragma once

#include <algorithm>
#include <mutex>

#include "base/chunked_array.hpp"
#include "base/reserved_array.hpp"
#include "core/actor.hpp"

namespace jzx::core {

inline constexpr uint32_t kNoSlot = 0xffffffffu;

// A stack of free slots, linked through Actor::slot.
struct alignas(64) FreeSlots {
  base::Atomic<uint32_t> top{kNoSlot};
  FreeSlots* sibling = nullptr;  // all stacks of a table, in a list
};

enum class TablePlace : uint8_t {
  allocator,  // chunks from the system's allocator
  reserved,   // address space of its own, if it can be had
};

class ActorTable {
  static constexpr uint32_t kGrowth = 256;  // slots that are made at a time
  using Row = base::ReservedArray<Actor, kGrowth>;
  using Chunks = base::ChunkedArray<Actor, kGrowth>;

 public:
  ActorTable(base::Allocator allocator, uint32_t max_actors, bool is_shared,
             TablePlace place = TablePlace::allocator) noexcept
      : chunks_(allocator, std::min(max_actors, StateWord::kMostSlots)), is_shared_(is_shared) {
    is_row_ = place == TablePlace::reserved && row_.reserve(chunks_.max_size());
    if (is_shared) add_stack(commons_);
  }

  // Before any other thread uses the table: `slots` is one of its stacks from now on.
  void add_stack(FreeSlots& slots) noexcept {
    slots.sibling = stacks_;
    stacks_ = &slots;
  }

  // nullptr: no slot, or no memory for one; is_full() tells which. `own` null: from the commons.
  [[nodiscard]] Actor* take(FreeSlots* own) noexcept {
    if (own != nullptr) [[likely]]
      return take_from(*own);
    std::lock_guard hold(commons_lock_);
    return take_from(commons_);
  }
  // The same without asking others. nullptr: perhaps there is one; take() knows.
  [[nodiscard]] Actor* take_own(FreeSlots& own) noexcept {
    const uint32_t slot = pop(own);
    return slot != kNoSlot ? taken(slot) : nullptr;
  }
  void give(FreeSlots* own, Actor& actor) noexcept {
    if (own != nullptr) [[likely]]
      return give_to(*own, actor);
    std::lock_guard hold(commons_lock_);
    give_to(commons_, actor);
  }

  [[nodiscard]] bool is_full() noexcept {
    std::lock_guard hold(growth_);
    return size() == chunks_.max_size();
  }

  // The slot of an id; whether the id is still good is the state word's to say.
  [[nodiscard]] Actor* find(ActorId id) const noexcept { return at(slot_of(id)); }

  // The same for who looks often; nullptr also if the slot is newer than the view.
  class View {
   public:
    [[nodiscard]] Actor* find(uint32_t slot) const noexcept {
      if (row_.has(slot)) [[likely]]
        return &row_[slot];
      return chunks_.find(slot);
    }

   private:
    friend ActorTable;
    Chunks::View chunks_;  // empty, or else the other one is
    Row::View row_;
  };
  [[nodiscard]] View view() const noexcept {
    View view;
    view.row_ = row_.view();
    view.chunks_ = chunks_.view();
    return view;
  }

  // Is this one of its actors? At a quiet moment; looks at every chunk.
  [[nodiscard]] bool holds(const base::Runnable* work) const noexcept {
    return is_row_ ? row_.holds(work) : chunks_.holds(work);
  }

  // While others use the table: each(actor, slot) for the slots there are now.
  template <class Each>
  void for_each_slot_now(Each&& each) {
    growth_.lock();
    const uint32_t size_now = size();
    growth_.unlock();
    for (uint32_t slot = 0; slot < size_now; ++slot) each(known(slot), slot);
  }

  // At a quiet moment.
  template <class Each>
  void for_each_slot(Each&& each) {
    for (uint32_t slot = 0; slot < size(); ++slot) each(known(slot));
  }

 private:
  [[nodiscard]] Actor* at(uint32_t slot) const noexcept {
    if (!is_row_) return chunks_.find(slot);
    const Row::View view = row_.view();
    return view.has(slot) ? &view[slot] : nullptr;
  }
  // The same of one that is there.
  [[nodiscard]] Actor& known(uint32_t slot) const noexcept {
    if (is_row_) return row_[slot];
    Actor* actor = chunks_.find(slot);
    if (actor == nullptr) __builtin_unreachable();
    return *actor;
  }
  // Under the lock of the growth, or at a quiet moment.
  [[nodiscard]] uint32_t size() const noexcept { return is_row_ ? row_.size() : chunks_.size(); }
  [[nodiscard]] bool grow() noexcept { return is_row_ ? row_.grow() : chunks_.grow(); }

  [[nodiscard]] Actor* take_from(FreeSlots& own) noexcept {
    uint32_t slot = pop(own);
    while (slot == kNoSlot) {
      if (!fetch(own)) return nullptr;
      slot = pop(own);  // unless a sibling was quicker
      if (slot == kNoSlot) base::spin_hint();
    }
    return taken(slot);
  }

  [[nodiscard]] Actor* taken(uint32_t slot) noexcept {
    Actor& actor = known(slot);
    actor.slot.store(slot, std::memory_order_relaxed);  // the taker's own
    return &actor;
  }

  void give_to(FreeSlots& own, Actor& actor) noexcept {
    const uint32_t slot = actor.slot.load(std::memory_order_relaxed);  // the giver's own
    push_chain(own, slot, actor);
  }

  [[nodiscard]] uint32_t pop(FreeSlots& own) noexcept {
    // acquire: what whoever freed the slot did to it is seen; pairs with push_chain(). (A sibling
    // may have pushed it, before its stack became ours.)
    uint32_t top = own.top.load(std::memory_order_acquire);
    while (top != kNoSlot) {
      // relaxed: if the top has been taken away meanwhile this may be anything; the exchange fails.
      const uint32_t next = known(top).slot.load(std::memory_order_relaxed);
      if (!is_shared_) return own.top.store(next, std::memory_order_relaxed), top;
      if (own.top.compare_exchange_weak(top, next, std::memory_order_acquire,
                                        std::memory_order_acquire)) {
        break;
      }
    }
    return top;
  }

  // Pushes a chain of slots that ends with `last`.
  void push_chain(FreeSlots& own, uint32_t first, Actor& last) noexcept {
    uint32_t top = own.top.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      last.slot.store(top, std::memory_order_relaxed);  // published by the top
      if (!is_shared_) return own.top.store(first, std::memory_order_relaxed);
      // release: the slots are as their actors left them; pairs with pop() and fetch().
      if (own.top.compare_exchange_weak(top, first, std::memory_order_release,
                                        std::memory_order_relaxed)) {
        return;
      }
    }
  }

  // Own has none: takes a sibling's, or makes new ones. Out of line in spirit: once per many.
  [[nodiscard]] [[gnu::noinline]] bool fetch(FreeSlots& own) noexcept {
    if (is_shared_ && fetch_from_siblings(own)) return true;
    if (is_shared_) growth_.lock();
    const uint32_t first = size();
    const bool has_grown = grow();
    const uint32_t end = size();
    if (is_shared_) growth_.unlock();
    if (!has_grown) return is_shared_ && fetch_when_full(own);
    for (uint32_t slot = first; slot + 1 < end; ++slot) {
      known(slot).slot.store(slot + 1, std::memory_order_relaxed);  // published by the push
    }
    push_chain(own, first, known(end - 1));
    return true;
  }

  // Nothing new can be made. True: there may be a free one, look again.
  [[nodiscard]] bool fetch_when_full(FreeSlots& own) noexcept {
    // seq_cst: a stack that was moved past our look is noticed by the count of moves, one that is
    // on its way by the count of those under way.
    const uint32_t moves = moves_.load(std::memory_order_seq_cst);
    const bool is_under_way = moving_.load(std::memory_order_seq_cst) > 0;
    return fetch_from_siblings(own) || is_under_way ||
           moves_.load(std::memory_order_seq_cst) != moves;
  }

  [[nodiscard]] bool fetch_from_siblings(FreeSlots& own) noexcept {
    for (FreeSlots* other = stacks_; other != nullptr; other = other->sibling) {
      // seq_cst: part of the same order as the moves.
      if (other == &own || other->top.load(std::memory_order_seq_cst) == kNoSlot) continue;
      // seq_cst, and the same below: who finds no stack but sees nobody moving one has missed none.
      moving_.fetch_add(1, std::memory_order_seq_cst);
      moves_.fetch_add(1, std::memory_order_seq_cst);
      // Also acquires: pairs with push_chain().
      const uint32_t first = other->top.exchange(kNoSlot, std::memory_order_seq_cst);
      // Also releases: passes on what was acquired. Own is empty, and only its owner pushes.
      if (first != kNoSlot) own.top.store(first, std::memory_order_seq_cst);
      moving_.fetch_sub(1, std::memory_order_seq_cst);
      if (first != kNoSlot) return true;
    }
    return false;
  }

  // One of the two is used.
  Row row_;
  Chunks chunks_;
  bool is_row_ = false;
  FreeSlots* stacks_ = nullptr;
  const bool is_shared_;
  FreeSlots commons_;
  std::mutex commons_lock_;
  std::mutex growth_;                 // one at a time makes a chunk
  base::Atomic<uint32_t> moves_{0};   // stacks taken from siblings, ever
  base::Atomic<uint32_t> moving_{0};  // stacks that are on their way from one worker to another
};

}  // namespace jzx::core
