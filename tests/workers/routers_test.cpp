// Groups, topics, routers and pools of a runtime, used by many threads at once, on one worker and
// on two.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <jzx/jzx.hpp>
#include <jzx/topic.hpp>
#include <jzx/worker_pool.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

// Counts what goes nowhere.
class DeadLetters final : public Observer {
 public:
  void dead_letter(ActorId, Envelope&, DeadLetterReason) override {
    count.fetch_add(1, std::memory_order_relaxed);  // read at a quiet moment
  }
  std::atomic<uint64_t> count{0};
};

class RoutingOnWorkers : public ::testing::TestWithParam<uint32_t> {
 protected:
  template <class F>
  static void on_threads(int count, F work) {
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) threads.emplace_back([&work, t] { work(t); });
    for (std::thread& thread : threads) thread.join();
  }

  DeadLetters dead;
  Runtime runtime{RuntimeOptions{.workers = GetParam(), .observer = &dead}};
};

constexpr int kThreads = 4;

// As scaled(), for signed counts.
int many(size_t full) { return static_cast<int>(scaled(full)); }

// ---- topics ----

struct Tick {
  int publisher;
  int number;
};

// Expects the numbers of each publisher to grow.
struct Reader {
  using Messages = jzx::Messages<Tick>;
  void on(Tick tick) {
    int& last = seen[static_cast<size_t>(tick.publisher)];
    if (tick.number <= last) out_of_order.add();
    last = tick.number;
    received.add();
  }
  Tally& received;
  Tally& out_of_order;
  std::array<int, kThreads> seen{-1, -1, -1, -1};
};

TEST_P(RoutingOnWorkers, WhatIsPublishedArrivesInTheOrderOfItsPublisher) {
  Tally received;
  Tally out_of_order;
  const auto ticks = topic<Tick>(runtime, "ticks");
  for (int i = 0; i < 3; ++i) {
    const auto reader = runtime.spawn<Reader>(std::ref(received), std::ref(out_of_order));
    // By both ways.
    ASSERT_EQ(i == 0 ? ticks.subscribe(reader.pid()) : ticks.subscribe(reader), Errc::ok);
  }
  std::atomic<uint64_t> delivered{0};
  on_threads(kThreads, [&](int publisher) {
    const auto found = topic<Tick>(runtime, "ticks");
    for (int i = 0; i < many(5000); ++i) {
      const Delivery sent = found.publish({publisher, i});
      EXPECT_EQ(sent.delivered + sent.refused, 3u);
      delivered += sent.delivered;
      if (sent.refused > 0) std::this_thread::yield();
    }
  });
  EXPECT_TRUE(received.reaches(delivered));
  EXPECT_EQ(received.value(), delivered);
  EXPECT_EQ(out_of_order.value(), 0u);
}

struct Go {
  int publisher;
  int count;
};
struct Publisher {
  void on(Go go, Context& context) {
    const auto ticks = topic<Tick>(context, "ticks");
    for (int i = 0; i < go.count; ++i) delivered.add(ticks.publish({go.publisher, i}).delivered);
  }
  Tally& delivered;
};

TEST_P(RoutingOnWorkers, ActorsPublishToOneAnother) {
  Tally received;
  Tally out_of_order;
  Tally delivered;
  const auto ticks = topic<Tick>(runtime, "ticks");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(ticks.subscribe(runtime.spawn<Reader>(std::ref(received), std::ref(out_of_order))),
              Errc::ok);
  }
  for (int i = 0; i < kThreads; ++i) runtime.spawn<Publisher>(std::ref(delivered)) << Go{i, 200};
  EXPECT_TRUE(delivered.reaches(3 * kThreads * 200));
  EXPECT_TRUE(received.reaches(3 * kThreads * 200));
  EXPECT_EQ(out_of_order.value(), 0u);
}

// ---- groups ----

struct Hello {};
struct Member {
  using Messages = jzx::Messages<Hello>;
  void on(Hello) { received.add(); }
  Tally& received;
};

TEST_P(RoutingOnWorkers, OneNameIsOneGroupForAllThreads) {
  Tally received;
  for (int round = 0; round < 50; ++round) {
    const std::string name = "round " + std::to_string(round);
    on_threads(kThreads, [&](int) {
      EXPECT_EQ(Group(runtime, name).join(runtime.spawn<Member>(std::ref(received))), Errc::ok);
    });
    ASSERT_EQ(Group(runtime, name).size(), static_cast<size_t>(kThreads));
  }
}

