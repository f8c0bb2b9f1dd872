// Actors of a CommandScheduler, and what they see of it.
//
// A sync actor handles a message at once and answers a list of actions:
//
//   struct Counter {
//     int count = 0;
//     jzx::Actions<Event> handle(Event event, jzx::CommandContext<Event>& context) {
//       count += event.by;
//       return context.send(context.output(), Event{count});
//     }
//   };
//
// It may also return nothing, take the message alone, and be a function. Optional: `on_start`, with
// or without a context, which may return actions too, and `on_stop`, with or without an ExitReason.
//
// An async actor is a coroutine with an inbox and an outbox. Each batch that it emits is queued as
// a whole, and processed in a later tick:
//
//   struct Fetcher {
//     jzx::Task<void> run(jzx::Inbox<Event> inbox, jzx::Outbox<Event> outbox) {
//       for (;;) {
//         jzx::Future<Event> next = inbox.next();
//         jzx::Result<Event> event = co_await next;
//         if (!event) co_return;                                  // it is to end
//         jzx::Future<void> waiting = jzx::sleep(5ms);
//         jzx::Result<void> slept = co_await waiting;
//         (void)outbox.send(outbox.output(), std::move(*event));
//       }
//     }
//   };
//
// What one of them throws ends it, with reason panic and the exception's text; the actions of that
// call are gone. A task that fails, or returns, ends its actor.
//
// Spawning has two steps: reserve() gives the handle, which can be put into messages at once, and
// the spawn action, returned from the same call, makes the actor when its turn in the queue comes.
// A reservation that is not returned is released. Until the spawn is processed the handle is as
// that of one who has ended.
//
// Threads: that of the scheduler.
#pragma once

#include <jzx/detail/commands/actions.hpp>
#include <jzx/detail/commands/seat.hpp>
