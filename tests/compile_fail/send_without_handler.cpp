// Sending a message that the actor has no handler for.
// EXPECT: jzx: this actor has no handler for this message
// EXPECT: Counter
// EXPECT: Reset
#include <jzx/jzx.hpp>

struct Add {
  int by;
};
struct Reset {};

struct Counter {
  int value = 0;
  void on(Add add) { value += add.by; }
};

void use(jzx::ActorRef<Counter> counter) {
  counter << Add{1};
#ifdef JZX_MISTAKE
  counter << Reset{};
#endif
}
