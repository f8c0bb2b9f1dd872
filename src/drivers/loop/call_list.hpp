// The actors that other threads have scheduled, and call for a turn, where one thread runs all of
// them. That thread may have put such an actor into its ready queue already, without a word to the
// others (see one_runner.hpp), so here actors are linked by a word of their own: by numbers of
// slots, through Actor::slot.
//
// As base::MpscStack: a push is a compare-exchange loop on the head, all are taken at once and
// turned around, and there is no ABA, since no single one is ever taken out.
//
// An actor is here at most once: it was scheduled by the exchange that set the mark in its state
// word, and that stays until the actor has been taken out of here.
#pragma once

#include "base/atomic.hpp"
#include "core/actor.hpp"

namespace jzx::drivers {

class CallList {
 public:
  // Any thread that has scheduled it. How many are waiting now; a snapshot.
  uint32_t push(core::Actor& actor) noexcept {
    // relaxed: a number on its own. Before the push, so that it is not taken off first.
    const uint32_t waiting = count_.fetch_add(1, std::memory_order_relaxed) + 1;
    const uint32_t slot = core::slot_of(actor.id());
    uint32_t head = head_.load(std::memory_order_relaxed);  // a first guess
    do {
      actor.slot.store(head, std::memory_order_relaxed);  // published by the head
      // release: publishes the link; pairs with the acquire in take_all(). seq_cst on top: as in
      // MpscStack, the caller goes on to look whether the consumer sleeps.
    } while (!head_.compare_exchange_weak(head, slot, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    return waiting;
  }

  // The consumer: each(actor) for all, the oldest call first. `find(slot)` answers the actor.
  template <class Find, class Each>
  void take_all(Find&& find, Each&& each) noexcept {
    // relaxed: a push that is missed here is seen by the next look.
    if (head_.load(std::memory_order_relaxed) == kNone) return;
    // acquire: pairs with the release in push().
    uint32_t from = head_.exchange(kNone, std::memory_order_acquire);
    uint32_t oldest = kNone;
    while (from != kNone) {
      core::Actor& actor = find(from);
      const uint32_t after = actor.slot.load(std::memory_order_relaxed);
      actor.slot.store(oldest, std::memory_order_relaxed);
      oldest = from;
      from = after;
    }
    uint32_t taken = 0;
    for (; oldest != kNone; ++taken) {
      const uint32_t slot = oldest;
      core::Actor& actor = find(slot);
      oldest = actor.slot.load(std::memory_order_relaxed);
      // Its own again, before anybody can schedule it once more: that takes an exchange on the
      // state word, which the consumer changes later.
      actor.slot.store(slot, std::memory_order_relaxed);
      each(actor);
    }
    count_.fetch_sub(taken, std::memory_order_relaxed);  // as in push()
  }

  // The consumer, after it announced that it is about to sleep. seq_cst: as in MpscStack.
  [[nodiscard]] bool empty_before_sleep() const noexcept {
    return head_.load(std::memory_order_seq_cst) == kNone;
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};  // no slot: there are fewer, see StateWord

  base::Atomic<uint32_t> head_{kNone};
  base::Atomic<uint32_t> count_{0};
};

}  // namespace jzx::drivers
