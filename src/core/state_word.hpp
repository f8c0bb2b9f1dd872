// The state word: one atomic 64-bit word per actor in which every race about it is decided.
//
//    63        39 38                    7 6    4 3      2     1         0
//   ┌────────────┬───────────────────────┬──────┬──────┬─────┬─────────┬─────────┐
//   │  sent: 25  │    generation: 32     │ exit │closed│woken│suspended│scheduled│
//   └────────────┴───────────────────────┴──────┴──────┴─────┴─────────┴─────────┘
//
//   sent        messages ever admitted, modulo 2^25. The consumer counts those it took, so
//               sent - handled are queued (or on their way into the queue).
//   generation  of the slot. It is part of every compare-exchange, so a stale id cannot touch a
//               newer actor under any interleaving.
//   exit        0, or 1 + the reason why someone asked the actor to end; 7: nobody lives here.
//   closed      user messages are refused as if it were gone already.
//   woken       a waker came while it was scheduled; the next suspend or park does not wait.
//   suspended   its body waits for its waker. Mail is admitted but does not schedule.
//   scheduled   in a run queue, or running. Whoever sets it must submit the actor.
//
// Life:   open ──▶ idle ⇄ scheduled ──▶ (closed) … ──▶ retired: generation + 1, closed, free
//                          ⇅
//                       suspended
//
// Why a slot cannot be reused under a sender: admitting a message counts it in `sent`, and
// retire() succeeds only when every admitted message has been taken. A sender between admission
// and enqueueing therefore holds the slot. After retire() the generation no longer matches.
//
// Why the bound is exact: a sender reads `handled` between reading this word and exchanging it.
// If the exchange succeeds, no message was admitted in between and `handled` can only have grown,
// so the queue was as short as it looked, or shorter. If it refuses, the queue was that long at
// the moment `handled` was read. (`sent` would have to wrap, 2^25 sends, inside one exchange to
// fool this; a generation, 2^32 spawns.) Where one thread runs all actors, its own messages are
// admitted without an exchange, and the bound is as one_runner.hpp says.
//
// Memory order: all changes are acquire-release exchanges on this one word. What the consumer
// wrote before park() is seen by the sender that schedules the actor again, which is what lets
// that sender put its message straight into the consumer's inbox.
#pragma once

#include <cstdint>

#include <jzx/signals.hpp>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace jzx::core {

enum class Admission : uint8_t {
  first,   // it was idle and is now scheduled: put the message in the inbox and submit it
  queued,  // put the message among the arrivals; somebody runs it already, or will
  full,
  gone,
};

enum class Wake : uint8_t {
  submit,          // it is now scheduled by this call: submit it
  already_queued,  // the running turn looks again before it parks
  gone,
};

class StateWord {
 public:
  static constexpr uint32_t kSentMask = (1u << 25) - 1;
  // Half of the counter's range is the users' and half is headroom for system messages.
  static constexpr uint32_t kMaxUserLimit = 1u << 24;
  // See admit_at_once().
  static constexpr int kSlotBits = 28;
  static constexpr uint32_t kMostSlots = 1u << kSlotBits;

  // ---- marks ----

  // A count of messages as it stands in the upper half of the word, where it wraps by itself: so
  // the difference of two needs no mask, and one of them may have a part of the generation below
  // it.
  [[nodiscard]] static constexpr uint32_t mark_of_count(uint32_t count) noexcept {
    return count << kMarkShift;
  }
  [[nodiscard]] static constexpr uint32_t count_of_mark(uint32_t mark) noexcept {
    return mark >> kMarkShift;
  }

  // Has `sent` of this word not come to the mark yet? In one subtraction of whole words, what is
  // below the marks included: that takes one register less than to take them out first.
  [[nodiscard]] static constexpr bool is_below(uint64_t word, uint32_t mark) noexcept {
    return static_cast<int64_t>((static_cast<uint64_t>(mark) << 32) - word) > 0;
  }

  // ---- senders: any thread ----

