// Messages among many actors of the multi-core runtime, with many in flight.
//
// Promises guarded:
//   fan_in/workers:1, :2   100 senders, one receiver, windows of 100: at most 12 and 20 ns a
//                          message. A receiver that everybody writes to must get the share of
//                          time it needs, and senders on another core must not slow it down.
//   big/workers:1, :2      120 actors ping random others (Savina "big"): at most 18 and 20 ns a
//                          message, pings and pongs both counted. Many ready actors, few
//                          messages each: what scheduling costs when the lifo slot does not help.
#include <array>
#include <cstdint>
#include <vector>

#include "workers_support.hpp"

namespace {

// ---- fan_in ----

constexpr std::uint32_t kSenders = 100;
constexpr std::uint32_t kWindow = 100;
constexpr std::uint32_t kWindows = 100;
constexpr std::uint64_t kFanInMessages = std::uint64_t{kSenders} * kWindow * kWindows;

struct Number {
  std::uint32_t sender;
  std::uint32_t value;
};
struct Ack {};

struct FanSender;

struct FanReceiver {
  struct Expect {
    jzx::Promise<std::uint64_t> done;  // with the sum of all values
  };

  const std::vector<jzx::ActorRef<FanSender>>* senders;
  std::array<std::uint32_t, kSenders> received_from{};
  std::uint64_t received = 0;
  std::uint64_t sum = 0;
  jzx::Promise<std::uint64_t> done{};

  std::uint64_t on(Expect expect) {
    received_from = {};
    received = sum = 0;
    done = std::move(expect.done);
    return kFanInMessages;
  }
  void on(Number number);
};

struct FanSender {
  struct Start {
    jzx::ActorRef<FanReceiver> receiver;
  };

  std::uint32_t index;
  std::uint32_t next_value = 0;
  jzx::ActorRef<FanReceiver> receiver{};

  void on(Start start) {
    receiver = start.receiver;
    next_value = 0;
    send_window();
  }
  void on(Ack) {
    if (next_value < kWindow * kWindows) send_window();
  }
  void send_window() {
    for (std::uint32_t i = 0; i < kWindow; ++i) {
      bench::must(receiver.send(Number{index, next_value++}), "fan in");
    }
  }
};

void FanReceiver::on(Number number) {
  std::uint32_t& from = received_from[number.sender];
  if (number.value != from) bench::must(jzx::Errc::unknown, "out of order");
  sum += number.value;
  ++from;
  if (++received == kFanInMessages) return done.resolve(sum);
  if (from % kWindow == 0) bench::must((*senders)[number.sender].send(Ack{}), "acknowledge");
}

void fan_in(benchmark::State& state) {
  std::vector<jzx::ActorRef<FanSender>> senders;  // outlives the runtime, whose actors read it
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  for (std::uint32_t i = 0; i < kSenders; ++i) {
    senders.push_back(bench::must_spawn<FanSender>(runtime, {}, i));
  }
  jzx::SpawnOptions roomy;
  roomy.mailbox_cap = kSenders * kWindow + 1000;
  const auto receiver = bench::must_spawn<FanReceiver>(runtime, roomy, &senders);

  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    auto [future, promise] = jzx::promise<std::uint64_t>();
    BENCH_CHECK_COUNT(bench::await(receiver.ask(FanReceiver::Expect{std::move(promise)})),
                      kFanInMessages);
    watch.start();
    for (const auto& sender : senders) bench::must(sender.send(FanSender::Start{receiver}), "go");
    const jzx::Result<std::uint64_t> sum = future.get();
    watch.stop();
    constexpr std::uint64_t kEach = std::uint64_t{kWindow} * kWindows;
    BENCH_CHECK(sum.ok());
    BENCH_CHECK_COUNT(sum.value(), kSenders * (kEach * (kEach - 1) / 2));
    return kFanInMessages;
  });
}
BENCHMARK(fan_in)->ArgName("workers")->Arg(1)->Arg(2);

