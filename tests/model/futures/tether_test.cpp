// jzx/detail/tether.hpp with handover.hpp: one who waits, who settles and who cancels, at the same
// time; as detail::Link and detail::TaskRoot use them.
#include <gtest/gtest.h>

#include <jzx/detail/handover.hpp>
#include <jzx/detail/tether.hpp>

#include "base/atomic.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

using detail::Cancelled;
using detail::Settled;
using detail::Stage;

constexpr int kResult = 7;
constexpr int kEnded = -1;

// A future, and one who waits for it.
struct Play {
  detail::Handover<base::Atomic> handover{Stage::pending};
  detail::Tether<base::Atomic> tether;
  base::Shared<int> result{0};
  base::Shared<int> how{1};  // what a canceller looks at in the future's memory
  base::Shared<int> waiter{0};
  bool can_be_cancelled = false;       // and is settled by that
  base::Atomic<bool> is_asked{false};  // whose first asker settles it, then
  int went_on = 0;
  int orphans = 0;
  bool had_result = false;

  // ---- the promise's end ----

  void settle() {
    result = kResult;
    switch (handover.settle()) {
      case Settled::first:
        return;
      case Settled::second:
        MODEL_ASSERT(waiter == 1);
        if (tether.arrive()) go_on(true);
        return;
      case Settled::orphaned:
        ++orphans;
        end_memory();
        return;
    }
  }
  void settle_once() {
    if (!is_asked.exchange(true, std::memory_order_relaxed)) settle();
  }
  void end_memory() {
    result = kEnded;
    how = kEnded;
  }

  // ---- who waits ----

  void go_on(bool has_result) {
    ++went_on;
    had_result = has_result;
    if (!has_result) return;
    MODEL_ASSERT(result == kResult);
    end_memory();
  }
  [[nodiscard]] bool leave() { return can_be_cancelled ? handover.leave() : handover.lend(); }
  void wait() {
    waiter = 1;
    if (!tether.tie()) return wait_cancelled();
    if (leave() && tether.untie()) go_on(true);
  }
  void wait_cancelled() {
    tether.hold_cancelled();
    if (can_be_cancelled) settle_once();
    const bool is_there = leave();
    MODEL_ASSERT(how == 1);  // the memory is there, whoever has settled
    switch (tether.end_cancel(is_there || (!can_be_cancelled && handover.take_back()))) {
      case Cancelled::nothing:
        return;
      case Cancelled::go_on:
        return go_on(true);
      case Cancelled::taken_back:
        return go_on(is_there);
    }
  }

  // ---- who cancels ----

  [[nodiscard]] bool cancel_future() {
    MODEL_ASSERT(how == 1);  // the memory is there
    if (!can_be_cancelled) return handover.take_back();
    settle_once();
    MODEL_ASSERT(how == 1);
    return false;
  }
  void cancel() {
    if (!tether.begin_cancel()) return;
    switch (tether.end_cancel(cancel_future())) {
      case Cancelled::nothing:
        return;
      case Cancelled::go_on:
        return go_on(true);
      case Cancelled::taken_back:
        return go_on(false);
    }
  }
};

TEST(Tether, OfAPromiseGoesOnOnceWithAResultOrWithout) {
  bool saw_result = false;
  bool saw_none = false;
  expect_always({.name = "tether, wait, settle and cancel", .preemptions = 4}, [&](Scene& scene) {
    auto& play = scene.make<Play>();
    scene.thread([&] { play.wait(); });
    scene.thread([&] { play.settle(); });
    scene.thread([&] { play.cancel(); });
    scene.join();
    MODEL_ASSERT(play.went_on == 1);
    MODEL_ASSERT(play.orphans == (play.had_result ? 0 : 1));
    (play.had_result ? saw_result : saw_none) = true;
  });
  EXPECT_TRUE(saw_result);
  EXPECT_TRUE(saw_none);
}

TEST(Tether, OfAFutureThatACancelSettlesInsideOfTheCallGoesOnOnce) {
  expect_always({.name = "tether, a cancel that settles", .preemptions = kUnbounded},
                [](Scene& scene) {
                  auto& play = scene.make<Play>();
                  play.can_be_cancelled = true;
                  scene.thread([&] { play.wait(); });
                  scene.thread([&] { play.cancel(); });
                  scene.join();
                  // Who was cancelled before it waited has cancelled the future itself.
                  MODEL_ASSERT(play.went_on == 1);
                  MODEL_ASSERT(play.had_result);
                });
}

TEST(Tether, OfAFutureThatSettlesWhileItIsCancelledGoesOnOnce) {
  expect_always({.name = "tether, settled and cancelled", .preemptions = 4}, [](Scene& scene) {
    auto& play = scene.make<Play>();
    play.can_be_cancelled = true;
    scene.thread([&] { play.wait(); });
    scene.thread([&] { play.settle_once(); });
    scene.thread([&] { play.cancel(); });
    scene.join();
    MODEL_ASSERT(play.went_on == 1);
    MODEL_ASSERT(play.had_result);
  });
}

TEST(Tether, IsCancelledOnceByTwo) {
  expect_always({.name = "tether, two cancellers", .preemptions = 4}, [](Scene& scene) {
    auto& play = scene.make<Play>();
    play.can_be_cancelled = true;
    scene.thread([&] { play.wait(); });
    scene.thread([&] { play.cancel(); });
    scene.thread([&] { play.cancel(); });
    scene.join();
    MODEL_ASSERT(play.went_on == 1);
  });
}

// As TaskRoot::set_stop_watch() and request_stop(): one of the two tells the watch.
TEST(Tether, TellsAWatchThatIsSetMeanwhile) {
  expect_always({.name = "tether, stop watch", .preemptions = kUnbounded}, [](Scene& scene) {
    auto& tether = scene.make<detail::Tether<base::Atomic>>();
    auto& watch = scene.make<base::Atomic<int>>(0);
    int told = 0;
    scene.thread([&] {
      watch.store(1, std::memory_order_relaxed);
      if (tether.look_cancelled()) ++told;
    });
    scene.thread([&] {
      (void)tether.begin_cancel();
      if (watch.load(std::memory_order_relaxed) == 1) ++told;
    });
    scene.join();
    MODEL_ASSERT(told > 0);
  });
}

}  // namespace
}  // namespace jzx::base::model
