// Where actors run: the pinned on their worker and nowhere else, also while others steal; those
// that block beside the workers.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

constexpr uint32_t kWorkers = 4;

// What all actors of the test share: which thread each worker turned out to be.
struct Map {
  std::array<std::atomic<std::thread::id>, kWorkers> threads{};
  std::atomic<uint64_t> strayed{0};
  std::atomic<uint64_t> homeless{0};
  const Runtime* runtime = nullptr;
  Tally ended;

  void was_here(uint32_t worker) {
    const auto here = std::this_thread::get_id();
    std::thread::id expected{};
    if (!threads[worker].compare_exchange_strong(expected, here) && expected != here) {
      strayed.fetch_add(1);
    }
    if (Runtime::current() != runtime) homeless.fetch_add(1);
  }
};

struct Hop {
  uint32_t left;
};

// Passes a ball on among all actors, pinned and free ones in turn.
struct Walker {
  using Messages = jzx::Messages<Hop>;
  Map& map;
  uint32_t worker;  // kWorkers: anywhere
  const std::vector<Pid>& all;
  void on(Hop hop) {
    if (worker < kWorkers) {
      map.was_here(worker);
    } else if (Runtime::current() != map.runtime) {
      map.homeless.fetch_add(1);
    }
    if (hop.left == 0) return map.ended.add();
    const Pid next = all[(hop.left * 7919u) % all.size()];
    if (next.send(Hop{hop.left - 1}) != Errc::ok) map.ended.add();
  }
};

