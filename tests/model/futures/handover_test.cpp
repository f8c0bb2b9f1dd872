// jzx/detail/handover.hpp: the two ends of a future that come at the same time.
#include <gtest/gtest.h>

#include <jzx/detail/handover.hpp>

#include "base/atomic.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

using detail::Stage;

constexpr int kResult = 7;
constexpr int kCallback = 9;
constexpr int kEnded = -1;

struct State {
  detail::Handover<base::Atomic> handover{Stage::pending};
  base::Shared<int> result{0};
  base::Shared<int> callback{0};
  int resumed = 0;

  // Both halves are there, and the memory is used for something else.
  void resume() {
    MODEL_ASSERT(result == kResult);
    MODEL_ASSERT(callback == kCallback);
    result = kEnded;
    callback = kEnded;
    ++resumed;
  }
  void settle() {
    result = kResult;
    if (handover.settle() == detail::Settled::second) resume();
  }
  void leave() {
    callback = kCallback;
    if (handover.leave()) resume();
  }
};

TEST(Handover, GoesOnOnceWithBothHalves) {
  expect_always({.name = "handover, settle and leave", .preemptions = kUnbounded},
                [](Scene& scene) {
                  auto& state = scene.make<State>();
                  scene.thread([&] { state.settle(); });
                  scene.thread([&] { state.leave(); });
                  scene.join();
                  MODEL_ASSERT(state.resumed == 1);
                });
}

TEST(Handover, OfAResultThatIsSeenNeedsNoLeave) {
  expect_always({.name = "handover, look and leave", .preemptions = kUnbounded}, [](Scene& scene) {
    auto& state = scene.make<State>();
    bool was_taken = false;
    scene.thread([&] { state.settle(); });
    scene.thread([&] {
      if (!state.handover.is_settled()) return state.leave();
      was_taken = true;
      MODEL_ASSERT(state.result == kResult);
      state.result = kEnded;
      state.callback = kEnded;
    });
    scene.join();
    MODEL_ASSERT(state.resumed + (was_taken ? 1 : 0) == 1);
  });
}

// As detail::wait_for_result(): what the future's end leaves is a sleeper to wake.
TEST(Handover, WakesAThreadThatWaits) {
  expect_always({.name = "handover, wait", .preemptions = kUnbounded}, [](Scene& scene) {
    auto& state = scene.make<State>();
    auto& sleep = scene.make<Sleep>();
    scene.thread([&] {
      state.result = kResult;
      if (state.handover.settle() != detail::Settled::second) return;
      MODEL_ASSERT(state.callback == kCallback);
      sleep.wake();
    });
    scene.thread([&] {
      state.callback = kCallback;
      if (!state.handover.leave()) MODEL_ASSERT(sleep.until_woken());
      MODEL_ASSERT(state.result == kResult);
      state.result = kEnded;
      state.callback = kEnded;
    });
    scene.join();
  });
}

// What was lent is taken back, perhaps while the result comes.
TEST(Handover, ThatIsTakenBackGoesOnNowhereElse) {
  bool saw_taken_back = false;
  bool saw_resumed = false;
  expect_always({.name = "handover, lend and take back", .preemptions = kUnbounded},
                [&](Scene& scene) {
                  auto& state = scene.make<State>();
                  auto& how = scene.make<base::Shared<int>>(1);
                  bool is_taken_back = false;
                  int orphans = 0;
                  scene.thread([&] {
                    state.result = kResult;
                    switch (state.handover.settle()) {
                      case detail::Settled::first:
                        return;
                      case detail::Settled::second:
                        return state.resume();
                      case detail::Settled::orphaned:
                        ++orphans;
                        state.callback = kEnded;
                        how = kEnded;
                        return;
                    }
                  });
                  scene.thread([&] {
                    state.callback = kCallback;
                    if (state.handover.lend()) return state.resume();
                    MODEL_ASSERT(how == 1);  // the memory is there until it is taken back
                    is_taken_back = state.handover.take_back();
                  });
                  scene.join();
                  MODEL_ASSERT(state.resumed == (is_taken_back ? 0 : 1));
                  MODEL_ASSERT(orphans == (is_taken_back ? 1 : 0));
                  (is_taken_back ? saw_taken_back : saw_resumed) = true;
                });
  EXPECT_TRUE(saw_taken_back);
  EXPECT_TRUE(saw_resumed);
}

}  // namespace
}  // namespace jzx::base::model
