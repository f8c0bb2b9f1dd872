// Messages between actors of the multi-core runtime, one in flight or few senders.
//
// Promises guarded:
//   pingpong/workers:1, :2      two actors, one message in flight: at most 15 and 18 ns a
//                               message. The latency of a send, a wake and a turn; with two
//                               workers the runtime must keep the pair on one of them.
//   pingpong_cross/workers:2    the same, pinned to two workers: at most 300 ns while both are
//                               hot, so neither may go to sleep between two messages. That is
//                               where a line's way to another core and back takes 100, and a
//                               message needs several; line_floor_ns is what it took just before
//                               and after.
//   ring/workers:1, :2          503 actors, one token: at most 14 and 20 ns a hop. As pingpong,
//                               with actors that are not in the nearest cache.
//   stream/workers:1, :2        one sender, one receiver, windows of 1000: at most 10 and 15 ns
//                               a message. What a message costs when many share a turn.
#include <cstdint>
#include <vector>

#include "line_round_trip.hpp"
#include "workers_support.hpp"

namespace {

struct Count {};

// ---- pingpong and ring: a token goes round among actors of one type ----

struct Token {
  std::uint64_t hops_left;
};

struct Player {
  struct Meet {
    jzx::ActorRef<Player> next;
  };
  // Starts a game of so many hops, which must end here.
  struct Serve {
    std::uint64_t hops;
    jzx::Promise<std::uint64_t> done;
  };

  jzx::ActorRef<Player> next;
  std::uint64_t received = 0;
  jzx::Promise<std::uint64_t> done{};

  void on(Meet meet) { next = meet.next; }
  void on(Serve serve) {
    done = std::move(serve.done);
    bench::must(next.send(Token{serve.hops - 1}), "serve");
  }
  void on(Token token) {
    ++received;
    if (token.hops_left == 0) return done.resolve(received);
    bench::must(next.send(Token{token.hops_left - 1}), "pass on");
  }
  std::uint64_t on(Count) { return received; }
};

using Players = std::vector<jzx::ActorRef<Player>>;

// Everybody passes on to the next one, and the last to the first.
void introduce(const Players& players) {
  for (std::size_t i = 0; i < players.size(); ++i) {
    bench::must(players[i].send(Player::Meet{players[(i + 1) % players.size()]}), "introduce");
  }
}

// `hops` is a multiple of the players.
void play(benchmark::State& state, const Players& players, std::uint64_t hops) {
  introduce(players);
  std::uint64_t played = 0;
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    const auto received = bench::timed<std::uint64_t>(watch, [&](auto promise) {
      bench::must(players[0].send(Player::Serve{hops, std::move(promise)}), "start");
    });
    played += hops;
    BENCH_CHECK_COUNT(received, played / players.size());
    return hops;
  });
  for (const auto& player : players) {
    BENCH_CHECK_COUNT(bench::await(player.ask(Count{})), played / players.size());
  }
}

void pingpong(benchmark::State& state) {
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  Players players;
  for (int i = 0; i < 2; ++i) players.push_back(bench::must_spawn<Player>(runtime, {}));
  play(state, players, 1'000'000);
}
BENCHMARK(pingpong)->ArgName("workers")->Arg(1)->Arg(2);

void pingpong_cross(benchmark::State& state) {
  constexpr std::uint64_t kTrips = 2'000;
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  Players players;
  for (std::uint8_t worker = 0; worker < 2; ++worker) {
    jzx::SpawnOptions options;
    options.placement = jzx::Placement::pin_to(worker);
    players.push_back(bench::must_spawn<Player>(runtime, options));
  }
  const double floor_before_ns = bench::line_round_trip_ns(kTrips);
  play(state, players, 50'000);
  const double floor_after_ns = bench::line_round_trip_ns(kTrips);
  state.counters["line_floor_ns"] = (floor_before_ns + floor_after_ns) / 2;
}
BENCHMARK(pingpong_cross)->ArgName("workers")->Arg(2);

void ring(benchmark::State& state) {
  constexpr std::uint64_t kActors = 503;
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  Players players;
  for (std::uint64_t i = 0; i < kActors; ++i) {
    players.push_back(bench::must_spawn<Player>(runtime, {}));
  }
  play(state, players, kActors * 2000);
}
BENCHMARK(ring)->ArgName("workers")->Arg(1)->Arg(2);

// ---- stream ----

constexpr std::uint64_t kWindow = 1000;  // fits the default mailbox
constexpr std::uint64_t kWindows = 1000;

struct Number {
  std::uint64_t value;
};
struct Ack {};

struct Sender;

struct Receiver {
  jzx::ActorRef<Sender> sender;
  std::uint64_t received = 0;
  std::uint64_t sum = 0;

  void on(Number number);
  std::uint64_t on(Count) { return received; }
};

struct Sender {
  struct Start {
    jzx::ActorRef<Receiver> receiver;
    jzx::Promise<std::uint64_t> done;
  };

  jzx::ActorRef<Receiver> receiver{};
  jzx::Promise<std::uint64_t> done{};
  std::uint64_t windows_left = 0;

  void on(Start start) {
    receiver = start.receiver;
    done = std::move(start.done);
    windows_left = kWindows;
    send_window();
  }
  void on(Ack) {
    if (--windows_left == 0) return done.resolve(kWindows);
    send_window();
  }
  void send_window() {
    for (std::uint64_t i = 0; i < kWindow; ++i) bench::must(receiver.send(Number{i}), "stream");
  }
};

void Receiver::on(Number number) {
  if (number.value != received % kWindow) bench::must(jzx::Errc::unknown, "out of order");
  sum += number.value;
  if (++received % kWindow == 0) bench::must(sender.send(Ack{}), "acknowledge");
}

void stream(benchmark::State& state) {
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  const auto sender = bench::must_spawn<Sender>(runtime, {});
  const auto receiver = bench::must_spawn<Receiver>(runtime, {}, sender);

  std::uint64_t sent = 0;
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    const auto windows = bench::timed<std::uint64_t>(watch, [&](auto promise) {
      bench::must(sender.send(Sender::Start{receiver, std::move(promise)}), "start");
    });
    BENCH_CHECK_COUNT(windows, kWindows);
    sent += kWindow * kWindows;
    BENCH_CHECK_COUNT(bench::await(receiver.ask(Count{})), sent);
    return kWindow * kWindows;
  });
}
BENCHMARK(stream)->ArgName("workers")->Arg(1)->Arg(2);

}  // namespace
