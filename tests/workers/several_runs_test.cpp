// Several threads that wait in the run of one runtime: what ends it ends it for all of them, and
// nobody is left in a run without workers.
#include <gtest/gtest.h>
#include <jzx/jzx.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <jzx/jzx.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/scale.hpp"

namespace jzx {
namespace {

constexpr uint32_t kRunners = 3;

// Threads that call `run` and have got as far as to sleep in it.
class Runners {
 public:
  template <class Run>
  explicit Runners(Run run) {
    for (std::atomic<pid_t>& tid : tids_) {
      threads_.emplace_back([&tid, run] {
        tid.store(::gettid());
        EXPECT_EQ(run(), 0);
      });
    }
    for (const std::atomic<pid_t>& tid : tids_) {
      while (tid.load() == 0 || !is_asleep(tid.load())) std::this_thread::yield();
    }
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  static bool is_asleep(pid_t tid) {
    std::ifstream stat("/proc/self/task/" + std::to_string(tid) + "/stat");
    std::string line;
    std::getline(stat, line);
    return line.find(") S ") != std::string::npos;
  }

  std::atomic<pid_t> tids_[kRunners] = {};
  std::vector<std::thread> threads_;
};

jzx_behavior_result count(jzx_context* context, const jzx_message*) {
  static_cast<std::atomic<uint64_t>*>(context->state)->fetch_add(1);
  return JZX_BEHAVIOR_OK;
}

class SeveralRuns : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    jzx_runtime_config config;
    jzx_runtime_config_init(&config);
    config.workers = GetParam();
    runtime_ = jzx_runtime_create(&config);
    ASSERT_NE(runtime_, nullptr);
    loop_ = jzx_runtime_loop(runtime_);
  }
  void TearDown() override { jzx_runtime_destroy(runtime_); }

  jzx_actor_id spawn(jzx_behavior_fn behavior, void* state) {
    jzx_spawn_opts options{};
    options.behavior = behavior;
    options.state = state;
    jzx_actor_id id = 0;
    EXPECT_EQ(jzx_spawn(loop_, &options, &id), JZX_OK);
    return id;
  }
  auto runs() const {
    return [runtime = runtime_] { return jzx_runtime_run(runtime); };
  }

  jzx_runtime* runtime_ = nullptr;
  jzx_loop* loop_ = nullptr;
  std::atomic<uint64_t> counted_{0};
};
INSTANTIATE_TEST_SUITE_P(Workers, SeveralRuns, ::testing::Values(1u, 2u));

TEST_P(SeveralRuns, AreAllEndedByOneStopAndTheNextRunIsNot) {
  const jzx_actor_id id = spawn(&count, &counted_);
  Runners first(runs());
  jzx_runtime_request_stop(runtime_);
  first.join();
  EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, 1), JZX_OK);
  EXPECT_EQ(counted_.load(), 0u) << "nothing runs after the last run has ended";
  Runners second(runs());
  while (counted_.load() == 0) std::this_thread::yield();
  jzx_runtime_request_stop(runtime_);
  second.join();
}

TEST_P(SeveralRuns, AreAllEndedByTheEndOfTheLastActor) {
  const jzx_actor_id id = spawn(&count, &counted_);
  Runners runners(runs());
  EXPECT_EQ(jzx_actor_stop(loop_, id), JZX_OK);
  runners.join();
}

TEST_P(SeveralRuns, AreAllEndedByDestroy) {
  spawn(&count, &counted_);
  Runners runners(runs());
  jzx_runtime_destroy(std::exchange(runtime_, nullptr));
  runners.join();
}

// Asks for a stop at every message, and sends itself the next.
jzx_behavior_result stop_again(jzx_context* context, const jzx_message*) {
  jzx_loop_request_stop(context->loop);
  EXPECT_EQ(jzx_send(context->loop, context->self, nullptr, 0, 1), JZX_OK);
  return JZX_BEHAVIOR_OK;
}

TEST_P(SeveralRuns, ThatBeginWhileOthersEndAreNotLeftWithoutWorkers) {
  const jzx_actor_id id = spawn(&stop_again, nullptr);
  EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, 1), JZX_OK);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kRunners; ++t) {
    threads.emplace_back([this] {
      for (size_t i = 0; i < testing::scaled(300, 10); ++i) ASSERT_EQ(jzx_runtime_run(runtime_), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct Idle {
  void on(int) {}
};

TEST(SeveralRunsInCpp, AreAllEndedByOneStop) {
  Runtime runtime = Runtime::builder().workers(1).build();
  const auto idle = runtime.spawn<Idle>();
  Runners runners([&] { return static_cast<int>(runtime.run()); });
  runtime.request_stop();
  runners.join();
  EXPECT_EQ(idle.send(1), Errc::ok);
}

}  // namespace
}  // namespace jzx
