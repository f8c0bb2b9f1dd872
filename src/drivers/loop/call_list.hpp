// The actors that other threads have scheduled, and call for a turn, where one thread runs all of
// them. That thread may have put such an actor into its ready queue already, without a word to the
// others (see one_runner.hpp), so here actors are linked by a word of their own: by numbers of
// slots, through Actor::slot.
//
// As base::MpscStack: a push is a compare-exchange loop on the head, all are taken at once and
// turned around, and there is no ABA, since no single one is ever taken out. How many there are
// stands beside the head, in the same word: so it is exact, and costs nobody another instruction on
// memory that others write.
//
//    63            32 31             0
//   ┌────────────────┬────────────────┐
//   │      size      │  newest: slot  │
//   └────────────────┴────────────────┘
//
// An actor is here at most once: it was scheduled by the exchange that set the mark in its state
// word, and that stays until the actor has been taken out of here.
#pragma once

#include "base/atomic.hpp"
#include "core/actor.hpp"

namespace jzx::drivers {

class CallList {
 public:
  // Any thread that has scheduled it.
  void push(core::Actor& actor) noexcept {
    const uint32_t slot = core::slot_of(actor.id());
    uint64_t head = head_.load(std::memory_order_relaxed);  // a first guess
    do {
      actor.slot.store(newest_of(head), std::memory_order_relaxed);  // published by the head
      // release: publishes the link; pairs with the acquire in take_all(). seq_cst on top: as in
      // MpscStack, the caller goes on to look whether the consumer sleeps.
    } while (!head_.compare_exchange_weak(head, head_of(size_of(head) + 1, slot),
                                          std::memory_order_seq_cst, std::memory_order_relaxed));
  }

  // The consumer: each(actor) for all, the oldest call first. `find(slot)` answers the actor.
  // Before that taken(how many), when none of them is in the list any more.
  template <class Find, class Taken, class Each>
  void take_all(Find&& find, Taken&& taken, Each&& each) noexcept {
    // seq_cst: a push that was told of is seen; see news.hpp.
    if (head_.load(std::memory_order_seq_cst) == kEmpty) return;
    // acquire: pairs with the release in push(). seq_cst on top: before `taken` looks whether
    // somebody has told how many they are; pairs with size().
    const uint64_t head = head_.exchange(kEmpty, std::memory_order_seq_cst);
    taken(size_of(head));
    uint32_t from = newest_of(head);
    uint32_t oldest = kNone;
    while (from != kNone) {
      core::Actor& actor = find(from);
      const uint32_t after = actor.slot.load(std::memory_order_relaxed);
      actor.slot.store(oldest, std::memory_order_relaxed);
      oldest = from;
      from = after;
    }
    while (oldest != kNone) {
      const uint32_t slot = oldest;
      core::Actor& actor = find(slot);
      oldest = actor.slot.load(std::memory_order_relaxed);
      // Its own again, before anybody can schedule it once more: that takes an exchange on the
      // state word, which the consumer changes later.
      actor.slot.store(slot, std::memory_order_relaxed);
      each(actor);
    }
  }

  // A snapshot. seq_cst: pairs with take_all().
  [[nodiscard]] uint32_t size() const noexcept {
    return size_of(head_.load(std::memory_order_seq_cst));
  }

  // The consumer, after it announced that it is about to sleep. seq_cst: as in MpscStack.
  [[nodiscard]] bool empty_before_sleep() const noexcept {
    return head_.load(std::memory_order_seq_cst) == kEmpty;
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};  // no slot: there are fewer, see StateWord
  static constexpr uint64_t kEmpty = kNone;        // and of size 0

  static constexpr uint32_t newest_of(uint64_t head) noexcept {
    return static_cast<uint32_t>(head);
  }
  static constexpr uint32_t size_of(uint64_t head) noexcept {
    return static_cast<uint32_t>(head >> 32);
  }
  static constexpr uint64_t head_of(uint32_t size, uint32_t newest) noexcept {
    return static_cast<uint64_t>(size) << 32 | newest;
  }

  base::Atomic<uint64_t> head_{kEmpty};
};

}  // namespace jzx::drivers
