// core/table/actor_table.hpp: workers that take free slots from their own stacks and from each
// other's.
#include "core/table/actor_table.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/reserved_array.hpp"
#include "model/mailbox/scene.hpp"

namespace jzx::base::model {
namespace {

enum class Stacks { empty, of_worker_0 };

// A table of `slots` slots, all of them yet to be made or free and in the stack of worker 0. Who
// has a slot owns what its actor was, so to say.
struct Table {
  Table(uint32_t slots, uint32_t workers, bool barriers, Stacks filled = Stacks::of_worker_0)
      : actors(Allocator{}, slots, true, core::TablePlace::allocator, barriers),
        stacks(workers),
        uses(slots) {
    for (core::FreeSlots& stack : stacks) actors.add_stack(stack);
    if (filled == Stacks::empty) return;
    std::vector<core::Actor*> all;
    while (core::Actor* actor = take(0)) all.push_back(actor);
    MODEL_ASSERT(all.size() == slots);
    for (core::Actor* actor : all) give(0, actor);
  }
  core::Actor* take(uint32_t worker) {
    core::Actor* actor = actors.take(&stacks[worker]);
    if (actor != nullptr) use(actor);
    return actor;
  }
  void give(uint32_t worker, core::Actor* actor) {
    use(actor);
    actors.give(&stacks[worker], *actor);
  }
  // By whoever has it: a race is noticed.
  void use(core::Actor* actor) { ++uses[actor->slot.load(std::memory_order_relaxed)]; }

  core::ActorTable actors;
  std::vector<core::FreeSlots> stacks;
  std::vector<base::Shared<int>> uses;
};

class ActorTable : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] const bool& barriers() const { return GetParam(); }
  void expect_always(const char* what, uint32_t preemptions,
                     const std::function<void(Scene&)>& run) {
    const std::string name =
        std::string("actor table, ") + what + (barriers() ? "" : ", without barriers");
    model::expect_always({.name = name.c_str(), .preemptions = preemptions}, run);
  }
};
INSTANTIATE_TEST_SUITE_P(With, ActorTable, ::testing::Bool(), [](const auto& barriers) {
  return barriers.param ? "barriers" : "exchanges";
});

TEST_P(ActorTable, GivesEveryWorkerOneOfTheSlotsThatOneOfThemHas) {
  for (const uint32_t workers : {2u, 3u}) {
    expect_always(workers == 2 ? "2 workers want 2 slots" : "3 workers want 3 slots",
                  workers == 2 ? 2u : 1u, [=, this](Scene& scene) {
                    auto& table = scene.make<Table>(workers, workers, barriers());
                    for (uint32_t worker = 0; worker < workers; ++worker) {
                      scene.thread([&, worker] { MODEL_ASSERT(table.take(worker) != nullptr); });
                    }
                    scene.join();
                  });
  }
}

TEST_P(ActorTable, GivesASlotBackAsItsLastActorLeftIt) {
  expect_always("a slot that changes hands", 2, [this](Scene& scene) {
    auto& table = scene.make<Table>(1u, 2u, barriers());
    int got = 0;
    for (uint32_t worker = 0; worker < 2; ++worker) {
      scene.thread([&, worker] {
        core::Actor* actor = table.take(worker);
        if (actor == nullptr) return;
        ++got;
        table.give(worker, actor);
      });
    }
    scene.join();
    MODEL_ASSERT(got >= 1);
    MODEL_ASSERT(table.take(0) != nullptr);
    MODEL_ASSERT(table.take(1) == nullptr);
  });
}

TEST_P(ActorTable, GivesWhatLiesBelowAsItsLastActorLeftIt) {
  expect_always("a slot below one that is taken again", 1, [this](Scene& scene) {
    auto& table = scene.make<Table>(2u, 2u, barriers());
    scene.thread([&] {
      core::Actor* one = table.take(0);
      core::Actor* other = table.take(0);
      if (one != nullptr) table.give(0, one);
      if (other != nullptr) table.give(0, other);
      (void)table.take(0);
    });
    scene.thread([&] { (void)table.take(1); });
    scene.join();
  });
}

TEST_P(ActorTable, GivesNewSlotsWhole) {
  expect_always("slots that are taken when they are new", 2, [this](Scene& scene) {
    auto& table = scene.make<Table>(2u, 2u, barriers(), Stacks::empty);
    for (uint32_t worker = 0; worker < 2; ++worker) {
      scene.thread([&, worker] { MODEL_ASSERT(table.take(worker) != nullptr); });
    }
    scene.join();
  });
}

// One may look at the other's stack before, and at the third one's stack after that has moved.
TEST_P(ActorTable, FindsASlotThatMovesFromAThirdWorker) {
  expect_always("2 workers want what a third has", 2, [this](Scene& scene) {
    auto& table = scene.make<Table>(2u, 3u, barriers());
    for (uint32_t worker = 1; worker < 3; ++worker) {
      scene.thread([&, worker] { MODEL_ASSERT(table.take(worker) != nullptr); });
    }
    scene.join();
  });
}

