// drivers/workers/injection.hpp and drivers/loop/call_list.hpp: when the mark of work from outside
// is told, while the one worker takes the calls.
#include "drivers/workers/injection.hpp"

#include <gtest/gtest.h>

#include <array>

#include "model/explore.hpp"

namespace jzx::core {
// The actor names it; no turn is run here. Weak, since other test files have one.
[[gnu::weak]] void run_actor(base::Runnable&, base::Executor&) {}
}  // namespace jzx::core

namespace jzx::base::model {
namespace {

// Two calls are more than the mark. What SharedWorker does about both.
struct Outside {
  Outside() {
    injection.count_too(calls);
    for (uint32_t slot = 0; slot < actors.size(); ++slot) {
      actors[slot].own_id = core::make_id(slot, 1);
    }
  }
  void call(uint32_t slot) {
    calls.push(actors[slot]);
    told += injection.note_call() != 0 ? 1 : 0;
  }
  void take_all() {
    calls.take_all([&](uint32_t slot) -> core::Actor& { return actors[slot]; },
                   [&](uint32_t count) { told += injection.note_calls_taken(count) != 0 ? 1 : 0; },
                   [](core::Actor&) {});
  }

  std::array<core::Actor, 2> actors;
  drivers::CallList calls;
  drivers::Injection injection{1};
  int told = 0;
};

// However it was told of calls that were being taken: of the next it is told once.
TEST(InjectionMark, IsToldOfCallsWhateverHappenedToThoseBefore) {
  int told_before = 0, not_told_before = 0;
  expect_always({.name = "injection mark, 2 callers and who takes the calls", .preemptions = 3},
                [&](Scene& scene) {
                  auto& outside = scene.make<Outside>();
                  scene.thread([&] { outside.call(0); });
                  scene.thread([&] { outside.call(1); });
                  scene.thread([&] { outside.take_all(); });
                  scene.join();
                  MODEL_ASSERT(outside.told <= 1);
                  (outside.told == 1 ? told_before : not_told_before) += 1;
                  outside.take_all();
                  outside.told = 0;
                  outside.call(0);
                  MODEL_ASSERT(outside.told == 0);
                  outside.call(1);
                  MODEL_ASSERT(outside.told == 1);
                });
  EXPECT_GT(told_before, 0);
  EXPECT_GT(not_told_before, 0);
}

}  // namespace
}  // namespace jzx::base::model
