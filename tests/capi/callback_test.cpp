// What callbacks may not do to the loop that calls them, and what they may.
#include <gtest/gtest.h>
#include <jzx/jzx.h>

#include <atomic>
#include <thread>

#include "base/time/clock.hpp"
#include "capi/create_loop.hpp"

namespace {

constexpr uint32_t kTag = 1;

jzx_behavior_result ignore(jzx_context*, const jzx_message*) { return JZX_BEHAVIOR_OK; }

jzx_actor_id spawn(jzx_loop* loop, jzx_behavior_fn behavior, void* state = nullptr) {
  jzx_spawn_opts opts{};
  opts.behavior = behavior;
  opts.state = state;
  jzx_actor_id id = 0;
  EXPECT_EQ(jzx_spawn(loop, &opts, &id), JZX_OK);
  return id;
}

TEST(CallbackOfADeadLetter, CannotCancelTheTimerThatBecameOne) {
  struct Seen {
    jzx_loop* loop;
    jzx_timer_id timer;
    jzx_err answer = JZX_OK;
  } seen{jzx_loop_create(nullptr), 0};
  jzx_observer observer{};
  observer.on_dead_letter = [](void* ctx, jzx_actor_id, const jzx_message*) {
    auto* it = static_cast<Seen*>(ctx);
    it->answer = jzx_cancel_timer(it->loop, it->timer);
  };
  jzx_loop_set_observer(seen.loop, &observer, &seen);
  const jzx_actor_id id = spawn(seen.loop, ignore);
  ASSERT_EQ(jzx_send_after(seen.loop, id, 1000, nullptr, 0, kTag, &seen.timer), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(seen.loop, id), JZX_OK);
  EXPECT_EQ(jzx_loop_run(seen.loop), 0);
  EXPECT_EQ(seen.answer, JZX_ERR_TIMER_INVALID);
  jzx_loop_destroy(seen.loop);
}

TEST(CallbackOfACall, CannotDestroyTheLoopThatMakesIt) {
  jzx_loop* loop = jzx_loop_create(nullptr);
  jzx_observer observer{};
  observer.on_actor_start = [](void* ctx, jzx_actor_id, const char*) {
    jzx_loop_destroy(static_cast<jzx_loop*>(ctx));  // refused, with a line on stderr
  };
  jzx_loop_set_observer(loop, &observer, loop);
  const jzx_actor_id id = spawn(loop, ignore);
  EXPECT_EQ(jzx_send(loop, id, nullptr, 0, kTag), JZX_OK) << "the loop lives";
  jzx_loop_set_observer(loop, nullptr, nullptr);
  jzx_loop_destroy(loop);
}

TEST(CallbackOfACall, CannotRunTheLoopThatMakesIt) {
  struct Seen {
    jzx_loop* loop;
    int once = 1, run = 1;
  } seen{jzx_loop_create(nullptr)};
  jzx_observer observer{};
  observer.on_actor_start = [](void* ctx, jzx_actor_id id, const char*) {
    auto* it = static_cast<Seen*>(ctx);
    EXPECT_EQ(jzx_actor_fail(it->loop, id), JZX_OK);
    it->once = jzx_loop_run_once(it->loop, 0);
    it->run = jzx_loop_run(it->loop);
  };
  jzx_loop_set_observer(seen.loop, &observer, &seen);
  jzx_child_spec child{};
  child.behavior = ignore;
  jzx_supervisor_init init{&child, 1, {JZX_SUP_ONE_FOR_ONE, 0, 1000}};
  (void)jzx_spawn_supervisor(seen.loop, &init, 0, nullptr);
  EXPECT_LT(seen.once, 0);
  EXPECT_LT(seen.run, 0);
  jzx_loop_destroy(seen.loop);
}

TEST(ABehaviourOfAnInnerLoop, CannotDestroyTheOuterLoopItRunsIn) {
  struct Both {
    jzx_loop* outer;
    bool returned = false;
  } both{jzx_loop_create(nullptr)};
  const jzx_behavior_fn run_inner = [](jzx_context* ctx, const jzx_message*) {
    jzx_loop* inner = jzx_loop_create(nullptr);
    const jzx_behavior_fn destroy_outer = [](jzx_context* inner_ctx, const jzx_message*) {
      auto* it = static_cast<Both*>(inner_ctx->state);
      jzx_loop_destroy(it->outer);
      it->returned = true;
      return JZX_BEHAVIOR_STOP;
    };
    const jzx_actor_id id = spawn(inner, destroy_outer, ctx->state);
    EXPECT_EQ(jzx_send(inner, id, nullptr, 0, kTag), JZX_OK);
    EXPECT_EQ(jzx_loop_run(inner), 0);
    jzx_loop_destroy(inner);
    return JZX_BEHAVIOR_STOP;
  };
  const jzx_actor_id id = spawn(both.outer, run_inner, &both);
  ASSERT_EQ(jzx_send(both.outer, id, nullptr, 0, kTag), JZX_OK);
  EXPECT_EQ(jzx_loop_run(both.outer), 0);
  EXPECT_TRUE(both.returned);
  jzx_loop_destroy(both.outer);
}

TEST(DestroyFromAnotherThread, LetsNoFurtherMessageBeHandled) {
  struct Shared {
    std::atomic<bool> is_closed{false};
    std::atomic<bool> has_begun{false};
    int after = 0;
  } shared;
  jzx_loop* loop = jzx_loop_create(nullptr);
  const jzx_behavior_fn behavior = [](jzx_context* ctx, const jzx_message*) {
    auto* it = static_cast<Shared*>(ctx->state);
    if (it->is_closed) ++it->after;
    it->has_begun = true;
    // The first call waits inside until destroy has begun; that makes the rest come after it.
    while (!it->is_closed) {
      if (jzx_send_async(ctx->loop, ctx->self, nullptr, 0, kTag) == JZX_ERR_LOOP_CLOSED) {
        it->is_closed = true;
      }
    }
    return JZX_BEHAVIOR_OK;
  };
  const jzx_actor_id id = spawn(loop, behavior, &shared);
  for (int n = 0; n < 50; ++n) ASSERT_EQ(jzx_send(loop, id, nullptr, 0, kTag), JZX_OK);
  std::thread runner([&] { (void)jzx_loop_run(loop); });
  while (!shared.has_begun) std::this_thread::yield();
  jzx_loop_destroy(loop);
  runner.join();
  EXPECT_TRUE(shared.is_closed);
  EXPECT_EQ(shared.after, 0);
}

TEST(AFullMailboxMetByAnotherThread, IsToldAlsoIfItWasEmptiedMeanwhile) {
  struct Seen {
    jzx_loop* loop;
    jzx_err foreign = JZX_OK;
    int told = 0;
  } seen{jzx_loop_create(nullptr)};
  jzx_observer observer{};
  observer.on_mailbox_full = [](void* ctx, jzx_actor_id) { ++static_cast<Seen*>(ctx)->told; };
  jzx_loop_set_observer(seen.loop, &observer, &seen);
  // In its last message but one, a thread finds the mailbox full; the turn then empties it.
  const jzx_behavior_fn behavior = [](jzx_context* ctx, const jzx_message* msg) {
    auto* it = static_cast<Seen*>(ctx->state);
    if (msg->tag == kTag) {
      EXPECT_EQ(jzx_send(ctx->loop, ctx->self, nullptr, 0, kTag + 1), JZX_OK);
      std::thread([&] {
        it->foreign = jzx_send_async(ctx->loop, ctx->self, nullptr, 0, kTag + 1);
      }).join();
    }
    return JZX_BEHAVIOR_OK;
  };
  jzx_spawn_opts opts{};
  opts.behavior = behavior;
  opts.state = &seen;
  opts.mailbox_cap = 5;  // the user's share is 1
  jzx_actor_id id = 0;
  ASSERT_EQ(jzx_spawn(seen.loop, &opts, &id), JZX_OK);
  ASSERT_EQ(jzx_send(seen.loop, id, nullptr, 0, kTag), JZX_OK);
  for (int n = 0; n < 3; ++n) (void)jzx_loop_run_once(seen.loop, 0);
  EXPECT_EQ(seen.foreign, JZX_ERR_MAILBOX_FULL);
  EXPECT_EQ(seen.told, 1);
  jzx_loop_destroy(seen.loop);
}

}  // namespace
