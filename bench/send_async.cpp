// A foreign thread streams messages into the loop.
//
// Promise guarded: send_async/loop, at most 30 ns a message, with the truth told at
// every call and no system call while the loop is awake. The mailbox is the default one;
// a producer that is told MAILBOX_FULL yields and tries again, as a real one would, so
// the figure is the throughput of the pair and not the price of a call that nobody
// waits for.
#include <sched.h>

#include <atomic>
#include <thread>

#include "support.hpp"

namespace {

constexpr std::uint64_t kMessages = 1'000'000;
constexpr std::uint32_t kTagNumber = 1;

struct Receiver {
  std::uint64_t received = 0;
  std::uint64_t sum = 0;
  bool in_order = true;
};

jzx_behavior_result receive(jzx_context* ctx, const jzx_message* msg) {
  auto* receiver = static_cast<Receiver*>(ctx->state);
  if (msg->len != receiver->received) receiver->in_order = false;
  receiver->sum += msg->len;
  if (++receiver->received == kMessages) jzx_loop_request_stop(ctx->loop);
  return JZX_BEHAVIOR_OK;
}

struct Producer {
  jzx_loop* loop;
  jzx_actor_id target;
  std::atomic<bool> go{false};
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;

  void run() {
    // acquire: pairs with the release in the benchmark, which starts the stopwatch first.
    while (!go.load(std::memory_order_acquire)) sched_yield();
    for (std::uint64_t number = 0; number < kMessages; ++number) {
      jzx_err err = jzx_send_async(loop, target, nullptr, number, kTagNumber);
      while (err == JZX_ERR_MAILBOX_FULL) {
        ++refused;
        sched_yield();
        err = jzx_send_async(loop, target, nullptr, number, kTagNumber);
      }
      if (err != JZX_OK) {
        jzx_loop_request_stop(loop);  // the receiver's count will tell
        return;
      }
      ++accepted;
    }
  }
};

void send_async_loop(benchmark::State& state) {
  const bench::Loop loop = bench::make_loop();
  Receiver receiver;
  const jzx_actor_id target = bench::spawn(loop, receive, &receiver);

  bench::Stopwatch watch;
  std::uint64_t items = 0;
  std::uint64_t refused = 0;
  for (auto _ : state) {
    receiver = Receiver{};
    Producer producer{loop.get(), target};
    std::thread thread([&producer] { producer.run(); });
    watch.start();
    producer.go.store(true, std::memory_order_release);  // release: pairs with run()
    const int result = jzx_loop_run(loop.get());
    watch.stop();
    thread.join();
    BENCH_CHECK_COUNT(result, 0);
    BENCH_CHECK_COUNT(producer.accepted, kMessages);
    BENCH_CHECK_COUNT(receiver.received, kMessages);
    BENCH_CHECK_COUNT(receiver.sum, kMessages * (kMessages - 1) / 2);
    BENCH_CHECK(receiver.in_order);
    items += kMessages;
    refused += producer.refused;
  }
  bench::report(state, items, watch);
  state.counters["refused_share"] =
      static_cast<double>(refused) / static_cast<double>(items + refused);
}
BENCHMARK(send_async_loop)->Name("send_async/loop");

}  // namespace
