// worker_pool: several workers behind one reference. Whoever sends does not pick one, and does not
// notice when one breaks: its supervisor makes another.
//
//   main ──Number──▶ pool ──▶ worker, worker, worker        on all cores; each adds to the total
//
// A pool is no actor: a send goes straight to one of the workers, here to the one with the fewest
// messages waiting. The number 13 breaks the worker that gets it.
#include <jzx/jzx.hpp>

#include <jzx/worker_pool.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

namespace {

using namespace std::chrono_literals;

struct Number {
  uint64_t value;
};
struct Square {
  uint64_t value;
};

struct Worker {
  std::atomic<uint64_t>& total;

  void on(Number number, jzx::Context& context) {
    if (number.value == 13) return context.fail("unlucky");
    total += number.value;
  }
  uint64_t on(Square question) { return question.value * question.value; }
};

}  // namespace

int main() {
  std::atomic<uint64_t> total{0};
  jzx::Runtime runtime;
  if (!runtime) return 1;
  const auto pool =
      jzx::spawn_pool<Worker>(runtime, 3, jzx::Routing::smallest_mailbox, std::ref(total));
  if (!pool) return 2;
  std::printf("%zu workers\n", pool.size());

  // An ask is answered by one of them.
  const jzx::Result<uint64_t> answer = runtime.block_on(pool.ask(Square{12}));
  std::printf("12 * 12 = %llu\n", static_cast<unsigned long long>(answer.ok() ? *answer : 0));

  // One of them breaks, and the pool is whole again when the next has started.
  const auto before = pool.workers();
  if (!jzx::ok(pool.send(Number{13}))) return 3;
  auto now = pool.workers();
  for (; now.size() < 3 || now == before; now = pool.workers()) std::this_thread::yield();
  std::printf("one broke; %zu workers\n", now.size());

  for (uint64_t i = 1; i <= 1000; ++i) {
    if (i == 13) continue;
    while (pool.send(Number{i}) == jzx::Errc::mailbox_full) std::this_thread::yield();
  }
  constexpr uint64_t kExpected = 1000 * 1001 / 2 - 13;
  while (total != kExpected) std::this_thread::yield();
  std::printf("the sum of the numbers to 1000, without 13: %llu\n",
              static_cast<unsigned long long>(total.load()));

  if (!jzx::ok(runtime.stop(pool.supervisor()))) return 4;
  if (!jzx::ok(runtime.run())) return 5;  // until nobody is left
  std::printf("closed: %s\n", jzx::to_string(pool.send(Number{1})));
  return 0;
}
