// core/message_timer.hpp: who fires, who cancels, who makes room and the end of the target race for
// one timer. Exactly one of them decides what becomes of its message.
//
// The source under test is included, so that mutations.txt can weaken it.
#include "core/message_timer.cpp"  // NOLINT

#include <functional>
#include <utility>

#include "model/timers/scene.hpp"

namespace jzx::base::model {
namespace {

// How often each came out, over all runs: a scene in which one never does shows nothing.
struct Fates {
  int handled = 0, dead = 0, cancelled = 0;

  void count(const Letter& letter) {
    handled += letter.handled;
    dead += letter.dead;
    cancelled += letter.cancelled;
  }
};

// ---- fire and cancel ----

TEST(Timer, IsEitherFiredOrCancelled) {
  Fates fates;
  expect_always_on_stage({.name = "timer, fire and cancel", .preemptions = 3}, 1,
                         [&](Scene& scene, Play& play) {
                           play.arm();
                           scene.thread([&] { play.fire(); });
                           scene.thread([&] { play.cancel(); });
                           scene.join();
                           play.stage.run_turns_now();
                           MODEL_ASSERT(play.letter.handled + play.letter.cancelled == 1);
                           fates.count(play.letter);
                         });
  EXPECT_GT(fates.handled, 0);
  EXPECT_GT(fates.cancelled, 0);
}

// As cancel_timer(), but gives up where that looks again because the timer is being fired. Two that
// look again and again keep each other going, in the checker's eyes, without the one that fires.
void cancel_once(Play& play) {
  core::Host& host = play.stage.other_caller;
  core::Host& home = play.stage.firer;
  ActorId target = core::kNobody;
  core::MessageTimer* timer = core::find_timer(home, play.timer, target);
  if (timer == nullptr) return;
  if (core::claim_by_id(host.system, home, play.timer, target, timer) != core::Claim::won) return;
  host.discard(*timer);
  ++play.letter.cancelled;
}

TEST(Timer, IsCancelledByOneOfTwo) {
  Fates fates;
  expect_always_on_stage({.name = "timer, fire and two cancels", .preemptions = 2}, 1,
                         [&](Scene& scene, Play& play) {
                           play.arm();
                           scene.thread([&] { play.fire(); });
                           scene.thread([&] { play.cancel(); });
                           scene.thread([&] { cancel_once(play); });
                           scene.join();
                           play.stage.run_turns_now();
                           MODEL_ASSERT(play.letter.handled + play.letter.cancelled == 1);
                           fates.count(play.letter);
                         });
  EXPECT_GT(fates.handled, 0);
  EXPECT_GT(fates.cancelled, 0);
}

TEST(Timer, ThatIsHandledWhileItIsCancelledIsNotTouchedAnyMore) {
  Fates fates;
  expect_always_on_stage({.name = "timer, fire, cancel and the handler", .preemptions = 2}, 1,
                         [&](Scene& scene, Play& play) {
                           play.arm();
                           scene.thread([&] { play.fire(); });
                           scene.thread([&] { play.cancel(); });
                           scene.thread([&] { play.run(); });
                           scene.join();
                           MODEL_ASSERT(play.letter.handled + play.letter.cancelled == 1);
                           fates.count(play.letter);
                         });
  EXPECT_GT(fates.handled, 0);
  EXPECT_GT(fates.cancelled, 0);
}

// The id of a timer means nothing to the next one in the same record.
TEST(Timer, IsNotCancelledByTheIdOfTheOneBefore) {
  int reused = 0;
  const auto act = [&](Scene& scene, Play& play) {
    auto& next = scene.make<Letter>();
    uint64_t next_timer = 0;
    play.arm();
    scene.thread([&] {
      play.cancel();
      next_timer = Stage::arm(play.stage.caller, play.actor, next);
      play.cancel();
    });
    scene.thread([&] { Stage::cancel(play.stage.other_caller, play.timer, play.letter); });
    scene.join();
    reused += static_cast<uint32_t>(next_timer) == static_cast<uint32_t>(play.timer) ? 1 : 0;
    play.stage.firer.fire();
    play.stage.run_turns_now();
    MODEL_ASSERT(play.letter.cancelled == 1);
    MODEL_ASSERT(next.handled == 1);
  };
  expect_always_on_stage(
      {.name = "timer, cancel and a record that is used again", .preemptions = 3}, 1, act);
  EXPECT_GT(reused, 0);
}

// ---- a full mailbox ----

TEST(Timer, ThatFindsNoRoomIsDeliveredByTheTurnThatMakesSome) {
  int waited = 0;
  expect_always_on_stage({.name = "timer, fire into a full mailbox", .preemptions = 3}, 1,
                         [&](Scene& scene, Play& play) {
                           play.arm();
                           play.fill();
                           scene.thread([&] {
                             play.fire();
                             waited += play.letter.handled == 0 ? 1 : 0;
                           });
                           scene.thread([&] { play.run(); });
                           scene.join();
                           // It was not left waiting.
                           MODEL_ASSERT(play.letter.handled == 1);
                         });
  EXPECT_GT(waited, 0);
}

TEST(Timer, ThatWaitsForRoomIsAlwaysCancelled) {
  expect_always_on_stage({.name = "timer, cancel and nobody makes room", .preemptions = 3}, 1,
                         [&](Scene& scene, Play& play) {
                           play.arm();
                           play.fill();
                           scene.thread([&] { play.fire(); });
                           scene.thread([&] { play.cancel(); });
                           scene.join();
                           MODEL_ASSERT(play.letter.cancelled == 1);
                         });
}

TEST(Timer, ThatWaitsForRoomIsDeliveredOrCancelled) {
  Fates fates;
  expect_always_on_stage({.name = "timer, full mailbox and cancel", .preemptions = 2}, 1,
                         [&](Scene& scene, Play& play) {
                           play.arm();
                           play.fill();
                           scene.thread([&] { play.fire(); });
                           scene.thread([&] { play.cancel(); });
                           scene.thread([&] { play.stage.run_turns_briefly(play.life); });
                           scene.join();
                           MODEL_ASSERT(play.letter.handled + play.letter.cancelled == 1);
                           fates.count(play.letter);
                         });
  EXPECT_GT(fates.handled, 0);
  EXPECT_GT(fates.cancelled, 0);
}

TEST(Timer, IsNotOvertakenByALaterOneWhileItWaits) {
  expect_always_on_stage({.name = "timer, two into a full mailbox", .preemptions = 2}, 1,
                         [&](Scene& scene, Play& play) {
                           auto& later = scene.make<Letter>();
                           play.arm();
                           MODEL_ASSERT(Stage::arm(play.stage.firer, play.actor, later) != 0);
                           play.fill();
                           scene.thread([&] { play.fire(); });
                           scene.thread([&] { play.stage.run_turns_briefly(play.life); });
                           scene.join();
                           MODEL_ASSERT(play.letter.handled == 1 && later.handled == 1);
                           MODEL_ASSERT(play.life.last == &later);
                         });
}

// ---- the end of the target ----

struct End {
  const char* name;
  uint32_t preemptions;
  bool is_brief = false;
  std::function<void(Scene&, Play&)> others;
};

// The target ends with its first turn, and then another actor moves in unless it is brief, while
// `others` do something.
Fates end_target(const End& its) {
  Fates fates;
  const auto act = [&](Scene& scene, Play& play) {
    auto& next_life = scene.make<Life>();
    ActorId next = core::kNobody;
    play.life.ends = true;
    play.fill();  // it has a turn
    its.others(scene, play);
    scene.thread([&] {
      if (its.is_brief) return play.stage.end_briefly();
      play.stage.run_until_retired(play.actor);
      next = play.stage.spawn(next_life, 1);
      play.stage.run_turns();
    });
    scene.join();
    MODEL_ASSERT(play.letter.fates() == (play.timer != 0 ? 1 : 0));
    MODEL_ASSERT(play.stage.timers_in_use() == 0);
    // The next one in the slot heard nothing of it.
    MODEL_ASSERT(next_life.turns == 0);
    MODEL_ASSERT(!play.stage.slot().state.is_scheduled());
    if (next != core::kNobody) play.actor = next;
    fates.count(play.letter);
  };
  expect_always_on_stage({.name = its.name, .preemptions = its.preemptions}, 1, act);
  return fates;
}

TEST(Timer, OfATargetThatEndsIsFiredOrDeadLettered) {
  const auto others = [](Scene& scene, Play& play) {
    play.arm();
    scene.thread([&] { play.fire(); });
  };
  const Fates fates = end_target(
      {.name = "timer, fire and the end of the target", .preemptions = 2, .others = others});
  EXPECT_GT(fates.handled, 0);
  EXPECT_GT(fates.dead, 0);
  (void)end_target({.name = "timer, fire and the end of the target, in brief",
                    .preemptions = 3,
                    .is_brief = true,
                    .others = others});
}

TEST(Timer, OfATargetThatEndsIsCancelledOrDeadLettered) {
  const Fates fates = end_target({.name = "timer, cancel and the end of the target",
                                  .preemptions = 3,
                                  .others = [](Scene& scene, Play& play) {
                                    play.arm();
                                    scene.thread([&] { play.cancel(); });
                                  }});
  EXPECT_GT(fates.cancelled, 0);
  EXPECT_GT(fates.dead, 0);
}

TEST(Timer, OfATargetThatEndsHasOneFate) {
  const Fates fates = end_target({.name = "timer, fire, cancel and the end of the target",
                                  .preemptions = 1,
                                  .is_brief = true,
                                  .others = [](Scene& scene, Play& play) {
                                    play.arm();
                                    scene.thread([&] { play.fire(); });
                                    scene.thread([&] { play.cancel(); });
                                  }});
  EXPECT_GT(fates.cancelled, 0);
  EXPECT_GT(fates.dead, 0);
}

TEST(Timer, ThatIsBeingFiredWhenItsTargetEndsHasOneFate) {
  const Fates fates = end_target({.name = "timer, firing, cancel and the end of the target",
                                  .preemptions = 2,
                                  .is_brief = true,
                                  .others = [](Scene& scene, Play& play) {
                                    play.arm();
                                    base::Timer& due = play.take_out();
                                    scene.thread([&] { due.fire(play.stage.firer); });
                                    scene.thread([&] { cancel_once(play); });
                                  }});
  EXPECT_GT(fates.cancelled, 0);
  EXPECT_GT(fates.dead, 0);
}

// By a thread that is no worker; it makes the target's relations too.
void arm_from_outside(Play& play) {
  play.timer = Stage::arm(play.stage.caller, play.actor, play.letter);
}

TEST(Timer, ThatIsArmedWhileItsTargetEndsIsRefusedOrDeadLettered) {
  const Fates fates = end_target(
      {.name = "timer, armed from outside and the end of the target",
       .preemptions = 3,
       .others = [](Scene& scene, Play& play) { scene.thread([&] { arm_from_outside(play); }); }});
  EXPECT_GT(fates.dead, 0);
}

TEST(Timer, ThatIsArmedWhileItsTargetEndsMayStillBeFired) {
  const Fates fates =
      end_target({.name = "timer, armed from outside, fire and the end of the target",
                  .preemptions = 2,
                  .is_brief = true,
                  .others = [](Scene& scene, Play& play) {
                    scene.thread([&] { arm_from_outside(play); });
                    scene.thread([&] { play.fire(); });
                  }});
  EXPECT_GT(fates.dead, 0);
}

}  // namespace
}  // namespace jzx::base::model
