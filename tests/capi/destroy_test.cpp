// jzx_loop_destroy: what it hands back, what it refuses meanwhile, whom it waits for.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "jzx/jzx.h"
#include "support/fds.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

TEST(LoopDestroy, HandsEveryQueuedMessageToOnDeadLetter) {
  TestLoop loop;
  const jzx_actor_id one = loop.spawn_quiet();
  const jzx_actor_id two = loop.spawn_quiet();
  ASSERT_EQ(loop.send(one, 11, 1), JZX_OK);
  ASSERT_EQ(loop.send_async(one, 12, 2), JZX_OK);
  ASSERT_EQ(loop.send(two, 13, 3), JZX_OK);
  loop.close();
  const std::vector<Event> letters = loop.events().of(Kind::dead_letter);
  ASSERT_EQ(letters.size(), 3u);
  EXPECT_EQ(loop.events().count(Kind::dead_letter, one), 2u);
  EXPECT_EQ(loop.events().count(Kind::dead_letter, two), 1u);
  for (const Event& letter : letters) EXPECT_EQ(letter.tag, letter.data + 10);
}

TEST(LoopDestroy, HandsEveryPendingTimerToOnDeadLetter) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(loop.send_after(id, 10, kTag, 1), JZX_OK);
  loop.settle();
  ASSERT_EQ(loop.send_after(id, 4'000'000'000u, kTag, 2), JZX_OK);
  ASSERT_EQ(loop.send_after(id, 0, kTag, 3), JZX_OK);
  loop.close();
  std::vector<uint64_t> values = loop.events().dead_values();
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, (std::vector<uint64_t>{1, 2, 3}));
}

TEST(LoopDestroy, HandsOverATimerThatWaitsForRoomInAFullMailbox) {
  TestLoop loop;
  Probe& probe = loop.probe([&](jzx_context* ctx, const Received& received) {
    if (received.value == 2) {
      EXPECT_EQ(loop.send(ctx->self, kTag, 3), JZX_OK);  // fills it again
    }
    jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  });
  const jzx_actor_id id = loop.spawn(probe, 5);  // the user's share is 1
  ASSERT_EQ(loop.send_after(id, 1, kTag, 1), JZX_OK);
  loop.settle();
  ASSERT_EQ(loop.send(id, kTag, 2), JZX_OK);
  loop.clock().advance_ms(5);
  ASSERT_EQ(loop.run(), 0);
  loop.close();
  std::vector<uint64_t> fates = probe.values();
  EXPECT_LT(fates.size(), 3u) << "something was left to hand over";
  for (const uint64_t value : loop.events().dead_values()) fates.push_back(value);
  std::sort(fates.begin(), fates.end());
  EXPECT_EQ(fates, (std::vector<uint64_t>{1, 2, 3}));
}

TEST(LoopDestroy, DoesNotHandOverCancelledTimers) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  jzx_timer_id timer = 0;
  ASSERT_EQ(loop.send_after(id, 10, kTag, 1, &timer), JZX_OK);
  ASSERT_EQ(loop.cancel(timer), JZX_OK);
  loop.close();
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 0u);
}

TEST(LoopDestroy, RunsNoBehaviourAfterItBegan) {
  TestLoop loop;
  Probe& boss = loop.probe();
  Probe& watcher = loop.probe();
  const jzx_actor_id boss_id = loop.spawn(boss);
  const jzx_actor_id watcher_id = loop.spawn(watcher);
  const jzx_actor_id child = loop.spawn_quiet(boss_id);
  ASSERT_EQ(jzx_monitor(loop, watcher_id, child, nullptr), JZX_OK);
  ASSERT_EQ(jzx_trap_exit(loop, watcher_id, 1), JZX_OK);
  ASSERT_EQ(jzx_link(loop, watcher_id, child), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop, child), JZX_OK);
  ASSERT_EQ(loop.send(boss_id), JZX_OK);
  loop.close();
  EXPECT_TRUE(boss.log.empty());
  EXPECT_TRUE(watcher.log.empty());
}

