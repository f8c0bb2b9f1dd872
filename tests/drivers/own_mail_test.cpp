// A loop, and a runtime with one worker, whose actors send to one another without exchanges while
// other threads send to them and they end all the time: every message has one fate.
#include <jzx/jzx.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "base/atomic.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

constexpr uint32_t kActors = 16;
constexpr int kThreads = 3;
constexpr uint32_t kHop = 1;
constexpr uint32_t kPoke = 2;
constexpr uint32_t kEnd = 3;

// A ring: a hop goes on to the next, a poke starts a new one, and whoever is told to end is
// followed by another in his place.
struct Ring {
  jzx_loop* loop = nullptr;
  std::array<std::atomic<jzx_actor_id>, kActors> ids{};
  uint64_t accepted = 0;  // of the actors' own messages
  uint64_t handled = 0;
  uint64_t dead = 0;
  uint64_t ended = 0;

  void put_actor(uint32_t place) {
    jzx_spawn_opts options{};
    options.behavior = &behave;
    options.state = this;
    options.mailbox_cap = place % 2 == 0 ? 6 : 0;  // two, or many
    jzx_actor_id id = 0;
    ASSERT_EQ(jzx_spawn(loop, &options, &id), JZX_OK);
    ids[place].store(id, std::memory_order_relaxed);
  }
  uint32_t place_of(jzx_actor_id id) const {
    for (uint32_t place = 0; place < kActors; ++place) {
      if (ids[place].load(std::memory_order_relaxed) == id) return place;
    }
    return 0;
  }

  static jzx_behavior_result behave(jzx_context* context, const jzx_message* message) {
    auto& ring = *static_cast<Ring*>(context->state);
    ++ring.handled;
    const uint32_t place = ring.place_of(context->self);
    const uint32_t tag = message->tag == kEnd ? kEnd : kHop;
    if (tag == kEnd) {
      ++ring.ended;
      ring.put_actor(place);
      return JZX_BEHAVIOR_STOP;
    }
    // `data` counts the hops that are left; a poke brings its own.
    const auto left = reinterpret_cast<uintptr_t>(message->data);
    if (left == 0) return JZX_BEHAVIOR_OK;
    const jzx_actor_id next = ring.ids[(place + 1) % kActors].load(std::memory_order_relaxed);
    void* rest = reinterpret_cast<void*>(left - 1);
    ring.accepted += jzx_send(ring.loop, next, rest, 0, kHop) == JZX_OK ? 1 : 0;
    return JZX_BEHAVIOR_OK;
  }
};

// What one of the other threads gets rid of.
uint64_t send_from_outside(Ring& ring, uint32_t seed, size_t messages) {
  uint64_t accepted = 0;
  for (size_t i = 0; i < messages; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const jzx_actor_id id = ring.ids[(seed >> 8) % kActors].load(std::memory_order_relaxed);
    const uint32_t tag = (seed >> 16) % 8 == 0 ? kEnd : kPoke;
    void* hops = reinterpret_cast<void*>(static_cast<uintptr_t>((seed >> 20) % 6));
    accepted += jzx_send_async(ring.loop, id, hops, 0, tag) == JZX_OK ? 1 : 0;
    if ((seed >> 24) % 16 == 0) base::yield_thread();
  }
  return accepted;
}

// `run`: until a stop is asked for; `destroy`: after which all messages have had their fate.
template <class Run, class Stop, class Destroy>
void expect_balance(Ring& ring, Run&& run, Stop&& stop, Destroy&& destroy) {
  jzx_observer observer{};
  observer.on_dead_letter = [](void* context, jzx_actor_id, const jzx_message*) {
    ++static_cast<Ring*>(context)->dead;
  };
  jzx_loop_set_observer(ring.loop, &observer, &ring);
  for (uint32_t place = 0; place < kActors; ++place) ring.put_actor(place);
  std::array<uint64_t, kThreads> accepted{};
  std::array<std::thread, kThreads> threads;
  std::atomic<int> busy{kThreads};
  for (int i = 0; i < kThreads; ++i) {
    threads[i] = std::thread([&, i] {
      accepted[i] = send_from_outside(ring, static_cast<uint32_t>(i) + 1, scaled(60'000));
      if (busy.fetch_sub(1) == 1) stop();
    });
  }
  run();
  for (std::thread& thread : threads) thread.join();
  destroy();
  uint64_t total = ring.accepted;
  for (const uint64_t one : accepted) total += one;
  EXPECT_EQ(total, ring.handled + ring.dead);
  EXPECT_GT(ring.accepted, 0u);
  EXPECT_GT(ring.ended, 0u);
}

TEST(OwnMail, OnALoopHasOneFateWhateverOthersSend) {
  Ring ring;
  ring.loop = jzx_loop_create(nullptr);
  ASSERT_NE(ring.loop, nullptr);
  expect_balance(
      ring, [&] { EXPECT_EQ(jzx_loop_run(ring.loop), JZX_OK); },
      [&] { jzx_loop_request_stop(ring.loop); }, [&] { jzx_loop_destroy(ring.loop); });
}

TEST(OwnMail, OfASingleWorkerHasOneFateWhateverOthersSend) {
  jzx_runtime_config config;
  jzx_runtime_config_init(&config);
  config.workers = 1;
  jzx_runtime* runtime = jzx_runtime_create(&config);
  ASSERT_NE(runtime, nullptr);
  Ring ring;
  ring.loop = jzx_runtime_loop(runtime);
  expect_balance(
      ring, [&] { EXPECT_EQ(jzx_runtime_run(runtime), JZX_OK); },
      [&] { jzx_runtime_request_stop(runtime); }, [&] { jzx_runtime_destroy(runtime); });
}

}  // namespace
}  // namespace jzx::testing
