// Asking what the actor has no handler for.
// EXPECT: jzx: this actor has no handler for this message
// EXPECT: Counter
// EXPECT: Reset
#include <jzx/jzx.hpp>

struct Get {};
struct Reset {};

struct Counter {
  int value = 0;
  int on(Get) { return value; }
};

void use(jzx::ActorRef<Counter> counter) {
  jzx::Future<int> answer = counter.ask(Get{});
#ifdef JZX_MISTAKE
  auto mistake = counter.ask(Reset{});
#endif
}
