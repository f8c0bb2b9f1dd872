// Subscribing an actor to what it has no handler for.
// EXPECT: jzx: this actor has no handler for this message
// EXPECT: Counter
// EXPECT: Price
#include <jzx/loop.hpp>
#include <jzx/topic.hpp>

struct Add {
  int by;
};
struct Price {};

struct Counter {
  int value = 0;
  void on(Add add) { value += add.by; }
};

void use(jzx::Loop& loop, jzx::ActorRef<Counter> counter) {
  (void)jzx::topic<Add>(loop, "adds").subscribe(counter);
#ifdef JZX_MISTAKE
  (void)jzx::topic<Price>(loop, "prices").subscribe(counter);
#endif
}
