// Random lives: actors of both sorts that spawn, send, kill, fail, throw and hand over as a seed
// says. The same seed gives the same log twice, the log replays, and nothing is lost on the way.
#include <stdexcept>

#include "base/prng.hpp"
#include "commands/scene.hpp"
#include "support/scale.hpp"

namespace jzx::commands {
namespace {

struct Spark {
  uint64_t seed = 0;
  uint64_t heat = 0;  // how many generations are to follow

  [[nodiscard]] Spark next(base::Prng& dice) const { return {dice.next(), heat - 1}; }
};

using SparkActions = Actions<Spark>;

// Whom they know. All of it is a function of the seed.
struct World {
  std::vector<ActorId> known;
  [[nodiscard]] ActorId any(base::Prng& dice) const {
    return known[dice.below(static_cast<uint32_t>(known.size()))];
  }
};

struct SyncSoul;
struct AsyncSoul;

template <class Face>
SparkActions act(World& world, const Spark& spark, const Face& face) {
  base::Prng dice(spark.seed);
  SparkActions acts = face.actions();
  if (spark.heat == 0) return acts;
  for (uint32_t left = dice.below(7); left > 0; --left) {
    const uint32_t what = dice.below(16);
    if (what < 7) {
      acts.send(world.any(dice), spark.next(dice));
    } else if (what < 9) {
      acts.send(face.output(), spark.next(dice));
    } else if (what < 12) {
      const ActorId child = face.reserve();
      if (child == 0) continue;
      world.known.push_back(child);
      if (dice.below(2) == 0) {
        acts.template spawn<SyncSoul>(child, &world);
      } else {
        acts.template spawn<AsyncSoul>(child, &world);
      }
      acts.send(child, spark.next(dice));
    } else if (what == 12) {
      (void)face.reserve();  // and forgets it
    } else if (what == 13) {
      acts.kill(world.any(dice));
    } else if (what == 14) {
      acts.fail(world.any(dice), "bad luck");
    } else {
      const ActorId heir = face.reserve();
      if (heir == 0) continue;
      world.known.push_back(heir);
      if (dice.below(2) == 0) acts.kill(face.self());
      acts.template hand_off<SyncSoul>(heir, &world);
      if (dice.below(2) == 0) acts.kill(face.self());
    }
  }
  return acts;
}

struct SyncSoul {
  World* world;
  SparkActions handle(Spark spark, CommandContext<Spark>& context) {
    SparkActions acts = act(*world, spark, context);
#ifndef JZX_LIBRARY_NOEXCEPT
    if (spark.seed % 23 == 0) throw std::runtime_error("too hot");
#endif
    return acts;
  }
};

struct AsyncSoul {
  World* world;
  Task<void> run(Inbox<Spark> inbox, Outbox<Spark> outbox) {
    for (;;) {
      Future<Spark> next = inbox.next();
      Result<Spark> spark = co_await next;
      if (!spark) break;
      if (spark->seed % 3 == 0) {
        Future<void> waiting = jzx::sleep(std::chrono::milliseconds(spark->seed % 50));
        Result<void> slept = co_await waiting;
        (void)slept;
      }
      SparkActions acts = act(*world, *spark, outbox);
      (void)outbox.emit(std::move(acts));
      if (spark->seed % 17 == 0) co_await jzx::fail(Errc::timed_out, "burnt out");
      if (spark->seed % 19 == 0) co_return;
    }
    (void)outbox.send(outbox.output(), Spark{});  // refused
  }
};

struct Outcome {
  std::string log;
  uint64_t commands = 0;
  CommandLog records;
};

Outcome live(uint64_t seed, const CommandLog* wanted) {
  Recorder recorder;
  World world;
  Outcome outcome;
  {
    CommandOptions options;
    options.keeps_log = true;
    options.max_actors = 40;
    options.turn_budget = 20'000;
    options.observer = &recorder;
    CommandScheduler<Spark> scheduler(options);
    base::Prng dice(seed);
    for (int i = 0; i < 3; ++i) {
      const Result<ActorId> id = scheduler.start<SyncSoul>(&world);
      world.known.push_back(*id);
    }
    if (wanted != nullptr) {
      const RunReport report = scheduler.replay(*wanted);
      EXPECT_NE(report.end, RunEnd::differs) << "seed " << seed << ": " << report.report;
    } else {
      for (int i = 0; i < 12; ++i) {
        (void)scheduler.dispatch(Spark{dice.next(), 10});
        if (dice.below(2) == 0) (void)scheduler.run_for(std::chrono::milliseconds(dice.below(40)));
      }
      const RunReport report = scheduler.run();
      EXPECT_TRUE(report.end == RunEnd::idle || report.end == RunEnd::ended) << report.report;
      EXPECT_EQ(scheduler.phase(), SchedulerPhase::idle);
    }
    EXPECT_EQ(recorder.alive_count(), scheduler.live_actors());
    const core::Ledger ledger = detail::port_of(scheduler.system())->ledger();
    EXPECT_EQ(ledger.accepted, ledger.handled + ledger.dead_lettered + ledger.queued);
    outcome.records = scheduler.log();
    outcome.log = scheduler.log().to_json_lines();
    outcome.commands = scheduler.log().records.size();
    if (seed % 2 == 0) {
      scheduler.shutdown();
      EXPECT_EQ(recorder.alive_count(), 0u);
    }
  }
  return outcome;
}

TEST(CommandStorm, TheSameSeedGivesTheSameLogAndTheLogReplays) {
  const auto seeds = static_cast<uint64_t>(testing::scaled(500));
  uint64_t commands = 0;
  for (uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    const Outcome first = live(seed, nullptr);
    commands += first.commands;
    EXPECT_EQ(first.log, live(seed, nullptr).log) << "seed " << seed;
    EXPECT_EQ(first.log, live(seed, &first.records).log) << "seed " << seed;
  }
  std::printf("%llu commands of %llu seeds, each run three times\n",
              static_cast<unsigned long long>(commands), static_cast<unsigned long long>(seeds));
}

}  // namespace
}  // namespace jzx::commands
