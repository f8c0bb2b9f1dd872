// jzx::Runtime from the outside: actors on several workers keep the promises of one thread.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace jzx {
namespace {

using namespace std::chrono_literals;

struct Add {
  int by;
};
struct Get {};
struct Crash {};

struct Counter {
  int value = 0;
  void on(Add add) { value += add.by; }
  int on(Get) { return value; }
  void on(Crash, Context& context) { context.fail("crashed on purpose"); }
};

TEST(Runtime, HasTheDefaultsThatTheDocumentationNames) {
  const RuntimeOptions options;
  EXPECT_EQ(options.local_queue, 256u);
  EXPECT_EQ(options.injection_high_water, 65'536u);
  EXPECT_EQ(options.steal_batch, 32u);
  EXPECT_EQ(options.default_mailbox_cap, 1024u);
  EXPECT_EQ(options.max_msgs_per_actor, 64u);
  EXPECT_EQ(options.max_actors_per_tick, 1024u);
  cpu_set_t cores;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(cores), &cores), 0);
  const Runtime runtime;
  EXPECT_EQ(runtime.worker_count(), static_cast<uint32_t>(CPU_COUNT(&cores)));
}

TEST(Runtime, CannotBeMadeBeyondItsLimits) {
  for (const uint32_t count : {0u, 257u, UINT32_MAX}) {
    EXPECT_FALSE(Runtime(RuntimeOptions{.workers = 1, .local_queue = count})) << count;
  }
  for (const uint32_t count : {0u, 513u, UINT32_MAX}) {
    EXPECT_FALSE(Runtime(RuntimeOptions{.workers = 1, .max_blocking_threads = count})) << count;
  }
  EXPECT_FALSE(Runtime(RuntimeOptions{.workers = 251}));
  EXPECT_FALSE(Runtime(RuntimeOptions{.workers = 1, .max_actors = (1u << 28) + 1}));
  EXPECT_TRUE(Runtime(RuntimeOptions{.workers = 1, .max_actors = 1u << 28}));
  EXPECT_TRUE(
      Runtime(RuntimeOptions{.workers = 1, .local_queue = 256, .max_blocking_threads = 512}));
}

TEST(Runtime, ThatCouldNotBeMadeHasNoHandlePoolsAndSaysSo) {
  Runtime runtime(RuntimeOptions{.workers = 1, .steal_batch = 0});
  ASSERT_FALSE(runtime);
  EXPECT_DEATH((void)runtime.handle_pools(),
               "jzx: no handle pools: their system could not be made");
}

TEST(Runtime, AnswersAnAskFromMain) {
  Runtime runtime;
  ASSERT_TRUE(runtime);
  const auto counter = runtime.spawn<Counter>();
  ASSERT_EQ(counter.send(Add{41}), Errc::ok);
  ASSERT_EQ(counter.send(Add{1}), Errc::ok);
  const Result<int> value = runtime.block_on(counter.ask(Get{}));
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 42);
}

TEST(Runtime, HandlesEveryMessageOfManyForeignThreadsOnce) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  const auto counter = runtime.spawn<Counter>();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        while (counter.send(Add{1}) == Errc::mailbox_full) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Result<int> value = Error(Errc::mailbox_full);
  while (!value.ok()) value = runtime.block_on(counter.ask(Get{}));
  EXPECT_EQ(*value, 80'000);
}

struct Ball {
  int left;
  Pid from;
};
struct Player {
  using Messages = jzx::Messages<Ball>;
  Promise<int>* done = nullptr;
  void on(Ball ball, Context& context) {
    if (ball.left == 0) {
      if (done != nullptr) done->resolve(1);
      return;
    }
    (void)ball.from.send(Ball{ball.left - 1, context.self()});
  }
};

TEST(Runtime, PlaysPingPongBetweenPinnedWorkers) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto [future, promise] = jzx::promise<int>();
  SpawnOptions left;
  left.placement = Placement::pin_to(0);
  SpawnOptions right;
  right.placement = Placement::pin_to(1);
  const auto a = runtime.spawn_with<Player>(left, Player{&promise});
  const auto b = runtime.spawn_with<Player>(right, Player{&promise});
  ASSERT_EQ(a.send(Ball{10'001, b}), Errc::ok);
  EXPECT_EQ(*runtime.block_on(std::move(future)), 1);
}

struct Leaf {};
struct Sum {
  int64_t value;
};
struct Start {
  int64_t first;
  int64_t size;
  Pid parent;
};
// Skynet: ten children each, down to the leaves; sums come back.
struct Node {
  using Messages = jzx::Messages<Start, Sum>;
  explicit Node(Promise<int64_t>* promise = nullptr) : done(promise) {}
  Promise<int64_t>* done;
  Pid parent;
  int64_t sum = 0;
  int waiting = 0;
  void on(Start start, Context& context) {
    parent = start.parent;
    if (start.size == 1) {
      (void)parent.send(Sum{start.first});
      return context.stop();
    }
    waiting = 10;
    for (int64_t i = 0; i < 10; ++i) {
      const auto child = context.spawn<Node>();
      ASSERT_TRUE(child) << to_string(context.spawn_error());
      (void)child.send(Start{start.first + i * start.size / 10, start.size / 10, context.self()});
    }
  }
  void on(Sum part, Context& context) {
    sum += part.value;
    if (--waiting > 0) return;
    if (done != nullptr) {
      done->resolve(sum);
    } else {
      (void)parent.send(Sum{sum});
    }
    context.stop();
  }
};

TEST(Runtime, AddsUpATreeOfActorsOnAllWorkers) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  for (int round = 0; round < 5; ++round) {
    auto [future, promise] = jzx::promise<int64_t>();
    const auto root = runtime.spawn<Node>(&promise);
    (void)root.send(Start{0, 10'000, Pid()});
    EXPECT_EQ(*runtime.block_on(std::move(future)), 10'000 * 9'999 / 2);
  }
  EXPECT_TRUE(runtime.shutdown(10s).empty());
}

TEST(Runtime, RunReturnsWhenNobodyIsLeft) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto [future, promise] = jzx::promise<int64_t>();
  (void)runtime.spawn<Node>(&promise).send(Start{0, 100, Pid()});
  EXPECT_EQ(runtime.run(), Errc::ok);
  EXPECT_TRUE(future.is_ready());
}

TEST(Runtime, RestartsAChildThatCrashes) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  const auto family = runtime.supervise({.intensity = 1000}, {child<Counter>("counter")});
  ASSERT_TRUE(family);
  for (int i = 0; i < 100; ++i) {
    ActorRef<Counter> counter;
    while (!counter) counter = family.child_as<Counter>(0);
    if (!ok(counter.send(Crash{}))) continue;
    while (family.child(0) == counter.pid()) std::this_thread::yield();
  }
  EXPECT_TRUE(runtime.shutdown(10s).empty());
}

TEST(Runtime, RunsABlockingFunctionBesideItsWorkers) {
  Runtime runtime(RuntimeOptions{.workers = 1});
  const auto caller = std::this_thread::get_id();
  auto future = runtime.spawn_blocking([caller] { return std::this_thread::get_id() != caller; });
  EXPECT_TRUE(*future.get());
}

}  // namespace
}  // namespace jzx
