// core/actor_table.hpp: workers that take free slots from their own stacks and from each other's.
#include "core/actor_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/reserved_array.hpp"
#include "model/mailbox/scene.hpp"

namespace jzx::base::model {
namespace {

// A table of `slots` slots, all of them free and in the stack of worker 0.
struct Table {
  Table(uint32_t slots, uint32_t workers) : actors(Allocator{}, slots, true), stacks(workers) {
    for (core::FreeSlots& stack : stacks) actors.add_stack(stack);
    std::vector<core::Actor*> all;
    while (core::Actor* actor = take(0)) all.push_back(actor);
    for (core::Actor* actor : all) give(0, actor);
  }
  core::Actor* take(uint32_t worker) {
    core::Actor* actor = actors.take(&stacks[worker]);
    if (actor != nullptr) MODEL_ASSERT(taken.insert(actor).second);
    return actor;
  }
  void give(uint32_t worker, core::Actor* actor) {
    taken.erase(actor);
    actors.give(&stacks[worker], *actor);
  }

  core::ActorTable actors;
  std::vector<core::FreeSlots> stacks;
  std::set<core::Actor*> taken;
};

TEST(ActorTable, EveryWorkerGetsOneOfTheSlotsThatOneOfThemHas) {
  for (const uint32_t workers : {2u, 3u}) {
    expect_always({.name = workers == 2 ? "actor table, 2 workers want 2 slots"
                                        : "actor table, 3 workers want 3 slots",
                   .preemptions = workers == 2 ? 3u : 1u},
                  [=](Scene& scene) {
                    auto& table = scene.make<Table>(workers, workers);
                    for (uint32_t worker = 0; worker < workers; ++worker) {
                      scene.thread([&, worker] { MODEL_ASSERT(table.take(worker) != nullptr); });
                    }
                    scene.join();
                  });
  }
}

TEST(ActorTable, ASlotThatIsGivenBackIsAsItsLastActorLeftIt) {
  expect_always({.name = "actor table, a slot that changes hands", .preemptions = 3},
                [](Scene& scene) {
                  auto& table = scene.make<Table>(1, 2);
                  auto& owned = scene.make<base::Shared<int>>(0);  // by whoever has the slot
                  int got = 0;
                  for (uint32_t worker = 0; worker < 2; ++worker) {
                    scene.thread([&, worker] {
                      core::Actor* actor = table.take(worker);
                      if (actor == nullptr) return;
                      ++owned;
                      ++got;
                      table.give(worker, actor);
                    });
                  }
                  scene.join();
                  MODEL_ASSERT(got >= 1);
                  MODEL_ASSERT(owned == got);
                  MODEL_ASSERT(table.take(0) != nullptr);
                  MODEL_ASSERT(table.take(1) == nullptr);
                });
}

// base/reserved_array.hpp, which the table may lie in.
TEST(ActorTable, ASlotThatIsFoundWhileTheTableGrowsIsWhole) {
  struct Slot {
    base::Shared<int> content{7};
  };
  struct Slots {
    Slots() { MODEL_ASSERT(array.reserve(2)); }
    ReservedArray<Slot, 1> array;
  };
  expect_always({.name = "reserved array, found while it grows", .preemptions = 3},
                [](Scene& scene) {
                  auto& slots = scene.make<Slots>();
                  scene.thread([&] {
                    MODEL_ASSERT(slots.array.grow());
                    MODEL_ASSERT(slots.array.grow());
                  });
                  scene.thread([&] {
                    const auto view = slots.array.view();
                    for (uint32_t i = 0; i < 2; ++i) {
                      if (view.has(i)) MODEL_ASSERT(view[i].content == 7);
                    }
                  });
                  scene.join();
                });
}

}  // namespace
}  // namespace jzx::base::model