TEST(Placement, APinnedActorRunsOnItsWorkerOnlyWhileOthersSteal) {
  Map map;
  std::vector<Pid> all;
  Runtime runtime(RuntimeOptions{.workers = kWorkers, .steal_batch = 2});
  map.runtime = &runtime;
  all.reserve(100);
  for (uint32_t i = 0; i < 100; ++i) {
    const uint32_t worker = i % (2 * kWorkers);
    SpawnOptions options;
    if (worker < kWorkers) options.placement = Placement::pin_to(static_cast<uint8_t>(worker));
    all.push_back(runtime.spawn_with<Walker>(options, map, std::min(worker, kWorkers), all));
  }
  constexpr uint32_t kBalls = 40;
  for (uint32_t i = 0; i < kBalls; ++i) {
    ASSERT_EQ(all[i].send(Hop{static_cast<uint32_t>(scaled(4'000, 10)) + i}), Errc::ok);
  }
  ASSERT_TRUE(map.ended.reaches(kBalls));
  EXPECT_EQ(map.strayed.load(), 0u) << "turns of pinned actors on other threads";
  EXPECT_EQ(map.homeless.load(), 0u) << "turns in which Runtime::current() was not the runtime";
  for (uint32_t a = 0; a < kWorkers; ++a) {
    EXPECT_NE(map.threads[a].load(), std::thread::id{});
    for (uint32_t b = 0; b < a; ++b) EXPECT_NE(map.threads[a].load(), map.threads[b].load());
  }
  EXPECT_EQ(Runtime::current(), nullptr);
}

TEST(Placement, PinningToAWorkerThatIsNotThereIsRefused) {
  Map map;
  const std::vector<Pid> nobody;
  Runtime runtime(RuntimeOptions{.workers = 2});
  for (const uint8_t worker : std::array<uint8_t, 4>{2, 3, 249, 250}) {
    SpawnOptions options;
    options.placement = Placement::pin_to(worker);
    const auto actor = runtime.spawn_with<Walker>(options, map, kWorkers, nobody);
    EXPECT_FALSE(actor) << "worker " << int{worker};
    EXPECT_EQ(runtime.spawn_error(), Errc::invalid_arg) << "worker " << int{worker};
  }
}

// ---- what blocks ----

struct Wait {};
struct Ask {};

struct Blocker {
  Gate& is_blocked;
  Gate& release;
  void on(Wait) {
    is_blocked.open();
    EXPECT_TRUE(release.wait());
  }
  std::thread::id on(Ask) { return std::this_thread::get_id(); }
};

struct Answerer {
  std::thread::id on(Ask) { return std::this_thread::get_id(); }
};

constexpr SpawnOptions on_a_blocking_thread() {
  SpawnOptions options;
  options.placement = Placement::blocking();
  return options;
}

TEST(Blocking, AnActorThatReallyBlocksDoesNotKeepTheOnlyWorker) {
  Gate is_blocked;
  Gate release;
  Runtime runtime(RuntimeOptions{.workers = 1});
  const auto blocker = runtime.spawn_with<Blocker>(on_a_blocking_thread(), is_blocked, release);
  const auto answerer = runtime.spawn<Answerer>();
  ASSERT_EQ(blocker.send(Wait{}), Errc::ok);
  ASSERT_TRUE(is_blocked.wait());
  const Result<std::thread::id> worker = runtime.block_on(answerer.ask(Ask{}));
  ASSERT_TRUE(worker.ok());
  release.open();
  const Result<std::thread::id> other = runtime.block_on(blocker.ask(Ask{}));
  ASSERT_TRUE(other.ok());
  EXPECT_NE(*worker, *other);
}

TEST(Blocking, ManyMoreFunctionsThanThreadsAllRun) {
  constexpr int kFunctions = 500;
  Runtime runtime(RuntimeOptions{.workers = 1, .max_blocking_threads = 4});
  std::vector<Future<int>> results;
  for (int i = 0; i < kFunctions; ++i) {
    results.push_back(runtime.spawn_blocking([i] {
      if (i % 5 == 0) throw std::runtime_error("number " + std::to_string(i));
      return i;
    }));
  }
  for (int i = 0; i < kFunctions; ++i) {
    const Result<int> result = results[static_cast<size_t>(i)].get();
    if (i % 5 == 0) {
      ASSERT_FALSE(result.ok());
      EXPECT_NE(std::string(result.error().message()).find("number " + std::to_string(i)),
                std::string::npos);
    } else {
      ASSERT_TRUE(result.ok());
      EXPECT_EQ(*result, i);
    }
  }
}

TEST(Blocking, AsManyAsThereAreThreadsBlockAtOnce) {
  constexpr int kThreads = 8;
  Runtime runtime(RuntimeOptions{.workers = 1, .max_blocking_threads = kThreads});
  for (int round = 0; round < 20; ++round) {
    std::latch together(kThreads);  // nobody gets past before the last has come
    std::vector<Future<void>> all;
    for (int i = 0; i < kThreads; ++i) {
      all.push_back(runtime.spawn_blocking([&] { together.arrive_and_wait(); }));
    }
    for (Future<void>& one : all) EXPECT_TRUE(one.get().ok());
  }
}

struct Through {
  uint32_t number;
  Pid back;
};
struct Back {
  uint32_t number;
};

// Turns on a blocking thread and on a worker in turn.
struct Relay {
  using Messages = jzx::Messages<Through>;
  void on(Through message) { EXPECT_EQ(message.back.send(Back{message.number}), Errc::ok); }
};
struct Origin {
  using Messages = jzx::Messages<Back>;
  Pid relay;
  uint32_t rounds;
  Tally& done;
  uint32_t expected = 0;
  void on_start(Context& context) { (void)relay.send(Through{0, context.self()}); }
  void on(Back message, Context& context) {
    EXPECT_EQ(message.number, expected++);
    if (expected == rounds) return done.add();
    (void)relay.send(Through{expected, context.self()});
  }
};

TEST(Blocking, MessagesGoBackAndForthBetweenWorkersAndBlockingThreads) {
  constexpr uint32_t kPairs = 20;
  Tally done;
  Runtime runtime(RuntimeOptions{.workers = 2, .max_blocking_threads = 3});
  for (uint32_t i = 0; i < kPairs; ++i) {
    const auto relay = runtime.spawn_with<Relay>(on_a_blocking_thread());
    ASSERT_TRUE(runtime.spawn<Origin>(relay, static_cast<uint32_t>(scaled(500, 5)), done));
  }
  ASSERT_TRUE(done.reaches(kPairs));
}

// A pool that grows makes hosts while workers look through those there are.
struct Brief {
  void on_start(Context& context) { context.stop(); }
};

TEST(Blocking, ThePoolGrowsWhileWorkersSpawnAtTheLimit) {
  constexpr uint32_t kMost = 64;
  Runtime runtime(RuntimeOptions{.workers = 2, .max_actors = kMost, .max_blocking_threads = 32});
  std::atomic<bool> is_over{false};
  std::thread spawner([&] {
    while (!is_over.load()) {
      if (!runtime.spawn<Brief>()) std::this_thread::yield();
    }
  });
  std::latch all_there(32);
  std::vector<Future<void>> all;
  for (int i = 0; i < 32; ++i) {
    all.push_back(runtime.spawn_blocking([&] {
      for (int k = 0; k < 100; ++k) (void)Runtime::current()->spawn<Brief>();
      all_there.arrive_and_wait();
    }));
  }
  for (Future<void>& one : all) EXPECT_TRUE(one.get().ok());
  is_over.store(true);
  spawner.join();
}

}  // namespace
}  // namespace jzx::testing
