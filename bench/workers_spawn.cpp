// Short lives in the multi-core runtime.
//
// Promises guarded:
//   spawn/workers:1, :2    spawn, one message, end, at most 1000 alive: at most 60 and 80 ns an
//                          actor. Memory of the dead must serve the next ones, on whatever
//                          worker they ended.
//   skynet/workers:1, :2   a ten-way tree of actors down to 1,000,000 leaves, whose sums come
//                          back: at most 90 and 60 ns a leaf (ms a tree) with warm memory. A
//                          fresh actor must run before its siblings' descendants pile up.
#include <atomic>
#include <cstdint>

#include "workers_support.hpp"

namespace {

// ---- spawn ----

constexpr std::uint32_t kAlive = 1000;
constexpr std::uint32_t kWindows = 200;

struct Spawner;

// How many of the thousand have not had their message yet. One count for all of them, as a
// program would do it that has to know.
struct Window {
  std::atomic<std::uint32_t> left{0};
  jzx::ActorRef<Spawner> spawner;

  void one_is_done();
};

struct Mayfly {
  struct Live {
    Window* window;
  };
  void on(Live live, jzx::Context& context) {
    live.window->one_is_done();
    context.stop();
  }
};

struct Spawner {
  struct Start {
    jzx::Promise<std::uint64_t> done;  // with how many were spawned
  };
  struct Next {};

  Window* window;
  jzx::Promise<std::uint64_t> done{};
  std::uint64_t spawned = 0;

  void on(Start start, jzx::Context& context) {
    done = std::move(start.done);
    window->spawner = context.self(*this);
    spawn_window(context);
  }
  void on(Next, jzx::Context& context) {
    if (spawned < std::uint64_t{kWindows} * kAlive) return spawn_window(context);
    done.resolve(spawned);
    context.stop();
  }
  void spawn_window(jzx::Context& context) {
    // relaxed: the messages that tell of the window are sent after it.
    window->left.store(kAlive, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < kAlive; ++i) {
      const auto mayfly = bench::must_spawn<Mayfly>(context, {});
      bench::must(mayfly.send(Mayfly::Live{window}), "message");
    }
    spawned += kAlive;
  }
};

void Window::one_is_done() {
  // relaxed: a plain count; what the spawner does next is ordered by the message.
  const std::uint32_t before = left.fetch_sub(1, std::memory_order_relaxed);
  if (before == 0) bench::must(jzx::Errc::unknown, "a message was handled twice");
  if (before == 1) bench::must(spawner.send(Spawner::Next{}), "next window");
}

void spawn(benchmark::State& state) {
  Window window;
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    const auto spawner = bench::must_spawn<Spawner>(runtime, {}, &window);
    const auto spawned = bench::timed<std::uint64_t>(watch, [&](auto promise) {
      bench::must(spawner.send(Spawner::Start{std::move(promise)}), "start");
    });
    BENCH_CHECK_COUNT(spawned, kAlive * kWindows);
    BENCH_CHECK_COUNT(window.left.load(), 0);
    BENCH_CHECK(jzx::ok(runtime.run()));  // returns when nobody is alive
    return spawned;
  });
}
BENCHMARK(spawn)->ArgName("workers")->Arg(1)->Arg(2);

// ---- skynet ----

constexpr std::uint64_t kLeaves = 1'000'000;
constexpr std::uint64_t kBranches = 10;

struct Node {
  struct Sum {
    std::uint64_t value;
  };

  jzx::ActorRef<Node> parent;         // none: the root
  jzx::Promise<std::uint64_t>* done;  // of the root
  std::uint64_t first;
  std::uint64_t leaves;
  std::uint64_t sum = 0;
  std::uint64_t waiting_for = kBranches;

  void on_start(jzx::Context& context) {
    if (leaves == 1) return finish(first, context);
    const std::uint64_t part = leaves / kBranches;
    for (std::uint64_t i = 0; i < kBranches; ++i) {
      (void)bench::must_spawn<Node>(context, {}, context.self(*this), nullptr, first + i * part,
                                    part);
    }
  }
  void on(Sum part, jzx::Context& context) {
    sum += part.value;
    if (--waiting_for == 0) finish(sum, context);
  }
  void finish(std::uint64_t value, jzx::Context& context) {
    if (done != nullptr) {
      done->resolve(value);
    } else {
      bench::must(parent.send(Sum{value}), "sum");
    }
    context.stop();
  }
};

void skynet(benchmark::State& state) {
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    jzx::Promise<std::uint64_t> root_done;
    const auto sum = bench::timed<std::uint64_t>(watch, [&](auto promise) {
      root_done = std::move(promise);
      (void)bench::must_spawn<Node>(runtime, {}, jzx::ActorRef<Node>(), &root_done,
                                    std::uint64_t{0}, kLeaves);
    });
    BENCH_CHECK_COUNT(sum, kLeaves * (kLeaves - 1) / 2);
    BENCH_CHECK(jzx::ok(runtime.run()));  // returns when nobody is alive
    return kLeaves;
  });
}
BENCHMARK(skynet)->ArgName("workers")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

}  // namespace
