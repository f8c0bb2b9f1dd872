// jzx_runtime_* as a C program sees it: stop and run again, stop before the run and from a signal
// handler, the end with things still under way, and what is refused.
#include <jzx/jzx.h>

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "capi/create_loop.hpp"
#include "support/counting_allocator.hpp"
#include "support/fds.hpp"
#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

// A runtime whose memory is counted; what it takes it gives back when it ends.
class CRuntime : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    jzx_runtime_config config;
    jzx_runtime_config_init(&config);
    config.loop.allocator = allocator_.c_allocator();
    config.workers = GetParam();
    runtime_ = jzx_runtime_create(&config);
    ASSERT_NE(runtime_, nullptr);
    loop_ = jzx_runtime_loop(runtime_);
    jzx_observer observer{};
    observer.on_dead_letter = [](void* self, jzx_actor_id, const jzx_message*) {
      static_cast<CRuntime*>(self)->dead_letters_.fetch_add(1);
    };
    jzx_loop_set_observer(loop_, &observer, this);
  }
  void TearDown() override { destroy(); }
  void destroy() {
    jzx_runtime_destroy(std::exchange(runtime_, nullptr));
    EXPECT_EQ(allocator_.live_blocks(), 0);
  }
  jzx_actor_id spawn(jzx_behavior_fn behavior, void* state, uint32_t mailbox_cap = 0) {
    jzx_spawn_opts options{};
    options.behavior = behavior;
    options.state = state;
    options.mailbox_cap = mailbox_cap;
    jzx_actor_id id = 0;
    EXPECT_EQ(jzx_spawn(loop_, &options, &id), JZX_OK);
    return id;
  }

  CountingAllocator allocator_;
  jzx_runtime* runtime_ = nullptr;
  jzx_loop* loop_ = nullptr;
  std::atomic<uint64_t> dead_letters_{0};
};
INSTANTIATE_TEST_SUITE_P(Workers, CRuntime, ::testing::Values(1u, 2u, 5u));

constexpr uint32_t kTag = 1;
constexpr uint32_t kStopTag = 2;

jzx_behavior_result count_messages(jzx_context* context, const jzx_message* message) {
  static_cast<std::atomic<uint64_t>*>(context->state)->fetch_add(1);
  return message->tag == kStopTag ? JZX_BEHAVIOR_STOP : JZX_BEHAVIOR_OK;
}

TEST_P(CRuntime, NothingRunsBeforeTheRunAndEverythingSentBeforeIsHandledInIt) {
  std::atomic<uint64_t> handled{0};
  const jzx_actor_id id = spawn(&count_messages, &handled);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, kTag), JZX_OK);
  EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, kStopTag), JZX_OK);
  EXPECT_EQ(handled.load(), 0u);
  EXPECT_EQ(jzx_runtime_run(runtime_), 0) << "until nobody is left";
  EXPECT_EQ(handled.load(), 11u);
}

TEST_P(CRuntime, AStopRequestedBeforeTheRunEndsItAndIsUsedUp) {
  std::atomic<uint64_t> handled{0};
  const jzx_actor_id id = spawn(&count_messages, &handled);
  jzx_runtime_request_stop(runtime_);
  EXPECT_EQ(jzx_runtime_run(runtime_), 0) << "the actor is alive: only the request ends this run";
  EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, kStopTag), JZX_OK);
  EXPECT_EQ(jzx_runtime_run(runtime_), 0);
  EXPECT_EQ(handled.load(), 1u);
}

// Stops the whole runtime from inside, again and again.
struct Stopper {
  jzx_runtime* runtime;
  uint64_t handled = 0;
  std::atomic<bool> runs{false};
  std::atomic<uint64_t> outside{0};  // turns between two runs
};
jzx_behavior_result stop_all(jzx_context* context, const jzx_message* message) {
  auto& stopper = *static_cast<Stopper*>(context->state);
  if (!stopper.runs.load()) stopper.outside.fetch_add(1);
  if (message->tag == kStopTag) return JZX_BEHAVIOR_STOP;
  if (++stopper.handled % 5 == 0) jzx_runtime_request_stop(stopper.runtime);
  EXPECT_EQ(jzx_send(context->loop, context->self, nullptr, 0, kTag), JZX_OK);
  return JZX_BEHAVIOR_OK;
}

