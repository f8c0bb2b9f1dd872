// A runtime with two workers, either of which can be kept busy, so that the other must run whatever
// is ready. So a test can send a fiber from thread to thread.
//
// Threads: the test's.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>

#include "fiber/checked_runtime.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {

class TwoWorkers {
 public:
  TwoWorkers() {
    for (uint32_t i = 0; i < 2; ++i) {
      SpawnOptions options;
      options.placement = Placement::pin_to(i);
      keepers_[i] = runtime.spawn_fn_with(options, [] { keep(); });
      threads_[i] = ask<std::thread::id>(keepers_[i], Where{}).get().value();
    }
    EXPECT_NE(threads_[0], threads_[1]);
  }
  ~TwoWorkers() { let_go(); }

  // Until let_go() this worker runs nothing else.
  void keep_busy(std::thread::id thread) {
    let_go();
    held_ = std::make_shared<Gate>();
    auto begun = std::make_shared<Gate>();
    keepers_[index_of(thread)] << Keep{begun, held_};
    EXPECT_TRUE(begun->wait());
  }
  void let_go() {
    if (held_ != nullptr) held_->open();
    held_ = nullptr;
  }
  // It has run everything that was ready for it when this was called, or began to wait for it.
  void pass(std::thread::id thread) {
    for (int i = 0; i < 10; ++i) (void)ask<std::thread::id>(keeper_on(thread), Where{}).get();
  }

  [[nodiscard]] std::thread::id other(std::thread::id thread) const {
    return threads_[1 - index_of(thread)];
  }
  [[nodiscard]] Pid keeper_on(std::thread::id thread) const { return keepers_[index_of(thread)]; }

  CheckedRuntime runtime{2};

 private:
  struct Where {};
  struct Keep {
    std::shared_ptr<Gate> begun;
    std::shared_ptr<Gate> until;
  };

  static void keep() {
    for (Wait wait = Wait::done; wait != Wait::killed;) {
      wait = receive([](Where) { return std::this_thread::get_id(); },
                     [](const Keep& keep) {
                       keep.begun->open();
                       EXPECT_TRUE(keep.until->wait());
                     });
    }
  }
  [[nodiscard]] size_t index_of(std::thread::id thread) const {
    EXPECT_TRUE(thread == threads_[0] || thread == threads_[1]);
    return thread == threads_[0] ? 0 : 1;
  }

  std::array<Pid, 2> keepers_;
  std::array<std::thread::id, 2> threads_;
  std::shared_ptr<Gate> held_;
};

}  // namespace jzx::testing
