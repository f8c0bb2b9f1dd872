// Who waits, and where: the same test for coroutines, fibers and threads, on a loop and on workers,
// with both reactors.
//
// A Stage is one of these places: a system, and the way in which things wait there. `Place` is the
// fixture of tests that are run in each of them; tests/waits has its own, for every kind of wait.
//
// Threads: the test's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <jzx/jzx.hpp>

namespace jzx::testing {

enum class Waiter { coroutine, fiber, thread, handler };
enum class Driver { loop, workers };

struct Setting {
  Waiter waiter;
  Driver driver;
  Reactor reactor;
};

inline std::string name_of(const Setting& setting) {
  const char* waiters[] = {"coroutine", "fiber", "thread", "handler"};
  return std::string(waiters[static_cast<size_t>(setting.waiter)]) + "_on_" +
         (setting.driver == Driver::loop ? "loop" : "workers") + "_by_" +
         (setting.reactor == Reactor::epoll ? "epoll" : "io_uring");
}

// Those for which `accepts` says so.
template <class Accepts>
[[nodiscard]] std::vector<Setting> settings_that(Accepts accepts) {
  std::vector<Setting> settings;
  for (const Reactor reactor : {Reactor::epoll, Reactor::io_uring}) {
    for (const Driver driver : {Driver::loop, Driver::workers}) {
      for (const Waiter waiter :
           {Waiter::coroutine, Waiter::fiber, Waiter::thread, Waiter::handler}) {
        const Setting one{waiter, driver, reactor};
        if (accepts(one)) settings.push_back(one);
      }
    }
  }
  return settings;
}

// Those in which a task can be waited for. Handlers do not wait; and a thread waits for what runs
// elsewhere: to run the loop itself until a task has ended is what a coroutine there is waited for
// with.
inline std::vector<Setting> all_settings() {
  return settings_that([](const Setting& one) {
    if (one.waiter == Waiter::thread) return one.driver == Driver::workers;
    return one.waiter != Waiter::handler;
  });
}

// Those in which an actor waits.
inline std::vector<Setting> settings_of_actors() {
  return settings_that([](const Setting& one) {
    return one.waiter == Waiter::coroutine || one.waiter == Waiter::fiber;
  });
}

class Stage {
 public:
  explicit Stage(const Setting& setting) : setting_(setting) {
    if (setting.driver == Driver::loop) {
      loop_ = std::make_unique<Loop>(LoopOptions{.reactor = setting.reactor});
    } else {
      runtime_ =
          std::make_unique<Runtime>(RuntimeOptions{.workers = 2, .reactor = setting.reactor});
    }
  }
  ~Stage() { join(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // False: the kernel has no such reactor.
  [[nodiscard]] bool is_there() const {
    return loop_ != nullptr ? static_cast<bool>(*loop_) : static_cast<bool>(*runtime_);
  }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] SystemFace& system() {
    return loop_ != nullptr ? static_cast<SystemFace&>(*loop_) : *runtime_;
  }
  // One of them.
  [[nodiscard]] Loop* loop() { return loop_.get(); }
  [[nodiscard]] Runtime* runtime() { return runtime_.get(); }

  // Begins a task in the way of the setting; `finish` gives its result.
  template <class T>
  [[nodiscard]] Future<T> begin(Task<T> task) {
    if (setting_.waiter == Waiter::coroutine) return system().spawn_async(std::move(task));
    auto [future, promise] = jzx::promise<T>();
    auto work = [t = std::move(task), p = std::move(promise)]() mutable {
      Result<T> result = t.get();
      if (!result) return p.reject(result.error());
      if constexpr (std::is_void_v<T>) {
        p.resolve();
      } else {
        p.resolve(std::move(*result));
      }
    };
    if (setting_.waiter == Waiter::fiber) {
      system().spawn_fn(std::move(work));
    } else {
      start_thread(std::move(work));
    }
    return std::move(future);
  }
  template <class T>
  [[nodiscard]] Result<T> finish(Future<T> future) {
    if (loop_ != nullptr) return loop_->run_until(std::move(future));
    return future.get();
  }
  template <class T>
  [[nodiscard]] Result<T> run(Task<T> task) {
    return finish(begin(std::move(task)));
  }

  // A thread that has ended when the stage does.
  template <class F>
  void start_thread(F&& body) {
    threads_.emplace_back(std::forward<F>(body));
  }
  void join() {
    for (std::thread& each : threads_) each.join();
    threads_.clear();
  }

 private:
  Setting setting_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Runtime> runtime_;
  std::vector<std::thread> threads_;
};

class Place : public ::testing::TestWithParam<Setting>, protected Stage {
 protected:
  Place() : Stage(GetParam()) {}

  void SetUp() override {
    if (!is_there()) GTEST_SKIP() << "the kernel has no such reactor";
  }
};

#define JZX_IN_ALL_PLACES(suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(All, suite, ::testing::ValuesIn(jzx::testing::all_settings()), \
                           [](const auto& one) { return jzx::testing::name_of(one.param); })

}  // namespace jzx::testing
