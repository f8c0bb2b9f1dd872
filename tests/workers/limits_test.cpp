// The limit of actors is exact, wherever they are born and end: never one more alive, and when all
// have ended there is room for all again.
#include <jzx/jzx.h>

#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

// Born and ended, as the observer hears it: while the slot is taken.
class Headcount final : public Observer {
 public:
  void actor_started(ActorId, const char*) override {
    const int64_t now = alive_.fetch_add(1) + 1;
    int64_t most = most_.load();
    while (most < now && !most_.compare_exchange_weak(most, now)) {
    }
  }
  void actor_stopped(ActorId, ExitReason, const ExitText&) override { alive_.fetch_sub(1); }

  [[nodiscard]] int64_t most() const { return most_.load(); }
  [[nodiscard]] int64_t alive() const { return alive_.load(); }

 private:
  std::atomic<int64_t> alive_{0};
  std::atomic<int64_t> most_{0};
};

constexpr uint32_t kMost = 300;  // more than a chunk of the table, and no multiple of it

struct Brief {
  void on_start(Context& context) { context.stop(); }
};

struct GoOn {};
struct Spawner {
  using Messages = jzx::Messages<GoOn>;
  uint64_t left;
  Tally& done;
  void on(GoOn, Context& context) {
    for (int i = 0; i < 20; ++i) {
      const auto made = context.spawn<Brief>();
      EXPECT_TRUE(made || context.spawn_error() == Errc::max_actors)
          << to_string(context.spawn_error());
    }
    if (--left == 0) {
      done.add();
      return context.stop();
    }
    (void)context.self(*this).send(GoOn{});
  }
};

TEST(MaxActors, IsNeverExceededByWorkersAndThreadsThatSpawnAtTheLimit) {
  Headcount headcount;
  Tally done;
  constexpr uint64_t kSpawners = 16;
  const auto rounds = static_cast<uint64_t>(scaled(2'000, 20));
  {
    Runtime runtime(RuntimeOptions{.workers = 4, .max_actors = kMost, .observer = &headcount});
    std::vector<ActorRef<Spawner>> spawners;
    for (uint64_t i = 0; i < kSpawners; ++i) {
      spawners.push_back(runtime.spawn<Spawner>(rounds, done));
    }
    for (const auto& spawner : spawners) ASSERT_EQ(spawner.send(GoOn{}), Errc::ok);
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        for (uint64_t i = 0; i < rounds; ++i) {
          const bool made = static_cast<bool>(runtime.spawn<Brief>());
          EXPECT_TRUE(made || runtime.spawn_error() == Errc::max_actors)
              << to_string(runtime.spawn_error());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(done.reaches(kSpawners));
    EXPECT_EQ(runtime.run(), Errc::ok);
  }
  EXPECT_LE(headcount.most(), int64_t{kMost});
  EXPECT_EQ(headcount.alive(), 0);
}

// ---- in C, where a run that has returned leaves nothing under way ----

struct Brood {
  std::atomic<int64_t> alive{0};
  std::atomic<int64_t> most{0};
  std::atomic<int64_t> left{0};
};
constexpr uint32_t kEndTag = 1;
constexpr uint32_t kBreedTag = 2;

jzx_behavior_result breed(jzx_context* context, const jzx_message* message) {
  auto& brood = *static_cast<Brood*>(context->state);
  if (message->tag == kEndTag) return JZX_BEHAVIOR_STOP;
  jzx_spawn_opts options{};
  options.behavior = &breed;
  options.state = &brood;
  for (int i = 0; i < 10; ++i) {
    jzx_actor_id id = 0;
    const jzx_err error = jzx_spawn(context->loop, &options, &id);
    EXPECT_TRUE(error == JZX_OK || error == JZX_ERR_MAX_ACTORS) << jzx_strerror(error);
    if (error == JZX_OK) {
      EXPECT_EQ(jzx_send(context->loop, id, nullptr, 0, kEndTag), JZX_OK);
    }
  }
  if (brood.left.fetch_sub(1) <= 1) return JZX_BEHAVIOR_STOP;
  EXPECT_EQ(jzx_send(context->loop, context->self, nullptr, 0, kBreedTag), JZX_OK);
  return JZX_BEHAVIOR_OK;
}

TEST(MaxActors, AfterEverybodyHasEndedThereIsRoomForAllAndNotForOneMore) {
  Brood brood;
  jzx_runtime_config config;
  jzx_runtime_config_init(&config);
  config.workers = 4;
  config.loop.max_actors = kMost;
  jzx_runtime* runtime = jzx_runtime_create(&config);
  ASSERT_NE(runtime, nullptr);
  jzx_loop* loop = jzx_runtime_loop(runtime);
  jzx_observer observer{};
  observer.on_actor_start = [](void* self, jzx_actor_id, const char*) {
    auto& the_brood = *static_cast<Brood*>(self);
    const int64_t now = the_brood.alive.fetch_add(1) + 1;
    if (now > int64_t{kMost}) the_brood.most.store(now);
  };
  observer.on_actor_stop = [](void* self, jzx_actor_id, int) {
    static_cast<Brood*>(self)->alive.fetch_sub(1);
  };
  jzx_loop_set_observer(loop, &observer, &brood);
  jzx_spawn_opts options{};
  options.behavior = &breed;
  options.state = &brood;
  for (int round = 0; round < 5; ++round) {
    std::vector<jzx_actor_id> all(kMost);
    for (jzx_actor_id& id : all) ASSERT_EQ(jzx_spawn(loop, &options, &id), JZX_OK);
    jzx_actor_id one_more = 0;
    ASSERT_EQ(jzx_spawn(loop, &options, &one_more), JZX_ERR_MAX_ACTORS);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end()) << "two actors with one id";
    brood.left.store(static_cast<int64_t>(scaled(2'000, 10)));
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(jzx_send(loop, all[i], nullptr, 0, i < 8 ? kBreedTag : kEndTag), JZX_OK);
    }
    ASSERT_EQ(jzx_runtime_run(runtime), 0);
    ASSERT_EQ(brood.alive.load(), 0);
  }
  EXPECT_EQ(brood.most.load(), 0) << "alive at once";
  jzx_runtime_destroy(runtime);
}

}  // namespace
}  // namespace jzx::testing