TEST(LoopDestroy, GivesNoDeadLetterForSystemMessages) {
  TestLoop loop;
  const jzx_actor_id boss_id = loop.spawn_quiet();
  const jzx_actor_id child = loop.spawn_quiet(boss_id);
  ASSERT_EQ(jzx_monitor(loop, boss_id, child, nullptr), JZX_OK);
  ASSERT_EQ(jzx_monitor(loop, boss_id, child + (1ull << 40), nullptr), JZX_OK)
      << "one DOWN at once";
  loop.close();
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 0u);
}

TEST(LoopDestroy, FreesSupervisorsWithChildrenRunningBackedOffAndNested) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_backoff_spec backoff{1000, 1000, 1.0f, 0};
  const std::vector<jzx_child_spec> inner_children = {child_spec(probe), child_spec(probe)};
  const jzx_supervisor_init inner = family(inner_children);
  const std::vector<jzx_child_spec> children = {
      child_spec(probe), child_spec(probe, JZX_CHILD_PERMANENT, &backoff), nested_spec(inner)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 1)), JZX_OK);
  loop.settle();
  ASSERT_EQ(loop.child(supervisor, 1), 0u) << "it waits for its backoff";
  loop.close();  // checks that nothing leaks
  EXPECT_EQ(loop.events().count(Kind::escalate), 0u);
}

TEST(LoopDestroy, LeavesWatchedFdsOpen) {
  const Pipe pipe;
  {
    TestLoop loop(Time::real);
    const jzx_actor_id id = loop.spawn_quiet();
    ASSERT_EQ(jzx_watch_fd(loop, pipe.reader.get(), id, JZX_IO_READ), JZX_OK);
    loop.settle();
  }
  put(pipe.writer);
  char byte = 0;
  EXPECT_EQ(::read(pipe.reader.get(), &byte, 1), 1) << "the fd stays the caller's";
}

TEST(LoopDestroy, OfNullDoesNothing) { jzx_loop_destroy(nullptr); }

TEST(LoopDestroy, AnswersLoopClosedToEveryCallFromItsCallbacks) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const Pipe pipe;
  const jzx_actor_id id = loop.spawn(probe);
  const jzx_actor_id other = loop.spawn(probe);
  jzx_timer_id timer = 0;
  ASSERT_EQ(loop.send_after(id, 100, kTag, 1, &timer), JZX_OK);
  ASSERT_EQ(loop.send(id, kTag, 2), JZX_OK);
  jzx_spawn_opts opts{};
  opts.behavior = &Probe::behave;
  opts.state = &probe;
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_supervisor_init init = family(children);
  int asked = 0;
  loop.on_event = [&](const Event& event) {
    if (event.kind != Kind::dead_letter) return;
    ++asked;
    jzx_actor_id out = 0;
    uint64_t ref = 0;
    EXPECT_EQ(loop.send(id), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(loop.send_async(id), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(loop.send_after(id, 1), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_cancel_timer(loop, timer), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_spawn(loop, &opts, &out), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_spawn_supervisor(loop, &init, 0, &out), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_supervisor_child_id(loop, id, 0, &out), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_actor_stop(loop, id), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_actor_fail(loop, id), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_watch_fd(loop, pipe.reader.get(), id, JZX_IO_READ), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_unwatch_fd(loop, pipe.reader.get()), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_register(loop, id, "late"), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_whereis(loop, "late", &out), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_link(loop, id, other), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_unlink(loop, id, other), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_monitor(loop, id, other, &ref), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_demonitor(loop, 1), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_trap_exit(loop, id, 1), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_loop_run(loop), JZX_ERR_LOOP_CLOSED);
    EXPECT_EQ(jzx_loop_run_once(loop, 0), JZX_ERR_LOOP_CLOSED);
    EXPECT_LT(jzx_loop_fd(loop), 0);
    jzx_loop_request_stop(loop);
  };
  loop.close();
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(probe.log.empty());
}

TEST(LoopDestroy, AskedForAgainFromItsCallbackIsIgnored) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(loop.send(id), JZX_OK);
  ASSERT_EQ(loop.send(id), JZX_OK);
  loop.on_event = [&](const Event& event) {
    if (event.kind == Kind::dead_letter) jzx_loop_destroy(loop);
  };
  loop.close();
  EXPECT_EQ(loop.events().count(Kind::dead_letter), 2u);
}

