// The actor: two cache lines in a table that never moves. The first line is what senders touch,
// the second what the turn touches, so that a stream of messages from another core does not make
// the two fight over one line. Everything an idle actor rarely has (children, links, monitors,
// timers, watches, a registered name) is in Relations, made when first needed.
//
// Threads: the atomics, `state` and `arrivals` by anybody; the rest by the consumer, that is by
// whoever runs the actor's turn, and before it is first opened.
#pragma once

#include <cstdint>

#include <jzx/envelope.hpp>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/executor.hpp"
#include "base/mpsc_stack.hpp"
#include "base/spin_lock.hpp"
#include "core/kind.hpp"
#include "core/state_word.hpp"

namespace jzx::core {

using jzx::ActorId;

inline constexpr ActorId kNobody = 0;

[[nodiscard]] constexpr ActorId make_id(uint32_t slot, uint32_t generation) noexcept {
  return (static_cast<uint64_t>(generation) << 32) | slot;
}
[[nodiscard]] constexpr uint32_t slot_of(ActorId id) noexcept { return static_cast<uint32_t>(id); }
[[nodiscard]] constexpr uint32_t generation_of(ActorId id) noexcept {
  return static_cast<uint32_t>(id >> 32);
}

struct Child;
struct Relations;
class System;

enum class Status : uint8_t { init, running, stopping, stopped, failed };

// What a kind keeps for one actor; the meaning of the words is the kind's.
struct Body {
  void* words[2] = {};
};

// What is unusual about an actor, in one byte: its turn looks once and, mostly, sees nothing.
enum Attention : uint8_t {
  kEnding = 1,         // it ends, and did not within one turn
  kExitHint = 2,       // an exit was requested in the state word
  kFullNoted = 4,      // a foreign sender was refused, and the observer is not told yet
  kTimersWaiting = 8,  // a timer is due, but the mailbox was full
  kReadyByHand = 16,   // it has something to do, and its owner decides when
  kMeasured = 32,     // its queue is looked at before every turn: Overload::drop_oldest, high water
  kSenderWaits = 64,  // a sender waits for room, and is to be called; see runtime/waiting_send.hpp
};

// What the mailbox does with a user message when it is full.
enum class Overload : uint8_t {
  refuse,       // the sender is told
  drop_newest,  // the message that does not fit is dead-lettered
  drop_oldest,  // the actor dead-letters its oldest ones before its next turn
  wait,         // the sender waits for room, where it can; the runtime sees to that
};

// Whose inbox a sender may write to, as far as its thread is concerned.
enum class Inboxes : uint8_t {
  none,
  idle,  // of those whom it finds idle
  all,   // also of the others: whoever runs on a worker runs on this thread
};

// The messages that an actor's turn takes next, oldest first. A ring through their envelopes, of
// which the newest is known: its next is the oldest. So one word is enough to take at one end and
// to add at the other. One thread at a time; see mailbox.hpp for whose turn it is.
class Inbox {
 public:
  [[nodiscard]] bool is_empty() const noexcept { return newest_ == nullptr; }
  [[nodiscard]] Envelope* oldest() const noexcept {
    Envelope* newest = newest_;
    return newest != nullptr ? newest->next : nullptr;
  }
  // The oldest, if it is the newest too; else nullptr. Who handles it need not wait until its
  // `next` has been read.
  [[nodiscard]] Envelope* only() const noexcept {
    Envelope* newest = newest_;
    return newest != nullptr && newest->next == newest ? newest : nullptr;
  }
  // Of one that is not empty.
  struct Ends {
    Envelope* newest;
    Envelope* oldest;
  };
  [[nodiscard]] Ends ends() const noexcept {
    Envelope* newest = newest_;
    JZX_ASSERT(newest != nullptr);
    return {newest, newest->next};
  }
  // The one that came after it; nullptr: that was the newest.
  [[nodiscard]] Envelope* after(const Envelope& one) const noexcept {
    return &one != newest_ ? one.next : nullptr;
  }

  void put_only(Envelope& envelope) noexcept {
    JZX_ASSERT(is_empty());
    envelope.next = &envelope;
    newest_ = &envelope;
  }
  // Behind all others.
  void put(Envelope& envelope) noexcept {
    Envelope* newest = newest_;
    if (newest == nullptr) return put_only(envelope);
    envelope.next = newest->next;
    newest->next = &envelope;
    newest_ = &envelope;
  }
  // A chain behind all others, from the oldest to the newest.
  void put_chain(Envelope& oldest, Envelope& newest) noexcept {
    join(oldest, newest);
    newest_ = &newest;
  }
  // Before all others.
  void put_back(Envelope& oldest, Envelope& newest) noexcept {
    join(oldest, newest);
    if (is_empty()) newest_ = &newest;
  }

  // Takes the oldest out.
  void remove(Envelope& oldest) noexcept { remove_oldest({newest_, &oldest}); }
  // The same, by what was seen, for one who would have to look again.
  void remove_oldest(const Ends& seen) noexcept {
    JZX_ASSERT(seen.newest == newest_ && seen.newest->next == seen.oldest);
    if (seen.newest == seen.oldest) {
      newest_ = nullptr;
    } else {
      seen.newest->next = seen.oldest->next;
    }
  }
  void remove_only() noexcept {
    JZX_ASSERT(only() != nullptr);
    newest_ = nullptr;
  }
  // Takes `one` out, which came after `before`.
  void remove_after(Envelope& before, Envelope& one) noexcept {
    JZX_ASSERT(before.next == &one && &one != &before);
    before.next = one.next;
    if (newest_ == &one) newest_ = &before;
  }

