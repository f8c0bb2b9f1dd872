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
// has none takes the whole stack of a sibling that has many, or else makes new ones; when there can
// be no more it takes what any sibling has. So every free slot can be had by everybody, and no
// stack is taken away for a few. A spawn is refused at the limit only after every stack was seen
// empty while none was on its way from one worker to another. (Single slots may go past that look:
// one that is given to a stack that was looked at, while another is taken from one that was not.)
//
// Threads that are no workers share one more stack, the commons, and own it one at a time.
//
// Threads: find() by any; take() and give() by the owner of the stack.
#pragma once

#include <algorithm>
#include <mutex>

#include "base/chunked_array.hpp"
#include "base/reserved_array.hpp"
#include "base/spin_lock.hpp"
#include "core/actor.hpp"
#include "core/table/free_slots.hpp"

namespace jzx::core {

enum class TablePlace : uint8_t {
  allocator,  // chunks from the system's allocator
  reserved,   // address space of its own, if it can be had
};

class ActorTable {
  static constexpr uint32_t kGrowth = 256;  // slots that are made at a time
  // A theft interrupts whoever runs, which takes some 20 us: so much for how many slots.
  static constexpr uint32_t kWorthATheft = 4096;
  using Row = base::ReservedArray<Actor, kGrowth>;
  using Chunks = base::ChunkedArray<Actor, kGrowth>;

 public:
  // `barriers`: for tests of the other way.
  ActorTable(base::Allocator allocator, uint32_t max_actors, bool is_shared,
             TablePlace place = TablePlace::allocator, bool barriers = true) noexcept
      : chunks_(allocator, std::min(max_actors, StateWord::kMostSlots)),
        is_shared_(is_shared),
        uses_exchanges_(is_shared && !(barriers && base::has_heavy_barrier())) {
    is_row_ = place == TablePlace::reserved && row_.reserve(chunks_.max_size());
    if (is_shared) add_stack(commons_);
  }

  // Before any other thread uses the table: `slots` is one of its stacks from now on.
  void add_stack(FreeSlots& slots) noexcept {
    slots.uses_exchanges = uses_exchanges_;
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

  [[nodiscard]] uint32_t pop(FreeSlots& own) const noexcept {
    return own.pop([this](uint32_t slot) -> Actor& { return known(slot); });
  }

  [[nodiscard]] Actor* take_from(FreeSlots& own) noexcept {
    uint32_t slot = pop(own);
    while (slot == kNoSlot) {
      if (!fetch(own)) return nullptr;
      slot = pop(own);  // unless a sibling was quicker
    }
    return taken(slot);
  }

  [[nodiscard]] Actor* taken(uint32_t slot) noexcept {
    Actor& actor = known(slot);
    actor.slot.store(slot, std::memory_order_relaxed);  // the taker's own
    return &actor;
  }

  void give_to(FreeSlots& own, Actor& actor) noexcept {
    own.push(actor.slot.load(std::memory_order_relaxed), actor);  // the giver's own
  }

  // Own has none. True: look again. Out of line in spirit: once per many.
  [[nodiscard]] [[gnu::noinline]] bool fetch(FreeSlots& own) noexcept {
    if (is_shared_ && rob_siblings(own, kWorthATheft) == Haul::slots) return true;
    if (grow_into(own)) return true;
    return is_shared_ && fetch_when_full(own);
  }

  // Makes new slots. Locked until they can be had, or who comes second finds a table that is full
  // and nobody with a slot.
  [[nodiscard]] bool grow_into(FreeSlots& own) noexcept {
    std::unique_lock hold(growth_, std::defer_lock);
    if (is_shared_) hold.lock();
    const uint32_t first = size();
    if (!grow()) return false;
    const uint32_t end = size();
    for (uint32_t slot = first; slot < end; ++slot) {
      const uint32_t next = slot + 1 < end ? slot + 1 : kNoSlot;
      known(slot).slot.store(next, std::memory_order_relaxed);  // released by refill()
    }
    own.refill({first, end - first});
    return true;
  }

  // Nothing new can be made. False: every stack was seen empty while none was on its way.
  //
  // A stack on its way might be missed: from one at which we look too late to one at which we have
  // looked already. But who takes a stack says so first, in both counts, and when it has arrived in
  // one of them. If that began before we look at the counts, we see that it is under way, or else
  // where it has arrived; if later, and we saw that the stack was gone, we see one more move.
  [[nodiscard]] bool fetch_when_full(FreeSlots& own) noexcept {
    // seq_cst, and the same below: the counts have one order.
    const uint32_t moves = moves_.load(std::memory_order_seq_cst);
    const bool is_under_way = moving_.load(std::memory_order_seq_cst) > 0;
    const Haul haul = rob_siblings(own, 1);
    if (haul == Haul::slots) return true;
    if (haul == Haul::forbidden) return false;
    // A try of our own that came too late is among the moves, too. An exchange: a move that it does
    // not see comes after it, and so after our looks.
    if (!is_under_way && moves_.fetch_add(0, std::memory_order_seq_cst) == moves) return false;
    wait_for_movers();
    return true;
  }

  enum class Haul : uint8_t {
    nothing,    // nobody had as many, or who had was quicker
    slots,      // own has some
    forbidden,  // somebody has, but the system lets nobody take them
  };
  // Takes the stack of a sibling that has at least so many.
  [[nodiscard]] Haul rob_siblings(FreeSlots& own, uint32_t least) noexcept {
    Haul haul = Haul::nothing;
    for (FreeSlots* other = stacks_; other != nullptr; other = other->sibling) {
      if (other == &own || other->size() < least) continue;
      moving_.fetch_add(1, std::memory_order_seq_cst);
      moves_.fetch_add(1, std::memory_order_seq_cst);
      const std::optional<SlotChain> stolen = other->steal();
      const bool has_some = stolen && stolen->size != 0;
      if (has_some) own.refill(*stolen);
      moving_.fetch_sub(1, std::memory_order_seq_cst);
      if (has_some) return Haul::slots;
      other->wait_for_owner();
      if (!stolen) haul = Haul::forbidden;
    }
    return haul;
  }

  // Until one stack that is on its way has arrived, or one more has left.
  void wait_for_movers() noexcept {
    const uint32_t moves = moves_.load(std::memory_order_seq_cst);
    base::spin_while([&]() noexcept {
      return moving_.load(std::memory_order_seq_cst) > 0 &&
             moves_.load(std::memory_order_seq_cst) == moves;
    });
  }

  // One of the two is used.
  Row row_;
  Chunks chunks_;
  bool is_row_ = false;
  FreeSlots* stacks_ = nullptr;
  const bool is_shared_;
  const bool uses_exchanges_;
  FreeSlots commons_;
  base::Mutex commons_lock_;
  base::Mutex growth_;                // one at a time makes a chunk
  base::Atomic<uint32_t> moves_{0};   // stacks taken from siblings, ever
  base::Atomic<uint32_t> moving_{0};  // stacks that are on their way from one worker to another
};

}  // namespace jzx::core
