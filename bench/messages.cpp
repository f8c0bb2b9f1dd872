// Messages between actors on the one-thread loop.
//
// Promises guarded:
//   pingpong/loop    two actors, one message in flight: at most 9 ns a message. The
//                    latency of a send, a wake and a turn, with nothing to batch.
//   burst/loop       one sender, one receiver, windows of 1000: what a message costs
//                    when the turn is shared by many. No goal of its own.
#include <array>

#include "support.hpp"

namespace {

constexpr std::uint64_t kRoundTrips = 100'000;
constexpr std::uint32_t kTagBall = 1;

struct Player {
  jzx_actor_id peer = 0;
  std::uint64_t received = 0;
  std::uint64_t* left = nullptr;  // shared by both players: messages to go in this rally
};

jzx_behavior_result play(jzx_context* ctx, const jzx_message*) {
  auto* player = static_cast<Player*>(ctx->state);
  ++player->received;
  if (--*player->left == 0) {
    jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  }
  const jzx_err err = jzx_send(ctx->loop, player->peer, nullptr, 0, kTagBall);
  return err == JZX_OK ? JZX_BEHAVIOR_OK : JZX_BEHAVIOR_FAIL;
}

void pingpong_loop(benchmark::State& state) {
  const bench::Loop loop = bench::make_loop();
  std::uint64_t left = 0;
  std::array<Player, 2> players;
  std::array<jzx_actor_id, 2> ids{};
  for (std::size_t i = 0; i < 2; ++i) {
    players[i].left = &left;
    ids[i] = bench::spawn(loop, play, &players[i]);
  }
  players[0].peer = ids[1];
  players[1].peer = ids[0];

  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    left = 2 * kRoundTrips;
    BENCH_CHECK_COUNT(jzx_send(loop.get(), ids[0], nullptr, 0, kTagBall), JZX_OK);
    watch.start();
    const int result = jzx_loop_run(loop.get());
    watch.stop();
    BENCH_CHECK_COUNT(result, 0);
    BENCH_CHECK_COUNT(left, 0);
    items += 2 * kRoundTrips;
    BENCH_CHECK_COUNT(players[0].received + players[1].received, items);
    BENCH_CHECK_COUNT(players[0].received, players[1].received);
  }
  bench::report(state, items, watch);
}
BENCHMARK(pingpong_loop)->Name("pingpong/loop");

constexpr std::uint64_t kWindow = 1000;
constexpr std::uint64_t kWindows = 100;
constexpr std::uint32_t kTagNumber = 2;
constexpr std::uint32_t kTagWindowDone = 3;

struct Burst {
  jzx_actor_id sender = 0;
  jzx_actor_id receiver = 0;
  std::uint64_t windows_left = 0;
  std::uint64_t received = 0;
  std::uint64_t sum = 0;
};

jzx_behavior_result send_window(jzx_context* ctx, const jzx_message*) {
  auto* burst = static_cast<Burst*>(ctx->state);
  if (burst->windows_left-- == 0) {
    jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  }
  for (std::uint64_t i = 0; i < kWindow; ++i) {
    // The length carries the number; there is no payload to own.
    if (jzx_send(ctx->loop, burst->receiver, nullptr, i, kTagNumber) != JZX_OK)
      return JZX_BEHAVIOR_FAIL;
  }
  return JZX_BEHAVIOR_OK;
}

jzx_behavior_result receive_window(jzx_context* ctx, const jzx_message* msg) {
  auto* burst = static_cast<Burst*>(ctx->state);
  burst->sum += msg->len;
  if (++burst->received % kWindow != 0) return JZX_BEHAVIOR_OK;
  const jzx_err err = jzx_send(ctx->loop, burst->sender, nullptr, 0, kTagWindowDone);
  return err == JZX_OK ? JZX_BEHAVIOR_OK : JZX_BEHAVIOR_FAIL;
}

void burst_loop(benchmark::State& state) {
  const bench::Loop loop = bench::make_loop();
  Burst burst;
  burst.sender = bench::spawn(loop, send_window, &burst);
  burst.receiver = bench::spawn(loop, receive_window, &burst);

  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    burst.windows_left = kWindows;
    BENCH_CHECK_COUNT(jzx_send(loop.get(), burst.sender, nullptr, 0, kTagWindowDone), JZX_OK);
    watch.start();
    const int result = jzx_loop_run(loop.get());
    watch.stop();
    BENCH_CHECK_COUNT(result, 0);
    items += kWindow * kWindows;
    BENCH_CHECK_COUNT(burst.received, items);
    BENCH_CHECK_COUNT(burst.sum, items / kWindow * (kWindow * (kWindow - 1) / 2));
  }
  bench::report(state, items, watch);
}
BENCHMARK(burst_loop)->Name("burst/loop");

}  // namespace