 private:
  // Between the newest and the oldest.
  void join(Envelope& oldest, Envelope& newest) noexcept {
    if (is_empty()) {
      newest.next = &oldest;
    } else {
      newest.next = newest_->next;
      newest_->next = &oldest;
    }
  }

  base::Shared<Envelope*> newest_{nullptr};
};

struct alignas(64) Actor : base::Runnable {
  Actor() noexcept : Runnable(&run_actor) {}

  // relaxed throughout: each bit is a flag on its own.
  void note(Attention what) noexcept { attention.fetch_or(what, std::memory_order_relaxed); }
  // The request is in the state word already. release: who takes the hint sees it there.
  void note_exit() noexcept { attention.fetch_or(kExitHint, std::memory_order_release); }
  void take_exit_hint() noexcept {
    // acquire: pairs with note_exit().
    attention.fetch_and(static_cast<uint8_t>(~kExitHint), std::memory_order_acquire);
  }
  // It runs by hand, and is ready. release: the turn that follows sees what this one did.
  void note_ready_by_hand() noexcept {
    attention.fetch_or(kReadyByHand, std::memory_order_release);
  }
  void unnote(Attention what) noexcept {
    attention.fetch_and(static_cast<uint8_t>(~what), std::memory_order_relaxed);
  }
  [[nodiscard]] bool has_note(Attention what) const noexcept {
    return (attention.load(std::memory_order_relaxed) & what) != 0;
  }

  [[nodiscard]] ActorId id() const noexcept { return own_id; }
  // By whomever; a snapshot for all but the one who runs it.
  [[nodiscard]] bool is_scheduled() const noexcept {
    return state.is_scheduled() || scheduled_here.load(std::memory_order_relaxed);
  }
  // A supervisor whose start may yet be called off by the thread that holds it back. Under the
  // lock.
  [[nodiscard]] bool is_half_started() const noexcept {
    return is_supervisor && standing.is_fresh_as_seen() && state.is_scheduled();
  }
  // relaxed, both: published by open(), and never changed while it lives.
  [[nodiscard]] uint32_t user_limit() const noexcept {
    return StateWord::count_of_mark(user_limit_mark.load(std::memory_order_relaxed));
  }
  // Before it is open.
  void set_user_limit(uint32_t limit) noexcept {
    user_limit_mark.store(StateWord::mark_of_count(limit), std::memory_order_relaxed);
    full_at.store(room_ends_at(), std::memory_order_relaxed);
  }
  // As a mark: what `sent` must not pass, as far as the consumer has got now.
  [[nodiscard]] uint32_t room_ends_at() const noexcept {
    return StateWord::mark_of_count(handled.load(std::memory_order_relaxed)) +
           user_limit_mark.load(std::memory_order_relaxed);
  }

  using Runnable::set_run;
  // In its own turn. Others ask for the kind under the lock.
  void set_kind(const System& system, const Kind& other) noexcept;

  // ---- the senders' line; it begins with the bytes that Runnable leaves ----

  base::SpinLock bonds_lock;  // see relations.hpp
  // No bond can be made any more. Set under the lock; cleared by who moves in, without it.
  base::Atomic<bool> bonds_closed{true};
  bool traps_exit = false;                            // under the lock
  bool is_supervisor = false;                         // and its body is there; under the lock
  base::Atomic<Overload> overload{Overload::refuse};  // atomic as user_limit_mark is
  base::Atomic<bool> scheduled_here{false};           // see one_runner.hpp
  StateWord state;
  base::MpscStack<Envelope, &Envelope::next> arrivals;
  base::Atomic<uint32_t> full_at{0};        // room_ends_at(), when somebody last looked
  base::Atomic<uint32_t> system_queued{0};  // how many of the queued messages are the system's
  // How many queued messages users may have. Atomic since a sender with a stale id may look while
  // the next actor moves in; its exchange will fail.
  base::Atomic<uint32_t> user_limit_mark{0};  // as marks of the state word are compared
  base::Atomic<uint32_t> slot{0};  // its own; while free or called (CallList): the next one's
  Relations* relations = nullptr;  // made, and looked at by others, under the lock

  // ---- the consumer's line ----

  Inbox inbox;  // what is handled next; see mailbox.hpp
  const Kind* kind = nullptr;
  Body body;
  ActorId own_id = kNobody;
  Child* child = nullptr;  // our place among our parent's children; changed under our lock
  const char* label = nullptr;
  base::Atomic<uint32_t> handled{0};  // messages ever taken; see state_word.hpp
  // Here and not in the senders' line, so that a turn can look between messages at no cost.
  base::Atomic<uint8_t> attention{0};
  Status status = Status::stopped;  // nobody has moved in yet
  uint16_t held = 0;                // messages put aside; they count as queued
};
static_assert(sizeof(Actor) == 128);

}  // namespace jzx::core
