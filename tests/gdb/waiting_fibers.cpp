// What run.sh looks at with gdb: fibers in each state, at the moment at which stop_here() is
// called.
//
//   reader    waits for a message, two calls deep
//   sleeper   waits for a timer
//   asker     waits for a future
//   newcomer  has not run yet
//   stopper   is running: it calls stop_here()
#include <jzx/jzx.hpp>

#include <chrono>

using namespace std::chrono_literals;

struct Letter {};

[[gnu::noinline]] void wait_for_a_letter(int patience) {
  jzx::receive([](Letter) {});
  asm volatile("" ::"r"(patience) : "memory");  // not a tail call, and patience is still there
}

[[gnu::noinline]] void read_letters() {
  wait_for_a_letter(4711);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void wait_for_an_hour() {
  jzx::sleep_for(1h);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void wait_for_an_answer(jzx::Pid whom) {
  (void)jzx::ask<int>(whom, Letter{}).get();
  asm volatile("" ::: "memory");
}

extern "C" [[gnu::noinline]] void stop_here() { asm volatile("" ::: "memory"); }

int main() {
  jzx::Loop loop;
  const auto spawn = [&](const char* name, auto body) {
    jzx::SpawnOptions options;
    options.name = name;
    return loop.spawn_fn_with(options, body);
  };
  const jzx::Pid reader = spawn("reader", [] { read_letters(); });
  const jzx::Pid sleeper = spawn("sleeper", [] { wait_for_an_hour(); });
  spawn("asker", [sleeper] { wait_for_an_answer(sleeper); });
  spawn("ended", [] {});
  spawn("stopper", [&] {
    spawn("newcomer", [] {});
    stop_here();
    (void)loop.stop(sleeper);
    reader << Letter{};
  });
  return jzx::ok(loop.run()) ? 0 : 1;
}
