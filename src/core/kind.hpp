// Kind: how an actor's code runs. A kind is a stateless object that knows how to resume one sort
// of body; what the body needs to remember lives in Actor::body. Implementers are in kinds/ and
// supervise/.
//
// A kind must live with a resume() for nothing (a wake-up may be stale) and with a stop() before
// any start() (it was asked to end before its first turn).
//
// Threads: the functions are called by whoever runs the actor's turn, one call at a time.
#pragma once

#include <cstdint>

#include <jzx/signals.hpp>

namespace jzx::base {
class Executor;
class Runnable;
struct Allocator;
}  // namespace jzx::base

namespace jzx {
struct Envelope;
}

namespace jzx::core {

struct Actor;
class Host;
class Turn;

void run_actor(base::Runnable& actor, base::Executor& executor);
void run_first_turn(base::Runnable& actor, base::Executor& executor);

enum class Outcome : uint8_t {
  budget_spent,  // there may be more to do: run it again, after the others
  wants_mail,    // nothing to do until a message comes
  suspended,     // only its waker or a request to exit submits it again; mail just queues
  stopped,       // it ended well
  failed,        // it ended badly; Turn::fail() said why
};

// Where a body can be made to throw.
enum class Throw : uint8_t {
  nowhere,
  at_message,  // as if the handler of its next message did
  in_wait,     // out of the receive, the sleep or the await that it is in
};
inline constexpr const char* kThrownText = "thrown by the simulator";

class Kind {
 public:
  // Before the first message, for actors spawned with `first_turn`.
  virtual Outcome start(Actor& actor, Turn& turn) const;

  // Handles messages from Turn::take() until that answers none or the body wants to stop.
  virtual Outcome resume(Actor& actor, Turn& turn) const = 0;

  // It was asked to end. Called turn after turn, instead of resume(), until it answers stopped or
  // failed; a body that must unwind first may answer suspended.
  virtual Outcome stop(Actor& actor, Turn& turn) const;

  // In place of stop(), once its time to end is up. failed: it was given up in the middle of
  // something; nothing of it will run again, and what that holds stays where it is. suspended: not
  // before something that it has begun is over.
  virtual Outcome kill(Actor& actor, Turn& turn) const;

  // Frees the body. Called exactly once, after the last of the above; all children are gone.
  virtual void destroy(Actor& actor, Host& host, ExitReason reason) const noexcept = 0;

  [[nodiscard]] virtual const char* name() const noexcept = 0;

  // The oldest message of a user's that the body has put aside, of those that may be dropped; it is
  // the caller's then, to be given to drop_held(). nullptr: none. In the actor's turn.
  [[nodiscard]] virtual Envelope* give_up_oldest(Actor&) const noexcept { return nullptr; }

  // For tests: shows all that the body has put aside, the oldest first. Between two turns.
  using See = void (*)(void* context, const Envelope& envelope);
  virtual void show_put_aside(const Actor&, See, void*) const {}

  // For simulated faults. Could its code be made to throw in the turn that it is about to have?
  [[nodiscard]] virtual Throw can_throw(Actor&) const noexcept { return Throw::nowhere; }
  // In place of resume(), right after that: it does. What escapes the body is a panic, as ever. The
  // body of Throw::in_wait sees an exception come out of its wait, which needs exceptions.
  virtual Outcome resume_throwing(Actor& actor, Turn& turn) const { return resume(actor, turn); }

  // For recorders: would a turn without mail do anything, since a wait of the body is over? True if
  // that is not known. Just before such a turn of a running actor.
  [[nodiscard]] virtual bool goes_on_without_mail(Actor&) const noexcept { return true; }

  // Does a part of the body wait for something while the body as a whole takes mail? For
  // simulations.
  [[nodiscard]] virtual bool waits_in_part(const Actor&) const noexcept { return false; }

  // For people: what sort of actor this one is. Under the actor's lock, or in its turn.
  [[nodiscard]] virtual const char* type_name(const Actor&) const noexcept { return name(); }

  // What the run queue calls: run_actor(), or the kind's own instance of run_turn() (see turn.hpp),
  // in which resume() is known to the compiler and which must do the same.
  using RunFn = void (*)(base::Runnable& actor, base::Executor& executor);
  const RunFn run;
  // The same, once, of one that has a first turn of its own: an instance of run_first().
  const RunFn run_first;

 protected:
  constexpr Kind() noexcept : Kind(&run_actor) {}
  constexpr explicit Kind(RunFn own) noexcept : Kind(own, &run_first_turn) {}
  constexpr Kind(RunFn own, RunFn own_first) noexcept : run(own), run_first(own_first) {}
  ~Kind() = default;
};

// What a kind keeps for a whole host or a whole system, made by the kind when it first needs it.
class KindStore {
 public:
  // With the host or the system, on the last thread that is left.
  virtual void end(const base::Allocator& allocator) noexcept = 0;

 protected:
  ~KindStore() = default;
};

}  // namespace jzx::core
