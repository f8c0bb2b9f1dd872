// Only a command actor can be spawned by a command scheduler.
// EXPECT: this is no command actor
// EXPECT: jzx::Actions<M> handle(M, jzx::CommandContext<M>&)
#include <jzx/sim/command_scheduler.hpp>

namespace {

struct Event {
  int value;
};
struct Handler {
  void handle(Event) {}
};
struct Stranger {
  void on(Event) {}
};

}  // namespace

void start(jzx::CommandScheduler<Event>& scheduler) {
  (void)scheduler.start<Handler>();
#ifdef JZX_MISTAKE
  (void)scheduler.start<Stranger>();
#endif
}
