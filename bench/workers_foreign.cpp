// Threads that are not the runtime's stream messages into its actors.
//
// Promises guarded:
//   foreign_stream/workers:2/threads:1, :4          every thread has an actor of its own
//   foreign_stream_shared/workers:2/threads:4       all have the same one
// Any thread may send, is told the truth at every call, and makes no system call while a worker is
// awake. Mailboxes are the default ones; a producer that is told mailbox_full yields and tries
// again, as a real one would, so the figure is the throughput of all together. No goal of its own;
// send_async/loop has one for the loop.
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "workers_support.hpp"

namespace {

constexpr std::uint64_t kMessages = 1'000'000;  // of all threads together

struct Number {
  std::uint32_t producer;
  std::uint64_t value;
};

struct Receiver {
  struct Expect {
    std::uint64_t messages;
    jzx::Promise<std::uint64_t> done;  // with the sum of all values
  };

  explicit Receiver(std::size_t producers) : next_of(producers) {}

  std::vector<std::uint64_t> next_of;  // by producer: its order must be kept
  std::uint64_t left = 0;
  std::uint64_t sum = 0;
  jzx::Promise<std::uint64_t> done{};

  std::uint64_t on(Expect expect) {
    next_of.assign(next_of.size(), 0);
    left = expect.messages;
    sum = 0;
    done = std::move(expect.done);
    return left;
  }
  void on(Number number) {
    if (number.value != next_of[number.producer]++) {
      bench::must(jzx::Errc::unknown, "out of order");
    }
    sum += number.value;
    if (--left == 0) done.resolve(sum);
  }
};

struct Producer {
  std::uint32_t index;
  std::uint64_t messages;
  jzx::ActorRef<Receiver> target;
  std::uint64_t refused = 0;

  void run() {
    for (std::uint64_t value = 0; value < messages; ++value) {
      jzx::Errc sent = target.send(Number{index, value});
      while (sent == jzx::Errc::mailbox_full) {
        ++refused;
        sched_yield();
        sent = target.send(Number{index, value});
      }
      bench::must(sent, "send");
    }
  }
};

// Starts the producers' threads, lets them all go at once, and waits for the receivers.
void run_producers(std::vector<Producer>& producers,
                   std::vector<jzx::Future<std::uint64_t>>& received, bench::WorkersWatch& watch,
                   std::uint64_t& sum) {
  std::latch ready(static_cast<std::ptrdiff_t>(producers.size()));
  std::latch go(1);
  std::vector<std::thread> threads;
  for (Producer& producer : producers) {
    threads.emplace_back([&] {
      ready.count_down();
      go.wait();
      producer.run();
    });
  }
  ready.wait();
  watch.start();
  go.count_down();
  for (auto& future : received) sum += bench::await(std::move(future));
  watch.stop();
  for (std::thread& thread : threads) thread.join();
}

void stream_from_outside(benchmark::State& state, bool shared) {
  const auto threads = static_cast<std::uint32_t>(state.range(1));
  const std::uint64_t each = kMessages / threads;
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  std::vector<jzx::ActorRef<Receiver>> receivers;
  for (std::uint32_t i = 0; i < (shared ? 1 : threads); ++i) {
    receivers.push_back(bench::must_spawn<Receiver>(runtime, {}, threads));
  }

  std::uint64_t refused = 0;
  std::uint64_t sent = 0;
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    std::vector<jzx::Future<std::uint64_t>> received;
    for (const auto& receiver : receivers) {
      const std::uint64_t expected = kMessages / receivers.size();
      auto [future, promise] = jzx::promise<std::uint64_t>();
      received.push_back(std::move(future));
      BENCH_CHECK_COUNT(bench::await(receiver.ask(Receiver::Expect{expected, std::move(promise)})),
                        expected);
    }
    std::vector<Producer> producers;
    for (std::uint32_t i = 0; i < threads; ++i) {
      producers.push_back({i, each, receivers[i % receivers.size()]});
    }
    std::uint64_t sum = 0;
    run_producers(producers, received, watch, sum);
    BENCH_CHECK_COUNT(sum, threads * (each * (each - 1) / 2));
    for (const Producer& producer : producers) refused += producer.refused;
    sent += each * threads;
    return each * threads;
  });
  state.counters["refused_share"] =
      static_cast<double>(refused) / static_cast<double>(sent + refused);
}

void foreign_stream(benchmark::State& state) { stream_from_outside(state, false); }
BENCHMARK(foreign_stream)->ArgNames({"workers", "threads"})->Args({2, 1})->Args({2, 4});

void foreign_stream_shared(benchmark::State& state) { stream_from_outside(state, true); }
BENCHMARK(foreign_stream_shared)->ArgNames({"workers", "threads"})->Args({2, 4});

}  // namespace
