// Who may touch an inbox, and who is acting, when other threads send at the wrong moment.
#include <jzx/jzx.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "base/atomic.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

class Inboxes : public ::testing::TestWithParam<uint32_t> {
 public:
  void SetUp() override {
    jzx_runtime_config config;
    jzx_runtime_config_init(&config);
    config.workers = GetParam();
    runtime_ = jzx_runtime_create(&config);
    ASSERT_NE(runtime_, nullptr);
    loop_ = jzx_runtime_loop(runtime_);
  }
  void TearDown() override { jzx_runtime_destroy(runtime_); }

  jzx_actor_id spawn(jzx_behavior_fn behavior) {
    jzx_spawn_opts options{};
    options.behavior = behavior;
    options.state = this;
    jzx_actor_id id = 0;
    EXPECT_EQ(jzx_spawn(loop_, &options, &id), JZX_OK);
    return id;
  }
  static Inboxes& test_of(const jzx_context* context) {
    return *static_cast<Inboxes*>(context->state);
  }
  static jzx_behavior_result nothing(jzx_context*, const jzx_message*) { return JZX_BEHAVIOR_OK; }

  // Runs, with the first actor busy, while another thread starts a supervisor with children a and b
  // again and again; b takes its time and fails, so that each start is called off.
  void run_while_starts_fail(size_t starts) {
    ASSERT_EQ(jzx_send(loop_, first_, nullptr, 0, 1), JZX_OK);
    std::thread outside([&] {
      jzx_child_spec children[2] = {};
      children[0].name = "a";
      children[0].behavior = &nothing;
      children[1].name = "b";
      children[1].behavior = &nothing;
      children[1].init = [](void**) {
        for (int i = 0; i < 50; ++i) base::spin_hint();
        return JZX_BEHAVIOR_FAIL;
      };
      jzx_supervisor_init start{};
      start.children = children;
      start.child_count = 2;
      start.supervisor = {JZX_SUP_ONE_FOR_ONE, 1, 1000};
      for (size_t i = 0; i < starts; ++i) {
        jzx_actor_id supervisor = 0;
        EXPECT_NE(jzx_spawn_supervisor(loop_, &start, 0, &supervisor), JZX_OK);
      }
      is_over_ = true;
      jzx_runtime_request_stop(runtime_);
    });
    EXPECT_EQ(jzx_runtime_run(runtime_), JZX_OK);
    outside.join();
  }

  jzx_runtime* runtime_ = nullptr;
  jzx_loop* loop_ = nullptr;
  jzx_actor_id first_ = 0;
  jzx_actor_id second_ = 0;
  std::atomic<jzx_actor_id> started_{0};
  std::atomic<bool> is_over_{false};
  std::atomic<uint64_t> sent_{0};
  std::atomic<uint64_t> dead_letters_{0};
  std::atomic<uint64_t> pokes_seen_{0};
  std::atomic<uint64_t> tokens_{0};
  std::atomic<uint64_t> wrong_senders_{0};
};
INSTANTIATE_TEST_SUITE_P(Workers, Inboxes, ::testing::Values(1u, 2u));

// A supervisor and a child whose start will be called off get mail from a worker, while another
// thread, which holds them back, ends them.
TEST_P(Inboxes, OfAStartThatIsCalledOffElsewhereIsEmptiedByWhoOwnsIt) {
  jzx_observer observer{};
  observer.on_actor_start = [](void* self, jzx_actor_id id, const char* name) {
    if (name == nullptr || name[0] == 'a') static_cast<Inboxes*>(self)->started_ = id;
  };
  observer.on_dead_letter = [](void* self, jzx_actor_id, const jzx_message*) {
    static_cast<Inboxes*>(self)->dead_letters_.fetch_add(1);
  };
  first_ = spawn([](jzx_context* context, const jzx_message*) {
    Inboxes& test = test_of(context);
    for (int i = 0; i < 40; ++i) {
      const jzx_actor_id started = test.started_;
      if (started != 0 && jzx_send(context->loop, started, nullptr, 0, 1) == JZX_OK) ++test.sent_;
    }
    if (!test.is_over_) (void)jzx_send(context->loop, test.first_, nullptr, 0, 1);
    return JZX_BEHAVIOR_OK;
  });
  jzx_loop_set_observer(loop_, &observer, this);
  run_while_starts_fail(scaled(10'000));
  jzx_runtime_destroy(std::exchange(runtime_, nullptr));
  EXPECT_GE(dead_letters_, sent_) << "who sends to itself may have one of its own";
  EXPECT_LE(dead_letters_, sent_ + 1);
}

// While a supervisor is being started by one thread, another wants to give it a child.
TEST_P(Inboxes, OfASupervisorThatIsHalfStartedAreNoPlaceForTheChildrenOfOthers) {
  jzx_observer observer{};
  observer.on_actor_start = [](void* self, jzx_actor_id id, const char* name) {
    if (name == nullptr) static_cast<Inboxes*>(self)->started_ = id;
  };
  first_ = spawn([](jzx_context* context, const jzx_message*) {
    Inboxes& test = test_of(context);
    for (int i = 0; i < 10 && test.started_ != 0; ++i) {
      jzx_spawn_opts options{};
      options.behavior = &nothing;
      options.name = "of another";
      options.supervisor = test.started_;
      jzx_actor_id child = 0;
      if (jzx_spawn(context->loop, &options, &child) != JZX_OK) continue;
      ++test.sent_;
      for (int j = 0; j < 20; ++j) (void)jzx_send(context->loop, child, nullptr, 0, 1);
    }
    if (!test.is_over_) (void)jzx_send(context->loop, test.first_, nullptr, 0, 1);
    return JZX_BEHAVIOR_OK;
  });
  jzx_loop_set_observer(loop_, &observer, this);
  run_while_starts_fail(scaled(10'000));
  EXPECT_EQ(sent_, 0u);
}

// A token goes from the first to the second and back. What another thread sends to the first comes
// at all moments of its turns, also at their very end.
TEST_P(Inboxes, AreEmptiedInTheNameOfTheirActorWheneverMailComes) {
  constexpr uint32_t kToken = 1, kPoke = 2;
  first_ = spawn([](jzx_context* context, const jzx_message* message) {
    Inboxes& test = test_of(context);
    (void)jzx_send(context->loop, test.second_, nullptr, 0, message->tag);
    if (message->tag == kPoke) test.pokes_seen_.fetch_add(1);
    return JZX_BEHAVIOR_OK;
  });
  second_ = spawn([](jzx_context* context, const jzx_message* message) {
    Inboxes& test = test_of(context);
    if (message->sender != test.first_) ++test.wrong_senders_;
    if (message->tag == kToken) {
      ++test.tokens_;
      (void)jzx_send(context->loop, test.first_, nullptr, 0, kToken);
    }
    return JZX_BEHAVIOR_OK;
  });
  std::thread outside([&] {
    // The first token has a wrong sender only on its way to the first.
    EXPECT_EQ(jzx_send_async(loop_, first_, nullptr, 0, kToken), JZX_OK);
    for (uint64_t pokes = 0; pokes < scaled(2000, 10);) {
      const uint64_t before = tokens_;
      if (jzx_send_async(loop_, first_, nullptr, 0, kPoke) == JZX_OK) ++pokes;
      while (pokes_seen_ < pokes || tokens_ == before) std::this_thread::yield();
    }
    jzx_runtime_request_stop(runtime_);
  });
  EXPECT_EQ(jzx_runtime_run(runtime_), JZX_OK);
  outside.join();
  EXPECT_EQ(wrong_senders_, 0u);
}

}  // namespace
}  // namespace jzx::testing