  // `has_room(sent)` reads the consumer's progress and says whether one more fits.
  template <class HasRoom>
  [[nodiscard]] Admission admit(uint32_t generation, HasRoom&& has_room) noexcept {
    // acquire, here and where the exchange fails: who counts a message in `sent` counted it among
    // the system's before that, if it was one; has_room() must see that.
    uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      if (generation_of(word) != generation || (word & kClosed) != 0) return Admission::gone;
      if (!has_room(sent_of(word))) return Admission::full;
      if (exchange(word, counted(word))) return admitted(word);
    }
  }

  // The same in one try: `full` also if somebody else was quicker. For a path that has another.
  // `id` has the generation above a slot below kMostSlots. `has_room(word)` is asked is_below().
  template <class HasRoom>
  [[nodiscard]] Admission admit_at_once(uint64_t id, HasRoom&& has_room) noexcept {
    uint64_t word = word_.load(std::memory_order_acquire);  // as in admit()
    // The generations on top of each other, and below them closed and exit on bits that no slot
    // has: all are to be equal, in one comparison.
    if (((word << kIdShift) ^ id) >> kSlotBits != 0) return Admission::gone;
    if (!has_room(word)) return Admission::full;
    if ((word & (kScheduled | kSuspended)) != 0) {
      return exchange(word, word + kOneSent) ? Admission::queued : Admission::full;
    }
    return exchange(word, word + kOneSent + kScheduled) ? Admission::first : Admission::full;
  }

  // The same in steps and without an exchange, so that nothing changes: for the one thread that
  // runs all actors, see one_runner.hpp. acquire: what open() published is seen.
  [[nodiscard]] uint64_t look() const noexcept { return word_.load(std::memory_order_acquire); }
  [[nodiscard]] static bool is_open_to(uint64_t word, uint64_t id) noexcept {
    return ((word << kIdShift) ^ id) >> kSlotBits == 0;  // as above
  }
  [[nodiscard]] static bool would_be_first(uint64_t word) noexcept {
    return admitted(word) == Admission::first;
  }

  // System messages are admitted until the slot retires, also while the actor is stopping.
  [[nodiscard]] Admission admit_system(uint32_t generation) noexcept {
    uint64_t word = word_.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      if (generation_of(word) != generation) return Admission::gone;
      if (exchange(word, counted(word))) return admitted(word);
    }
  }

  // Asks it to end; the first reason stays. `gone` also if it was asked before.
  [[nodiscard]] Wake request_exit(uint32_t generation, ExitReason reason) noexcept {
    const uint64_t exit = (static_cast<uint64_t>(reason) + 1) << kExitShift;
    uint64_t word = word_.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      if (generation_of(word) != generation || (word & kClosed) != 0) return Wake::gone;
      const uint64_t next = (word & ~kSuspended) | exit | kClosed | kScheduled;
      if (exchange(word, next)) return scheduled_by(word);
    }
  }

  // What the body waits for has come, or may have: it gets a turn. For a suspended body, and for
  // one that waits for mail or for something else, whichever comes first.
  [[nodiscard]] Wake wake(uint32_t generation) noexcept {
    uint64_t word = word_.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      if (generation_of(word) != generation || is_free(word)) return Wake::gone;
      const bool asleep = (word & kScheduled) == 0;
      const uint64_t next = asleep ? (word & ~kSuspended) | kScheduled : word | kWoken;
      if (exchange(word, next)) return asleep ? Wake::submit : Wake::already_queued;
    }
  }

  // Sets the mark `scheduled` of a live actor. False: it was set.
  [[nodiscard]] bool schedule() noexcept {
    // acq_rel: as all changes.
    return (word_.fetch_or(kScheduled, std::memory_order_acq_rel) & kScheduled) == 0;
  }

  // ---- the consumer: whoever runs the actor ----

  // Nothing to do: idle, unless mail or a request to exit came in the meantime. A stopping actor
  // has seen its request and parks in spite of it.
  [[nodiscard]] bool park(uint32_t handled, bool stopping) noexcept {
    uint64_t word = word_.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      JZX_ASSERT((word & kScheduled) != 0);
      if (sent_of(word) != (handled & kSentMask)) return false;
      if (!stopping && (word & kClosed) != 0) return false;
      const bool stay = (word & kWoken) != 0;
      if (exchange(word, stay ? word & ~kWoken : word & ~kScheduled)) return !stay;
    }
  }

  // The same in one try, for a running actor to which nothing has happened: so its word is known
  // without a look. False: perhaps it can; park() knows.
  [[nodiscard]] bool park_at_once(uint32_t handled, uint32_t generation) noexcept {
    const uint64_t idle =
        (static_cast<uint64_t>(handled) << kSentShift) | generation_bits(generation);
    uint64_t scheduled = idle + kScheduled;
    return exchange(scheduled, idle);
  }

  // It is idle, and nothing has come since: scheduled by its consumer itself, who waits for mail
  // without giving it away. In one try, as above; the end of that is park_at_once(), or a turn.
  [[nodiscard]] bool stay(uint32_t handled, uint32_t generation) noexcept {
    uint64_t idle = (static_cast<uint64_t>(handled) << kSentShift) | generation_bits(generation);
    return exchange(idle, idle + kScheduled);
  }
  // Is it asked for anything but mail? relaxed: a hint; who acts on it looks again.
  [[nodiscard]] bool is_disturbed(uint32_t generation) const noexcept {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    return (word & ~kSentBits) != (generation_bits(generation) | kScheduled);
  }

  // The body waits for its waker, unless that came already or it was asked to exit. One that is
  // unwinding has seen that request and waits in spite of it.
  [[nodiscard]] bool suspend(bool stopping) noexcept {
    uint64_t word = word_.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      JZX_ASSERT((word & kScheduled) != 0);
      const bool stay = (word & (stopping ? kWoken : kWoken | kClosed)) != 0;
      const uint64_t next = stay ? word & ~kWoken : (word & ~kScheduled) | kSuspended;
      if (exchange(word, next)) return !stay;
    }
  }

  // The same of one that runs without the mark; whoever has set that meanwhile has something for
  // it.
  [[nodiscard]] bool suspend_unscheduled(bool stopping) noexcept {
    uint64_t word = word_.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      if ((word & (stopping ? kScheduled : kScheduled | kClosed)) != 0) return false;
      if (exchange(word, word | kSuspended)) return true;
    }
  }

  // It ends by itself: no more user messages.
  void close() noexcept {
    // relaxed: the consumer refuses new mail; what was admitted before is ordered by arrivals. Who
    // was asked to end is closed already.
    if ((word_.load(std::memory_order_relaxed) & kClosed) != 0) return;
    word_.fetch_or(kClosed, std::memory_order_relaxed);
  }

  // Gives the slot up, once everything admitted has been taken; also of one that is still open.
  [[nodiscard]] bool retire(uint32_t handled) noexcept { return retire_unless(0, handled); }
  // The same of one that runs without the mark `scheduled`; not while somebody has set that.
  [[nodiscard]] bool retire_unscheduled(uint32_t handled) noexcept {
    return retire_unless(kScheduled, handled);
  }

  // The generation that a new actor in this free slot will have.
  [[nodiscard]] uint32_t next_generation(uint32_t first_generation) const noexcept {
    const uint64_t word = word_.load(std::memory_order_relaxed);  // nobody else changes a free slot
    const uint32_t generation = word == kNeverUsed ? first_generation : generation_of(word);
    return generation == 0 ? 1 : generation;
  }

  // A new actor moves in. `first_turn`: it is submitted at once, before any mail.
  void open(uint32_t generation, bool first_turn) noexcept {
    const uint64_t word = word_.load(std::memory_order_relaxed);  // nobody else changes a free slot
    // release: publishes the actor's fields; pairs with the acquire of an admission.
    word_.store((word & kSentBits) | generation_bits(generation) | (first_turn ? kScheduled : 0),
                std::memory_order_release);
  }

  // ---- looking ----

  [[nodiscard]] bool is(uint32_t generation) const noexcept {
    // acquire: who finds the actor alive may read what open() published.
    const uint64_t word = word_.load(std::memory_order_acquire);
    return generation_of(word) == generation && !is_free(word);
  }
  [[nodiscard]] bool is_open(uint32_t generation) const noexcept {
    const uint64_t word = word_.load(std::memory_order_acquire);  // as in is()
    return generation_of(word) == generation && (word & kClosed) == 0;
  }
  [[nodiscard]] uint32_t generation() const noexcept {
    return generation_of(word_.load(std::memory_order_relaxed));  // a number on its own
  }
  [[nodiscard]] uint32_t sent() const noexcept {
    return sent_of(word_.load(std::memory_order_relaxed));  // a number on its own
  }
  [[nodiscard]] bool is_scheduled() const noexcept {
    return (word_.load(std::memory_order_relaxed) & kScheduled) != 0;  // a flag on its own
  }
  [[nodiscard]] bool is_suspended() const noexcept {
    return (word_.load(std::memory_order_relaxed) & kSuspended) != 0;  // a flag on its own
  }
  [[nodiscard]] bool exit_requested() const noexcept {
    return (word_.load(std::memory_order_relaxed) & kExitBits) != 0;  // a flag on its own
  }
  [[nodiscard]] ExitReason requested_reason() const noexcept {
    const uint64_t word = word_.load(std::memory_order_relaxed);  // a value on its own
    JZX_ASSERT((word & kExitBits) != 0);
    return static_cast<ExitReason>(((word & kExitBits) >> kExitShift) - 1);
  }

 private:
  static constexpr uint64_t kScheduled = 1;
  static constexpr uint64_t kSuspended = 2;
  static constexpr uint64_t kWoken = 4;
  static constexpr uint64_t kClosed = 8;
  static constexpr int kExitShift = 4;
  static constexpr uint64_t kExitBits = 7u << kExitShift;
  // As every free slot: no id, not even one made up with generation 0, is let in.
  static constexpr uint64_t kFree = kExitBits | kClosed;
  static constexpr int kGenerationShift = 7;
  static constexpr int kIdShift = 32 - kGenerationShift;
  static constexpr int kSentShift = 39;
  static constexpr int kMarkShift = kSentShift - 32;
  static constexpr uint64_t kOneSent = 1ull << kSentShift;
  static constexpr uint64_t kSentBits = ~(kOneSent - 1);
  static_assert(kClosed << kIdShift == kMostSlots, "what admit_at_once() compares");

  static constexpr bool is_free(uint64_t word) noexcept { return (word & kExitBits) == kExitBits; }
  static constexpr uint32_t generation_of(uint64_t word) noexcept {
    return static_cast<uint32_t>(word >> kGenerationShift);
  }
  static constexpr uint64_t generation_bits(uint32_t generation) noexcept {
    return static_cast<uint64_t>(generation) << kGenerationShift;
  }
  static constexpr uint32_t sent_of(uint64_t word) noexcept {
    return static_cast<uint32_t>(word >> kSentShift);
  }
  // One more message. It schedules the actor unless somebody has, or its body waits.
  static constexpr uint64_t counted(uint64_t word) noexcept {
    return (word + kOneSent) | ((word & kSuspended) != 0 ? 0 : kScheduled);
  }
  static constexpr Admission admitted(uint64_t before) noexcept {
    return (before & (kScheduled | kSuspended)) == 0 ? Admission::first : Admission::queued;
  }
  static constexpr Wake scheduled_by(uint64_t before) noexcept {
    return (before & kScheduled) == 0 ? Wake::submit : Wake::already_queued;
  }

  // acq_rel: see "Memory order" above; every change pairs with every later one. acquire on failure:
  // see admit().
  bool exchange(uint64_t& expected, uint64_t desired) noexcept {
    return word_.compare_exchange_weak(expected, desired, std::memory_order_acq_rel,
                                       std::memory_order_acquire);
  }

  // Not while any of these is set.
  [[nodiscard]] bool retire_unless(uint64_t flags, uint32_t handled) noexcept {
    uint64_t word = word_.load(std::memory_order_relaxed);  // a first guess
    for (;;) {
      if (sent_of(word) != (handled & kSentMask) || (word & flags) != 0) return false;
      const uint32_t next_generation = generation_of(word) + 1;
      const uint64_t next = (word & kSentBits) | generation_bits(next_generation) | kFree;
      if (exchange(word, next)) return true;
    }
  }

  static constexpr uint64_t kNeverUsed = kFree;

  base::Atomic<uint64_t> word_{kNeverUsed};
};

}  // namespace jzx::core