TEST_P(RoutingOnWorkers, MembersComeGoAndEndWhileOthersBroadcast) {
  Tally received;
  std::atomic<uint64_t> delivered{0};
  const Group group(runtime, "busy");
  std::atomic<int> coming{2};
  on_threads(4, [&](int thread) {
    if (thread < 2) {  // members
      for (int i = 0; i < many(20000); ++i) {
        const auto member = runtime.spawn<Member>(std::ref(received));
        EXPECT_EQ(group.join(member), Errc::ok);
        if (i % 3 == 0) {
          EXPECT_EQ(group.leave(member), Errc::ok);
        }
        EXPECT_EQ(runtime.stop(member), Errc::ok);
      }
      --coming;
    } else {
      while (coming > 0) {
        const Delivery sent = group.broadcast(Hello{});
        delivered += sent.delivered;
        if (sent.delivered == 0) std::this_thread::yield();
      }
    }
  });
  EXPECT_EQ(group.size(), 0u);
  EXPECT_TRUE(runtime.shutdown(60s).empty());
  EXPECT_EQ(received.value() + dead.count, delivered) << "every copy has one fate";
}

// A message that is slow to copy: the first copy is made when the system is being destroyed.
struct Slow {
  explicit Slow(std::function<void()> function) : wait(std::move(function)) {}
  Slow(const Slow& other) : wait(other.wait) { wait(); }
  Slow(Slow&&) noexcept = default;
  std::function<void()> wait;
};

TEST_P(RoutingOnWorkers, ABroadcastUnderWayWhenTheSystemEndsIsRefusedByTheRest) {
  Tally received;
  auto doomed = std::make_unique<Runtime>(RuntimeOptions{.workers = GetParam()});
  const Group group(*doomed);
  const auto first = doomed->spawn<Member>(std::ref(received));
  ASSERT_EQ(group.join(first), Errc::ok);
  ASSERT_EQ(group.join(doomed->spawn<Member>(std::ref(received))), Errc::ok);
  Gate begun;
  Delivery sent;
  std::thread foreign([&] {
    sent = group.broadcast(Slow([&] {
      begun.open();
      while (group.join(first) != Errc::loop_closed) std::this_thread::yield();
    }));
  });
  EXPECT_TRUE(begun.wait());
  doomed.reset();
  foreign.join();
  EXPECT_EQ(sent, (Delivery{1, 1})) << "the envelope of the first was there before";
}

TEST_P(RoutingOnWorkers, TheEndOfTheSystemWaitsForWhoStays) {
  auto doomed = std::make_unique<Runtime>(RuntimeOptions{.workers = GetParam()});
  const Group group(*doomed);
  Tally received;
  const auto member = doomed->spawn<Member>(std::ref(received));
  Gate ended;
  std::thread ender;
  {
    const detail::Stay stay(*member.pid().port());
    ASSERT_TRUE(stay);
    ender = std::thread([&] {
      doomed.reset();
      ended.open();
    });
    while (group.join(member) != Errc::loop_closed) std::this_thread::yield();
    bool was_early = false;
    for (int i = 0; i < 5000; ++i) {
      was_early |= ended.is_open();
      std::this_thread::yield();
    }
    EXPECT_FALSE(was_early);
  }
  EXPECT_TRUE(ended.wait());
  ender.join();
}

// ---- routers ----

struct Job {
  std::unique_ptr<int> weight;
};
struct Crash {};
struct Question {
  int number;
};

struct Worker {
  void on(Job job) { done.add(static_cast<uint64_t>(*job.weight)); }
  void on(Crash, Context& context) { context.fail("told to"); }
  int on(Question question) { return question.number + 1; }
  Tally& done;
};

TEST_P(RoutingOnWorkers, EveryMessageGoesToExactlyOne) {
  for (const Routing routing : {Routing::round_robin, Routing::random, Routing::smallest_mailbox}) {
    Tally done;
    Router<Worker> workers(runtime, routing);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(workers.add(runtime.spawn<Worker>(std::ref(done))), Errc::ok);
    }
    const int count = many(3000);
    on_threads(kThreads, [&](int) {
      for (int i = 0; i < count; ++i) {
        while (workers.send(Job{std::make_unique<int>(1)}) == Errc::mailbox_full) {
          std::this_thread::yield();
        }
      }
    });
    EXPECT_TRUE(done.reaches(static_cast<uint64_t>(kThreads * count)));
    EXPECT_EQ(done.value(), static_cast<uint64_t>(kThreads * count));
  }
}

