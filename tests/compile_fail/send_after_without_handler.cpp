// A timer for a message that the actor has no handler for.
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
  void on(Add add, jzx::Context& context) {
    value += add.by;
    (void)context.send_after(std::chrono::seconds(1), context.self(*this), Add{1});
#ifdef JZX_MISTAKE
    (void)context.send_after(std::chrono::seconds(1), context.self(*this), Reset{});
#endif
  }
};

void use(jzx::Loop& loop) { loop.spawn<Counter>() << Add{1}; }
