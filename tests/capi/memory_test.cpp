// Memory: an idle actor is small, a mailbox holds memory only while it holds messages,
// everything comes from the user's allocator, and a message costs no allocation once
// the loop is warm. (That every allocation may fail is in allocation_failure_test.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

#include "jzx/jzx.h"
#include "support/fds.hpp"
#include "support/scale.hpp"
#include "support/system_calls.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Time = TestLoop::Time;

// Behaviours without any memory of their own, so that only the library's counts.
jzx_behavior_result ignore(jzx_context*, const jzx_message*) { return JZX_BEHAVIOR_OK; }

struct Relay {
  jzx_actor_id peer = 0;
  uint64_t left = 0;
};

// Hands the message on to its peer until the count is used up, then stops the loop.
jzx_behavior_result relay(jzx_context* ctx, const jzx_message* msg) {
  auto& self = *static_cast<Relay*>(ctx->state);
  if (self.left == 0) {
    jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  }
  --self.left;
  return jzx_send(ctx->loop, self.peer, msg->data, msg->len, msg->tag) == JZX_OK
             ? JZX_BEHAVIOR_OK
             : JZX_BEHAVIOR_FAIL;
}

// Ticks by timer until the count is used up, then stops the loop.
jzx_behavior_result metronome(jzx_context* ctx, const jzx_message* msg) {
  auto& self = *static_cast<Relay*>(ctx->state);
  if (self.left == 0) {
    jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  }
  --self.left;
  return jzx_send_after(ctx->loop, ctx->self, 1, nullptr, 0, msg->tag, nullptr) == JZX_OK
             ? JZX_BEHAVIOR_OK
             : JZX_BEHAVIOR_FAIL;
}

jzx_behavior_result count(jzx_context* ctx, const jzx_message*) {
  ++*static_cast<uint64_t*>(ctx->state);
  return JZX_BEHAVIOR_OK;
}

jzx_actor_id spawn_plain(jzx_loop* loop, jzx_behavior_fn behavior, void* state = nullptr,
                         uint32_t mailbox_cap = 0) {
  jzx_spawn_opts opts{};
  opts.behavior = behavior;
  opts.state = state;
  opts.mailbox_cap = mailbox_cap;
  jzx_actor_id id = 0;
  EXPECT_EQ(jzx_spawn(loop, &opts, &id), JZX_OK);
  return id;
}

class Memory : public ::testing::Test {
 protected:
  void SetUp() override {
    loop_.skip_message_accounting();
    jzx_loop_set_observer(loop_, nullptr, nullptr);  // no bookkeeping of the test's own
  }

  TestLoop loop_{Time::jumping};
};

TEST_F(Memory, AnIdleActorCostsAtMost256BytesBesideItsState) {
  constexpr int64_t kActors = 10'000;
  for (int n = 0; n < 100; ++n) spawn_plain(loop_, ignore);  // fixed costs first
  const int64_t before = loop_.allocator().live_bytes();
  for (int64_t n = 0; n < kActors; ++n) spawn_plain(loop_, ignore);
  const int64_t each = (loop_.allocator().live_bytes() - before) / kActors;
  RecordProperty("bytes_per_idle_actor", static_cast<int>(each));
  EXPECT_LE(each, 256);
}

TEST_F(Memory, AnActorThatHasWorkedAndIsIdleAgainCostsNoMore) {
  constexpr int64_t kActors = 1000;
  std::vector<jzx_actor_id> ids;
  for (int64_t n = 0; n < kActors; ++n) ids.push_back(spawn_plain(loop_, ignore));
  const auto work = [&](jzx_actor_id id) {
    for (int n = 0; n < 500; ++n) {
      ASSERT_EQ(jzx_send(loop_, id, nullptr, 0, kTag), JZX_OK);
      ASSERT_EQ(jzx_send_async(loop_, id, nullptr, 0, kTag), JZX_OK);
    }
    for (int tick = 0; tick < 20; ++tick) ASSERT_EQ(jzx_loop_run_once(loop_, 0), 1);
  };
  work(ids[0]);
  work(ids[1]);
  const int64_t warm = loop_.allocator().live_bytes();
  for (const jzx_actor_id id : ids) work(id);
  EXPECT_EQ(loop_.allocator().live_bytes(), warm)
      << "mailboxes give back what they held, for the next one to use";
}