TEST_P(RoutingOnWorkers, WhileReceiversEndOthersGetTheMessages) {
  Tally done;
  const Router<Worker> workers(runtime, Routing::round_robin,
                               {runtime.spawn<Worker>(std::ref(done))});  // this one stays
  std::atomic<uint64_t> accepted{0};
  on_threads(kThreads, [&](int thread) {
    for (int i = 0; i < many(20000); ++i) {
      if (thread == 0) {
        const auto passer_by = runtime.spawn<Worker>(std::ref(done));
        EXPECT_EQ(workers.add(passer_by), Errc::ok);
        EXPECT_EQ(runtime.stop(passer_by), Errc::ok);
        continue;
      }
      const Errc sent = workers.send(Job{std::make_unique<int>(1)});
      EXPECT_TRUE(sent == Errc::ok || sent == Errc::mailbox_full) << to_string(sent);
      if (ok(sent)) ++accepted;
    }
  });
  EXPECT_EQ(workers.size(), 1u);
  EXPECT_TRUE(runtime.shutdown(60s).empty());
  EXPECT_EQ(done.value() + dead.count, accepted) << "every message has one fate";
}

// ---- pools ----

TEST_P(RoutingOnWorkers, APoolAnswersWhileItsWorkersCrash) {
  constexpr size_t kWorkers = 3;
  Tally done;
  WorkerPoolOptions options;
  options.size = kWorkers;
  options.routing = Routing::smallest_mailbox;
  options.intensity = 1'000'000;
  const auto pool = spawn_pool_with<Worker>(runtime, options, std::ref(done));
  ASSERT_TRUE(pool);
  std::atomic<int> answered{0};
  on_threads(kThreads, [&](int thread) {
    for (int i = 0; i < many(500); ++i) {
      if (thread == 0) {
        (void)pool.send(Crash{});  // refused while all are down
        continue;
      }
      // Answered in any case, maybe by an error.
      const Result<int> answer = runtime.block_on(pool.ask(Question{i}));
      if (!answer.ok()) continue;
      EXPECT_EQ(*answer, i + 1);
      ++answered;
    }
  });
  EXPECT_GT(answered, 0);
  // A worker that answers has no crash before it any more.
  const auto is_quiet = [&] {
    const std::vector<ActorRef<Worker>> workers = pool.workers();
    for (const ActorRef<Worker>& one : workers) {
      if (!runtime.block_on(one.ask(Question{0})).ok()) return false;
    }
    return workers.size() == kWorkers;
  };
  while (!is_quiet()) std::this_thread::yield();
  EXPECT_EQ(pool.supervisor().count().active, kWorkers);
  EXPECT_EQ(*runtime.block_on(pool.ask(Question{1})), 2);
  EXPECT_EQ(runtime.stop(pool.supervisor()), Errc::ok);
  EXPECT_EQ(runtime.run(), Errc::ok);
  EXPECT_EQ(pool.send(Crash{}), Errc::no_such_actor);
}

TEST_P(RoutingOnWorkers, PoolsOfManyThreadsAreApart) {
  std::array<Tally, kThreads> done;
  on_threads(kThreads, [&](int thread) {
    Tally& mine = done[static_cast<size_t>(thread)];
    for (int round = 0; round < 10; ++round) {
      const auto pool = spawn_pool<Worker>(runtime, 2, Routing::round_robin, std::ref(mine));
      ASSERT_TRUE(pool);
      for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(pool.send(Job{std::make_unique<int>(1)}), Errc::ok);
      }
      EXPECT_TRUE(mine.reaches(static_cast<uint64_t>(10 * (round + 1))));
      EXPECT_EQ(runtime.stop(pool.supervisor()), Errc::ok);
    }
  });
  for (const Tally& one : done) EXPECT_EQ(one.value(), 100u);
  EXPECT_TRUE(runtime.shutdown(60s).empty());
}

INSTANTIATE_TEST_SUITE_P(Workers, RoutingOnWorkers, ::testing::Values(1u, 2u),
                         [](const auto& test) { return "W" + std::to_string(test.param); });

}  // namespace
}  // namespace jzx::testing
