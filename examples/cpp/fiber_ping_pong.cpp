// fiber_ping_pong: actors as plain functions, which wait where they stand.
//
//   ping ──Ping──▶ pong
//   ping ◀──Pong── pong        five times; then Done, and both return
//
// A fiber has a stack of its own: receive() leaves it until a message is there, and the loop around
// it goes on where it was. No state has to be kept by hand between two messages.
#include <jzx/jzx.hpp>

#include <cstdio>

namespace {

struct Ping {};
struct Pong {};
struct Done {};

void pong() {
  bool is_done = false;
  while (!is_done) {
    jzx::receive([](Ping) { jzx::sender() << Pong{}; },  //
                 [&](Done) { is_done = true; });
  }
}

void ping(jzx::Pid partner, int count) {
  for (int i = 0; i < count; ++i) {
    partner << Ping{};
    jzx::receive([&](Pong) { std::printf("Ping received pong %d\n", i); });
  }
  partner << Done{};
}

}  // namespace

int main() {
  jzx::Runtime runtime;
  if (!runtime) return 1;
  const jzx::Pid partner = runtime.spawn(pong);
  if (!partner || !runtime.spawn(ping, partner, 5)) return 2;
  return jzx::ok(runtime.run()) ? 0 : 3;  // until both have returned
}
