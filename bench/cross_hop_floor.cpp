// cross_hop_floor: what a message between two actors costs that run on two cores, if the receiver
// goes idle after each and is left with its thread for the next, as a yardstick for pingpong_cross;
// line_floor alone is too little for that. Not the library's code: a bare model of what then has to
// change hands if anybody may send to anybody, and nothing around it. No id, no bound, no count, no
// timer, no I/O, nobody to wake. The library is below it where its worker stays with the actor
// (drivers/workers/linger.hpp), and so leaves out one of the four lines.
//
//   sender     marks the receiver as scheduled (one exchange, since others may send, too), writes
//              the message, leaves the receiver with its thread (another exchange)
//   receiver   looks for what was left for it, takes that (an exchange), finds its message, answers
//
// That is four lines, each written on one core and read on the other: what was left for a thread,
// the receiver's word, what it looks at alone, the message.
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "base/atomic.hpp"
#include "support.hpp"

namespace {

constexpr std::uint64_t kHops = 50'000;  // both ways together; even

struct alignas(64) Message {
  std::uint64_t number = 0;
};
struct alignas(64) Receiver {
  Receiver* next = nullptr;
  std::atomic<std::uint64_t> word{0};  // how many were sent, above one bit: it is scheduled
  alignas(64) Message* inbox = nullptr;
  std::uint64_t handled = 0;
  std::uint64_t sum = 0;
};
struct alignas(128) Thread {
  std::atomic<Receiver*> left{nullptr};
};
struct Model {
  std::array<Thread, 2> threads;
  std::array<Receiver, 2> receivers;
  Message message;
};

constexpr std::uint64_t kScheduled = 1;
constexpr std::uint64_t kOneSent = 2;

void send(Model& model, std::size_t to, std::uint64_t number) {
  Receiver& receiver = model.receivers[to];
  std::uint64_t word = receiver.word.load(std::memory_order_acquire);
  while (!receiver.word.compare_exchange_weak(word, (word + kOneSent) | kScheduled,
                                              std::memory_order_acq_rel)) {
  }
  model.message.number = number;
  receiver.inbox = &model.message;
  std::atomic<Receiver*>& left = model.threads[to].left;
  receiver.next = left.load(std::memory_order_relaxed);
  while (!left.compare_exchange_weak(receiver.next, &receiver, std::memory_order_seq_cst,
                                     std::memory_order_relaxed)) {
  }
}

// Where the two share a core, one must let the other have it.
Receiver& wait(std::atomic<Receiver*>& left) {
  for (std::uint32_t spins = 1; left.load(std::memory_order_relaxed) == nullptr; ++spins) {
    spins % 4096 == 0 ? std::this_thread::yield() : jzx::base::spin_hint();
  }
  return *left.exchange(nullptr, std::memory_order_acquire);
}

// Receives every second message, and sends each on, but for the last.
void play(Model& model, std::size_t self) {
  for (std::uint64_t number = self; number < kHops; number += 2) {
    Receiver& receiver = wait(model.threads[self].left);
    receiver.sum += std::exchange(receiver.inbox, nullptr)->number;
    ++receiver.handled;
    if (number + 1 < kHops) send(model, 1 - self, number + 1);
    receiver.word.fetch_and(~kScheduled, std::memory_order_acq_rel);  // idle again
  }
}

void cross_hop_floor(benchmark::State& state) {
  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    Model model;
    std::atomic<bool> is_ready{false};
    std::thread other([&] {
      is_ready.store(true, std::memory_order_release);
      play(model, 1);
    });
    while (!is_ready.load(std::memory_order_acquire)) std::this_thread::yield();
    watch.start();
    send(model, 0, 0);
    play(model, 0);
    other.join();  // it has the last one
    watch.stop();
    BENCH_CHECK_COUNT(model.receivers[0].handled, kHops / 2);
    BENCH_CHECK_COUNT(model.receivers[1].handled, kHops / 2);
    BENCH_CHECK_COUNT(model.receivers[0].sum + model.receivers[1].sum, kHops * (kHops - 1) / 2);
    items += kHops;
  }
  bench::report(state, items, watch);
}
BENCHMARK(cross_hop_floor);

}  // namespace
