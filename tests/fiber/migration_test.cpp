// A fiber that goes on on another thread, and one that must not.
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fiber/two_workers.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

struct Go {};

// Where a fiber is, said from inside of it and awaited by the test.
class Steps {
 public:
  void here() {
    {
      const std::lock_guard hold(mutex_);
      threads_.push_back(std::this_thread::get_id());
    }
    count_.add();
  }
  std::thread::id await(size_t step) {
    EXPECT_TRUE(count_.reaches(step));
    const std::lock_guard hold(mutex_);
    return threads_.at(step - 1);
  }
  [[nodiscard]] size_t count() const { return static_cast<size_t>(count_.value()); }

 private:
  mutable std::mutex mutex_;
  std::vector<std::thread::id> threads_;
  Tally count_;
};

// The fiber has taken `step` steps and waits for a Go: it takes the next one on the other thread.
void send_across(TwoWorkers& workers, Pid fiber, Steps& steps, size_t step) {
  const std::thread::id before = steps.await(step);
  workers.keep_busy(before);
  fiber << Go{};
  EXPECT_EQ(steps.await(step + 1), workers.other(before));
  workers.let_go();
}

TEST(FiberMigration, AFiberGoesOnWhereThereIsTime) {
  TwoWorkers workers;
  Steps steps;
  const Pid fiber = workers.runtime.spawn_fn([&] {
    for (int i = 0; i < 11; ++i) {
      steps.here();
      receive([](Go) {});
    }
  });
  for (size_t step = 1; step <= 10; ++step) send_across(workers, fiber, steps, step);
}

TEST(FiberMigration, AFutureAndATimedReceiveGoOnElsewhereToo) {
  TwoWorkers workers;
  Steps steps;
  auto [future, promise] = jzx::promise<int>();
  const Pid fiber = workers.runtime.spawn_fn([&, future = std::move(future)]() mutable {
    steps.here();
    EXPECT_EQ(future.get().value(), 7);
    steps.here();
    receive_for(1h, [](Go) {});
    steps.here();
  });
  const std::thread::id before = steps.await(1);
  workers.keep_busy(before);
  promise.resolve(7);
  EXPECT_EQ(steps.await(2), workers.other(before));
  send_across(workers, fiber, steps, 2);  // its timer is taken back from the other's wheel
}

#ifndef JZX_LIBRARY_NOEXCEPT

TEST(FiberMigration, AnExceptionThatIsBeingHandledGoesAlong) {
  TwoWorkers workers;
  std::vector<std::unique_ptr<Steps>> steps;
  std::vector<Pid> fibers;
  std::vector<std::string> caught(4);
  Tally done;
  // Several at once, so that each thread has somebody else's exception when one comes over.
  for (size_t i = 0; i < caught.size(); ++i) {
    steps.push_back(std::make_unique<Steps>());
    fibers.push_back(workers.runtime.spawn_fn([&, i, &steps = *steps[i]] {
      try {
        throw std::runtime_error(std::to_string(i));
      } catch (const std::exception&) {
        for (int round = 0; round < 2; ++round) {
          steps.here();
          receive([](Go) {});
          EXPECT_EQ(std::uncaught_exceptions(), 0);
          EXPECT_NE(std::current_exception(), nullptr);
        }
        steps.here();
        try {
          throw;
        } catch (const std::exception& again) {
          caught[i] = again.what();
        }
      }
      EXPECT_EQ(std::current_exception(), nullptr);
      done.add();
    }));
  }
  for (auto& each : steps) each->await(1);
  for (size_t step = 1; step <= 2; ++step) {
    for (size_t i = 0; i < caught.size(); ++i) send_across(workers, fibers[i], *steps[i], step);
  }
  EXPECT_TRUE(done.reaches(caught.size()));
  EXPECT_EQ(caught, (std::vector<std::string>{"0", "1", "2", "3"}));
}

TEST(FiberMigration, AnExceptionThatFliesGoesAlong) {
  struct Waits {
    ~Waits() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      steps.here();
      receive([](Go) {});
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      steps.here();
    }
    Steps& steps;
  };
  TwoWorkers workers;
  Steps steps;
  Tally done;
  const Pid fiber = workers.runtime.spawn_fn([&] {
    try {
      Waits waits{steps};
      throw std::runtime_error("on its way");
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      EXPECT_STREQ(error.what(), "on its way");
    }
    done.add();
  });
  send_across(workers, fiber, steps, 1);
  EXPECT_TRUE(done.reaches(1));
  for (uint32_t worker = 0; worker < 2; ++worker) {  // it left nothing behind
    SpawnOptions options;
    options.placement = Placement::pin_to(worker);
    workers.runtime.spawn_fn_with(options, [&] {
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      EXPECT_EQ(std::current_exception(), nullptr);
      done.add();
    });
  }
  EXPECT_TRUE(done.reaches(3));
}

TEST(FiberMigration, AKillThatFindsItOnAnotherThreadUnwindsThere) {
  struct Last {
    ~Last() { steps.here(); }
    Steps& steps;
  };
  TwoWorkers workers;
  Steps steps;
  const Pid fiber = workers.runtime.spawn_fn([&] {
    Last last{steps};
    try {
      throw std::runtime_error("handled");
    } catch (const std::exception&) {
      steps.here();
      receive([](Go) {});
    }
  });
  const std::thread::id before = steps.await(1);
  workers.keep_busy(before);
  EXPECT_EQ(workers.runtime.kill(fiber), Errc::ok);
  EXPECT_EQ(steps.await(2), workers.other(before));
}

#endif

TEST(FiberMigration, APinnedOneWaitsForItsThread) {
  TwoWorkers workers;
  Steps steps;
  SpawnOptions options;
  options.placement = Placement::pinned();
  auto [future, promise] = jzx::promise<int>();
  const Pid fiber =
      workers.runtime.spawn_fn_with(options, [&, future = std::move(future)]() mutable {
        steps.here();
        receive([](Go) {});
        steps.here();
        EXPECT_EQ(future.get().value(), 1);
        steps.here();
        sleep_for(1ms);
        steps.here();
        yield();
        steps.here();
      });
  const std::thread::id home = steps.await(1);
  const auto stays = [&](size_t steps_before, auto&& wake) {
    workers.keep_busy(home);
    wake();
    workers.pass(workers.other(home));
    EXPECT_EQ(steps.count(), steps_before) << "the other one has time, and must not";
    workers.let_go();
    EXPECT_EQ(steps.await(steps_before + 1), home);
  };
  stays(1, [&] { fiber << Go{}; });
  stays(2, [&, promise = std::move(promise)]() mutable { promise.resolve(1); });
  for (size_t step = 4; step <= 5; ++step) EXPECT_EQ(steps.await(step), home);
}

TEST(FiberMigration, WhoSpawnsAPinnedOneHasItOnItsOwnThread) {
  TwoWorkers workers;
  Tally done;
  for (uint32_t worker = 0; worker < 2; ++worker) {
    SpawnOptions there;
    there.placement = Placement::pin_to(worker);
    workers.runtime.spawn_fn_with(there, [&] {
      SpawnOptions options;
      options.placement = Placement::pinned();
      const std::thread::id home = std::this_thread::get_id();
      for (int i = 0; i < 20; ++i) {
        spawn_fn_with(options, [&done, home] {
          for (int round = 0; round < 5; ++round) {
            EXPECT_EQ(std::this_thread::get_id(), home);
            yield();
          }
          done.add();
        });
      }
    });
  }
  EXPECT_TRUE(done.reaches(40));
}

}  // namespace
}  // namespace jzx::testing
