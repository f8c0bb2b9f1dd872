// Who waits, and where: the same test for coroutines, fibers and threads, on a loop and on workers,
// with both reactors.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <jzx/jzx.hpp>

namespace jzx::net_test {

enum class Waiter { coroutine, fiber, thread };
enum class Driver { loop, workers };

struct Setting {
  Waiter waiter;
  Driver driver;
  Reactor reactor;
};

inline std::string name_of(const Setting& setting) {
  const char* waiters[] = {"coroutine", "fiber", "thread"};
  return std::string(waiters[static_cast<size_t>(setting.waiter)]) + "_on_" +
         (setting.driver == Driver::loop ? "loop" : "workers") + "_by_" +
         (setting.reactor == Reactor::epoll ? "epoll" : "io_uring");
}

// A thread waits only for what runs elsewhere, so not for a loop that it would have to run itself.
inline std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const Reactor reactor : {Reactor::epoll, Reactor::io_uring}) {
    for (const Driver driver : {Driver::loop, Driver::workers}) {
      for (const Waiter waiter : {Waiter::coroutine, Waiter::fiber, Waiter::thread}) {
        if (waiter == Waiter::thread && driver == Driver::loop) continue;
        settings.push_back({waiter, driver, reactor});
      }
    }
  }
  return settings;
}

// Those in which an actor waits.
inline std::vector<Setting> settings_of_actors() {
  std::vector<Setting> settings = all_settings();
  std::erase_if(settings, [](const Setting& one) { return one.waiter == Waiter::thread; });
  return settings;
}

class Place : public ::testing::TestWithParam<Setting> {
 protected:
  Place() {
    if (GetParam().driver == Driver::loop) {
      loop_ = std::make_unique<Loop>(LoopOptions{.reactor = GetParam().reactor});
    } else {
      runtime_ =
          std::make_unique<Runtime>(RuntimeOptions{.workers = 2, .reactor = GetParam().reactor});
    }
  }

  void SetUp() override {
    const bool is_there =
        loop_ != nullptr ? static_cast<bool>(*loop_) : static_cast<bool>(*runtime_);
    if (!is_there) GTEST_SKIP() << "the kernel has no such reactor";
  }

  [[nodiscard]] SystemFace& system() {
    return loop_ != nullptr ? static_cast<SystemFace&>(*loop_) : *runtime_;
  }

  // Begins a task in the way of the setting; `finish` gives its result.
  template <class T>
  [[nodiscard]] Future<T> begin(Task<T> task) {
    if (GetParam().waiter == Waiter::coroutine) return system().spawn_async(std::move(task));
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
    if (GetParam().waiter == Waiter::fiber) {
      system().spawn_fn(std::move(work));
    } else {
      threads_.emplace_back(std::move(work));
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

  ~Place() override {
    for (std::thread& each : threads_) each.join();
  }

 private:
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Runtime> runtime_;
  std::vector<std::thread> threads_;
};

#define JZX_IN_ALL_PLACES(suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(All, suite, ::testing::ValuesIn(net_test::all_settings()), \
                           [](const auto& one) { return net_test::name_of(one.param); })

}  // namespace jzx::net_test