TEST(LoopDestroy, AnswersLoopClosedToOtherThreadsAlsoForUnknownActors) {
  TestLoop loop;
  const jzx_actor_id id = loop.spawn_quiet();
  ASSERT_EQ(loop.send(id), JZX_OK);
  int asked = 0;
  loop.on_event = [&](const Event& event) {
    if (event.kind != Kind::dead_letter) return;
    ++asked;
    std::thread([&] {
      EXPECT_EQ(loop.send_async(id), JZX_ERR_LOOP_CLOSED);
      EXPECT_EQ(loop.send_async(0), JZX_ERR_LOOP_CLOSED);
      jzx_loop_request_stop(loop);
    }).join();
  };
  loop.close();
  EXPECT_EQ(asked, 1);
}

// An allocator that holds one thread inside an allocation until it is let go.
class HoldingAllocator {
 public:
  jzx_allocator c_allocator() {
    jzx_allocator allocator{};
    allocator.alloc = [](void* ctx, size_t size) {
      static_cast<HoldingAllocator*>(ctx)->wait_if_chosen();
      return std::malloc(size);
    };
    allocator.free = [](void*, void* ptr) { std::free(ptr); };
    allocator.ctx = this;
    return allocator;
  }

  // The next allocation of the calling thread is held.
  void hold_me() {
    const std::lock_guard lock(mutex_);
    held_ = std::this_thread::get_id();
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  void wait_until_held_or(const std::atomic<bool>& given_up) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ || given_up; });
  }
  void poke() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  void note_destroyed() {
    const std::lock_guard lock(mutex_);
    destroyed_ = true;
  }
  [[nodiscard]] bool was_inside() {
    const std::lock_guard lock(mutex_);
    return inside_;
  }

 private:
  void wait_if_chosen() {
    std::unique_lock lock(mutex_);
    if (held_ != std::this_thread::get_id() || released_) return;
    inside_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return released_; });
    EXPECT_FALSE(destroyed_) << "destroy returned while a call was inside";
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread::id held_;
  bool inside_ = false;
  bool released_ = false;
  bool destroyed_ = false;
};

TEST(LoopDestroy, WaitsForASendThatIsAlreadyInside) {
  // One thread is held inside jzx_send_async, in the allocator, and let go some time
  // after destroy was called. A destroy that did not wait would have returned by then.
  HoldingAllocator allocator;
  jzx_config config = default_config();
  config.allocator = allocator.c_allocator();
  config.default_mailbox_cap = 1u << 20;
  jzx_loop* loop = jzx_loop_create(&config);
  ASSERT_NE(loop, nullptr);
  uint64_t letters = 0;
  jzx_observer observer{};
  observer.on_dead_letter = [](void* ctx, jzx_actor_id, const jzx_message*) {
    ++*static_cast<uint64_t*>(ctx);
  };
  jzx_loop_set_observer(loop, &observer, &letters);
  jzx_spawn_opts opts{};
  opts.behavior = [](jzx_context*, const jzx_message*) { return JZX_BEHAVIOR_OK; };
  jzx_actor_id id = 0;
  ASSERT_EQ(jzx_spawn(loop, &opts, &id), JZX_OK);

  uint64_t accepted = 0;
  std::atomic<bool> given_up{false};
  std::thread inside([&] {
    allocator.hold_me();
    // The pool serves the first few; one of them has to ask for more.
    for (int n = 0; n < 1'000'000 && !allocator.was_inside(); ++n) {
      if (jzx_send_async(loop, id, nullptr, 0, kTag) == JZX_OK) ++accepted;
    }
    given_up = true;
    allocator.poke();
  });
  allocator.wait_until_held_or(given_up);
  EXPECT_TRUE(allocator.was_inside()) << "a million messages needed no memory";
  std::atomic<bool> destroying{false};
  std::thread warden([&] {
    while (!destroying) std::this_thread::yield();
    for (int n = 0; n < 10'000; ++n) std::this_thread::yield();
    allocator.let_go();
  });
  destroying = true;
  jzx_loop_destroy(loop);
  allocator.note_destroyed();
  inside.join();
  warden.join();
  EXPECT_EQ(letters, accepted) << "what was accepted on the way is handed over";
}

}  // namespace
}  // namespace jzx::testing