// ---- big ----

constexpr std::uint32_t kBigActors = 120;
constexpr std::uint64_t kRounds = 4000;
constexpr std::uint64_t kBigMessages = 2 * kBigActors * kRounds;

// Hears when an actor has had all its pongs.
struct Sink {
  struct Expect {
    jzx::Promise<std::uint64_t> done;  // with how many finished
  };
  struct Finished {};

  jzx::Promise<std::uint64_t> done{};
  std::uint32_t finished = 0;

  std::uint32_t on(Expect expect) {
    done = std::move(expect.done);
    finished = 0;
    return kBigActors;
  }
  void on(Finished) {
    if (++finished == kBigActors) done.resolve(finished);
  }
};

struct BigActor {
  struct Start {
    jzx::ActorRef<Sink> sink;
  };
  struct Ping {
    jzx::ActorRef<BigActor> from;
  };
  struct Pong {};
  struct Tally {
    std::uint64_t pings;
    std::uint64_t pongs;
  };
  struct TakeTally {};

  const jzx::ActorRef<BigActor>* everybody;
  std::uint32_t index;
  std::uint64_t random;
  jzx::ActorRef<BigActor> self{};
  jzx::ActorRef<BigActor> next{};
  jzx::ActorRef<Sink> sink{};
  std::uint64_t rounds_left = 0;
  std::uint64_t pings = 0;

  void on(Start start) {
    sink = start.sink;
    rounds_left = kRounds;
    self = everybody[index];
    next = another();
    ping();
  }
  void on(Ping ping) {
    ++pings;
    bench::must(ping.from.send(Pong{}), "pong");
  }
  void on(Pong) {
    if (--rounds_left > 0) return ping();
    bench::must(sink.send(Sink::Finished{}), "finished");
  }
  Tally on(TakeTally) { return {std::exchange(pings, 0), kRounds - rounds_left}; }

  // Whom to ping next is found after a ping and not before it: that is the benchmark's own work,
  // and need not keep the message waiting.
  void ping() {
    bench::must(next.send(Ping{self}), "ping");
    next = another();
  }
  jzx::ActorRef<BigActor> another() {
    random = random * 6364136223846793005u + 1442695040888963407u;  // the upper half is random
    const auto other = static_cast<std::uint32_t>((random >> 32) * (kBigActors - 1) >> 32);
    return everybody[other + (other >= index ? 1 : 0)];
  }
};

void big(benchmark::State& state) {
  std::array<jzx::ActorRef<BigActor>, kBigActors> everybody;  // outlives the actors, who read it
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  for (std::uint32_t i = 0; i < kBigActors; ++i) {
    everybody[i] = bench::must_spawn<BigActor>(runtime, {}, everybody.data(), i, std::uint64_t{i});
  }
  const auto sink = bench::must_spawn<Sink>(runtime, {});

  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    auto [future, promise] = jzx::promise<std::uint64_t>();
    BENCH_CHECK_COUNT(bench::await(sink.ask(Sink::Expect{std::move(promise)})), kBigActors);
    watch.start();
    for (const auto& actor : everybody) bench::must(actor.send(BigActor::Start{sink}), "go");
    const jzx::Result<std::uint64_t> finished = future.get();
    watch.stop();
    BENCH_CHECK(finished.ok());
    BENCH_CHECK_COUNT(finished.value(), kBigActors);
    std::uint64_t messages = 0;
    for (const auto& actor : everybody) {
      const BigActor::Tally tally = bench::await(actor.ask(BigActor::TakeTally{}));
      BENCH_CHECK_COUNT(tally.pongs, kRounds);
      messages += tally.pings + tally.pongs;
    }
    BENCH_CHECK_COUNT(messages, kBigMessages);
    return kBigMessages;
  });
}
BENCHMARK(big)->ArgName("workers")->Arg(1)->Arg(2);

}  // namespace
