// A task, cancelled at its first suspension, at its second, and so on until one completes: whatever
// it waited for, it ends, answers `cancelled` or its result, and nothing is lost or left behind.
//
// The executor is a fiber on a loop whose time jumps: it runs the chain from one suspension to the
// next, and lets the world turn by a millisecond when the chain cannot go on. What the task waits
// for is brought by the world: events, each at its turn. When the task has ended, the rest of them
// happens, and the script looks at what is there.
//
// Threads: the test's own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {

// Everything that a script holds or hands over is counted.
struct Counted {
  explicit Counted(int the_value) : value(the_value) { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
  int value;
  static inline int alive = 0;
};

class World {
 public:
  explicit World(SystemFace& the_system) : system(the_system) {}

  void after(int turns, std::function<void()> event) {
    events_.emplace(now_ + turns, std::move(event));
  }
  [[nodiscard]] Future<Counted> later(int turns, int value) {
    auto [future, promise] = jzx::promise<Counted>();
    auto kept = std::make_shared<Promise<Counted>>(std::move(promise));
    after(turns, [kept, value] { kept->resolve(Counted(value)); });
    return std::move(future);
  }

  void turn() {
    ++now_;
    while (!events_.empty() && events_.begin()->first <= now_) {
      const auto event = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      event();
    }
  }
  void turn_to_the_end() {
    while (!events_.empty()) turn();
  }

  SystemFace& system;

 private:
  std::multimap<int, std::function<void()>> events_;  // those of a turn in their order
  int now_ = 0;
};

// What is run, with all that belongs to it.
class Script {
 public:
  explicit Script(World& the_world) : world(the_world) {}
  virtual ~Script() = default;
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  // Returns 1 if nobody disturbs it.
  virtual Task<int> run() = 0;
  // In a fiber, afterwards: what was there is there, or was received.
  virtual void check() {}

 protected:
  World& world;  // NOLINT: for those who are derived
};

struct Sample {
  const char* name;
  std::unique_ptr<Script> (*make)(World& world);
  bool takes_no_notice = false;  // and completes although it is cancelled
};

template <class S>
[[nodiscard]] std::unique_ptr<Script> script(World& world) {
  return std::make_unique<S>(world);
}

// ---- the executor ----

class Stepped : public detail::TaskRoot {
 public:
  Stepped() noexcept : TaskRoot([](TaskRoot&) noexcept {}) {}  // it is looked at all the time
};

struct Outcome {
  int suspensions = 0;
  std::optional<Result<int>> result;
};
constexpr int kNever = -1;

// Long beyond what the kernel needs for anything.
class Patience {
 public:
  [[nodiscard]] bool is_over() const {
    return std::chrono::steady_clock::now() - since_ > std::chrono::minutes(1);
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

inline Outcome run_and_cancel(const Sample& sample, int at, Reactor reactor = Reactor::automatic) {
  Outcome run;
  ClockedLoop loop(Time::jumping, LoopOptions{.reactor = reactor});
  World world(loop);
  loop.spawn_fn([&] {
    const std::unique_ptr<Script> script = sample.make(world);
    {
      Stepped root;
      Task<int> task = script->run();
      root.begin(task.begin(root, nullptr));
      while (!root.run()) {
        if (run.suspensions++ == at) root.request_stop();
        for (const Patience patience; !root.can_go_on();) {
          if (patience.is_over()) {
            ADD_FAILURE() << sample.name << " cancelled at suspension " << at << " does not end";
            std::abort();
          }
          (void)sleep_for(1ms);
          world.turn();
        }
      }
      run.result.emplace(task.take());
    }
    world.turn_to_the_end();
    script->check();
  });
  EXPECT_EQ(loop.run(), Errc::ok);
  return run;
}

// ---- what must hold ----

inline void expect_to_complete(const Sample& sample, Reactor reactor = Reactor::automatic) {
  SCOPED_TRACE(sample.name);
  const Outcome run = run_and_cancel(sample, kNever, reactor);
  ASSERT_TRUE(run.result.has_value());
  ASSERT_TRUE(run.result->ok()) << run.result->error().message();
  EXPECT_EQ(run.result->value(), 1);
  EXPECT_GT(run.suspensions, 0);
}

inline void cancel_everywhere(const Sample& sample, Reactor reactor = Reactor::automatic) {
  int cancelled = 0;
  for (int at = 0;; ++at) {
    SCOPED_TRACE(std::string(sample.name) + " at " + std::to_string(at));
    {
      const Outcome run = run_and_cancel(sample, at, reactor);
      ASSERT_TRUE(run.result.has_value());
      if (run.suspensions <= at) break;
      if (run.result->ok()) {
        EXPECT_EQ(run.result->value(), 1);
      } else {
        EXPECT_EQ(run.result->error().code(), Errc::cancelled) << run.result->error().message();
        ++cancelled;
      }
    }
    ASSERT_EQ(Counted::alive, 0);
  }
  EXPECT_EQ(cancelled > 0, !sample.takes_no_notice) << sample.name;
}

}  // namespace jzx::testing
