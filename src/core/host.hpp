// Host: an Executor that also knows actors. One per worker. Drivers implement it; the core names no
// driver. What is hot is plain members of this class; what differs between drivers is virtual.
//
// Threads: post() and what EnvelopePool says, by anybody; the rest on the host's own thread.
#pragma once

#include "base/atomic.hpp"
#include "base/executor.hpp"
#include "base/run_queue.hpp"
#include "base/slot_map.hpp"
#include "core/envelope_pool.hpp"
#include "core/ledger.hpp"
#include "core/system.hpp"

namespace jzx::core {

class Host : public base::Executor {
 public:
  Host(System& the_system, uint8_t worker, uint32_t messages_per_turn_) noexcept
      : system(the_system),
        envelopes(system.allocator),
        timers(system.allocator, worker),
        messages_per_turn(messages_per_turn_) {}

  // Runs it soon, after what is ready already. This host's thread; others post().
  void submit(base::Runnable& work) noexcept { ready.push(work); }

  // The actor ended: forget the fds that it owned.
  virtual void release_watches(Actor& actor) noexcept = 0;

  // The record of a watch whose notice has been handled.
  virtual void reclaim_watch(Notice& notice) noexcept = 0;

  // The message was handled: ends it, and counts it if it was a user's.
  void finish(Envelope& envelope) noexcept {
    // One look for the most common kind: a user's message, from this thread's pool.
    if (envelope.flags == 0) [[likely]] {
      ++counters.handled;
      if (envelope.type->destroy != nullptr) envelope.type->destroy(envelope);
      envelopes.give_own(envelope);
    } else {
      finish_unusual(envelope);
    }
  }

  // The message will never be handled: ends it and gives its envelope back.
  void discard(Envelope& envelope) noexcept {
    if (envelope.type->destroy != nullptr) envelope.type->destroy(envelope);
    reclaim(envelope);
  }

  // Gives back an envelope whose message has ended.
  void reclaim(Envelope& envelope) noexcept {
    if ((envelope.flags & (Envelope::kTimer | Envelope::kNotice)) == 0) {
      envelopes.give(envelope);
    } else {
      reclaim_record(envelope);
    }
  }

  // Tells the observer of a user message that nobody will handle, then discards it.
  void dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) noexcept;

  System& system;
  base::RunQueue ready;
  ActorId current_id = kNobody;  // whose turn it is; the sender of what is sent now
  EnvelopePool envelopes;
  TimerMap timers;
  base::Atomic<bool> halted{false};  // the system ends: no message is taken any more
  Ledger counters;  // of this worker's thread; `queued` and foreign sends are added on demand
  uint32_t messages_per_turn;
  // How the turn under way failed; here because a turn should not clear a text that it rarely
  // needs.
  ExitReason exit_reason = ExitReason::normal;
  ExitText exit_text;
  // How users know this system: the jzx_loop of behaviours, the port of typed actors.
  void* face = nullptr;
  void* port = nullptr;

 private:
  void finish_unusual(Envelope& envelope) noexcept;
  void reclaim_record(Envelope& envelope) noexcept;
};

}  // namespace jzx::core
