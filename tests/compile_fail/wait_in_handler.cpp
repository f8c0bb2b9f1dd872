// A handler that waits for a future by its Context.
// EXPECT: jzx: a handler must not wait
// EXPECT: Future<int>
#include <jzx/jzx.hpp>

struct Get {};
struct Counter {
  int on(Get) { return 1; }
};

struct Asker {
  jzx::ActorRef<Counter> counter;
  void on(Get, jzx::Context& context) {
    counter.ask(Get{}).then([](jzx::Result<int>) {});
#ifdef JZX_MISTAKE
    context.block_on(counter.ask(Get{}));
#else
    context.stop();
#endif
  }
};

void use(jzx::ActorRef<Asker> asker) { (void)asker.send(Get{}); }