TEST_P(CRuntime, ManyRunsOneAfterAnotherLoseNothing) {
  Stopper stopper{runtime_};
  std::atomic<uint64_t> handled{0};
  const jzx_actor_id self_sender = spawn(&stop_all, &stopper);
  const jzx_actor_id counter = spawn(&count_messages, &handled);
  EXPECT_EQ(jzx_send(loop_, self_sender, nullptr, 0, kTag), JZX_OK);
  const auto rounds = static_cast<uint64_t>(scaled(300, 10));
  for (uint64_t i = 0; i < rounds; ++i) {
    EXPECT_EQ(jzx_send(loop_, counter, nullptr, 0, kTag), JZX_OK);
    stopper.runs.store(true);
    ASSERT_EQ(jzx_runtime_run(runtime_), 0);
    stopper.runs.store(false);
    const core::Ledger ledger = capi::ledger(loop_);
    ASSERT_TRUE(ledger.balanced());
    ASSERT_EQ(ledger.queued, 1 + i + 1 - handled.load());
  }
  stopper.runs.store(true);
  EXPECT_EQ(jzx_send(loop_, counter, nullptr, 0, kStopTag), JZX_OK);
  EXPECT_EQ(jzx_actor_stop(loop_, self_sender), JZX_OK);
  while (jzx_send(loop_, counter, nullptr, 0, kTag) == JZX_OK) {
    ASSERT_EQ(jzx_runtime_run(runtime_), 0);  // a stop may have been asked for before
  }
  EXPECT_GE(handled.load(), rounds);
  EXPECT_EQ(stopper.outside.load(), 0u) << "turns while no run was under way";
  const core::Ledger ledger = capi::ledger(loop_);
  EXPECT_TRUE(ledger.balanced());
}

TEST(CRuntimeMark, OfWorkFromOutsideIsToldOnStderrOnceUntilItHasHalved) {
  jzx_runtime_config config;
  jzx_runtime_config_init(&config);
  config.injection_high_water = 10;
  jzx_runtime* const runtime = jzx_runtime_create(&config);
  jzx_loop* const loop = jzx_runtime_loop(runtime);
  const jzx_observer observer{};
  jzx_loop_set_observer(loop, &observer, nullptr);
  std::atomic<uint64_t> handled{0};
  jzx_spawn_opts options{};
  options.behavior = &count_messages;
  options.state = &handled;
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i) {  // nothing runs yet, so all of them wait
    jzx_actor_id id = 0;
    ASSERT_EQ(jzx_spawn(loop, &options, &id), JZX_OK);
    ASSERT_EQ(jzx_send(loop, id, nullptr, 0, kStopTag), JZX_OK);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "jzx: 11 actors and jobs from outside wait for a worker\n");
  EXPECT_EQ(jzx_runtime_run(runtime), 0);
  EXPECT_EQ(handled.load(), 20u);
  jzx_runtime_destroy(runtime);
}

// ---- from a signal handler ----

std::atomic<jzx_runtime*> signalled{nullptr};
void on_signal(int) { jzx_runtime_request_stop(signalled.load()); }

jzx_behavior_result raise_signal(jzx_context*, const jzx_message*) {
  std::raise(SIGUSR1);
  return JZX_BEHAVIOR_OK;
}

TEST_P(CRuntime, AStopRequestedInASignalHandlerEndsTheRun) {
  signalled.store(runtime_);
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = &on_signal;
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  // On a worker, inside a behaviour.
  const jzx_actor_id id = spawn(&raise_signal, nullptr);
  EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, kTag), JZX_OK);
  EXPECT_EQ(jzx_runtime_run(runtime_), 0);
  // On the thread that will run, before it does.
  std::raise(SIGUSR1);
  EXPECT_EQ(jzx_runtime_run(runtime_), 0);
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

