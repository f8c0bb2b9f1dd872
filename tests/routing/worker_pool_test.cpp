// Pools of workers: shared work, restarts, and the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <jzx/worker_pool.hpp>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Job {
  int number;
};
struct Crash {};
struct Double {
  int number;
};

// What outlives every restart.
struct World {
  std::vector<std::string> log;
  int made = 0;
  int ended = 0;
};

struct Worker {
  Worker(World& the_world, int the_factor) : world(the_world), factor(the_factor) {
    name = std::to_string(world.made++);
  }
  Worker(const Worker&) = delete;
  ~Worker() { ++world.ended; }
  void on_start() { world.log.push_back("+" + name); }
  void on_stop() { world.log.push_back("-" + name); }
  void on(Job job) { world.log.push_back(name + ":" + std::to_string(job.number)); }
  void on(Crash, Context& context) { context.fail("told to"); }
  int on(Double question) { return factor * question.number; }

  World& world;
  int factor;
  std::string name;
};

// A struct without constructors, and without on_start.
struct Plain {
  void on(Job) { ++*count; }
  int* count;
};

class PoolTest : public OnAnyDriver {
 protected:
  using Log = std::vector<std::string>;

  // What was logged since the last look, by whom first.
  Log seen() {
    loop.settle();
    const auto who = [](const std::string& entry) {
      return std::stoi(entry.substr(entry[0] < '0'));
    };
    std::stable_sort(world.log.begin(), world.log.end(),
                     [&](auto& x, auto& y) { return who(x) < who(y); });
    return std::exchange(world.log, {});
  }
  WorkerPool<Worker> pool_of(size_t size, Routing routing = Routing::round_robin) {
    return spawn_pool<Worker>(loop, size, routing, std::ref(world), 2);
  }

  World world;
  ClockedLoop loop;
};
JZX_ON_ALL_DRIVERS(PoolTest);

TEST_P(PoolTest, WorkersShareWhatIsSent) {
  const auto pool = pool_of(3);
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool.size(), 3u) << "they can be reached before they have started";
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pool.send(Job{i}), Errc::ok);
  EXPECT_EQ(seen(), (Log{"+0", "0:0", "0:3", "+1", "1:1", "+2", "2:2"}));
  EXPECT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool.workers().size(), 3u);
}

TEST_P(PoolTest, AnswersAsks) {
  const auto pool = pool_of(2, Routing::smallest_mailbox);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(loop.run_until(pool.ask(Double{i})).value(), 2 * i);
}

TEST_P(PoolTest, ACrashedWorkerIsReplacedAndThePoolGoesOn) {
  const auto pool = pool_of(2);
  const std::vector<ActorRef<Worker>> before = pool.workers();
  pool << Crash{};  // the first
  EXPECT_EQ(seen(), (Log{"+0", "-0", "+1", "+2"}));
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_NE(pool.workers(), before);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pool.send(Job{i}), Errc::ok);
  EXPECT_EQ(seen().size(), 4u);
  EXPECT_EQ(world.ended, 1);
}

TEST_P(PoolTest, GoesOnThroughManyCrashes) {
  WorkerPoolOptions options;
  options.size = 3;
  options.intensity = 1000;
  const auto pool = spawn_pool_with<Worker>(loop, options, std::ref(world), 2);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(pool.send(Crash{}), Errc::ok);
    loop.settle();
    EXPECT_EQ(pool.size(), 3u);
  }
  EXPECT_EQ(world.made, 203);
  EXPECT_EQ(pool.supervisor().count().active, 3u);
}

TEST_P(PoolTest, WhileAWorkerIsDownTheOthersDoItsWork) {
  WorkerPoolOptions options;
  options.size = 2;
  options.backoff.initial = 100ms;
  const auto pool = spawn_pool_with<Worker>(loop, options, std::ref(world), 2);
  pool << Crash{};
  loop.settle();
  EXPECT_EQ(pool.size(), 1u);
  world.log.clear();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pool.send(Job{i}), Errc::ok);
  EXPECT_EQ(seen(), (Log{"1:0", "1:1", "1:2"}));
  loop.advance(100ms);
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(seen(), (Log{"+2"}));
}