TEST_P(ActorTable, GivesWhatIsStolenTwiceAsItsLastActorLeftIt) {
  expect_always("a slot that is stolen twice", 1, [this](Scene& scene) {
    auto& table = scene.make<Table>(3u, 3u, barriers());
    scene.thread([&] {
      core::Actor* actor = table.take(0);
      MODEL_ASSERT(actor != nullptr);
      table.give(0, actor);
    });
    for (uint32_t worker = 1; worker < 3; ++worker) {
      scene.thread([&, worker] { MODEL_ASSERT(table.take(worker) != nullptr); });
    }
    scene.join();
  });
}

// The owner gives one back while both are stolen, and what it gave is stolen too.
TEST_P(ActorTable, NeverGivesASlotToTwo) {
  expect_always("two thefts while a slot is given", 3, [this](Scene& scene) {
    auto& table = scene.make<Table>(2u, 2u, barriers());
    core::Actor* held = table.take(0);
    core::Actor* got[2] = {};
    scene.thread([&] { table.give(0, held); });
    scene.thread([&] {
      for (core::Actor*& one : got) one = table.take(1);
    });
    scene.join();
    MODEL_ASSERT(got[0] == nullptr || got[0] != got[1]);
    if (got[0] == nullptr || got[1] == nullptr) return;
    MODEL_ASSERT(table.take(1) == nullptr && table.take(0) == nullptr);
  });
}

// Two slots, and nobody ever has more than one: whatever is stolen from whom meanwhile, both get
// what they ask for, and in the end both slots are there.
TEST_P(ActorTable, RefusesNobodyWhileASlotIsFree) {
  expect_always("2 workers take and give", 2, [this](Scene& scene) {
    auto& table = scene.make<Table>(2u, 2u, barriers());
    for (uint32_t worker = 0; worker < 2; ++worker) {
      scene.thread([&, worker] {
        for (uint32_t i = worker; i < 2; ++i) {
          core::Actor* actor = table.take(worker);
          MODEL_ASSERT(actor != nullptr);
          table.give(worker, actor);
        }
      });
    }
    scene.join();
    core::Actor* one = table.take(0);
    core::Actor* other = table.take(1);
    MODEL_ASSERT(one != nullptr && other != nullptr && one != other);
    MODEL_ASSERT(table.take(0) == nullptr);
  });
}

// An actor that began on the worker that stole its slot may end on the one that was robbed.
TEST_P(ActorTable, KeepsASlotThatComesBackAfterATheft) {
  int came_back = 0;
  expect_always("a slot that comes back", 2, [&](Scene& scene) {
    auto& table = scene.make<Table>(1u, 2u, barriers());
    auto& moved = scene.make<base::Atomic<core::Actor*>>(nullptr);
    scene.thread([&] {
      core::Actor* actor = table.take(0);
      if (actor == nullptr) {
        actor = moved.exchange(nullptr, std::memory_order_acquire);
        if (actor == nullptr) return;
        ++came_back;
      }
      table.give(0, actor);
      actor = table.take(0);
      if (actor != nullptr) table.give(0, actor);
    });
    scene.thread([&] {
      core::Actor* actor = table.take(1);
      if (actor != nullptr) moved.store(actor, std::memory_order_release);
    });
    scene.join();
    core::Actor* actor = moved.load(std::memory_order_relaxed);
    if (actor != nullptr) table.give(1, actor);
    MODEL_ASSERT(table.take(1) != nullptr);
    MODEL_ASSERT(table.take(0) == nullptr);
  });
  EXPECT_GT(came_back, 0);
}

// The system granted barriers at first, and refuses them now: nobody can take what another has, but
// nobody waits for it either, and each keeps its own.
TEST(ActorTableThatMayNotRob, GivesUpAtOnce) {
  expect_always({.name = "actor table, barriers are refused", .preemptions = 2}, [](Scene& scene) {
    auto& table = scene.make<Table>(2u, 2u, true);
    scene.refuse_barriers();
    scene.thread([&] {
      core::Actor* one = table.take(0);
      MODEL_ASSERT(one != nullptr && table.take(0) != nullptr);
      table.give(0, one);
    });
    scene.thread([&] { MODEL_ASSERT(table.take(1) == nullptr); });
    scene.join();
    MODEL_ASSERT(table.take(0) != nullptr);
  });
}

// base/reserved_array.hpp, which the table may lie in.
TEST(ReservedArray, ASlotThatIsFoundWhileItGrowsIsWhole) {
  struct Slot {
    base::Shared<int> content{7};
  };
  struct Slots {
    Slots() { MODEL_ASSERT(array.reserve(2)); }
    ReservedArray<Slot, 1> array;
  };
  model::expect_always({.name = "reserved array, found while it grows", .preemptions = 3},
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