// ---- the end ----

TEST_P(CRuntime, WhatIsQueuedArmedAndWatchedWhenItIsDestroyedIsToldAndFreed) {
  std::atomic<uint64_t> handled{0};
  Pipe pipe;
  uint64_t left = 0;
  for (int i = 0; i < 50; ++i) {
    const jzx_actor_id id = spawn(&count_messages, &handled);
    for (int k = 0; k < 10; ++k, ++left) {
      EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, kTag), JZX_OK);
    }
    for (uint32_t k = 0; k < 10; ++k, ++left) {
      EXPECT_EQ(jzx_send_after(loop_, id, k * 60'000, nullptr, 0, kTag, nullptr), JZX_OK);
    }
    if (i == 0) {
      EXPECT_EQ(jzx_watch_fd(loop_, pipe.reader.get(), id, JZX_IO_READ), JZX_OK);
      put(pipe.writer);
    }
    EXPECT_EQ(jzx_register(loop_, id, ("name" + std::to_string(i)).c_str()), JZX_OK);
    EXPECT_EQ(jzx_monitor(loop_, id, id, nullptr), JZX_OK);
  }
  destroy();
  EXPECT_EQ(dead_letters_.load(), left);
  EXPECT_EQ(handled.load(), 0u);
}

// Holds the end up until every sender has noticed it: the loop is good until destroy returns.
struct HoldUp {
  std::atomic<uint64_t> handled{0};
  Gate entered;
  Gate release;
};
jzx_behavior_result hold_up(jzx_context* context, const jzx_message*) {
  auto& hold = *static_cast<HoldUp*>(context->state);
  hold.entered.open();
  EXPECT_TRUE(hold.release.wait());
  hold.handled.fetch_add(1);
  return JZX_BEHAVIOR_OK;
}

TEST_P(CRuntime, WhatIsSentWhileItIsDestroyedInARunIsRefusedOrToldAndFreed) {
  std::atomic<uint64_t> handled{0};
  HoldUp hold;
  std::vector<jzx_actor_id> ids;
  for (int i = 0; i < 50; ++i) ids.push_back(spawn(&count_messages, &handled));
  const jzx_actor_id holder = spawn(&hold_up, &hold);
  std::thread runner([&, runtime = runtime_] { EXPECT_EQ(jzx_runtime_run(runtime), 0); });
  std::atomic<uint64_t> accepted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, loop = loop_] {
      for (uint32_t i = 0;; ++i) {
        const jzx_actor_id to = ids[i % ids.size()];
        const jzx_err result = i % 3 == 0
                                   ? jzx_send_after(loop, to, i % 7, nullptr, 0, kTag, nullptr)
                                   : jzx_send(loop, to, nullptr, 0, kTag);
        if (result == JZX_OK) accepted.fetch_add(1);
        if (result == JZX_ERR_LOOP_CLOSED) return;
      }
    });
  }
  if (GetParam() > 1) {  // the only worker cannot be held up and count
    while (handled.load() < 1000) std::this_thread::yield();
  }
  EXPECT_EQ(jzx_send(loop_, holder, nullptr, 0, kTag), JZX_OK);
  ASSERT_TRUE(hold.entered.wait());
  std::thread destroyer([&] { destroy(); });
  for (std::thread& thread : threads) thread.join();
  hold.release.open();
  destroyer.join();
  runner.join();
  EXPECT_EQ(handled.load() + dead_letters_.load(), accepted.load());
}

struct Inner {
  jzx_runtime* runtime = nullptr;
  Gate entered;
  Gate release;
  std::vector<jzx_err> answers;
};

jzx_behavior_result destroy_own(jzx_context* context, const jzx_message* message) {
  auto& inner = *static_cast<Inner*>(context->state);
  if (message->tag == kStopTag) return JZX_BEHAVIOR_STOP;
  jzx_runtime_destroy(inner.runtime);
  EXPECT_EQ(jzx_send(context->loop, context->self, nullptr, 0, kStopTag), JZX_OK)
      << "it goes on as if nothing had happened";
  return JZX_BEHAVIOR_OK;
}

