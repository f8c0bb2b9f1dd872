// Many lives: what the observer is told of them, how many there may be, what several threads may
// do, and how all of them end with the system.
#include <algorithm>
#include <atomic>
#include <thread>

#include "actors/stage/on_stage.hpp"
#include "support/scale.hpp"

namespace jzx::actors {
namespace {

class Lives : public OnStage {};
JZX_FOR_ALL_BODIES(Lives);

class LivesBesideThreads : public OnStage {};
JZX_FOR_ALL_BODIES_ON(LivesBesideThreads, real_drivers());

TEST_P(Lives, AreToldOnceAtBeginningAndEnd) {
  std::vector<ActorId> ids;
  for (int i = 0; i < 200; ++i) {
    ids.push_back(spawn({.label = "mayfly"}));
    if (i % 3 == 0) {
      tell(ids.back(), say::stop());
    } else if (i % 3 == 1) {
      tell(ids.back(), say::fail("broken"));
    } else {
      EXPECT_EQ(world().kill(ids.back()), Errc::ok);
    }
  }
  await(seen::ended(), 200);
  for (const ActorId id : ids) EXPECT_EQ(journal().count(seen::ended(id)), 1u);
  EXPECT_EQ(count(seen::begun("mayfly")), 200u);
}

TEST_P(Lives, OfActorsThatSpawnOneAnotherAreAllTold) {
  Command generation = say::stop();
  for (int i = 0; i < 6; ++i) {
    generation = say::batch({say::spawn_child("child"), say::record(1), generation});
  }
  const ActorId root = spawn();
  tell(root, say::batch({say::spawn_child("child"), say::spawn_child("child"), generation}));
  await(seen::ended(root));
  EXPECT_EQ(count(seen::begun("child")), 8u);
  EXPECT_EQ(count(seen::ended()), 9u);
}

TEST_P(Lives, AllEndWhenEverybodyIsAskedTo) {
  const ActorId parent = spawn();
  const ActorId child = ask(parent, say::spawn_child("child")).number;
  stage().supervise({.members = {{"a"}, {"b"}}});
  for (int i = 0; i < 50; ++i) {
    const ActorId a = spawn();
    tell(a, say::send_after(3'600'000, 0, say::record(1)));
  }
  stage().settle();
  stage().end_everybody();
  EXPECT_TRUE(journal().alive().empty());
  EXPECT_EQ(count({Note::Kind::restarted}), 0u) << "a supervisor that ends starts nobody again";
  EXPECT_EQ(count(seen::dead()), 50u) << "the timers";
  const std::vector<ActorId> ended = whom(all(seen::ended()));
  EXPECT_LT(std::find(ended.begin(), ended.end(), child),
            std::find(ended.begin(), ended.end(), parent));
}

TEST_P(Lives, ThatLastAreCutWithTheSystemAndTheirTimersDeadLettered) {
  for (int i = 0; i < 50; ++i) {
    const ActorId a = spawn();
    tell(a, say::send_after(3'600'000, 0, say::record(1)));
    tell(a, say::record(2));
  }
  await({Note::Kind::recorded}, 50);
  stage().close();
  for (const Note& dead : all(seen::dead())) EXPECT_EQ(dead.fate, DeadLetterReason::closing);
  EXPECT_EQ(all(seen::dead()).size(), 50u);
}

TEST_P(Lives, ThatAreBusyAreCutWithTheSystemAndLoseNothing) {
  const auto never = std::make_shared<testing::Gate>();
  std::vector<ActorId> ids;
  for (int i = 0; i < 10; ++i) {
    ids.push_back(spawn());
    tell(ids.back(), say::batch({say::record(1), say::spin(never)}));
  }
  await({Note::Kind::recorded}, 10);
  stage().cut();
  for (const ActorId id : ids) EXPECT_EQ(all(seen::dead(id)).size(), 1u) << "its next turn";
}

TEST_P(LivesBesideThreads, OfThreadsThatSendKeepEachThreadsOrder) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kEach = 200;
  const ActorId a = spawn();
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEach; ++i) {
        EXPECT_EQ(world().send(a, say::record(t * 1000 + i)), Errc::ok);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  await(seen::recorded(a), kThreads * kEach);
  uint64_t next[kThreads] = {};
  for (const Note& note : all(seen::recorded(a))) {
    EXPECT_EQ(note.number % 1000, next[note.number / 1000]++);
  }
}

TEST_P(LivesBesideThreads, OfATargetThatEndsWhileThreadsSendLoseNothing) {
  const ActorId a = spawn();
  std::atomic<uint64_t> accepted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < testing::scaled(300, 3); ++i) {
        accepted.fetch_add(world().send(a, say::record(i)) == Errc::ok);
      }
    });
  }
  tell(a, say::stop());
  for (std::thread& thread : threads) thread.join();
  await(seen::ended(a));
  EXPECT_EQ(count(seen::recorded(a)) + count(seen::dead(a)), accepted.load());
}

TEST_P(LivesBesideThreads, SpawnedAndBoundByThreadsAreAllTold) {
  if (!stage().has_threads()) GTEST_SKIP() << "a loop takes such calls on its own thread only";
  const ActorId hub = spawn();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i) {
        ActorId id = 0;
        uint64_t ref = 0;
        EXPECT_EQ(world().spawn({.parent = i % 2 == 0 ? hub : 0}, id), Errc::ok);
        EXPECT_EQ(world().monitor(hub, id, ref), Errc::ok);
        EXPECT_EQ(world().stop(id), Errc::ok);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  await(seen::down(hub), 90);
  await(seen::child_exit(hub), 45);
  EXPECT_EQ(count(seen::ended()), 90u);
  EXPECT_EQ(count(seen::down(hub)), 90u);
}

// ---- how many there may be ----

class Limit : public OnStage {
 protected:
  static constexpr uint32_t kMost = 8;
  Limit() : OnStage(SystemOptions{.max_actors = kMost}) {}
};
JZX_FOR_ALL_BODIES(Limit);

TEST_P(Limit, OfActorsIsKeptAndAnEndMakesRoom) {
  std::vector<ActorId> ids;
  for (uint32_t i = 0; i < kMost; ++i) ids.push_back(spawn());
  ActorId one_more = 0;
  EXPECT_EQ(world().spawn({}, one_more), Errc::max_actors);
  EXPECT_EQ(ask(ids[0], say::spawn_child("child")).error, Errc::max_actors) << "from inside";
  for (int i = 0; i < 20; ++i) {
    const size_t place = static_cast<size_t>(i) % kMost;
    tell(ids[place], say::stop());
    await(seen::ended(ids[place]));
    stage().settle();
    ids[place] = spawn();
  }
  for (const ActorId id : ids) ask(id, say::record(1));
}

}  // namespace
}  // namespace jzx::actors
