// Very many actors alive at once in the multi-core runtime.
//
// Promise guarded: ten_million_actors/workers:2, 10,000,000 live actors with a state of 4 bytes,
// each of which handles a message, and all of which end cleanly. What they weigh is resident
// memory after everybody has handled the message, so memory that only use would reveal is
// counted. items_per_second is about spawning them and the message; end_ns_per_item about the end.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>

#include "workers_support.hpp"

namespace {

constexpr std::uint64_t kActors = 10'000'000;
constexpr std::uint64_t kSettlers = 2;  // actors that spawn the others
constexpr std::uint32_t kWindow =
    1000;  // messages in flight of a settler, so that they weigh little
static_assert(kActors % (kSettlers * kWindow) == 0);

// Who ended with exactly one message handled. relaxed everywhere: a plain count, read when the
// runtime has shut down.
std::atomic<std::uint64_t> g_ended_well{0};

struct Settler;

struct Window {
  std::atomic<std::uint32_t> left{0};
  jzx::ActorRef<Settler> settler;

  void one_is_done();
};

struct Resident {
  struct Hello {
    Window* window;
  };

  std::uint32_t greeted = 0;

  Resident() = default;
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;
  ~Resident() {
    if (greeted == 1) g_ended_well.fetch_add(1, std::memory_order_relaxed);
  }

  void on(Hello hello) {
    ++greeted;
    hello.window->one_is_done();
  }
};
static_assert(sizeof(Resident) == 4);

struct Settler {
  struct Start {
    jzx::Promise<std::uint64_t> done;  // with how many were spawned and greeted
  };
  struct Next {};

  Window* window;
  jzx::Promise<std::uint64_t> done{};
  std::uint64_t spawned = 0;

  void on(Start start, jzx::Context& context) {
    done = std::move(start.done);
    window->settler = context.self(*this);
    spawn_window(context);
  }
  void on(Next, jzx::Context& context) {
    if (spawned < kActors / kSettlers) return spawn_window(context);
    done.resolve(spawned);
  }
  void spawn_window(jzx::Context& context) {
    // relaxed: the messages that tell of the window are sent after it.
    window->left.store(kWindow, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < kWindow; ++i) {
      const auto resident = bench::must_spawn<Resident>(context, {});
      bench::must(resident.send(Resident::Hello{window}), "hello");
    }
    spawned += kWindow;
  }
};

void Window::one_is_done() {
  // relaxed: a plain count; what the settler does next is ordered by the message.
  if (left.fetch_sub(1, std::memory_order_relaxed) == 1) {
    bench::must(settler.send(Settler::Next{}), "next window");
  }
}

void settle(jzx::Runtime& runtime, Window (&windows)[kSettlers], bench::WorkersWatch& watch) {
  jzx::Future<std::uint64_t> settled[kSettlers];
  watch.start();
  for (std::uint64_t i = 0; i < kSettlers; ++i) {
    auto [future, promise] = jzx::promise<std::uint64_t>();
    settled[i] = std::move(future);
    const auto settler = bench::must_spawn<Settler>(runtime, {}, &windows[i]);
    bench::must(settler.send(Settler::Start{std::move(promise)}), "start");
  }
  std::uint64_t spawned = 0;
  for (auto& future : settled) spawned += bench::await(std::move(future));
  watch.stop();
  BENCH_CHECK_COUNT(spawned, kActors);
}

void ten_million_actors(benchmark::State& state) {
  bench::WorkersWatch end_watch;
  double bytes = 0;
  const std::uint64_t items = bench::measure(state, [&](bench::WorkersWatch& watch) {
    // What earlier benchmarks freed must go back to the system, or it would be reused here and
    // not be seen as growth.
    malloc_trim(0);
    const std::uint64_t before = bench::resident_bytes();
    g_ended_well.store(0, std::memory_order_relaxed);
    Window windows[kSettlers];
    jzx::RuntimeOptions options = bench::options_of(state);
    options.max_actors = 11'000'000;
    jzx::Runtime runtime(options);
    BENCH_CHECK(runtime);
    settle(runtime, windows, watch);
    const std::uint64_t after = bench::resident_bytes();
    BENCH_CHECK(after > before);
    bytes += static_cast<double>(after - before);

    end_watch.start();
    const auto still_alive = runtime.shutdown(std::chrono::minutes(10));
    end_watch.stop();
    BENCH_CHECK_COUNT(still_alive.size(), 0);
    BENCH_CHECK_COUNT(g_ended_well.load(std::memory_order_relaxed), kActors);
    return kActors;
  });
  state.counters["bytes_per_item"] = bytes / static_cast<double>(items);
  state.counters["end_ns_per_item"] = end_watch.total_ns() / static_cast<double>(items);
}
BENCHMARK(ten_million_actors)->ArgName("workers")->Arg(2)->Unit(benchmark::kMillisecond);

}  // namespace