TEST_P(CRuntime, DestroyFromItsOwnThreadIsRefused) {
  Inner inner;
  inner.runtime = runtime_;
  const jzx_actor_id id = spawn(&destroy_own, &inner);
  EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, kTag), JZX_OK);
  EXPECT_EQ(jzx_runtime_run(runtime_), 0);
}

std::vector<jzx_err> every_call(jzx_loop* loop, jzx_actor_id id) {
  jzx_spawn_opts options{};
  options.behavior = &destroy_own;
  jzx_actor_id out = 0;
  return {jzx_send(loop, id, nullptr, 0, kTag),
          jzx_send_async(loop, id, nullptr, 0, kTag),
          jzx_send_after(loop, id, 1, nullptr, 0, kTag, nullptr),
          jzx_cancel_timer(loop, 1),
          jzx_spawn(loop, &options, &out),
          jzx_actor_stop(loop, id),
          jzx_register(loop, id, "late"),
          jzx_whereis(loop, "late", &out),
          jzx_link(loop, id, id),
          jzx_monitor(loop, id, id, nullptr),
          jzx_trap_exit(loop, id, 1),
          jzx_watch_fd(loop, 0, id, JZX_IO_READ),
          jzx_unwatch_fd(loop, 0)};
}

jzx_behavior_result outlast(jzx_context* context, const jzx_message*) {
  auto& inner = *static_cast<Inner*>(context->state);
  inner.entered.open();
  EXPECT_TRUE(inner.release.wait());
  inner.answers = every_call(context->loop, context->self);
  return JZX_BEHAVIOR_OK;
}

// It would stand still meanwhile, with all actors that are queued there.
TEST_P(CRuntime, AWorkerDoesNotWaitForALoop) {
  struct Answers {
    jzx_loop* loop;
    int run = 0, waiting = 0, at_once = 0;
  } answers{jzx_loop_create(nullptr)};
  jzx_spawn_opts options{};  // somebody who would keep it waiting
  options.behavior = &count_messages;
  ASSERT_EQ(jzx_spawn(answers.loop, &options, nullptr), JZX_OK);
  const jzx_actor_id id = spawn(
      [](jzx_context* context, const jzx_message*) {
        auto* it = static_cast<Answers*>(context->state);
        it->run = jzx_loop_run(it->loop);
        it->waiting = jzx_loop_run_once(it->loop, 1);
        it->at_once = jzx_loop_run_once(it->loop, 0);
        return JZX_BEHAVIOR_STOP;
      },
      &answers);
  ASSERT_EQ(jzx_send(loop_, id, nullptr, 0, kTag), JZX_OK);
  EXPECT_EQ(jzx_runtime_run(runtime_), 0);
  EXPECT_EQ(answers.run, JZX_ERR_INVALID_ARG);
  EXPECT_EQ(answers.waiting, JZX_ERR_INVALID_ARG);
  EXPECT_EQ(answers.at_once, 1);
  jzx_loop_destroy(answers.loop);
}

TEST_P(CRuntime, EveryCallAfterDestroyBeganSaysClosed) {
  Inner inner;
  inner.runtime = runtime_;
  const jzx_actor_id id = spawn(&outlast, &inner);
  std::thread runner([&, runtime = runtime_] { EXPECT_EQ(jzx_runtime_run(runtime), 0); });
  EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, kTag), JZX_OK);
  ASSERT_TRUE(inner.entered.wait());
  std::thread destroyer([&] { destroy(); });
  // It has begun when calls are refused, and cannot end before the behaviour has.
  jzx_actor_id nobody = 0;
  while (jzx_whereis(loop_, "nobody", &nobody) != JZX_ERR_LOOP_CLOSED) std::this_thread::yield();
  for (const jzx_err answer : every_call(loop_, id)) EXPECT_EQ(answer, JZX_ERR_LOOP_CLOSED);
  inner.release.open();
  destroyer.join();
  runner.join();
  for (const jzx_err answer : inner.answers) EXPECT_EQ(answer, JZX_ERR_LOOP_CLOSED);
  EXPECT_FALSE(inner.answers.empty());
}