TEST_F(Memory, AnActorThatEndedLeavesItsMemoryToTheNext) {
  for (int n = 0; n < 200; ++n) {
    const jzx_actor_id id = spawn_plain(loop_, ignore);
    ASSERT_EQ(jzx_actor_stop(loop_, id), JZX_OK);
    ASSERT_EQ(jzx_loop_run(loop_), 0);
  }
  const int64_t warm = loop_.allocator().live_bytes();
  for (size_t n = 0; n < scaled(20'000); ++n) {
    const jzx_actor_id id = spawn_plain(loop_, ignore);
    ASSERT_EQ(jzx_actor_stop(loop_, id), JZX_OK);
    ASSERT_EQ(jzx_loop_run(loop_), 0);
  }
  EXPECT_EQ(loop_.allocator().live_bytes(), warm);
}

TEST_F(Memory, GoesBackAfterAMillionMessagesWereQueuedAndHandled) {
  constexpr uint64_t kBurst = 1'000'000;
  constexpr int64_t kFewMegabytes = 6 << 20;
  uint64_t handled = 0;
  const jzx_actor_id id = spawn_plain(loop_, count, &handled, kBurst + 8);
  const int64_t before = loop_.allocator().live_bytes();
  const auto send_all = [&](auto send) {
    handled = 0;
    for (uint64_t n = 0; n < kBurst; ++n) ASSERT_EQ(send(loop_, id, nullptr, 0, kTag), JZX_OK);
    EXPECT_GE(loop_.allocator().live_bytes() - before, int64_t{kBurst} * 64);
  };
  const auto handle_all = [&] {
    while (handled < kBurst) ASSERT_EQ(jzx_loop_run_once(loop_, 0), 1);
    EXPECT_LE(loop_.allocator().live_bytes() - before, kFewMegabytes);
  };
  send_all(jzx_send);
  handle_all();
  std::thread([&] { send_all(jzx_send_async); }).join();
  handle_all();
}

// Runs `work` once to warm the loop, then again, counting.
template <class Work>
void expect_no_allocations_when_warm(TestLoop& loop, Work work) {
  work();
  const uint64_t ours = loop.allocator().allocations();
  const uint64_t systems = system_allocations();
  work();
  EXPECT_EQ(loop.allocator().allocations() - ours, 0u) << "from the user's allocator";
  if (can_count_system_calls()) {
    EXPECT_EQ(system_allocations() - systems, 0u) << "from the system";
  }
}

TEST_F(Memory, AMessageAllocatesNothingAfterWarmUp) {
  Relay ping;
  Relay pong;
  const jzx_actor_id ping_id = spawn_plain(loop_, relay, &ping);
  const jzx_actor_id pong_id = spawn_plain(loop_, relay, &pong);
  ping.peer = pong_id;
  pong.peer = ping_id;
  expect_no_allocations_when_warm(loop_, [&] {
    ping.left = pong.left = 50'000;
    ASSERT_EQ(jzx_send(loop_, ping_id, nullptr, 0, kTag), JZX_OK);
    ASSERT_EQ(jzx_loop_run(loop_), 0);
  });
}

TEST_F(Memory, ABurstOfMessagesAllocatesNothingAfterWarmUp) {
  const jzx_actor_id id = spawn_plain(loop_, ignore);
  expect_no_allocations_when_warm(loop_, [&] {
    for (int round = 0; round < 20; ++round) {
      while (jzx_send(loop_, id, nullptr, 0, kTag) == JZX_OK) {
      }
      for (int tick = 0; tick < 20; ++tick) ASSERT_EQ(jzx_loop_run_once(loop_, 0), 1);
    }
  });
}

TEST_F(Memory, AMessageFromAnotherThreadAllocatesNothingAfterWarmUp) {
  const jzx_actor_id id = spawn_plain(loop_, ignore);
  // The thread's own allocations, at its start, are not the library's.
  uint64_t ours = 0;
  uint64_t systems = 0;
  for (int round = 0; round < 2; ++round) {
    for (int batch = 0; batch < 20; ++batch) {
      uint64_t mine = 0;
      const uint64_t before = loop_.allocator().allocations();
      std::thread([&] {
        const uint64_t start = system_allocations();
        for (int n = 0; n < 500; ++n)
          EXPECT_EQ(jzx_send_async(loop_, id, nullptr, 0, kTag), JZX_OK);
        mine = system_allocations() - start;
      }).join();
      for (int tick = 0; tick < 20; ++tick) ASSERT_EQ(jzx_loop_run_once(loop_, 0), 1);
      if (round == 1) {
        ours += loop_.allocator().allocations() - before;
        systems += mine;
      }
    }
  }
  EXPECT_EQ(ours, 0u);
  EXPECT_EQ(systems, 0u);
}

TEST_F(Memory, ATimerAllocatesNothingAfterWarmUp) {
  Relay state;
  const jzx_actor_id id = spawn_plain(loop_, metronome, &state);
  expect_no_allocations_when_warm(loop_, [&] {
    state.left = 20'000;
    ASSERT_EQ(jzx_send(loop_, id, nullptr, 0, kTag), JZX_OK);
    ASSERT_EQ(jzx_loop_run(loop_), 0);
  });
}

TEST(Allocator, IsWhereAllMemoryComesFrom) {
  if (!can_count_system_calls()) GTEST_SKIP() << "cannot be counted under a sanitizer";
  CountingAllocator allocator;
  jzx_config config;
  jzx_config_init(&config);
  config.allocator = allocator.c_allocator();
  const Pipe pipe;
  put(pipe.writer);
  const uint64_t before = system_allocations();

  jzx_loop* loop = jzx_loop_create(&config);
  ASSERT_NE(loop, nullptr);
  const jzx_actor_id one = spawn_plain(loop, ignore);
  const jzx_actor_id two = spawn_plain(loop, ignore);
  jzx_child_spec children[2] = {};
  children[0].behavior = children[1].behavior = ignore;
  children[0].name = "named";
  jzx_supervisor_init init{};
  init.children = children;
  init.child_count = 2;
  init.supervisor = {JZX_SUP_ONE_FOR_ALL, 10, 1000};
  jzx_actor_id supervisor = 0;
  jzx_actor_id child = 0;
  EXPECT_EQ(jzx_spawn_supervisor(loop, &init, 0, &supervisor), JZX_OK);
  EXPECT_EQ(jzx_supervisor_child_id(loop, supervisor, 0, &child), JZX_OK);
  EXPECT_EQ(jzx_register(loop, one, "one"), JZX_OK);
  EXPECT_EQ(jzx_link(loop, one, two), JZX_OK);
  EXPECT_EQ(jzx_monitor(loop, one, two, nullptr), JZX_OK);
  EXPECT_EQ(jzx_watch_fd(loop, pipe.reader.get(), one, JZX_IO_READ), JZX_OK);
  for (int n = 0; n < 1000; ++n) {
    EXPECT_EQ(jzx_send(loop, two, nullptr, 0, kTag), JZX_OK);
    EXPECT_EQ(jzx_send_after(loop, two, 0, nullptr, 0, kTag, nullptr), JZX_OK);
    if (n % 100 != 0) continue;
    EXPECT_EQ(jzx_loop_run_once(loop, 0), 1);
  }
  EXPECT_EQ(jzx_actor_fail(loop, child), JZX_OK);
  for (int n = 0; n < 50; ++n) EXPECT_EQ(jzx_loop_run_once(loop, 0), 1);
  EXPECT_EQ(jzx_actor_fail(loop, two), JZX_OK);
  EXPECT_EQ(jzx_actor_stop(loop, supervisor), JZX_OK);
  EXPECT_EQ(jzx_loop_run(loop), 0);
  jzx_loop_destroy(loop);

  EXPECT_EQ(system_allocations() - before, 0u);
  EXPECT_GT(allocator.allocations(), 0u);
  EXPECT_EQ(allocator.live_blocks(), 0);
}

TEST(Allocator, WithOnlyOneOfTheTwoFunctionsIsInvalid) {
  jzx_config config;
  jzx_config_init(&config);
  config.allocator.free = nullptr;
  EXPECT_EQ(jzx_loop_create(&config), nullptr);
  jzx_config_init(&config);
  config.allocator.alloc = nullptr;
  EXPECT_EQ(jzx_loop_create(&config), nullptr);
}

}  // namespace
}  // namespace jzx::testing
