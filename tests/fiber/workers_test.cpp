// Fibers on workers: they go from thread to thread, and what is theirs goes with them.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fiber/checked_runtime.hpp"
#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

struct Go {};
struct Late {
  uint32_t round;
};

class FiberOnWorkers : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(All, FiberOnWorkers, ::testing::Values(1u, 2u), [](const auto& workers) {
  return "workers_" + std::to_string(workers.param);
});

TEST_P(FiberOnWorkers, ATimersMessageThatWasKeptGoesBackToTheWorkerItCameFrom) {
  CheckedRuntime runtime(GetParam());
  Tally done;
  const uint32_t last_worker = GetParam() - 1;
  SpawnOptions options;
  options.placement = Placement::pin_to(last_worker);
  runtime.spawn_fn_with(options, [&] {
    FiberSystem system;
    for (uint32_t round = 0; round < 20; ++round) {
      (void)system.send_after(0ms, self(), Late{round});
      (void)system.send_after(2ms, self(), Go{});
      receive([](Go) {});
      receive([&](Late late) { EXPECT_EQ(late.round, round); });
    }
    done.add();
  });
  EXPECT_TRUE(done.reaches(1));
}

TEST_P(FiberOnWorkers, FuturesAreResolvedByForeignThreads) {
  constexpr size_t kThreads = 3;
  const size_t each = scaled(2'000, 20);
  CheckedRuntime runtime(GetParam());
  Tally sum;
  Tally done;
  std::vector<std::vector<Promise<uint64_t>>> promises(kThreads);
  for (size_t thread = 0; thread < kThreads; ++thread) {
    for (size_t i = 0; i < each; ++i) {
      auto [future, promise] = jzx::promise<uint64_t>();
      promises[thread].push_back(std::move(promise));
      runtime.spawn_fn([&, future = std::move(future)]() mutable {
        const Result<uint64_t> got = future.get();
        if (got) sum.add(got.value());
        done.add();
      });
    }
  }
  std::vector<std::thread> threads;
  for (auto& own : promises) {
    threads.emplace_back([&own] {
      for (size_t i = 0; i < own.size(); ++i) {
        if (i % 10 != 0) own[i].resolve(2);
      }
      own.clear();  // the rest is broken
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(done.reaches(kThreads * each));
  EXPECT_EQ(sum.value(), kThreads * 2 * (each - (each + 9) / 10));
}

struct Doubler {
  int on(int number) { return number * 2; }
};

// Asks a fiber on behalf of others, and passes the answer on.
struct Relay {
  Pid fiber;
  Tally& sum;
  void on(int number) {
    ask<int>(fiber, number).then([&sum = sum](Result<int> answer) {
      sum.add(static_cast<uint64_t>(answer.value()));
    });
  }
};

TEST_P(FiberOnWorkers, FibersAndHandlersAskEachOther) {
  const int rounds = static_cast<int>(scaled(300, 10));
  constexpr uint64_t kAskers = 20;
  CheckedRuntime runtime(GetParam());
  Tally sum;
  Tally done;
  const auto handler = runtime.spawn<Doubler>();
  const Pid fiber = runtime.spawn_fn([&] {
    for (Wait wait = Wait::done; wait != Wait::killed;) {
      // It asks itself before it answers: the question waits with its handler.
      wait = receive([&](int number) { return handler.ask(number).get().value() + 1; });
    }
  });
  const auto relay = runtime.spawn<Relay>(fiber, sum);
  for (uint64_t i = 0; i < kAskers; ++i) {
    runtime.spawn_fn([&] {
      for (int round = 0; round < rounds; ++round) {
        EXPECT_EQ(handler.ask(round).get().value(), 2 * round);
        EXPECT_EQ(ask<int>(fiber, round).get().value(), 2 * round + 1);
      }
      relay << 1;
      done.add();
    });
  }
  EXPECT_TRUE(done.reaches(kAskers));
  EXPECT_TRUE(sum.reaches(3 * kAskers));
}

// Each sends itself what it then waits for as long as it takes to come: mail and time are up at the
// same moment, on workers that may be different ones.
TEST_P(FiberOnWorkers, AMessageIsReceivedOnceHoweverItRacesWithTheTime) {
  constexpr uint32_t kRounds = 30;
  const uint32_t fibers = static_cast<uint32_t>(scaled(200, 4));
  CheckedRuntime runtime(GetParam());
  Tally received;
  Tally timed_out;
  Tally done;
  for (uint32_t i = 0; i < fibers; ++i) {
    runtime.spawn_fn([&, i] {
      FiberSystem system;
      uint32_t missing = 0;
      const auto take = [&](Late) {
        --missing;
        received.add();
      };
      for (uint32_t round = 0; round < kRounds; ++round) {
        const std::chrono::milliseconds time((round + i) % 3);
        EXPECT_EQ(system.send_after(time, self(), Late{round}), Errc::ok);
        ++missing;
        if (receive_for(time, take) == Wait::timed_out) timed_out.add();
      }
      while (missing > 0) {
        if (receive(take) == Wait::killed) return;
      }
      receive_for(0ms, [](Late) { ADD_FAILURE() << "once"; });
      done.add();
    });
  }
  EXPECT_TRUE(done.reaches(fibers));
  EXPECT_EQ(received.value(), fibers * kRounds);
  EXPECT_GT(timed_out.value(), 0u);
  EXPECT_LT(timed_out.value(), fibers * kRounds);
}

TEST_P(FiberOnWorkers, EveryMonitorHasOneDownWhicheverWorkerItsTargetEndsOn) {
  const uint32_t pairs = static_cast<uint32_t>(scaled(400, 8));
  CheckedRuntime runtime(GetParam());
  Tally downs;
  Tally ends;
  for (uint32_t i = 0; i < pairs; ++i) {
    SpawnOptions one;
    SpawnOptions another;
    one.placement = Placement::pin_to(i % GetParam());
    another.placement = Placement::pin_to((i + i / 2) % GetParam());
    const Pid target = runtime.spawn_fn_with(one, [i] {
      if (i % 2 == 0) sleep_for(1ms);
      exit(ExitReason::fail, "as planned");
    });
    runtime.spawn_fn_with(another, [&, target] {
      EXPECT_EQ(monitor(target), Errc::ok);
      receive([&](const Down& down) {
        EXPECT_EQ(down.actor, target.id());
        downs.add();
      });
      receive_for(1ms, [](const Down&) { ADD_FAILURE() << "one is enough"; });
      ends.add();
    });
  }
  EXPECT_TRUE(ends.reaches(pairs));
  EXPECT_EQ(downs.value(), pairs);
}

TEST_P(FiberOnWorkers, AChainOfLinksOverAllWorkersEndsAsOne) {
  const int chains = static_cast<int>(scaled(100, 5));
  constexpr int kLength = 10;
  CheckedRuntime runtime(GetParam());
  std::atomic<int> alive{0};
  Tally begun;
  Tally ended;
  struct Link {
    Link(std::atomic<int>& count, Tally& tally) : alive(count), ended(tally) { ++alive; }
    ~Link() {
      --alive;
      ended.add();
    }
    std::atomic<int>& alive;
    Tally& ended;
  };
  std::vector<Pid> last;
  for (int chain = 0; chain < chains; ++chain) {
    Pid before;
    for (int i = 0; i < kLength; ++i) {
      SpawnOptions options;
      options.placement = Placement::pin_to(static_cast<uint32_t>(i) % GetParam());
      options.link = before;
      before = runtime.spawn_fn_with(options, [&] {
        Link link(alive, ended);
        begun.add();
        receive([](Go) { exit(ExitReason::fail, "the last one pulls"); });
      });
    }
    last.push_back(before);
  }
  EXPECT_TRUE(begun.reaches(static_cast<uint64_t>(chains * kLength)));
  for (const Pid pid : last) pid << Go{};
  EXPECT_TRUE(ended.reaches(static_cast<uint64_t>(chains * kLength)));
  EXPECT_EQ(alive.load(), 0);
}

#ifndef JZX_LIBRARY_NOEXCEPT  // who waits there then ends the program

// While a supervisor starts nobody of it has run, so nobody who is woken runs on that thread.
struct WaitsToBeMade {
  explicit WaitsToBeMade(int* refused) {
    try {
      yield();
    } catch (const std::logic_error&) {
      ++*refused;
      throw;
    }
  }
  void on(Go) {}
};

TEST_P(FiberOnWorkers, ThatStartsASupervisorIsToldThatTheConstructorOfAChildMustNotWait) {
  Runtime runtime(RuntimeOptions{.workers = GetParam()});
  int refused = 0;
  bool has_started = true;
  bool waited = false;
  runtime.spawn_fn([&] {
    const auto family = runtime.supervise({}, {child_fn("first", [] { receive([](Late) {}); }),
                                               child<WaitsToBeMade>("second", &refused)});
    has_started = static_cast<bool>(family);
    yield();
    waited = true;
  });
  EXPECT_EQ(runtime.run(), Errc::ok);
  EXPECT_EQ(refused, 1);
  EXPECT_FALSE(has_started);
  EXPECT_TRUE(waited) << "here it may";
}

#endif

}  // namespace
}  // namespace jzx::testing