TEST_P(PoolTest, AWorkerThatIsDownAloneLeavesNobody) {
  WorkerPoolOptions options;
  options.backoff.initial = 100ms;
  const auto pool = spawn_pool_with<Worker>(loop, options, std::ref(world), 2);
  pool << Crash{};
  loop.settle();
  EXPECT_EQ(pool.send(Job{1}), Errc::no_such_actor);
  loop.advance(100ms);
  EXPECT_EQ(pool.send(Job{1}), Errc::ok);
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(PoolTest, AnAskThatCrashesItsWorkerIsAnError) {
  struct Fragile {
    int on(Double) { throw 1; }
  };
  const auto pool = spawn_pool<Fragile>(loop, 2, Routing::round_robin);
  EXPECT_FALSE(loop.run_until(pool.ask(Double{1})).ok());
  loop.settle();
  EXPECT_EQ(pool.size(), 2u);
}
#endif

TEST_P(PoolTest, TooManyCrashesEndIt) {
  WorkerPoolOptions options;
  options.size = 2;
  options.intensity = 1;
  const auto pool = spawn_pool_with<Worker>(loop, options, std::ref(world), 2);
  pool << Crash{};
  loop.settle();
  EXPECT_EQ(pool.size(), 2u);
  pool << Crash{};
  loop.settle();
  EXPECT_EQ(pool.size(), 0u);
  EXPECT_EQ(pool.send(Job{1}), Errc::no_such_actor);
  EXPECT_EQ(loop.seen().escalations.size(), 1u);
  EXPECT_EQ(world.ended, world.made);
}

TEST_P(PoolTest, EndsWithItsSupervisor) {
  const auto pool = pool_of(2);
  loop.settle();
  EXPECT_EQ(loop.stop(pool.supervisor()), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(pool.send(Job{1}), Errc::no_such_actor);
  EXPECT_EQ(seen(), (Log{"+0", "-0", "+1", "-1"}));
}

TEST_P(PoolTest, OfAnActorEndsWithThatActor) {
  struct Owner {
    void on(Job) {}
  };
  const auto owner = loop.spawn<Owner>();
  WorkerPoolOptions options;
  options.size = 2;
  options.parent = owner;
  const auto pool = spawn_pool_with<Worker>(loop, options, std::ref(world), 2);
  loop.settle();
  EXPECT_EQ(loop.stop(owner), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(world.ended, 2);
}

TEST_P(PoolTest, CanBeSpawnedInAHandler) {
  struct Boss {
    void on(Job job, Context& context) {
      const auto pool = spawn_pool<Worker>(context, 2, Routing::round_robin, std::ref(world), 2);
      pool << job << job;
    }
    World& world;
  };
  loop.spawn<Boss>(std::ref(world)) << Job{7};
  EXPECT_EQ(seen(), (Log{"+0", "0:7", "+1", "1:7"}));
}

TEST_P(PoolTest, TakesWorkersWithoutConstructors) {
  int count = 0;
  const auto pool = spawn_pool<Plain>(loop, 3, Routing::round_robin, &count);
  EXPECT_EQ(pool.broadcast(Job{1}), (Delivery{3, 0}));
  loop.settle();
  EXPECT_EQ(count, 3);
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(PoolTest, AWorkerThatCannotStartMakesNoPool) {
  struct Stillborn {
    Stillborn() { throw 1; }
    void on(Job) {}
  };
  const auto pool = spawn_pool<Stillborn>(loop, 3, Routing::round_robin);
  EXPECT_FALSE(pool);
  EXPECT_EQ(loop.supervise_error(), Errc::start_failed);
  EXPECT_EQ(pool.send(Job{1}), Errc::no_such_actor);
  EXPECT_EQ(pool.size(), 0u);
}
#endif

TEST_P(PoolTest, WorkersHaveNamesAndMailboxesOfTheirOwn) {
  WorkerPoolOptions options;
  options.size = 2;
  options.mailbox_cap = 5;  // one of the user's
  const auto pool = spawn_pool_with<Worker>(loop, options, std::ref(world), 2);
  EXPECT_EQ(loop.seen().started(), (Log{"", "worker-0", "worker-1"}));
  EXPECT_EQ(pool.send(Job{1}), Errc::ok);
  EXPECT_EQ(pool.send(Job{2}), Errc::ok);
  EXPECT_EQ(pool.send(Job{3}), Errc::mailbox_full);
}

// Hears of a link's end as every actor does.
struct Linked {
  void on(const Exit&) { ++heard; }
  void on(Pid other, Context& context) {
    EXPECT_EQ(context.trap_exit(true), Errc::ok);
    EXPECT_EQ(context.link(other), Errc::ok);
  }
  int& heard;
};

TEST_P(PoolTest, WorkersHearTheSystem) {
  int heard = 0;
  const auto pool = spawn_pool<Linked>(loop, 1, Routing::round_robin, std::ref(heard));
  const auto other = loop.spawn<Plain>(nullptr);
  pool << other.pid();
  loop.settle();
  EXPECT_EQ(loop.kill(other), Errc::ok);
  loop.settle();
  EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace jzx::testing
