// Observer: what happens in a system, told as it happens. Observation changes nothing: it cannot
// refuse, reorder or delay. Implementers must not block and must not throw.
//
// Threads: called on the thread of the worker concerned; in a runtime, where several may call at
// the same time, a message that an actor drops because it is full is told of by the thread that
// sent it.
#pragma once

#include <cstdint>

#include <jzx/envelope.hpp>
#include <jzx/signals.hpp>

namespace jzx {

enum class DeadLetterReason : uint8_t {
  target_gone,    // it ended with the message still queued, or before a timer was due
  not_handled,    // it has no handler for such a message
  overload,       // its mailbox was full, and it drops what does not fit
  closing,        // the system ended
  late_reply,     // who asked does not wait any more; the envelope is the question's
  sender_killed,  // who sent it was killed before it was delivered; of a CommandScheduler
};

// What is done with a stalled handler where there is no observer.
JZX_API void tell_stall_on_stderr(ActorId id, const char* message, uint64_t running_ms) noexcept;

// The same of a deadlock; also by observers that have no function for it.
JZX_API void tell_deadlock_on_stderr(const char* cycle) noexcept;

class Observer {
 public:
  virtual ~Observer() = default;

  virtual void actor_started(ActorId, const char* /*label, may be null*/) {}
  virtual void actor_stopped(ActorId, ExitReason, const ExitText&) {}
  virtual void actor_restarted(ActorId /*supervisor*/, ActorId /*child*/, uint32_t /*attempt*/) {}
  virtual void supervisor_escalated(ActorId) {}
  // The actor has this many messages queued, its high-water mark or more; not again until a turn
  // has begun with no more than half of the mark. Told at the beginning of a turn.
  virtual void mailbox_high(ActorId, uint32_t /*queued*/) {}
  // A handler has been running for longer than the runtime's stall_limit; told again each time that
  // has doubled, from a thread of its own. `message` is the type of the message. What is none:
  // "its start"; "its end", an on_stop or a destructor; "after a wait", a fiber or a coroutine that
  // went on; and, with 0 for the actor, "a continuation": a callback of a future that runs on a
  // worker in nobody's turn. Workers are watched: not who polls an actor by hand on a thread of the
  // program, nor a thread that may block.
  virtual void handler_stalled(ActorId, const char* /*message*/, uint64_t /*running_ms*/) {}
  // More work than the mark waits for the workers, from outside of them. Once until it has halved.
  virtual void injection_high(uint64_t /*waiting*/) {}
  virtual void mailbox_full(ActorId) {}
  // An actor was about to wait for an answer that waits for it: it gets Errc::deadlock instead.
  // `cycle` is "A waits for B waits for A". Only where detect_deadlocks is on.
  virtual void deadlock(ActorId /*waiter*/, const char* cycle) { tell_deadlock_on_stderr(cycle); }
  // The message is still in the envelope, and is destroyed after this returns. A late reply has no
  // envelope of its own: it is told with that of the question, which was handled, and whose sender
  // is the target; it is not in the ledger.
  virtual void dead_letter(ActorId /*target*/, Envelope&, DeadLetterReason) {}
};

}  // namespace jzx
