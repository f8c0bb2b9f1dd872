// counter_ask: an actor is a plain struct with on(Message) overloads, and what a handler returns
// answers an ask.
//
//   main ──Add──▶ counter        a command: send
//   main ──Get──▶ counter        a question: ask, and a Future of what on(Get) returns
//
// The answer is waited for with Loop::run_until on the loop's own thread, and with Future::get on
// any other.
#include <jzx/jzx.hpp>

#include <cstdio>
#include <thread>

namespace {

struct Add {
  int by = 1;
};
struct Get {};
struct Finish {};

struct Counter {
  int value = 0;

  void on(Add add) { value += add.by; }
  int on(Get) { return value; }
  void on(Finish, jzx::Context& context) { context.stop(); }
};

}  // namespace

int main() {
  jzx::Loop loop;
  if (!loop) return 1;
  const jzx::ActorRef<Counter> counter = loop.spawn<Counter>(40);

  // counter.send("hello") would not compile: Counter has no handler for it.
  counter << Add{} << Add{};
  jzx::Result<int> answer = loop.run_until(counter.ask(Get{}));
  if (!answer) return 2;
  std::printf("asked on the loop's thread: %d\n", *answer);

  // References may be used by any thread. This one blocks until the loop below has answered.
  std::thread other([counter] {
    counter << Add{58};
    const jzx::Result<int> result = counter.ask(Get{}).get();
    std::printf("asked on another thread: %d\n", result.ok() ? *result : -1);
    counter << Finish{};
  });
  (void)loop.run();  // until nobody is left
  other.join();

  // An ask is answered in any case: here the actor is gone.
  const jzx::Result<int> late = counter.ask(Get{}).get();
  std::printf("asked too late: %s\n", late.error().message());
  return 0;
}
