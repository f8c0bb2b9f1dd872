// A send that waits for room in the mailbox of an actor with Overload::wait. A fiber is suspended.
// Other senders wait on their own thread, so only threads that may block can: foreign threads and
// those of the blocking pool. The handlers of workers and loops are refused, and so are those that
// are run by hand, a loop's own thread outside of its run, and an actor that sends to itself: it
// may be that nobody else would make room.
//
//   sender                                          consumer, in its turn
//   finds the mailbox full                          takes messages
//   enters the waiting room                         after the turn, if `attention` has the note:
//   notes kSenderWaits          (attention)           is there room? no: the note stays
//   wakes the actor             (state word)          yes: takes the note away, calls as many
//   tries again; if it is full,                       as there is room for; notes it again
//   waits to be called, and tries again;              if more are waiting
//   if it is full, begins at the note again
//
// It costs the consumer nothing where nobody waits: it looks at `attention` anyway.
//
// Why no wake-up is lost. Room is made in turns of the actor only. (1) After a note and a wake the
// consumer looks at the note before it rests: the wake is an exchange on the state word, so either
// it starts a turn, or the running one cannot park without having read it, and the note with it.
// (2) A look that finds room calls guests, or leaves the note for those it did not call. A guest
// enters before it notes, so whoever takes its note away finds it in the room. (3) A guest that was
// called sends its message, and the turn that this brings looks again, for those whose note was
// left; or it finds the mailbox full once more, and then too there is a turn to come, and it notes
// again; or it no longer needs the call, and hands it on when it leaves. So as long as anybody
// waits there is a turn, a note or a call on its way.
//
// The end of the actor: who asks for it, and the actor when it retires, changes the state word and
// then looks at the note. A sender whose wake came before that is seen, and called; one that comes
// after finds the word closed when it tries again. The end of the system closes the waiting room
// before it waits for calls that are inside.
//
// Nothing is allocated: the guest is on the sender's stack.
//
// Threads: any.
#pragma once

#include "runtime/port.hpp"

namespace jzx::runtime {

// The send was refused with mailbox_full. Waits and sends, if the actor wants that and this thread
// may; mailbox_full otherwise. no_such_actor: it ended; loop_closed: the system did; killed: the
// fiber that sends is to end. `here` is the host of this thread, and a fiber may be on another
// afterwards; nullptr: a foreign one, with an envelope from the depot. The envelope is the
// mailbox's if the answer is ok, else still the caller's.
[[nodiscard]] Errc wait_for_room(detail::Port& port, core::Host*& here, ActorId target,
                                 Envelope& envelope) noexcept;

}  // namespace jzx::runtime
