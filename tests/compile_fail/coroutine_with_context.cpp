// A handler that is a coroutine, and takes a Context&.
// EXPECT: jzx: a handler that is a coroutine cannot take a Context&
// EXPECT: Counter
// EXPECT: Get
#include <jzx/jzx.hpp>

struct Get {};
struct Put {};

struct Counter {
  int value = 0;
  jzx::Task<int> on(Get, jzx::Context&) { co_return value; }
  jzx::Task<void> on(Put) { co_return; }
};

void use(jzx::ActorRef<Counter> counter) {
  (void)counter.send(Put{});
#ifdef JZX_MISTAKE
  (void)counter.send(Get{});
#endif
}
