// An actor that lists a message it has no handler for.
// EXPECT: jzx: the actor lists in its Messages a type that it has no on(Message) for
// EXPECT: Counter
// EXPECT: Reset
#include <jzx/jzx.hpp>

struct Add {
  int by;
};
struct Reset {};

struct Counter {
#ifdef JZX_MISTAKE
  using Messages = jzx::Messages<Add, Reset>;
#else
  using Messages = jzx::Messages<Add>;
#endif
  int value = 0;
  void on(Add add) { value += add.by; }
};

void use(jzx::Loop& loop) { loop.spawn<Counter>() << Add{1}; }
