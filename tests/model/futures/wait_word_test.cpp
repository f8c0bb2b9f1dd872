// kinds/fiber/wait_word.hpp: a result, a kill, and the fiber that waits, over the shipped state
// word of its actor and the shipped handover of the future.
#include "kinds/fiber/wait_word.hpp"

#include <gtest/gtest.h>

#include <jzx/detail/handover.hpp>

#include "core/state_word.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

using kinds::WaitWord;

constexpr uint32_t kGeneration = 1;
constexpr int kResult = 7;
constexpr int kAlive = 9;
constexpr int kEnded = -1;

struct Play {
  Play() { state.open(kGeneration, true); }

  // ---- the promise's end: Promise::resolve() and resume_fiber() ----

  void resolve() {
    result = kResult;
    if (handover.settle() != detail::Settled::second) return;
    if (!word.deliver([&] { wake(); })) end_memory();
  }
  void wake() {
    MODEL_ASSERT(actor == kAlive);
    if (state.wake(kGeneration) == core::Wake::submit) turn.wake();
    MODEL_ASSERT(actor == kAlive);
  }

  // ---- whoever kills ----

  void kill() {
    if (state.request_exit(kGeneration, ExitReason::killed) == core::Wake::submit) turn.wake();
  }

  // ---- the fiber: wait_for_future() and Fiber::suspend() ----

  void live() {
    has_result = wait();
    actor = kEnded;  // its stack, and its system
  }
  bool wait() {
    memory = kAlive;
    if (!handover.leave()) {
      const WaitWord::End end = word.wait([&] { return suspend(); });
      if (end == WaitWord::End::too_late) end_memory();
      if (end != WaitWord::End::delivered) return false;
    }
    end_memory();
    return true;
  }
  // One that is asked to end learns of it in its next turn.
  bool suspend() {
    MODEL_ASSERT(memory == kAlive);
    if (state.suspend(false)) MODEL_ASSERT(turn.until_woken());
    return !state.exit_requested();
  }

  void end_memory() {
    MODEL_ASSERT(result == kResult);
    result = kEnded;
    memory = kEnded;
    ++ends;
  }

  detail::Handover<base::Atomic> handover{detail::Stage::pending};
  WaitWord word;
  core::StateWord state;
  base::Shared<int> result{0};
  // Stands for the word's own bytes: made by the fiber, looked at while it waits, and then used for
  // something else.
  base::Shared<int> memory{0};
  base::Shared<int> actor{kAlive};
  Sleep turn;  // a run queue: who submits is seen by who runs
  int ends = 0;
  bool has_result = false;
};

TEST(WaitWord, AResultWakesWhoWaitsForIt) {
  expect_always({.name = "wait word, resolve", .preemptions = kUnbounded}, [](Scene& scene) {
    auto& play = scene.make<Play>();
    scene.thread([&] { play.resolve(); });
    scene.thread([&] { play.live(); });
    scene.join();
    MODEL_ASSERT(play.has_result);
    MODEL_ASSERT(play.ends == 1);
  });
}

TEST(WaitWord, AKillAndAResultEndTheMemoryOnce) {
  expect_always({.name = "wait word, resolve and kill", .preemptions = 4}, [](Scene& scene) {
    auto& play = scene.make<Play>();
    scene.thread([&] { play.resolve(); });
    scene.thread([&] { play.live(); });
    scene.thread([&] { play.kill(); });
    scene.join();
    MODEL_ASSERT(play.ends == 1);
  });
}

TEST(WaitWord, AKillWakesWhoWaitsForNothing) {
  expect_always({.name = "wait word, kill", .preemptions = kUnbounded}, [](Scene& scene) {
    auto& play = scene.make<Play>();
    scene.thread([&] { play.live(); });
    scene.thread([&] { play.kill(); });
    scene.join();
    MODEL_ASSERT(!play.has_result);
    MODEL_ASSERT(play.ends == 0);
    play.resolve();  // long after
    MODEL_ASSERT(play.ends == 1);
  });
}

}  // namespace
}  // namespace jzx::base::model