TEST_P(CRuntime, TheFourCallsThatAreForLoopsOnlyAreRefused) {
  std::atomic<uint64_t> handled{0};
  const jzx_actor_id id = spawn(&count_messages, &handled);
  EXPECT_EQ(jzx_loop_run(loop_), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_loop_run_once(loop_, 0), JZX_ERR_INVALID_ARG);
  EXPECT_LT(jzx_loop_fd(loop_), 0);
  jzx_loop_destroy(loop_);
  EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, kStopTag), JZX_OK) << "destroy did nothing";
  EXPECT_EQ(jzx_runtime_run(runtime_), 0);
  EXPECT_EQ(handled.load(), 1u);
}

// Setting an observer cannot fail: the call has no way to say so.
TEST_P(CRuntime, AnObserverIsSetAlsoWithoutMemory) {
  std::atomic<uint64_t> handled{0};
  std::atomic<uint64_t> told{0};
  const jzx_actor_id id = spawn(&count_messages, &handled);
  EXPECT_EQ(jzx_send(loop_, id, nullptr, 0, kTag), JZX_OK);
  jzx_observer observer{};
  observer.on_dead_letter = [](void* count, jzx_actor_id, const jzx_message*) {
    static_cast<std::atomic<uint64_t>*>(count)->fetch_add(1);
  };
  allocator_.refuse_all(true);
  jzx_loop_set_observer(loop_, &observer, &told);
  allocator_.refuse_all(false);
  destroy();
  EXPECT_EQ(told.load(), 1u);
  EXPECT_EQ(dead_letters_.load(), 0u);
}

// One of two observers. Each has callbacks of its own, which must never see the other's context.
template <int number>
struct Witness {
  static void started(void* self, jzx_actor_id, const char*) {
    auto& it = *static_cast<Witness*>(self);
    (it.own_number == number ? it.told : it.mistaken).fetch_add(1);
  }
  [[nodiscard]] static jzx_observer observer() {
    jzx_observer result{};
    result.on_actor_start = &started;
    return result;
  }

  int own_number = number;
  std::atomic<uint64_t> told{0};
  std::atomic<uint64_t> mistaken{0};
};

TEST_P(CRuntime, AnObserverReplacedWhileItIsCalledNeverMixesCallbacksAndContexts) {
  Witness<1> first;
  Witness<2> second;
  const jzx_observer of_first = first.observer();
  const jzx_observer of_second = second.observer();
  jzx_loop_set_observer(loop_, &of_first, &first);
  std::atomic<bool> is_over{false};
  std::atomic<uint64_t> spawned{0};
  std::vector<std::thread> spawners;
  for (int i = 0; i < 2; ++i) {
    spawners.emplace_back([&] {
      while (!is_over.load()) {
        const jzx_actor_id id = spawn(&count_messages, nullptr);
        EXPECT_EQ(jzx_actor_stop(loop_, id), JZX_OK);
        spawned.fetch_add(1);
      }
    });
  }
  std::thread runner([&] { EXPECT_EQ(jzx_runtime_run(runtime_), 0); });
  for (uint64_t i = 0; i < scaled(5'000, 10) || spawned.load() < 100; ++i) {
    jzx_loop_set_observer(loop_, &of_second, &second);
    jzx_loop_set_observer(loop_, &of_first, &first);
  }
  is_over.store(true);
  for (std::thread& spawner : spawners) spawner.join();
  jzx_runtime_request_stop(runtime_);
  runner.join();
  EXPECT_EQ(first.mistaken.load() + second.mistaken.load(), 0u);
  EXPECT_EQ(first.told.load() + second.told.load(), spawned.load()) << "nobody is missed";
}

}  // namespace
}  // namespace jzx::testing
