// What docs/command_scheduler.md takes for granted: its first example, for the second.
#pragma once

#include <jzx/sim/command_scheduler.hpp>

struct Event {
  int value;
};
struct Doubler {
  jzx::Actions<Event> handle(Event event, jzx::CommandContext<Event>& context) {
    return context.send(context.output(), Event{2 * event.value});
  }
};
